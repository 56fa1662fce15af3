import CountersignCore
import CountersignWire
import Crypto
import Encodings
import JOSE

extension Parser {
    static let client = "cli_01m00000000000000000000003"
    static let tokenURI = "https://login.example.com/oauth2/token"
    static let accessToken = "a.b.c"
    static let proofNonce = "fuzzing-nonce"
    private static let now = Timestamp(seconds: Int64(FixedKeys.time))

    /// A JWS whose header is the first line of an input and whose content is the rest, by the fixed key.
    private static func signed(_ input: [UInt8]) throws -> (header: [UInt8], content: [UInt8], text: String) {
        let end = input.firstIndex(of: 0x0A) ?? input.endIndex
        let (header, content) = (Array(input[..<end]), Array(input[end...].dropFirst()))
        let signed = "\(Base64URL.encode(header)).\(Base64URL.encode(content))"
        let signature = try again("a key") { try FixedKeys.json.signature(for: SHA256.hash(data: Array(signed.utf8))) }
        return (header, content, "\(signed).\(Base64URL.encode(signature.rawRepresentation))")
    }

    /// The header and the claims of a client's request object, which the property signs by the client's key.
    static let requestObject = Parser("request-object", memoryPerByte: 256) { input in
        guard let id = ClientID(client), let issuer = Issuer("https://login.example.com") else {
            preconditionFailure("a client and an issuer")
        }
        let jws = try signed(input)
        let read: JSONValue?
        do throws(JOSEError) {
            read = try ClientSignature.verified(jws.text, by: jwsKeys, of: .web, RequestObject.types)
        } catch {
            return .refused
        }
        guard let read, case .good(let claims) = RequestObject.judge(read, of: id, for: issuer, at: now) else {
            return .refused
        }
        let header = try again("the header of a request object") { try JSONValue(parsing: jws.header) }
        try expect(header["alg"] == "ES256" && header["crit"] == nil, "a request object is read as it was not signed")
        let content = try again("the claims of a request object") { try JSONValue(parsing: jws.content) }
        try expect(content == claims, "the claims of a request object change")
        try expect(
            claims["client_id"] == .string(client) && claims["iss"] == .string(client) && claims["request"] == nil
                && claims["request_uri"] == nil, "a request object is read that is another client's, or holds one")
        let (start, end) = (claims["nbf"]?.integer ?? .max, claims["exp"]?.integer ?? .min)
        try expect(start <= now.seconds + 10 && end > now.seconds, "a request object is read before or after its time")
        return .read
    }

    /// The header and the claims of a proof of a key, which the property signs by the key that most headers have.
    static let dpopProof = Parser("dpop-proof", memoryPerByte: 256) { input in
        let jws = try signed(input)
        func proved(for token: Secret<String>?) -> KeyThumbprint? {
            let key = try? ProvedKey.verify(
                jws.text, method: "POST", uri: tokenURI, for: token, at: now,
                timeOfNonce: { $0 == proofNonce ? now : nil })
            return key?.thumbprint
        }
        let thumbprint = proved(for: nil)
        let claims = try? JSONValue(parsing: jws.content)
        if let shown = proved(for: Secret(accessToken)) {
            try expect(shown == thumbprint, "a proof is good for a token and not by itself")
            try expect(
                claims?["ath"] == .string(KeyProof.hash(of: accessToken)), "a proof is good for another token")
        }
        guard let thumbprint else { return .refused }
        try expect(
            thumbprint == .key(JWK(FixedKeys.json.publicKey).thumbprint), "a proof is of a key that has not signed it")
        let header = try again("the header of a proof") { try JSONValue(parsing: jws.header) }
        try expect(header["typ"] == "dpop+jwt" && header["jwk"]?["d"] == nil, "another JWT passes for a proof")
        let issuedAt = claims?["iat"]?.integer ?? .min
        try expect(
            claims?["htm"] == "POST" && claims?["jti"]?.string != nil && claims?["nonce"] == .string(proofNonce)
                && issuedAt >= now.seconds - 60 && issuedAt <= now.seconds + 60,
            "a proof is good for another request, or another time")
        return .read
    }

    /// The header and the claims of an answer by a device that has JWKs, which the property signs by one of its keys.
    static let jwtAnswer = Parser("jwt-answer", memoryPerByte: 256) { input in
        let keys = try again("the keys of a device") {
            try DeviceJWKs(proofOfPossession: JWK(.p256(FixedKeys.json.publicKey), keyID: jwsKeyID).json)
        }
        let jws = try signed(input)
        let answer: JWTAnswer
        do throws(JWTAnswerRefusal) { answer = try JWTAnswer(jws.text, by: keys) } catch { return .refused }
        let header = try again("the header of an answer") { try JSONValue(parsing: jws.header) }
        try expect(
            header["alg"] == "ES256" && header["typ"] == .string(JWTAnswer.type) && header["kid"] == .string(jwsKeyID)
                && header["crit"] == nil, "an answer is read as it was not signed")
        let claims = try again("the claims of an answer") { try JSONValue(parsing: jws.content) }
        try expect(
            claims["iss"] == .string("\(answer.enrollment)") && claims["sub"] == .string("\(answer.user)")
                && claims["aud"] == .string(answer.audience) && claims["tx"] == .string("\(answer.challenge)")
                && claims["nonce"] == .string("\(answer.nonce)") && claims["jti"] == .string(answer.id),
            "the claims of an answer change")
        let consent = claims["challengeResponseContext"]?["userConsent"]
        let decided = ["APPROVED_CONSENT_PROMPT", "DENIED_CONSENT_PROMPT"].contains { consent == .string($0) }
        try expect(
            claims["keyType"] == "proofOfPossession" && (answer.decision != nil) == decided,
            "an answer decides what its user did not say")
        try expect(
            answer.expiresAt - answer.notBefore <= 600 && answer.notBefore <= answer.issuedAt,
            "an answer is good for too long")
        return .read
    }

    /// The key of a device that signs short texts, in the form in which its app sends it.
    static let eventKey = Parser("event-key") { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let key = SignedEvent.key(text, algorithm: nil) else { return .refused }
        let keys = DeviceJWKs(ofEvents: key)
        let kept = try again("the keys of a device") { DeviceJWKs(keys.json) }
        try expect(kept.json == keys.json && kept.form == .event, "a key changes when it is kept")
        let named = ["EC", "RSA", "ED25519"].filter { SignedEvent.key(text, algorithm: $0) != nil }
        try expect(named.count == 1, "a key is of several algorithms, or of none")
        try expect(!key.isValid(derSignature: [], for: input), "nothing passes for a signature")
        return .read
    }

    /// What somebody types as the code of a device.
    static let userCode = Parser("user-code") { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let code = UserCode(typed: text) else { return .refused }
        let again = try again("a code") { UserCode(typed: "\(code)") }
        try expect(again == code, "a code changes when it is shown")
        let typed = text.unicodeScalars.filter { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        }
        let letters = String(typed).uppercased()
        try expect("\(code)" == "\(letters.prefix(4))-\(letters.suffix(4))", "a code is read that was not typed")
        return .read
    }
}
