import CountersignWire
import Synchronization

/// The credentials with which clients were authenticated last, in memory only.
///
/// A secret that is found here was right before. Whether it still is, and what the client may do, the operation reads
/// in its own transaction.
final class KnownCredentials: Sendable {
    private let limit: Int
    private let credentials = Mutex<[ClientID: ClientCredential]>([:])

    /// No credentials yet.
    ///
    /// - Parameter limit: of how many clients they are kept.
    init(limit: Int = 4096) {
        self.limit = limit
    }

    /// The credential of a client; nil if none is kept.
    subscript(_ client: ClientID) -> ClientCredential? { credentials.withLock { $0[client] } }

    /// Keeps a credential in place of an earlier one of the client.
    func keep(_ credential: ClientCredential) {
        credentials.withLock { credentials in
            guard credentials[credential.client] != credential else { return }
            // Which one is dropped hardly matters, so any one is.
            if credentials.count >= limit, let other = credentials.keys.first { credentials[other] = nil }
            credentials[credential.client] = credential
        }
    }

    /// Forgets the credential of a client, so that its next request is authenticated and, if its secret is wrong,
    /// counted.
    func forget(_ client: ClientID) {
        credentials.withLock { $0[client] = nil }
    }
}
