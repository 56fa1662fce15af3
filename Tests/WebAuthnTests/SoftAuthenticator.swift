import Crypto
import Encodings

@testable import WebAuthn

/// A passkey in memory, with the browser around it; a test changes one part of what it says.
struct SoftAuthenticator {
    static let site = PasskeyRelyingParty(origin: "https://login.example.com", name: "Example")!
    static let challenge = CeremonyChallenge([UInt8](repeating: 0xC5, count: 32))!
    static let user = UserHandle([1, 2, 3])!
    /// The public key is the same in each run, so that mutations meet the same bytes.
    static let key = try! P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 7, count: 32))

    var id: [UInt8] = Array(1...20)
    var rawID: [UInt8]?
    var credentialType: JSONValue = "public-key"
    var clientData: KeyValuePairs<String, JSONValue?> = [:]
    var clientDataBytes: [UInt8]?
    var relyingParty = site.id
    /// User present and verified.
    var flags: UInt8 = 0x05
    var signCount: UInt32 = 0
    var credential: [UInt8]??
    var coseKey: CBORValue?
    var extensions: CBORValue?
    var trailing: [UInt8] = []
    var format: CBORValue = "packed"
    var statement: CBORValue?
    var statementAlgorithm: Int64 = -7
    var attestationObject: CBORValue?
    var userHandle: JSONValue? = .string(Base64URL.encode(user.bytes))
    var response: KeyValuePairs<String, JSONValue?> = [:]
    var clientExtensions: JSONValue = [:]

    static var cosePoint: (x: [UInt8], y: [UInt8]) {
        let raw = [UInt8](key.publicKey.rawRepresentation)
        return (Array(raw.prefix(32)), Array(raw.suffix(32)))
    }

    static var coseKey: CBORValue {
        .members([1: 2, 3: -7, -1: 1, -2: .bytes(cosePoint.x), -3: .bytes(cosePoint.y)])
    }

    func clientDataJSON(_ type: String) -> [UInt8] {
        if let clientDataBytes { return clientDataBytes }
        var object: JSONObject = [
            "type": .string(type), "challenge": .string(Base64URL.encode(Self.challenge.bytes)),
            "origin": .string(Self.site.origin), "crossOrigin": false,
        ]
        for (name, value) in clientData { object[name] = value }
        return JSONValue.object(object).encoded
    }

    func authenticatorData(withCredential: Bool) -> [UInt8] {
        let parts = credential ?? (withCredential ? attestedCredential : nil)
        let set = flags | (parts == nil ? 0 : 0x40) | (extensions == nil ? 0 : 0x80)
        let count = (0..<4).reversed().map { UInt8(truncatingIfNeeded: signCount >> UInt32($0 * 8)) }
        return Array(SHA256.hash(data: Array(relyingParty.utf8))) + [set] + count + (parts ?? [])
            + (extensions?.encoded ?? []) + trailing
    }

    var attestedCredential: [UInt8] {
        [UInt8](repeating: 0xAA, count: 16) + [UInt8(id.count >> 8), UInt8(id.count & 0xFF)] + id
            + (coseKey ?? Self.coseKey).encoded
    }

    static func signature(_ data: [UInt8], _ clientData: [UInt8]) -> [UInt8] {
        [UInt8](try! key.signature(for: data + Array(SHA256.hash(data: clientData))).derRepresentation)
    }

    private func json(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        var response = JSONObject(members)
        for (name, value) in self.response { response[name] = value }
        return [
            "id": .string(Base64URL.encode(id)), "rawId": .string(Base64URL.encode(rawID ?? id)),
            "type": credentialType, "response": .object(response), "clientExtensionResults": clientExtensions,
            "authenticatorAttachment": "platform",
        ]
    }

    /// What the browser sends to register the passkey.
    var registration: JSONValue {
        let clientData = clientDataJSON("webauthn.create")
        let data = authenticatorData(withCredential: true)
        let own: CBORValue = .members([
            "alg": .integer(statementAlgorithm), "sig": .bytes(Self.signature(data, clientData)),
        ])
        let object =
            attestationObject
            ?? .members(["fmt": format, "attStmt": statement ?? own, "authData": .bytes(data)])
        return json([
            "clientDataJSON": .string(Base64URL.encode(clientData)),
            "attestationObject": .string(Base64URL.encode(object.encoded)), "transports": ["internal"],
        ])
    }

    /// What the browser sends to sign in.
    var assertion: JSONValue {
        let clientData = clientDataJSON("webauthn.get")
        let data = authenticatorData(withCredential: false)
        return json([
            "clientDataJSON": .string(Base64URL.encode(clientData)),
            "authenticatorData": .string(Base64URL.encode(data)),
            "signature": .string(Base64URL.encode(Self.signature(data, clientData))), "userHandle": userHandle,
        ])
    }

    func register() throws(WebAuthnError) -> VerifiedRegistration {
        try Self.site.verify(try RegistrationResponse(registration), challenge: Self.challenge)
    }

    /// The passkey as the server keeps it.
    static func passkey(
        id: [UInt8] = Array(1...20), user: UserHandle = user, signCount: UInt32 = 0, isBackupEligible: Bool = false
    ) throws -> Passkey {
        Passkey(
            credentialID: try CredentialID(id), publicKey: try CredentialPublicKey(cose: coseKey.encoded),
            userHandle: user, signCount: signCount, isBackupEligible: isBackupEligible)
    }

    func signIn(_ passkey: Passkey? = nil, of user: UserHandle? = nil) throws -> VerifiedAssertion {
        try Self.site.verify(
            try AssertionResponse(assertion), challenge: Self.challenge, by: try passkey ?? Self.passkey(), of: user)
    }
}
