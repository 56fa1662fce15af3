import CountersignWire
import Crypto
import Encodings
import JOSE
import Testing

@Suite("An answer that is a signed JWT")
struct JWTAnswerTests {
    private static let possession = PrivateJWK(P256.Signing.PrivateKey(), keyID: "possession")
    private static let verification = PrivateJWK(Curve25519.Signing.PrivateKey(), keyID: "verification")
    private static let sample = try? Sample()
    private static let now: Int64 = 1_790_000_000

    private func keys() throws -> DeviceJWKs {
        try DeviceJWKs(
            proofOfPossession: Self.possession.publicKey.json, userVerification: Self.verification.publicKey.json)
    }

    private func claims(_ consent: String = "APPROVED_CONSENT_PROMPT") throws -> JSONObject {
        let sample = try #require(Self.sample)
        return [
            "iss": .string("\(sample.enrollment)"), "aud": "https://login.example.com",
            "sub": .string("\(sample.user)"), "iat": .integer(Self.now), "exp": .integer(Self.now + 300),
            "nbf": .integer(Self.now - 300), "jti": "one", "tx": .string("\(sample.challenge)"),
            "nonce": .string(String(repeating: "0a", count: 32)), "keyType": "proofOfPossession",
            "challengeResponseContext": ["userConsent": .string(consent)],
        ]
    }

    private func token(
        _ claims: JSONObject, type: String = JWTAnswer.type, by key: PrivateJWK = possession, keyID: String? = nil
    ) async throws -> String {
        try await JWS.sign(
            JSONValue.object(claims).encoded, type: type, by: key, keyID: keyID ?? key.keyID)
    }

    @Test("All that an answer says is read; without `nbf`, it is good from `iat` on")
    func read() async throws {
        let sample = try #require(Self.sample)
        var claims = try claims()
        let answer = try JWTAnswer(try await token(claims), by: keys())
        #expect(answer.enrollment == sample.enrollment && answer.user == sample.user)
        #expect(answer.challenge == sample.challenge && answer.audience == "https://login.example.com")
        #expect(answer.id == "one" && answer.nonce.bytes == [UInt8](repeating: 10, count: 32))
        #expect(answer.issuedAt == Self.now && answer.notBefore == Self.now - 300)
        #expect(answer.expiresAt == Self.now + 300 && answer.consent == .approved)
        #expect(answer.decision == .approved(.confirm, number: nil))
        #expect(answer.thumbprint == Self.possession.publicKey.thumbprint)
        claims["nbf"] = nil
        #expect(try JWTAnswer(try await token(claims), by: keys()).notBefore == Self.now)
    }

    @Test("RFC 8725 §3.1, §3.10 and §3.11: algorithm, type and key are the reader's to choose")
    func confusion() async throws {
        let (claims, keys) = (try claims(), try keys())
        let other = PrivateJWK(P256.Signing.PrivateKey(), keyID: "possession")
        for (token, error) in [
            (try await token(claims, type: "JWT"), .unexpectedType),
            (try await token(claims, keyID: "other"), .unknownKeyID),
            (try await token(claims, keyID: "verification"), .wrongKey),
            (try await token(claims, by: other), .badSignature),
            (try await token(claims) + "A", .malformed), ("", .malformed), ("a.b", .malformed),
            (String(repeating: "a", count: JWTAnswer.maximumSize + 1), .tooLarge),
        ] as [(String, JOSEError)] {
            #expect(throws: JWTAnswerRefusal.token(error)) { try JWTAnswer(token, by: keys) }
        }
        // Signed by nobody, or by what everybody knows: a public key as the secret of a MAC.
        for algorithm in ["none", "HS256", "RS256", "ES384"] as [JSONValue] {
            let header: JSONValue = ["alg": algorithm, "typ": .string(JWTAnswer.type), "kid": "possession"]
            let input = "\(Base64URL.encode(header.encoded)).\(Base64URL.encode(JSONValue.object(claims).encoded))"
            let secret = SymmetricKey(data: Self.possession.publicKey.json.encoded)
            let mac = HMAC<SHA256>.authenticationCode(for: Array(input.utf8), using: secret)
            let signature = algorithm == "none" ? "" : Base64URL.encode(Array(mac))
            let error: JOSEError = algorithm == "RS256" ? .wrongKey : .unexpectedAlgorithm
            #expect(throws: JWTAnswerRefusal.token(error)) { try JWTAnswer("\(input).\(signature)", by: keys) }
        }
    }

