public import Encodings

/// Signed content in compact form.
///
/// ``verify(_:algorithms:type:keys:)`` lets the content choose only among what the caller allows: the caller names the
/// algorithms and the type, and the header names one of the caller's keys. Keys that a header contains or points to
/// (`jwk`, `jku`, `x5c`, `x5u`) are ignored, but by `verifyProof`, for proofs of a key.
///
/// Spec: RFC 7515 §5.2 and §7.1, RFC 8725 §3.1, §3.10 and §3.11.
public enum JWS {
    /// The most bytes a compact JWS may have.
    public static let maximumSize = 64 * 1024
    /// The most bytes that the header of a compact JWS may have in its base64url form.
    public static let maximumHeaderSize = 8 * 1024

    /// Signs content with the algorithm that belongs to the key.
    ///
    /// - Parameters:
    ///   - payload: the content.
    ///   - type: the `typ` header, which says what kind of content it is; nil for none.
    ///   - key: the key that signs.
    ///   - keyID: the `kid` header; nil for none: then only a caller who knows the key from elsewhere can verify it.
    /// - Throws: ``JOSEError/tooLarge`` when the result would exceed the size that readers accept,
    ///   ``JOSEError/badSignature`` when the key returned a signature of the wrong form, and the errors of the key.
    public static func sign(
        _ payload: [UInt8], type: String?, by key: any JWSSigningKey, keyID: String?
    ) async throws -> String {
        let header = JSONValue.members([
            "alg": .string(key.jwsPublicKey.algorithm.rawValue), "typ": type.map { .string($0) },
            "kid": keyID.map { .string($0) },
        ])
        return try await sign(payload, under: header, by: key)
    }

    private static func sign(
        _ payload: [UInt8], under header: JSONValue, by key: any JWSSigningKey
    ) async throws -> String {
        let publicKey = key.jwsPublicKey
        let encodedHeader = Base64URL.encode(header.encoded)
        let input = "\(encodedHeader).\(Base64URL.encode(payload))"
        // check: JWSTests.headerSize
        guard encodedHeader.utf8.count <= maximumHeaderSize,
            input.utf8.count + 1 + (publicKey.signatureSize * 4 + 2) / 3 <= maximumSize
        else { throw JOSEError.tooLarge }
        let signature = try await key.jwsSignature(of: Array(input.utf8))
        // check: AlgorithmTests.brokenKeys
        guard signature.count == publicKey.signatureSize else { throw JOSEError.badSignature }
        return "\(input).\(Base64URL.encode(signature))"
    }

    /// In whose name a JWT is, before it is verified: only to find the key that verifies it.
    ///
    /// - Returns: the claim `iss`; nil if it is no text, or the JWT has not the form of one.
    package static func unverifiedIssuer(of compact: String) -> String? { unverifiedClaim("iss", of: compact) }

    /// What a JWT claims before it is verified: only to find the key that verifies it.
    ///
    /// - Returns: the claim; nil if it is no text, or the JWT has not the form of one.
    package static func unverifiedClaim(_ name: String, of compact: String) -> String? {
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
        return (try? JSONValue(parsing: payload))?[name]?.string
    }

    /// Whether a JWS names the key that shall have signed it, before it is verified; false for what is no JWS.
    package static func namesKey(_ compact: String) -> Bool {
        guard let header = compact.split(separator: ".", omittingEmptySubsequences: false).first,
            let bytes = Base64URL.decode(header)
        else { return false }
        return (try? JSONValue(parsing: bytes))?["kid"] != nil
    }

    /// The content, after verification of its signature with the key that its header names.
    ///
    /// - Parameters:
    ///   - compact: the JWS.
    ///   - algorithms: the algorithms that it may use.
    ///   - type: the `typ` that it must have.
    ///   - keys: the keys; the header must name one of them.
    public static func verify(
        _ compact: String, algorithms: Set<JWSAlgorithm>, type: JWSType, keys: JWKSet
    ) throws(JOSEError) -> VerifiedJWS {
        let parsed = try ParsedJWS(compact, algorithms: algorithms, type: type)
        guard let keyID = parsed.header["kid"]?.string, let key = keys[keyID] else { throw .unknownKeyID }
        return try VerifiedJWS(parsed, by: key)
    }

    /// The content, after verification of its signature with this one key.
    ///
    /// For callers who know from elsewhere who signed the content, and the signer's only key. If the header names a
    /// key, it must name this one.
    ///
    /// - Parameters:
    ///   - compact: the JWS.
    ///   - algorithms: the algorithms that it may use.
    ///   - type: the `typ` that it must have.
    ///   - key: the only key.
    public static func verify(
        _ compact: String, algorithms: Set<JWSAlgorithm>, type: JWSType, key: JWK
    ) throws(JOSEError) -> VerifiedJWS {
        let parsed = try ParsedJWS(compact, algorithms: algorithms, type: type)
        if let keyID = parsed.header["kid"] {
            guard let name = key.keyID, keyID == .string(name) else { throw .unknownKeyID }
        }
        return try VerifiedJWS(parsed, by: key)
    }

