package import CountersignWire
package import Encodings
import JOSE

/// The request of a client's server that it has signed.
///
/// Spec: CIBA Core 1.0 §7.1.1.
extension RequestObject {
    /// How long its name may be.
    private static let longestName = 255

    /// What a text is.
    package enum Once: Sendable {
        /// The client has signed these claims, for us and for now; what is spent with them.
        case good(claims: JSONValue, ReplayGuard)
        /// The client has no keys.
        case noKeys
        /// It is none of the client's; why, for the client's developer.
        case refused(why: String)
    }

    /// Reads a request that is good once.
    ///
    /// - Parameters:
    ///   - text: the request object.
    ///   - client: the client, which has authenticated.
    ///   - party: how it uses the provider.
    ///   - algorithm: the algorithm that the client has registered.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func readOnce(
        _ text: String, of client: Client, _ party: RelyingParty, by algorithm: RelyingParty.RequestAlgorithm,
        ports: Ports
    ) async throws -> Once {
        let id = client.id
        // What verifies it goes by the same header.
        // check: SignedBackchannelTests.refused
        guard named(in: text) == algorithm.rawValue else {
            return .refused(why: "alg is not the one that the client has registered")
        }
        let claims: JSONValue
        switch try await ClientSignature.verify(text, of: client, party, types: types, ports: ports) {
        case .verified(_, _, claims: let signed): claims = signed
        case .noKeys: return .noKeys
        case .refused: return .refused(why: "no key of the client has signed it, or its typ is another")
        }
        // Only now: fetching keys may have taken a while.
        let now = ports.time.now
        if let why = unfitParties(of: claims, id, ports.issuer) { return .refused(why: why) }
        if let why = unfitTimes(of: claims, at: now) { return .refused(why: why) }
        // check: SignedBackchannelTests.refused
        guard claims["iat"] != nil else { return .refused(why: "iat is missing") }
        guard let name = claims["jti"]?.string, let end = claims["exp"]?.numericDate else {
            return .refused(why: "jti must be a text")
        }
        // check: SignedBackchannelTests.refused
        guard (1...longestName).contains(name.utf8.count) else {
            return .refused(why: "jti must have 1 to \(longestName) bytes")
        }
        // The hash of the name, which may have any character.
        return .good(
            claims: claims,
            ReplayGuard(
                KeyProof.hash(of: name), of: "request \(id)",
                until: Timestamp(seconds: end).adding(ReplayGuard.margin)))
    }

    /// The algorithm that a JWT names.
    private static func named(in text: String) -> String? {
        guard let header = text.split(separator: ".", maxSplits: 1).first.flatMap({ Base64URL.decode($0) }) else {
            return nil
        }
        return (try? JSONValue(parsing: header))?["alg"]?.string
    }
}
