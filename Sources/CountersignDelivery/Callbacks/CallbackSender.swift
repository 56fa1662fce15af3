public import AsyncHTTPClient
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
public struct CallbackSender: Sendable {
    /// How long a receiver may take.
    private static let timeout = TimeAmount.seconds(15)

    private let client: HTTPClient
    private let timeout: TimeAmount

    /// A sender over a client that ``makeClient(reach:)`` made.
    public init(client: HTTPClient) {
        self.init(client: client, timeout: Self.timeout)
    }

    /// A sender that gives receivers another time.
    package init(client: HTTPClient, timeout: TimeAmount) {
        self.client = client
        self.timeout = timeout
    }

    /// A client that follows no redirect and goes no further than it may.
    ///
    /// Whoever makes it shuts it down.
    public static func makeClient(reach: CallbackReach = .publicAddresses) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // One protocol, so that there is one place to look where a connection leads.
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = { reach.check($0) }
        // The outbox tries again. The client must not: what it would try again is also a connection that was refused for
        // where it leads, and it stops the process when such a one closes in the meantime.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(5)
        configuration.timeout.read = timeout
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func send(
        _ body: [UInt8], to uri: CallbackURI, of client: ClientID, id: EventID, secrets: any OutboxQueue,
        at now: Timestamp
    ) async -> DeliveryResult {
        do {
            guard let secret = try await secrets.callbackSecret(of: client),
                let signature = WebhookSignature(secret: secret)
            else { return .failed("the client has no callback secret") }
            var request = HTTPClientRequest(url: uri.description)
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/json")
            request.headers.add(name: "user-agent", value: "countersign")
            for (name, value) in signature.headers(id: "\(id)", at: now.seconds, body: body) {
                request.headers.add(name: name, value: value)
            }
            request.body = .bytes(body)
            let response = try await self.client.execute(request, timeout: timeout)
            // The answer's content means nothing; what is not read is thrown away with the connection.
            return (200..<300).contains(response.status.code)
                ? .delivered : .failed("the receiver answered \(response.status.code)")
        } catch is CallbackReach.Refusal {
            return .failed("the receiver's address is not public")
        } catch {
            return .failed(words(of: error))
        }
    }
}

/// The signature of a callback.
///
/// Spec: Standard Webhooks, *Signature scheme*, symmetric.
package struct WebhookSignature: Sendable {
    private static let prefix = "whsec_"
    private let key: Secret<SymmetricKey>

    /// A signature by a secret of the form `whsec_` and base64, or nil.
    package init?(secret: Secret<String>) {
        let secret = secret.reveal()
        // Spec: Standard Webhooks, *Signature scheme*: a secret has 24 to 64 bytes.
        guard secret.hasPrefix(Self.prefix), let key = Base64.decode(secret.dropFirst(Self.prefix.count)),
            (24...64).contains(key.count)
        else { return nil }
        self.key = Secret(SymmetricKey(data: key))
    }

    /// The three headers of a message.
    package func headers(id: String, at seconds: Int64, body: [UInt8]) -> [(name: String, value: String)] {
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(id).\(seconds).".utf8) + body, using: key.reveal())
        return [
            ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", "v1,\(Base64.encode(Array(code)))"),
        ]
    }
}
