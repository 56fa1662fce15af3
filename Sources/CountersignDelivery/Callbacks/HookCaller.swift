import AsyncHTTPClient
package import CountersignCore
import CountersignWire
import Encodings
import NIOCore
import NIOHTTP1

/// Calls the hooks of custom authenticators.
///
/// It posts as callbacks are posted, signed and without following redirects, and reads the verdict from the response.
///
/// Spec: Standard Webhooks; docs/protocol/relying-party.md, *Hooks*.
package final class HookCaller: AuthenticatorHooks {
    /// The maximum size of a response, in bytes.
    private static let maximumSize = 16_384

    private let queue: any OutboxQueue
    private let hasher: KeyedHasher
    private let client: CallbackClient

    /// Creates a caller that cannot call before ``start()``.
    ///
    /// - Parameters:
    ///   - reach: the addresses that hooks may have.
    ///   - queue: reads the clients' secrets.
    ///   - hasher: derives the secrets for hooks from them.
    package init(reach: OutboundAddressPolicy, queue: any OutboxQueue, hasher: KeyedHasher) {
        client = CallbackClient(reach: reach)
        self.hasher = hasher
        self.queue = queue
    }

    /// Allows calls until ``shutdown()``.
    package func start() { client.start() }

    package func shutdown() async throws { try await client.shutdown() }

    /// Calls a hook; nil when there was no valid verdict in time.
    ///
    /// See ``AuthenticatorHooks/ask(_:)``.
    package func ask(_ question: HookQuestion) async -> HookVerdict? {
        guard let client = client.current else { return nil }
        let receiver = CallbackReceiver(of: question.client, at: question.authenticator.hook)
        do {
            guard let access = try await queue.callbackAccess(to: [receiver], at: question.askedAt)[receiver],
                access.health.isEnabled,
                let request = HTTPClientRequest(
                    posting: question.json.encoded, to: receiver.uri, id: question.id, at: question.askedAt,
                    by: access.access(for: .hooks, hasher))
            else { return nil }
            let reply = try await client.reply(
                to: request, within: .seconds(question.authenticator.deadline.value), maximumSize: Self.maximumSize)
            guard reply.head.status == .ok else { return nil }
            return (try? JSONValue(parsing: reply.content)).flatMap { HookVerdict($0) }
        } catch {
            return nil
        }
    }
}
