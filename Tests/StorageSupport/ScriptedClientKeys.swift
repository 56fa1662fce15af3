package import CountersignCore
package import CountersignWire
package import Encodings
import Synchronization

/// The keys that clients publish, as a test sets them.
package final class ScriptedClientKeys: ClientKeys {
    private struct State {
        var documents: [KeysURI: JSONValue] = [:]
        var fetches: [KeysURI] = []
        var waits = 0
        var meanwhile: (@Sendable () async throws -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// The URIs that were fetched, in order.
    package var fetches: [KeysURI] { state.withLock { $0.fetches } }
    /// How many tasks have waited for a fetch.
    package var waits: Int { state.withLock { $0.waits } }

    /// Sets the document at a URI; nil for one that cannot be fetched.
    package func publish(_ document: JSONValue?, at uri: KeysURI) {
        state.withLock { $0.documents[uri] = document }
    }

    /// Runs a body during the next fetch.
    package func meanwhile(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.meanwhile = body }
    }

    package func fetch(_ uri: KeysURI) async -> FetchedKeys {
        let (document, meanwhile) = state.withLock { state in
            state.fetches.append(uri)
            defer { state.meanwhile = nil }
            return (state.documents[uri], state.meanwhile)
        }
        // A failure here shows in the test as a fetch that failed.
        do { try await meanwhile?() } catch { return .failed("\(error)") }
        guard let document else { return .failed("nobody is there") }
        return .document(document)
    }

    package func willWait() {
        state.withLock { $0.waits += 1 }
    }
}
