package import AsyncHTTPClient
import CountersignCore
import CountersignWire
import Crypto
package import Encodings
import Foundation
package import NIOCore
import NIOHTTP1

/// Posts callbacks, each signed; redirects are not followed.
///
/// Spec: Standard Webhooks.
package struct CallbackSender: Sendable {
    /// How long a receiver may take.
    private static let timeout = TimeAmount.seconds(15)

    private let post: @Sendable (HTTPClientRequest) async throws -> UInt

    /// A sender over a client that ``makeClient(reach:)`` made.
    package init(client: HTTPClient) {
        self.init(client: client, timeout: Self.timeout)
    }

    /// A sender that gives receivers another time.
    package init(client: HTTPClient, timeout: TimeAmount) {
        // The answer's content means nothing; what is not read is thrown away with the connection.
        self.init { try await client.execute($0, timeout: timeout).status.code }
    }

    /// A sender over what posts a request and returns the status of the answer.
    package init(post: @escaping @Sendable (HTTPClientRequest) async throws -> UInt) {
        self.post = post
    }

    /// A client that follows no redirect and goes no further than it may.
    ///
    /// Whoever makes it shuts it down.
    package static func makeClient(reach: OutboundAddressPolicy = .publicAddresses) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // One protocol, so that there is one place to look where a connection leads.
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = { reach.check($0) }
        // The outbox tries again. The client must not: what it would try again is also a connection that was refused for
        // where it leads, and it stops the process when such a one closes in the meantime.
        configuration.connectionPool.retryConnectionEstablishment = false
        // How many are on their way to one receiver is the outbox's to say.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.timeout.connect = .seconds(5)
        configuration.timeout.read = timeout
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func send(
        _ body: [UInt8], to uri: CallbackURI, id: EventID, at now: Timestamp,
        access: () async throws -> CallbackAccess?
    ) async -> DeliveryResult {
        do {
            guard let access = try await access(),
                let request = HTTPClientRequest(posting: body, to: uri, id: "\(id)", at: now, by: access)
            else { return .failed("the client has no callback secret") }
            switch access.health {
            case .gone: return .refused(GoneReceiver.reason)
            // Enabled again in time, it hears of what ended meanwhile.
            case .disabled: return .failed("the client is disabled")
            case .good, .suspected: break
            }
            switch try await post(request) {
            case 200..<300:
                if case .suspected = access.health { return .recovered }
                return .delivered
            case 410: return .gone("the receiver answered 410")
            case let code: return .failed("the receiver answered \(code)")
            }
        } catch is OutboundAddressPolicy.Refusal {
            return .failed("the receiver's address is not public")
        } catch {
            return .failed(words(of: error))
        }
    }
}

extension HTTPClientRequest {
    /// A signed call of a client's own server; nil without a secret that signs.
    ///
    /// - Parameters:
    ///   - body: the body, JSON.
    ///   - uri: where to.
    ///   - id: the `webhook-id`.
    ///   - now: the `webhook-timestamp`.
    ///   - access: what it is sent with.
    init?(posting body: [UInt8], to uri: CallbackURI, id: String, at now: Timestamp, by access: CallbackAccess) {
        guard let signature = WebhookSignature(secrets: access.secrets) else { return nil }
        self.init(url: uri.description)
        method = .POST
        headers.add(name: "content-type", value: "application/json")
        headers.add(name: "user-agent", value: "countersign")
        for (name, value) in signature.headers(id: id, at: now.seconds, body: body) {
            headers.add(name: name, value: value)
        }
        if let basic = access.basic {
            headers.add(name: "authorization", value: basic.authorization.reveal())
        }
        self.body = .bytes(body)
    }
}

/// The signature of a callback.
///
/// Spec: Standard Webhooks, *Signature scheme*, symmetric.
package struct WebhookSignature: Sendable {
    private static let prefix = "whsec_"
    private let keys: [Secret<SymmetricKey>]

    /// A signature by secrets of the form `whsec_` and base64, one for each; nil when there is none, or one is of
    /// another form.
    package init?(secrets: [Secret<String>]) {
        keys = secrets.compactMap(Self.key)
        guard !keys.isEmpty, keys.count == secrets.count else { return nil }
    }

    private static func key(_ secret: Secret<String>) -> Secret<SymmetricKey>? {
        let secret = secret.reveal()
        // Spec: Standard Webhooks, *Signature scheme*: a secret has 24 to 64 bytes.
        guard secret.hasPrefix(prefix), let key = Base64.decode(secret.dropFirst(prefix.count)),
            (24...64).contains(key.count)
        else { return nil }
        return Secret(SymmetricKey(data: key))
    }

    /// The three headers of a message.
    package func headers(id: String, at seconds: Int64, body: [UInt8]) -> [(name: String, value: String)] {
        let content = Array("\(id).\(seconds).".utf8) + body
        let signatures = keys.map { key in
            "v1," + Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: content, using: key.reveal())))
        }
        return [
            ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}
