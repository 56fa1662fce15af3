import CountersignCore
import CountersignWire
import Encodings
import Foundation
import HTTPTypes

/// How callers of the native API authenticate.
extension NativeAPI {
    /// Authenticates a client by its secret or by an access token of its own, or the operator's client by the bootstrap
    /// token.
    ///
    /// Spec: RFC 6749 §2.3.1 (`client_secret_basic`), RFC 6750 §2.1, RFC 9449 §7.1.
    func client(of incoming: Incoming) async throws -> ClientCaller {
        guard let header = incoming.headers[.authorization] else {
            throw RequestRefusal.unauthorized(detail: "there is no Authorization header")
        }
        let malformed = RequestRefusal.unauthorized(detail: "the Authorization header is malformed")
        let parts = header.split(separator: " ")
        guard parts.count == 2 else { throw malformed }
        let authentication: ClientAuthentication
        var scheme = TokenScheme.bearer
        switch parts[0].lowercased() {
        case "basic":
            guard let (id, secret) = Self.basicCredentials(in: header) else { throw malformed }
            authentication = try await resources.client(id, secret: secret, from: incoming.context)
        default:
            guard let shown = try incoming.shownToken(ports: ports) else {
                throw RequestRefusal.unauthorized(detail: "use Basic with a client's id and secret, Bearer or DPoP")
            }
            scheme = shown.scheme
            authentication = try await resources.client(showing: shown, of: incoming)
        }
        switch authentication {
        case .client(let caller): return caller
        case .failed: throw RequestRefusal.unauthorized()
        case .invalidToken: throw RequestRefusal.invalidToken(scheme)
        case .tooManyFailures(let seconds): throw RequestRefusal.tooManyFailures(retryAfter: seconds)
        case .disabled: throw RequestRefusal.clientDisabled
        }
    }

    /// The credential of a client, which is not checked again if it was right before.
    func credential(of incoming: Incoming, needing right: Right) async throws -> ClientCredential {
        if let (id, secret) = incoming.headers[.authorization].flatMap(Self.basicCredentials),
            let known = AuthenticateClient.recognize(id, secret: secret, ports: ports)
        {
            return known
        }
        let caller = try await client(of: incoming)
        guard caller.has(right) else { throw RequestRefusal.rightMissing(right.rawValue) }
        return caller.credential
    }

    /// Throws if a credential that was right before is so no more.
    func confirm(_ credential: ClientCredential, having right: Right) async throws {
        try checked(await AuthenticateClient.refusal(of: credential, needing: right, ports: ports))
    }

    /// The id and the secret in a header; nil unless it is well-formed and of this scheme.
    private static func basicCredentials(in header: String) -> (id: String, secret: Secret<String>)? {
        let parts = header.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "basic" else { return nil }
        return Incoming.basicCredentials(parts[1])
    }

    /// The signed request of a device.
    ///
    /// The target URI is built from the configured issuer and never from the request's own statement of its host. Spec:
    /// docs/protocol/requests.md, *The signature*.
    func deviceRequest(_ incoming: Incoming) throws(RequestRefusal) -> DeviceRequest {
        let signature: UnverifiedRequestSignature
        do {
            // Repeated fields would be joined to a list, and the parser refuses a list of two signatures.
            signature = try UnverifiedRequestSignature(
                input: incoming.headers[.signatureInput], signature: incoming.headers[.signature])
        } catch {
            throw .signature(error)
        }
        return DeviceRequest(
            signature: signature,
            request: SignedRequest(
                method: incoming.method.rawValue, targetURI: ports.issuer.uri(incoming.target),
                contentDigest: incoming.headers[.contentDigest], authorization: incoming.headers[.authorization]),
            body: incoming.body)
    }
}
