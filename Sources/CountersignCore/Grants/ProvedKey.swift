package import CountersignWire
package import Encodings
import JOSE

// A token that is bound to a key is worth nothing to whoever copies it. All rules on the proofs of such keys are in
// this file; which tokens are bound, the operations that give them decide.
//
// Spec: docs/decisions/0090-dpop.md.

/// Why a request is refused for its proof, or for want of one.
package enum KeyProofRefusal: Error, Hashable, Sendable {
    /// There is none, and the client or the token needs one.
    case missing
    /// It is not one for this request.
    case invalid(Fault)
    /// It has no nonce of ours, or one that is over.
    case nonceMissing
    /// It came before.
    case replayed

    /// What is wrong with a proof.
    package enum Fault: String, CaseIterable, Sendable {
        /// Spec: RFC 9449 §4.3 (1).
        case several = "there is more than one"
        /// Spec: RFC 9449 §4.3 (2) to (7).
        case malformed = "it is no JWT of type dpop+jwt with jti, htm, htu and iat that the public key in it has signed"
        /// Spec: RFC 9449 §4.3 (8).
        case method = "htm is not the method of the request"
        /// Spec: RFC 9449 §4.3 (9).
        case place = "htu is not the address of the request"
        /// Spec: RFC 9449 §4.3 (11).
        case time = "its time is too far from that of the server"
        /// Spec: RFC 9449 §4.3 (12).
        case token = "ath is not the hash of the access token"
    }
}

/// What a token is bound to.
///
/// Spec: RFC 7800 §3.1.
package enum KeyThumbprint: Hashable, Sendable {
    /// A key that signs proofs, by its thumbprint.
    ///
    /// Spec: RFC 7638 §3, RFC 9449 §6.1.
    case key(String)
    /// The certificate of the sender's connection, by its SHA-256 in base64url.
    ///
    /// Spec: RFC 8705 §3.1.
    case certificate(String)

    /// Whether a proof shows it with each request, so that the token is of the type DPoP.
    package var isProved: Bool { if case .key = self { true } else { false } }

    /// The member of a claim `cnf` that says it.
    package var member: (name: String, value: String) {
        switch self {
        case .key(let thumbprint): ("jkt", thumbprint)
        case .certificate(let thumbprint): ("x5t#S256", thumbprint)
        }
    }

    /// Reads the member of an object that says it; nil for none.
    package init?(in json: JSONValue) {
        if let thumbprint = json["jkt"]?.string {
            self = .key(thumbprint)
        } else if let thumbprint = json["x5t#S256"]?.string {
            self = .certificate(thumbprint)
        } else {
            return nil
        }
    }
}