    /// The content, after verification of its signature with the public key that its own header contains.
    ///
    /// It shows that the signer has the private half of that key, and nothing else: anybody has some key. So it says
    /// nothing of who the signer is, unless the caller knows the key from elsewhere. Spec: RFC 7515 §4.1.3, RFC 9449
    /// §4.2.
    ///
    /// - Parameters:
    ///   - compact: the JWS.
    ///   - algorithms: the algorithms that it may use.
    ///   - type: the `typ` that it must have, which no other content of the signer's has.
    /// - Throws: ``JOSEError/privateKey`` if the header contains a private or a symmetric key.
    package static func verifyProof(
        _ compact: String, algorithms: Set<JWSAlgorithm>, type: String
    ) throws(JOSEError) -> VerifiedJWS {
        let parsed = try ParsedJWS(compact, algorithms: algorithms, type: .exactly(type))
        guard let member = parsed.header["jwk"] else { throw .malformed }
        return try VerifiedJWS(parsed, by: try JWK(member))
    }

    /// Signs content that shows that the signer has this key, whose public half stands in the header.
    ///
    /// - Parameters:
    ///   - payload: the content.
    ///   - type: the `typ` header.
    ///   - key: the key.
    /// - Throws: as ``sign(_:type:by:keyID:)``.
    package static func signProof(
        _ payload: [UInt8], type: String, by key: any JWSSigningKey
    ) async throws -> String {
        let publicKey = key.jwsPublicKey
        let header: JSONValue = [
            "alg": .string(publicKey.algorithm.rawValue), "jwk": .object(publicKey.requiredMembers),
            "typ": .string(type),
        ]
        return try await sign(payload, under: header, by: key)
    }
}

/// Signed content whose signature was verified.
public struct VerifiedJWS: Sendable {
    /// The content.
    public let payload: [UInt8]
    /// The header, which is signed as well; only its members `alg`, `typ` and `kid` were checked.
    public let header: JSONObject
    /// The key that verified it.
    public let key: JWK

    fileprivate init(_ parsed: ParsedJWS, by key: JWK) throws(JOSEError) {
        // A key has one algorithm: the header cannot choose another.
        // check: AlgorithmTests.confusion
        guard key.publicKey.algorithm == parsed.algorithm else { throw .wrongKey }
        // check: AlgorithmTests.lengths
        guard parsed.signature.count == key.publicKey.signatureSize else { throw .malformed }
        // check: JWSTests.namedKey
        guard key.publicKey.isValid(parsed.signature, for: parsed.input) else { throw .badSignature }
        payload = parsed.payload
        header = parsed.header
        self.key = key
    }
}

/// Content of the right form that is not verified yet.
private struct ParsedJWS {
    let header: JSONObject
    let algorithm: JWSAlgorithm
    let payload: [UInt8]
    let signature: [UInt8]
    /// The signed bytes: header and payload as they arrived.
    let input: [UInt8]

    init(_ compact: String, algorithms: Set<JWSAlgorithm>, type: JWSType) throws(JOSEError) {
        // check: JWSTests.size
        guard compact.utf8.count <= JWS.maximumSize else { throw .tooLarge }
        let parts = compact.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed }
        // check: JWSTests.headerSize
        guard parts[0].count <= JWS.maximumHeaderSize else { throw .tooLarge }
        // The JSON reader refuses a name that occurs twice. Spec: RFC 7515 §4.
        guard let header = Base64URL.decode(Substring(parts[0])).flatMap({ try? JSONValue(parsing: $0) })?.object,
            let payload = Base64URL.decode(Substring(parts[1])), let signature = Base64URL.decode(Substring(parts[2]))
        else { throw .malformed }
        // check: JWSTests.critical
        guard header["crit"] == nil, header["b64"] == nil else { throw .criticalHeader }
        guard let algorithm = header["alg"]?.string.flatMap({ name in algorithms.first { $0.isNamed(name) } }) else {
            throw .unexpectedAlgorithm
        }
        if case .exactly(let type) = type {
            // check: JWSTests.types
            guard header["typ"] == .string(type) else { throw .unexpectedType }
        }
        self.header = header
        self.algorithm = algorithm
        self.payload = payload
        self.signature = signature
        input = Array(compact.utf8[..<parts[1].endIndex])
    }
}

extension JWSAlgorithm {
    fileprivate func isNamed(_ name: String) -> Bool { rawValue.hasSameBytes(as: name) }
}