    @Test("Each claim must be there in its form, and each member once")
    func form() async throws {
        let keys = try keys()
        for (name, value, claim) in [
            ("iss", "usr_1", .issuer), ("iss", nil, .issuer), ("aud", nil, .audience),
            ("aud", ["https://login.example.com"], .audience), ("sub", 1, .subject), ("jti", "", .id),
            ("jti", nil, .id), ("jti", .string(String(repeating: "j", count: 129)), .id), ("jti", "a\u{0}b", .id),
            ("tx", "x", .challenge),
            ("nonce", .string(String(repeating: "0A", count: 32)), .nonce), ("nonce", nil, .nonce),
            ("iat", "1", .issuedAt), ("iat", .double(1.5), .issuedAt), ("exp", nil, .expiresAt),
            ("exp", .integer(Self.now), .expiresAt), ("exp", .integer(Self.now + 301), .expiresAt),
            ("exp", .integer(.max), .expiresAt), ("nbf", .integer(Self.now + 1), .expiresAt), ("nbf", "0", .notBefore),
            ("iat", .integer(-1), .issuedAt), ("keyType", nil, .keyType),
            ("keyType", "userVerificationBioOrPin", .keyType),
            ("challengeResponseContext", nil, .consent),
            ("challengeResponseContext", ["userConsent": "APPROVED"], .consent),
        ] as [(String, JSONValue?, JWTAnswer.Claim)] {
            var claims = try claims()
            claims[name] = value
            let token = try await token(claims)
            #expect(throws: JWTAnswerRefusal.claim(claim), "\(name)") { try JWTAnswer(token, by: keys) }
        }
        let twice = String(decoding: JSONValue.object(try claims()).encoded, as: UTF8.self).dropLast()
        let payload = Array("\(twice),\"sub\":\"somebody\"}".utf8)
        let token = try await JWS.sign(
            payload, type: JWTAnswer.type, by: Self.possession, keyID: Self.possession.keyID)
        #expect(throws: JWTAnswerRefusal.token(.malformed)) { try JWTAnswer(token, by: keys) }
    }

    @Test("The purpose that is stated is that of the key that signed")
    func keyType() async throws {
        let keys = try keys()
        for key in [Self.possession, Self.verification] {
            var claims = try claims()
            claims["keyType"] = key.keyID == "possession" ? "userVerification" : "proofOfPossession"
            let token = try await token(claims, by: key)
            #expect(throws: JWTAnswerRefusal.keyType) { try JWTAnswer(token, by: keys) }
        }
    }

    @Test("A good signature by itself is no approval: what the app says decides, with the key that belongs to it")
    func decisions() async throws {
        let keys = try keys()
        let words = [
            "APPROVED_CONSENT_PROMPT", "APPROVED_USER_VERIFICATION", "DENIED_CONSENT_PROMPT",
            "CANCELLED_USER_VERIFICATION", "UV_TEMPORARILY_UNAVAILABLE", "UV_PERMANENTLY_UNAVAILABLE", "NONE",
        ]
        for word in words {
            for key in [Self.possession, Self.verification] {
                var claims = try claims(word)
                let isVerified = key.keyID == "verification"
                claims["keyType"] = isVerified ? "userVerification" : "proofOfPossession"
                let expected: Decision? =
                    switch (word, isVerified) {
                    case ("APPROVED_CONSENT_PROMPT", false): .approved(.confirm, number: nil)
                    case ("APPROVED_USER_VERIFICATION", true): .approved(.biometric, number: nil)
                    case ("DENIED_CONSENT_PROMPT", false): .denied
                    default: nil
                    }
                let answer = try JWTAnswer(try await token(claims, by: key), by: keys)
                #expect(answer.decision == expected, "\(word) \(isVerified)")
            }
        }
    }

    @Test("It is good from `nbf` until `exp`, give or take the tolerance")
    func times() async throws {
        let answer = try JWTAnswer(try await token(try claims()), by: keys())
        for (second, isGood) in [(-361, false), (-360, true), (0, true), (359, true), (360, false)] as [(Int64, Bool)] {
            let now = Timestamp(seconds: Self.now + second)
            #expect(answer.isTimely(at: now, tolerance: 60) == isGood, "\(second)")
        }
    }
}
