import Crypto
package import Encodings
package import JOSE

/// What the sender of a request signs to show that it has a private key, to which a token is bound: a JWT for this
/// request alone (DPoP).
///
/// Spec: RFC 9449 §4.2.
package struct KeyProof: Equatable, Sendable {
    /// The field in which it is sent.
    package static let field = "DPoP"
    /// The field in which a server says which nonce it wants.
    ///
    /// Spec: RFC 9449 §8.1.
    package static let nonceField = "DPoP-Nonce"
    /// The kind of JWT that it is, so that nothing else which the key signs passes for one.
    ///
    /// Spec: RFC 9449 §11.5.
    package static let type = "dpop+jwt"
    /// The algorithms by which a proof may be signed: those that FAPI 2.0 allows, and that are quick.
    package static let algorithms: [JWSAlgorithm] = [.es256, .edDSA]

    /// The method of the request.
    package let method: String
    /// The address of the request, without its query.
    package let uri: String
    /// Its own name, which is taken once.
    package let name: String
    /// When it was signed, in seconds since 1970.
    package let issuedAt: Int64
    /// The nonce that the server has given last; nil for none.
    package let nonce: String?
    /// The hash of the access token that the request shows; nil for none.
    package let tokenHash: String?

    /// A proof that is signed at a time.
    ///
    /// - Parameters:
    ///   - method: the method of the request.
    ///   - uri: the address of the request, whose query and fragment are left out.
    ///   - name: a name that no other proof has.
    ///   - now: the time.
    ///   - nonce: the nonce that the server has given last; nil for none.
    ///   - token: the access token that the request shows; nil for none.
    package init(
        method: String, uri: String, named name: String, at now: Timestamp, nonce: String?, for token: Secret<String>?
    ) {
        self.method = method
        self.uri = String(Substring(uri.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
        self.name = name
        issuedAt = now.seconds
        self.nonce = nonce
        tokenHash = token.map { Self.hash(of: $0.reveal()) }
    }

    /// The proof as it is sent.
    ///
    /// - Parameter key: the key.
    /// - Throws: the errors of the key.
    package func signed(by key: any JWSSigningKey) async throws -> String {
        let claims = JSONValue.members([
            "jti": .string(name), "htm": .string(method), "htu": .string(uri), "iat": .integer(issuedAt),
            "ath": tokenHash.map { .string($0) }, "nonce": nonce.map { .string($0) },
        ])
        return try await JWS.signProof(claims.encoded, type: Self.type, by: key)
    }

    /// The SHA-256 of a text in base64url, as `ath` has it of an access token.
    package static func hash(of text: String) -> String {
        Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8))))
    }
}
