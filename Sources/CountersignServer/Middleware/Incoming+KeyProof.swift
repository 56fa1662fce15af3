import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import JOSE

extension HTTPField.Name {
    /// The proof that the sender has a key.
    ///
    /// Spec: RFC 9449 §4.1.
    static let keyProof = known(KeyProof.field)
    /// The nonce that the next proof must have.
    ///
    /// Spec: RFC 9449 §8.1.
    static let keyProofNonce = known(KeyProof.nonceField)
}

/// The schemes by which an access token is sent in the field Authorization.
enum TokenScheme {
    /// Spec: RFC 6750 §2.1.
    case bearer
    /// Spec: RFC 9449 §7.1.
    case dpop
}

/// An access token as it was sent, which is not checked yet.
struct ShownToken {
    let token: Secret<String>
    /// The key that its sender has; nil where the scheme asks for none, and the connection has no certificate.
    let key: ProvedKey?

    var scheme: TokenScheme { key?.isProved == true ? .dpop : .bearer }
}

/// Why an access token is refused before it is looked at.
struct UnprovedToken: Error {
    let refusal: KeyProofRefusal
}

extension Incoming {
    /// The key that the sender has, by the proof in the field DPoP; nil if there is no such field.
    ///
    /// The address is built from the configured issuer, and never from the request's own statement of its host.
    ///
    /// - Parameters:
    ///   - token: the access token that the request shows; nil for none.
    ///   - ports: the external dependencies.
    func provedKey(for token: Secret<String>? = nil, ports: Ports) throws(KeyProofRefusal) -> ProvedKey? {
        let fields = headers[values: .keyProof]
        guard let field = fields.first else { return nil }
        // Spec: RFC 9449 §4.3 (1).
        // check: KeyProofTests.several
        guard fields.count == 1 else { throw .invalid(.several) }
        return try ProvedKey.verify(
            field, method: method.rawValue, uri: ports.issuer.uri(target),
            orAt: ports.certificateURL?.uri(target), for: token, ports: ports)
    }

    /// The key of the certificate by which the sender has authenticated in TLS; nil for none.
    ///
    /// Spec: RFC 8705 §3.
    var certificateKey: ProvedKey? { context.certificate.map { ProvedKey($0) } }

    /// The access token in the field Authorization; nil for none, and for another scheme.
    ///
    /// A proof beside a token of the scheme Bearer counts for nothing. Spec: RFC 9449 §7.1, §7.2.
    ///
    /// - Throws: ``UnprovedToken`` if the scheme asks for a proof, and there is none that is good.
    func shownToken(ports: Ports) throws(UnprovedToken) -> ShownToken? {
        guard let parts = headers[.authorization]?.split(separator: " "), parts.count == 2 else {
            return nil
        }
        let token = Secret(String(parts[1]))
        switch parts[0].lowercased() {
        case "bearer": return ShownToken(token: token, key: certificateKey)
        case "dpop":
            do throws(KeyProofRefusal) {
                guard let key = try provedKey(for: token, ports: ports) else { throw .missing }
                return ShownToken(token: token, key: key)
            } catch {
                throw UnprovedToken(refusal: error)
            }
        default: return nil
        }
    }
}

extension TokenScheme {
    /// The algorithms by which proofs may be signed, in the words of a challenge.
    ///
    /// Spec: RFC 9449 §7.1.
    private static let algorithms = "algs=\"\(KeyProof.algorithms.map(\.rawValue).joined(separator: " "))\""

    /// What a caller without a token is told: that either scheme will do.
    static let challenges = "Bearer, DPoP \(algorithms)"

    /// What a caller is told whose token or proof is refused.
    ///
    /// - Parameters:
    ///   - error: the code of the error.
    ///   - description: what is wrong, in ASCII without a quotation mark; nil for nothing.
    func challenge(_ error: String, _ description: String? = nil) -> String {
        let said = ["error=\"\(error)\""] + (description.map { ["error_description=\"\($0)\""] } ?? [])
        return switch self {
        case .bearer: "Bearer \(said.joined(separator: ", "))"
        case .dpop: "DPoP \((said + [Self.algorithms]).joined(separator: ", "))"
        }
    }
}

extension KeyProofRefusal {
    /// The code of the error.
    ///
    /// Spec: RFC 9449 §5, §7.1, §8.
    var code: String {
        switch self {
        case .missing, .invalid, .replayed: "invalid_dpop_proof"
        case .nonceMissing: "use_dpop_nonce"
        }
    }

    /// What is wrong, for the client's developer.
    var description: String {
        switch self {
        case .missing: "send a proof of the key in the field DPoP"
        case .invalid(let fault): "the DPoP proof is refused: \(fault.rawValue)"
        case .nonceMissing: "the DPoP proof must have the nonce of the field DPoP-Nonce"
        case .replayed: "the DPoP proof came before"
        }
    }
}