/// A key that the sender of a request has, as a proof for this very request or the certificate of its connection shows.
///
/// Anybody has some key: it says who somebody is only where a token names the same one.
package struct ProvedKey: Sendable {
    /// How long a nonce is good.
    ///
    /// A thief who had the key in hand for a moment can have made proofs for so long ahead, and no longer.
    package static let nonceLifetime = Seconds.minutes(2)
    /// How often there is another nonce.
    private static let noncePeriod: Int64 = 30

    /// What tokens that are given now are bound to.
    package let thumbprint: KeyThumbprint
    /// Keeps the proof from coming again; nil where TLS has seen to that.
    let replayGuard: ReplayGuard?

    /// Whether a proof has shown it, and not a connection.
    package var isProved: Bool { thumbprint.isProved }

    private init(thumbprint: KeyThumbprint, replayGuard: ReplayGuard?) {
        self.thumbprint = thumbprint
        self.replayGuard = replayGuard
    }

    /// The key of the certificate by which the connection's other end has authenticated.
    ///
    /// Spec: RFC 8705 §3.
    package init(_ certificate: ClientCertificate) {
        self.init(thumbprint: .certificate(certificate.thumbprint), replayGuard: nil)
    }

    /// The nonce that proofs must have now; all servers of a deployment take it, and none stores it.
    ///
    /// Spec: RFC 9449 §8.
    package static func nonce(ports: Ports) -> String {
        ports.hasher.proofNonce(at: Timestamp(seconds: ports.time.now.seconds / noncePeriod * noncePeriod))
    }

    /// Verifies a proof for a request.
    ///
    /// Whether it came before is left to the operation that it serves.
    ///
    /// - Parameters:
    ///   - text: the proof.
    ///   - method: the method of the request.
    ///   - uri: the address of the request by our own issuer, and not by what the request says of its host.
    ///   - alias: the same at the address for clients with certificates; nil where there is none.
    ///   - token: the access token that the request shows; nil for none.
    ///   - ports: the external dependencies.
    package static func verify(
        _ text: String, method: String, uri: String, orAt alias: String? = nil, for token: Secret<String>? = nil,
        ports: Ports
    ) throws(KeyProofRefusal) -> ProvedKey {
        try verify(
            text, method: method, uri: uri, orAt: alias, for: token, at: ports.time.now,
            timeOfNonce: { ports.hasher.time(ofProofNonce: $0) })
    }

    /// Verifies a proof for a request at a time.
    ///
    /// - Parameters:
    ///   - text: the proof.
    ///   - method: the method of the request.
    ///   - uri: the address of the request.
    ///   - alias: the same at the address for clients with certificates; nil where there is none.
    ///   - token: the access token that the request shows; nil for none.
    ///   - now: the time.
    ///   - timeOfNonce: says when a nonce was made; nil if it is none of ours.
    package static func verify(
        _ text: String, method: String, uri: String, orAt alias: String? = nil, for token: Secret<String>?,
        at now: Timestamp, timeOfNonce: (String) -> Timestamp?
    ) throws(KeyProofRefusal) -> ProvedKey {
        guard
            let verified = try? JWS.verifyProof(text, algorithms: Set(KeyProof.algorithms), type: KeyProof.type),
            let claims = try? JSONValue(parsing: verified.payload), let name = claims["jti"]?.string,
            let issuedAt = claims["iat"]?.numericDate, let place = claims["htu"]?.string
        else { throw .invalid(.malformed) }
        // check: KeyProofTests.method
        guard claims["htm"] == .string(method) else { throw .invalid(.method) }
        // check: KeyProofTests.place
        guard [uri, alias ?? uri].map(normalized).contains(normalized(place)) else { throw .invalid(.place) }
        // check: KeyProofTests.token
        guard token.map({ claims["ath"] == .string(KeyProof.hash(of: $0.reveal())) }) ?? true else {
            throw .invalid(.token)
        }
        guard let made = claims["nonce"]?.string.flatMap(timeOfNonce) else { throw .nonceMissing }
        // Another server's clock may be ahead.
        // check: CoreTests.KeyProofTests.nonce
        guard made <= now.adding(ReplayGuard.tolerance) && now < made.adding(nonceLifetime) else {
            throw .nonceMissing
        }
        let (first, last) = (now.seconds - ReplayGuard.tolerance.value, now.seconds + ReplayGuard.tolerance.value)
        // check: KeyProofTests.times
        guard issuedAt >= first && issuedAt <= last else { throw .invalid(.time) }
        // check: StrictProofTests.refused
        guard isWithin(claims, at: now) else { throw .invalid(.time) }
        let thumbprint = verified.key.thumbprint
        // The hash of the name: a name may be long, and have any character. Spec: RFC 9449 §11.1.
        return ProvedKey(
            thumbprint: .key(thumbprint),
            replayGuard: ReplayGuard(
                KeyProof.hash(of: name), of: "dpop \(thumbprint)",
                until: Timestamp(seconds: issuedAt).adding(ReplayGuard.tolerance + 1 + ReplayGuard.margin)))
    }

    /// Whether a proof that says from when to when it is good is so now.
    ///
    /// Spec: RFC 7519 §4.1.4, §4.1.5.
    private static func isWithin(_ claims: JSONValue, at now: Timestamp) -> Bool {
        func holds(_ name: String, _ rule: (Int64) -> Bool) -> Bool {
            guard let claim = claims[name] else { return true }
            return claim.numericDate.map(rule) ?? false
        }
        let latestStart = now.adding(ReplayGuard.tolerance).seconds
        return holds("nbf") { $0 <= latestStart } && holds("exp") { now.seconds < $0 }
    }

    /// The bytes of an address without query and fragment, its scheme and host in small letters, and without the port
    /// that its scheme has anyway; nil for what is no address.
    ///
    /// Spec: RFC 9449 §4.3; RFC 3986 §6.2.2.1, §6.2.3.
    private static func normalized(_ uri: String) -> [UInt8]? {
        let slash = UInt8(ascii: "/")
        let bare = uri.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let parts = bare.split(separator: slash, maxSplits: 3, omittingEmptySubsequences: false).map { Array($0) }
        guard parts.count > 2, parts[1].isEmpty else { return nil }
        let scheme = smallLetters(parts[0])
        var host = smallLetters(parts[2])
        let port = Array((scheme == Array("https:".utf8) ? ":443" : ":80").utf8)
        if host.suffix(port.count).elementsEqual(port) { host.removeLast(port.count) }
        let path = parts.count > 3 ? parts[3] : []
        return [scheme, [], host, path].reduce(into: []) { $0 += $1 + [slash] }
    }

    private static func smallLetters(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    }
}

extension UnitOfWork {
    /// Spends a proof with the work that it is for, so that no server takes it again.
    ///
    /// - Returns: false if it came before.
    func spend(_ key: ProvedKey?) throws -> Bool {
        guard let replayGuard = key?.replayGuard else { return true }
        return try nonces.spend(nonce: replayGuard.text, of: replayGuard.scope, until: replayGuard.until)
    }
}

extension Ports {
    /// Spends a proof that came with an access token, in memory: it is taken once by each server.
    ///
    /// A row for each call of the API would cost more than the call. What gives somebody something new spends its proof
    /// in the database.
    ///
    /// - Returns: false if it came before.
    /// - Throws: ``StoreError/unavailable`` if there are too many.
    package func spend(_ key: ProvedKey?) throws(StoreError) -> Bool {
        guard let replayGuard = key?.replayGuard else { return true }
        switch seenProofs.spend(replayGuard, at: time.now) {
        case .spent: return true
        case .replayed: return false
        case .tooMany, .full: throw .unavailable
        }
    }
}

extension TokenFamily {
    /// Whether a refresh token of the family is shown by whoever may: an app by the key to which the family is bound,
    /// and a client that has proved who it is by any.
    ///
    /// What began bound stays so; but where a client's tokens are bound to its certificate no more, it need not show one
    /// beyond how it authenticates. Spec: RFC 9449 §5, RFC 8705 §6.1.
    func isShown(by key: ProvedKey?, of party: RelyingParty) -> Bool {
        guard let keyThumbprint else { return true }
        guard let key else { return party.profile.isConfidential && !keyThumbprint.isProved }
        return party.profile.isConfidential || key.thumbprint == keyThumbprint
    }
}
