import CountersignWire
import Encodings
import Foundation
import JOSE

/// The tokens of an app at an issuer, and who signed in, as a record of the vault.
struct TokenRecord: Sendable {
    private static let version: Int64 = 1

    var access: Secret<String>
    var accessExpiresAt: Timestamp
    /// The refresh token; nil if the issuer gave none.
    var refresh: Secret<String>?
    var identity: Identity
    /// The scopes that the issuer gave.
    var scopes: [String]
    /// The key to which the tokens are bound; nil for none, as in a sign-in that an earlier version of the app made.
    let key: PrivateJWK?

    /// What to take back at the issuer: a refresh token takes its access tokens along.
    ///
    /// Spec: RFC 7009 §2.1.
    var revocable: Secret<String> { refresh ?? access }

    var encoded: [UInt8] {
        JSONValue.members([
            "v": .integer(Self.version), "access_token": .string(access.reveal()),
            "access_expires_at": .integer(accessExpiresAt.milliseconds),
            "refresh_token": refresh.map { .string($0.reveal()) }, "claims": .object(identity.claims),
            "scope": .string(scopes.joined(separator: " ")),
            "dpop_key": key.flatMap { try? JSONValue(parsing: $0.exported().reveal()) },
        ]).encoded
    }

    init(
        access: Secret<String>, accessExpiresAt: Timestamp, refresh: Secret<String>?, identity: Identity,
        scopes: [String], key: PrivateJWK?
    ) {
        self.access = access
        self.accessExpiresAt = accessExpiresAt
        self.refresh = refresh
        self.identity = identity
        self.scopes = scopes
        self.key = key
    }

    /// Reads a record.
    init(_ bytes: [UInt8]) throws(CountersignError) {
        guard let json = try? JSONValue(parsing: bytes), json["v"] == .integer(Self.version),
            let access = json["access_token"]?.string, let expiresAt = json["access_expires_at"]?.integer,
            let identity = json["claims"]?.object.flatMap({ Identity($0) })
        else { throw Self.unreadable }
        var key: PrivateJWK?
        if let member = json["dpop_key"] {
            // Without its key a bound token is worth nothing, and must not pass for another.
            do { key = try PrivateJWK(importing: Secret(member.encoded)) } catch { throw Self.unreadable }
        }
        self.init(
            access: Secret(access), accessExpiresAt: Timestamp(milliseconds: expiresAt),
            refresh: json["refresh_token"]?.string.map { Secret($0) }, identity: identity,
            scopes: json["scope"]?.string?.split(separator: " ").map(String.init) ?? [], key: key)
    }

    private static let unreadable = CountersignError.vault("the record of a sign-in is damaged or of a newer version")
}

/// A reply of the token endpoint.
///
/// Spec: RFC 6749 §5.1, OpenID Connect Core 1.0 §3.1.3.3.
struct TokenReply: Sendable {
    /// How long an access token is taken to be good if the issuer does not say, and at most, in seconds.
    private static let (usual, longest): (Int64, Int64) = (300, 24 * 3600)

    let access: Secret<String>
    let expiresIn: Int64
    let refresh: Secret<String>?
    let identity: String?
    let scopes: [String]?

    /// Reads a reply.
    ///
    /// - Parameters:
    ///   - response: the reply.
    ///   - isBound: whether the request had a proof, so that the tokens must be bound to its key.
    init(_ response: TransportResponse, isBound: Bool) throws(CountersignError) {
        let type = isBound ? "DPoP" : "Bearer"
        let json = try? JSONValue(parsing: response.body)
        guard response.status == 200 else {
            guard (400..<500).contains(response.status), let error = json?["error"]?.string else {
                throw .serverUnreachable(status: response.status)
            }
            throw error == "invalid_grant" ? .signInEnded : .signInRefused(SignInRefusal(code: error))
        }
        guard let json, let access = json["access_token"]?.string, !access.isEmpty,
            json["token_type"]?.string?.lowercased() == type.lowercased()
        else { throw .providerInvalid("its token endpoint gives no access token of type \(type)") }
        // Such a token could bring a field of its own into a request.
        guard access.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .providerInvalid("its access token has characters that none may have")
        }
        self.access = Secret(access)
        expiresIn = min(max(0, json["expires_in"]?.integer ?? Self.usual), Self.longest)
        refresh = json["refresh_token"]?.string.map { Secret($0) }
        identity = json["id_token"]?.string
        scopes = json["scope"]?.string?.split(separator: " ").map(String.init)
    }
}
