import Crypto
import Encodings
import WebAuthn

extension Parser {
    /// CBOR in the canonical form of CTAP2.
    static let cbor = Parser("cbor") { input in
        let value: CBORValue
        do throws(CBORError) { value = try CBORValue(parsing: input) } catch { return .refused }
        try expect(encoded(value) == input, "CBOR has a second spelling")
        return .read
    }

    /// Attestation objects of a registration that is right in everything else.
    static let passkeyRegistration = Parser("passkey-registration") { input in
        let (site, challenge) = try passkeyCeremony()
        let response = credential(
            "webauthn.create", challenge, ["attestationObject": .string(Base64URL.encode(input))])
        let registration: VerifiedRegistration
        do throws(WebAuthnError) {
            registration = try site.verify(try RegistrationResponse(response), challenge: challenge)
        } catch {
            return .refused
        }
        try expect(registration.credentialID.bytes == passkeyID, "a passkey has another id than was sent")
        let key = try again("a public key") { try CredentialPublicKey(cose: registration.publicKey.cose) }
        try expect(key.algorithm == registration.publicKey.algorithm, "a public key changes its algorithm")
        return .read
    }

    /// Authenticator data that the property signs with the passkey's key.
    static let passkeySignIn = Parser("passkey-sign-in") { input in
        let (site, challenge) = try passkeyCeremony()
        let clientData = passkeyClientData("webauthn.get", challenge)
        let signature = try again("a key") {
            try FixedKeys.json.signature(for: input + Array(SHA256.hash(data: clientData)))
        }
        let response = credential(
            "webauthn.get", challenge,
            [
                "authenticatorData": .string(Base64URL.encode(input)),
                "signature": .string(Base64URL.encode(signature.derRepresentation)),
            ])
        let passkey = try again("a passkey") { () -> Passkey? in
            guard let user = UserHandle([1]) else { return nil }
            return Passkey(
                credentialID: try CredentialID(passkeyID), publicKey: try CredentialPublicKey(cose: passkeyKey),
                userHandle: user, signCount: 0, isBackupEligible: false)
        }
        do throws(WebAuthnError) {
            _ = try site.verify(
                try AssertionResponse(response), challenge: challenge, by: passkey, of: passkey.userHandle)
        } catch {
            return .refused
        }
        try expect(input.count >= 37 && input[32] & 0x5D == 0x05, "a sign-in without its user is accepted")
        return .read
    }

    private static let passkeyID: [UInt8] = Array(1...20)

    /// The public key of the fixed key as a COSE key.
    private static var passkeyKey: [UInt8] {
        let raw = Array(FixedKeys.json.publicKey.rawRepresentation)
        return [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + raw.prefix(32) + [0x22, 0x58, 0x20]
            + raw.suffix(32)
    }

    private static func passkeyCeremony() throws -> (PasskeyRelyingParty, CeremonyChallenge) {
        try again("a ceremony") {
            guard let site = PasskeyRelyingParty(origin: "https://login.example.com", name: "Example"),
                let challenge = CeremonyChallenge([UInt8](repeating: 1, count: 32))
            else { return nil }
            return (site, challenge)
        }
    }

    private static func passkeyClientData(_ type: String, _ challenge: CeremonyChallenge) -> [UInt8] {
        let json: JSONValue = [
            "type": .string(type), "challenge": .string(Base64URL.encode(challenge.bytes)),
            "origin": "https://login.example.com", "crossOrigin": false,
        ]
        return json.encoded
    }

    private static func credential(
        _ type: String, _ challenge: CeremonyChallenge, _ parts: JSONObject
    ) -> JSONValue {
        var response = parts
        response["clientDataJSON"] = .string(Base64URL.encode(passkeyClientData(type, challenge)))
        let id = JSONValue.string(Base64URL.encode(passkeyID))
        return ["id": id, "rawId": id, "type": "public-key", "response": .object(response)]
    }

    private static func encoded(_ value: CBORValue) -> [UInt8] {
        switch value {
        case .integer(let number) where number < 0: head(1, UInt64(-1 - number))
        case .integer(let number): head(0, UInt64(number))
        case .bytes(let bytes): head(2, UInt64(bytes.count)) + bytes
        case .text(let text): head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let elements): head(4, UInt64(elements.count)) + elements.flatMap(encoded)
        case .map(let members):
            head(5, UInt64(members.count)) + members.flatMap { encoded($0.key) + encoded($0.value) }
        case .bool(let flag): [flag ? 0xF5 : 0xF4]
        case .null: [0xF6]
        }
    }

    private static func head(_ kind: UInt8, _ number: UInt64) -> [UInt8] {
        guard number >= 24 else { return [kind << 5 | UInt8(number)] }
        let size = number > 0xFFFF_FFFF ? 3 : number > 0xFFFF ? 2 : number > 0xFF ? 1 : 0
        let bytes = (0..<1 << size).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) }
        return [kind << 5 | UInt8(24 + size)] + bytes
    }
}
