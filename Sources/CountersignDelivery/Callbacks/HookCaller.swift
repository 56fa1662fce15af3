import AsyncHTTPClient
package import CountersignCore
import CountersignWire
import Encodings
import NIOCore
import NIOHTTP1
import Synchronization

/// Asks the hooks of custom authenticators: posts as callbacks are posted, signed, without following redirects, and
/// reads a verdict.
///
/// Spec: Standard Webhooks; design 3.4.
package final class HookCaller: AuthenticatorHooks {
    /// How much of an answer is read, in bytes.
    private static let maximumSize = 16_384

    private let reach: OutboundAddressPolicy
    private let queue: any OutboxQueue
    private let hasher: KeyedHasher
    private let client = Mutex<HTTPClient?>(nil)

    /// A caller that cannot ask before ``start()``.
    ///
    /// - Parameters:
    ///   - reach: how far hooks may be.
    ///   - queue: where the secrets of clients are.
    ///   - hasher: what makes those for hooks of them.
    package init(reach: OutboundAddressPolicy, queue: any OutboxQueue, hasher: KeyedHasher) {
        self.reach = reach
        self.hasher = hasher
        self.queue = queue
    }

    /// Lets it ask, until ``shutdown()``.
    package func start() {
        client.withLock { $0 = CallbackSender.makeClient(reach: reach) }
    }

    /// Ends all calls.
    package func shutdown() async throws {
        let client = client.withLock { client in
            defer { client = nil }
            return client
        }
        try await client?.shutdown()
    }

    /// See ``AuthenticatorHooks/ask(_:)``.
    package func ask(_ question: HookQuestion) async -> HookVerdict? {
        guard let client = client.withLock({ $0 }) else { return nil }
        let receiver = CallbackReceiver(of: question.client, at: question.authenticator.hook)
        do {
            guard let access = try await queue.callbackAccess(to: [receiver], at: question.askedAt)[receiver],
                access.health.isEnabled,
                let request = HTTPClientRequest(
                    posting: question.json.encoded, to: receiver.uri, id: question.id, at: question.askedAt,
                    by: access.access(for: .hooks, hasher))
            else { return nil }
            let deadline = NIODeadline.now() + .seconds(question.authenticator.deadline)
            let response = try await client.execute(request, deadline: deadline)
            guard response.status == .ok else { return nil }
            let content = Array(try await response.body.collect(upTo: Self.maximumSize).readableBytesView)
            return (try? JSONValue(parsing: content)).flatMap { HookVerdict($0) }
        } catch {
            return nil
        }
    }
}
