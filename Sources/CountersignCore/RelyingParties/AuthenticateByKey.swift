package import CountersignWire
package import Encodings
import JOSE

/// Authenticates a client by an assertion that it has signed with a key of its own (`private_key_jwt`).
///
/// Spec: RFC 7523 §3, OpenID Connect Core 1.0 §9.
package enum AuthenticateByKey {
    /// The type of assertion that is taken.
    ///
    /// Spec: RFC 7523 §2.2.
    package static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// How long an assertion may be good at most.
    private static let longest = Seconds.minutes(5)
    /// How far ahead a client's clock may be.
    private static let tolerance: Seconds = 10
    /// How long the name of an assertion may be.
    private static let longestName = 255
    /// The types that an assertion may have.
    private static let types: Set<String> = ["jwt", "client-authentication+jwt"]

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client, with its settings, has signed the assertion; it may be disabled.
        case authenticated(Client, RelyingParty)
        /// The assertion is none of a client with keys, is not for this server, is over, or came before.
        case refused
    }

    /// Authenticates the client that an assertion names.
    ///
    /// - Parameters:
    ///   - assertion: the assertion.
    ///   - audiences: what it may be for: the issuer, or the address that it was sent to; a strict client's is for the
    ///     issuer alone.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func authenticate(
        _ assertion: Secret<String>, for audiences: [String], ports: Ports
    ) async throws -> Outcome {
        guard let id = JWS.unverifiedIssuer(of: assertion.reveal()).flatMap({ ClientID($0) }),
            case .verified(let client, let party, claims: let claims) = try await ClientSignature.verify(
                assertion.reveal(), of: id, types: types, ports: ports),
            // One audience alone: a list could hold another server, which would then pass for the client here.
            let audience = claims["aud"]?.string, let end = claims["exp"]?.numericDate, let name = claims["jti"]?.string
        else { return .refused }
        // Only now: fetching keys may have taken a while.
        let now = ports.time.now
        // check: ClientKeyTests.refused
        guard claims["iss"] == .string("\(id)"), claims["sub"] == .string("\(id)") else { return .refused }
        // Spec: FAPI 2.0 Security Profile §5.3.2.1.
        let own = party.profile == .strict ? ["\(ports.issuer)"] : audiences
        // check: StrictClientTests.assertions
        guard own.contains(where: { $0.hasSameBytes(as: audience) }) else { return .refused }
        // check: ClientKeyTests.refused
        guard now.seconds < end, end <= now.adding(longest + tolerance).seconds else { return .refused }
        // check: StrictClientTests.assertions
        guard starts(claims, at: now) else { return .refused }
        // PostgreSQL keeps no text with U+0000.
        // check: ClientKeyTests.refused
        guard (1...longestName).contains(name.utf8.count) && !name.utf8.contains(0) else { return .refused }
        // A client with certificates signs requests by its keys, and does not authenticate by them.
        // check: CertificateClientTests.oneWay
        guard party.certificate == nil else { return .refused }
        let isFirst = try await ports.commit(at: now, as: .client(id)) { work in
            try work.nonces.spend(nonce: name, of: "assertion \(id)", until: Timestamp(seconds: end))
        }
        // check: ClientKeyTests.refused
        guard isFirst else { return .refused }
        return .authenticated(client, party)
    }

    /// Whether an assertion does not begin in the future.
    private static func starts(_ claims: JSONValue, at now: Timestamp) -> Bool {
        ["iat", "nbf"].allSatisfy { name in
            guard let value = claims[name] else { return true }
            return value.numericDate.map { $0 <= now.adding(tolerance).seconds } ?? false
        }
    }
}
