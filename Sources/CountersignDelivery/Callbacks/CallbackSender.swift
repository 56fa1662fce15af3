package import AsyncHTTPClient
import CountersignCore
import CountersignWire
import Crypto
package import Encodings
import Foundation
package import NIOCore
import NIOHTTP1
import NIOSSL

/// Posts signed callbacks; it does not follow redirects.
///
/// Spec: Standard Webhooks.
package struct CallbackSender: Sendable {
    /// How long a receiver may take.
    private static let timeout = TimeAmount.seconds(15)

    /// Posts a request, and returns the status of the response.
    let post: @Sendable (HTTPClientRequest) async throws -> UInt

    /// Creates a sender over a client from ``makeClient(reach:)``.
    package init(client: HTTPClient) {
        self.init(client: client, timeout: Self.timeout)
    }

    /// Creates a sender with another timeout.
    package init(client: HTTPClient, timeout: TimeAmount) {
        // The body of the response has no meaning; a body that was not read is discarded with the connection.
        self.init { try await client.execute($0, timeout: timeout).status.code }
    }

    /// Creates a sender over a function that posts a request and returns the response's status.
    package init(post: @escaping @Sendable (HTTPClientRequest) async throws -> UInt) {
        self.post = post
    }

    /// Creates a client that follows no redirects and connects only to allowed addresses.
    ///
    /// The caller must shut it down.
    package static func makeClient(reach: OutboundAddressPolicy = .publicAddresses) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // A single protocol, so that there is only one place where the address of a connection must be checked.
        configuration.httpVersion = .http1Only
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        configuration.http1_1ConnectionDebugInitializer = { reach.check($0) }
        // The outbox repeats failed attempts. The client must not: it would also retry a connection that was refused
        // because of its address, and it crashes the process when such a connection closes in the meantime.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The outbox limits how many deliveries to one receiver run at once.
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
            else {
                // The client is deleted, and will never have one again.
                return .refused("the client has no callback secret")
            }
            switch access.health {
            case .gone: return .refused(GoneReceiver.reason)
            // If the client is enabled again in time, it still receives this callback.
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

    /// Posts to a client's server a body that needs no signature of ours.
    ///
    /// - Parameters:
    ///   - body: the body.
    ///   - type: its content type.
    ///   - uri: the URL.
    ///   - authorization: the field `Authorization`; nil for none.
    ///   - result: what a status of the response means.
    func post(
        _ body: [UInt8], as type: String, to uri: CallbackURI, authorization: String? = nil,
        result: (UInt) -> DeliveryResult
    ) async -> DeliveryResult {
        var request = HTTPClientRequest(url: uri.description)
        request.method = .POST
        request.headers.add(name: "content-type", value: type)
        request.headers.add(name: "cache-control", value: "no-store")
        request.headers.add(name: "user-agent", value: "countersign")
        if let authorization { request.headers.add(name: "authorization", value: authorization) }
        request.body = .bytes(body)
        do {
            return result(try await post(request))
        } catch is OutboundAddressPolicy.Refusal {
            return .failed("the receiver's address is not public")
        } catch {
            return .failed(words(of: error))
        }
    }
}

extension HTTPClientRequest {
    /// Creates a signed request to a client's server; nil without a valid secret.
    ///
    /// - Parameters:
    ///   - body: the body, JSON.
    ///   - uri: the URL.
    ///   - id: the value of `webhook-id`.
    ///   - now: the value of `webhook-timestamp`.
    ///   - access: the secrets and credentials.
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

extension BasicCredentials {
    /// The value of the header field `Authorization`.
    ///
    /// Spec: RFC 7617 §2.
    fileprivate var authorization: Secret<String> {
        Secret("Basic " + Base64.encode(Array("\(username):\(password.reveal())".utf8)))
    }
}

/// Signs callbacks.
///
/// Spec: Standard Webhooks, *Signature scheme*, symmetric.
package struct WebhookSignature: Sendable {
    private static let prefix = "whsec_"
    private let keys: [Secret<SymmetricKey>]

    /// Creates one signature for each secret of the form `whsec_` and base64; nil when there is none, or one is
    /// malformed.
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

    /// The three headers of a message: `webhook-id`, `webhook-timestamp` and `webhook-signature`.
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
