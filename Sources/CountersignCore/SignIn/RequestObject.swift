package import CountersignWire
package import Encodings
import JOSE

/// An authorization request that a client has signed, so that nobody on the way can change it.
///
/// Spec: RFC 9101 §4; docs/decisions/0089-request-objects.md.
package enum RequestObject {
    /// The types that it may have.
    ///
    /// Spec: RFC 9101 §10.8.
    package static let types: Set<String> = ["jwt", "oauth-authz-req+jwt"]
    /// How long it may be good at most.
    private static let longest = Seconds.hours(1)
    /// How far ahead a client's clock may be.
    private static let tolerance: Seconds = 10

    /// What a text is.
    package enum Outcome: Equatable, Sendable {
        /// The client has signed these claims, for us and for now.
        case good(claims: JSONValue)
        /// There is no such client, or it has no keys.
        case noKeys
        /// It is none of the client's; why, for the client's developer.
        case refused(why: String)
    }

    /// Reads the request object of a client.
    ///
    /// It may come more than once: a page is loaded again. A visit writes nothing, and the code is given once for each.
    ///
    /// - Parameters:
    ///   - text: the request object.
    ///   - id: the client that the request names beside it.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func read(_ text: String, of id: ClientID, ports: Ports) async throws -> Outcome {
        let claims: JSONValue
        switch try await ClientSignature.verify(text, of: id, types: types, ports: ports) {
        case .verified(_, _, claims: let signed): claims = signed
        case .noKeys: return .noKeys
        case .refused:
            return .refused(why: "no key of the client has signed it by an algorithm of ours, or its typ is another")
        }
        // Only now: fetching keys may have taken a while.
        return judge(claims, of: id, for: ports.issuer, at: ports.time.now)
    }

    /// Judges what a client has signed.
    ///
    /// - Parameters:
    ///   - claims: what it has signed.
    ///   - id: the client that the request names beside it.
    ///   - issuer: whom it must be for.
    ///   - now: the time.
    package static func judge(
        _ claims: JSONValue, of id: ClientID, for issuer: Issuer, at now: Timestamp
    ) -> Outcome {
        // Spec: RFC 9101 §6.3.
        // check: RequestObjectTests.refused
        guard claims["client_id"] == .string("\(id)") else { return .refused(why: "client_id is not the client's") }
        if let why = unfitParties(of: claims, id, issuer) { return .refused(why: why) }
        // Spec: RFC 9101 §4.
        // check: RequestObjectTests.refused
        guard claims["request"] == nil, claims["request_uri"] == nil else {
            return .refused(why: "it must hold no further request")
        }
        if let why = unfitTimes(of: claims, at: now) { return .refused(why: why) }
        return .good(claims: claims)
    }

    /// Why it is not the client's, or not for us; nil if it is.
    static func unfitParties(of claims: JSONValue, _ id: ClientID, _ issuer: Issuer) -> String? {
        // check: RequestObjectTests.refused
        guard claims["iss"] == .string("\(id)") else { return "iss is not the client's id" }
        // check: RequestObjectTests.refused
        guard isForUs(claims["aud"], issuer) else { return "aud is not the issuer" }
        // It would pass for the client's authentication elsewhere. Spec: RFC 9101 §10.8.
        // check: RequestObjectTests.refused
        guard claims["sub"] != .string("\(id)") else { return "sub must not be the client's id" }
        return nil
    }

    private static func isForUs(_ audience: JSONValue?, _ issuer: Issuer) -> Bool {
        audience == .string("\(issuer)") || audience?.array?.contains(.string("\(issuer)")) == true
    }

    /// Why its times do not fit; nil if they do.
    static func unfitTimes(of claims: JSONValue, at now: Timestamp) -> String? {
        guard let start = claims["nbf"]?.numericDate, let end = claims["exp"]?.numericDate else {
            return "nbf and exp must be numbers of seconds"
        }
        let latestStart = now.adding(tolerance).seconds
        // check: RequestObjectTests.refused
        guard start <= latestStart else { return "nbf is in the future" }
        // Spec: FAPI 2.0 Security Profile §5.3.2.1.
        // check: StrictKeyTests.requestTimes
        guard claims["iat"].map({ ($0.numericDate ?? .max) <= latestStart }) ?? true else {
            return "iat is no number of seconds, or in the future"
        }
        // check: RequestObjectTests.refused
        guard now.seconds < end else { return "exp is over" }
        // So nbf is no older than that, either.
        // check: RequestObjectTests.refused
        guard end - longest.value <= start else {
            return "exp is more than an hour after nbf"
        }
        return nil
    }
}
