import CountersignCore
import CountersignWire
import Encodings
import Foundation
import HTTPTypes

/// Who calls.
extension API {
    /// The client that authenticates by its secret, or the operator's by the bootstrap token.
    ///
    /// Spec: RFC 6749 §2.3.1 (`client_secret_basic`), RFC 6750 §2.1.
    func client(of incoming: Incoming) async throws -> ClientCaller {
        guard let header = incoming.headers[.authorization] else {
            throw ProblemDetails(.unauthorized, detail: "there is no Authorization header")
        }
        let parts = header.split(separator: " ")
        guard parts.count == 2 else {
            throw ProblemDetails(.unauthorized, detail: "the Authorization header is malformed")
        }
        let caller: ClientCaller?
        let named: String?
        switch parts[0].lowercased() {
        case "basic":
            guard let (id, secret) = Self.basicCredentials(parts[1]) else {
                throw ProblemDetails(.unauthorized, detail: "the Authorization header is malformed")
            }
            named = ClientID(id)?.description
            caller = try await AuthenticateClient.authenticate(id, secret: secret, ports: ports)
        case "bearer":
            named = "bearer"
            caller = try await AuthenticateClient.authenticate(
                bootstrapToken: Secret(String(parts[1])), isFromLoopback: incoming.isFromThisMachine, ports: ports)
        default:
            throw ProblemDetails(.unauthorized, detail: "use Basic with a client's id and secret, or Bearer")
        }
        guard let caller else {
            throw try await refusal(ofWrongCredential: named, incoming)
        }
        // Told only to who has shown its secret.
        guard caller.client.disabledAt == nil else { throw ProblemDetails(.clientDisabled) }
        return caller
    }

    /// What is wrong is the same for a client that there is and one that there is not.
    private func refusal(ofWrongCredential named: String?, _ incoming: Incoming) async throws -> ProblemDetails {
        let seconds = try await wrongCredentials.note(client: named, address: incoming.context.network, ports: ports)
        guard let seconds else { return ProblemDetails(.unauthorized) }
        return ProblemDetails(.rateLimited, members: ["retry_after": .integer(seconds)])
    }

    /// Id and secret, each form-encoded before they were joined.
    ///
    /// Spec: RFC 6749 §2.3.1.
    private static func basicCredentials(_ text: Substring) -> (id: String, secret: Secret<String>)? {
        guard let bytes = Base64.decode(text), let joined = String(strictUTF8: bytes),
            let colon = joined.utf8.firstIndex(of: UInt8(ascii: ":")),
            let id = Incoming.decoded(joined[..<colon]),
            let secret = Incoming.decoded(joined[joined.utf8.index(after: colon)...])
        else { return nil }
        return (id, Secret(secret))
    }

    /// The signed request of a device.
    ///
    /// The URI is built from the configured issuer, never from what the request says of its host. Spec: design 3.5.
    func deviceRequest(_ incoming: Incoming) throws(ProblemDetails) -> DeviceRequest {
        let signature: UnverifiedRequestSignature
        do {
            // Two fields of one name would be joined; a list of two is refused by the parser.
            signature = try UnverifiedRequestSignature(
                input: incoming.headers[.signatureInput], signature: incoming.headers[.signature])
        } catch {
            throw ProblemDetails(signature: error)
        }
        return DeviceRequest(
            signature: signature,
            request: SignedRequest(
                method: incoming.method.rawValue, targetURI: ports.issuer.uri(incoming.target),
                contentDigest: incoming.headers[.contentDigest], authorization: incoming.headers[.authorization]),
            body: incoming.body)
    }

    /// The problem of a device that is not let in; a removal comes with the server's signed notice.
    func problem(_ refusal: DeviceRefusal) async throws -> ProblemDetails {
        switch refusal {
        case .signature(let error): return ProblemDetails(signature: error)
        case .unknownEnrollment: return ProblemDetails(.unknownEnrollment)
        case .nonceReplayed: return ProblemDetails(.nonceReplayed)
        case .clockSkew(let serverTime):
            return ProblemDetails(.clockSkew, members: ["server_time": .string("\(serverTime)")])
        case .suspended: return ProblemDetails(.enrollmentSuspended)
        case .deregistered(let notice):
            let signed = try await ports.keys.current().sign(notice, at: ports.time.now)
            return ProblemDetails(.deviceDeregistered, members: ["notice": .string(signed)])
        }
    }
}
