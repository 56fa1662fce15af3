import Crypto
import Encodings
import Testing

@testable import WebAuthn

@Suite("WebAuthn Level 3 §7.1, steps 21 and 22: attestation")
struct AttestationTests {
    private func refused(_ error: WebAuthnError, _ change: (inout SoftAuthenticator) -> Void) {
        var authenticator = SoftAuthenticator()
        change(&authenticator)
        #expect(throws: error) { try authenticator.register() }
    }

    @Test("WebAuthn Level 3 §8.7: no attestation is accepted")
    func none() throws {
        var authenticator = SoftAuthenticator()
        authenticator.format = "none"
        authenticator.statement = .map([])
        #expect(try authenticator.register().attestation == .none)
    }

    @Test("WebAuthn Level 3 §8.7: no attestation with a content is refused")
    func noneWithContent() {
        refused(.malformedAttestation) { $0.format = "none" }
    }

    @Test("WebAuthn Level 3 §8.2: what the credential's own key signed is accepted")
    func byItself() throws {
        #expect(try SoftAuthenticator().register().attestation == .byItself)
    }

    @Test("WebAuthn Level 3 §8.2: certificates are refused, since nobody asked for them")
    func certificates() {
        let signature = CBORValue.bytes([])
        for chain in [.array([]), .array([.bytes([0x30])])] as [CBORValue] {
            refused(.attestationCertificates) {
                $0.statement = .members(["alg": -7, "sig": signature, "x5c": chain])
            }
        }
    }

    @Test("Every other format is refused, and none is found under another spelling")
    func formats() {
        for format in [
            "fido-u2f", "tpm", "android-key", "android-safetynet", "apple", "compound", "Packed", "NONE", "",
        ] {
            refused(.unsupportedAttestation) { $0.format = .text(format) }
        }
    }

    @Test("WebAuthn Level 3 §8.2: a statement with other members is refused")
    func members() {
        let signature = CBORValue.bytes([1])
        for statement in [
            .map([]), .members(["alg": -7]), .members(["sig": signature]),
            .members(["alg": "ES256", "sig": signature]),
            .members(["alg": -7, "sig": "text"]), .members(["alg": -7, "sig": signature, "ver": "2"]),
            .members(["alg": -7, "sig": signature, "ecdaaKeyId": .bytes([1])]),
        ] as [CBORValue] {
            refused(.malformedAttestation) { $0.statement = statement }
        }
    }

    @Test("WebAuthn Level 3 §8.2: a statement for another algorithm than the key's is refused")
    func algorithm() {
        for other in [-8, -257, 7, -35] as [Int64] { refused(.attestationAlgorithm) { $0.statementAlgorithm = other } }
    }

    @Test("A signature by another key, or over something else, is refused")
    func signature() throws {
        let authenticator = SoftAuthenticator()
        let data = authenticator.authenticatorData(withCredential: true)
        let clientData = authenticator.clientDataJSON("webauthn.create")
        let input = data + Array(SHA256.hash(data: clientData))
        let other = P256.Signing.PrivateKey()
        let signatures = [
            [], [0], [UInt8](try other.signature(for: input).derRepresentation),
            SoftAuthenticator.signature(data, clientData + [0]), SoftAuthenticator.signature(data + [0], clientData),
            [UInt8](try SoftAuthenticator.key.signature(for: input).rawRepresentation),
        ]
        for signature in signatures {
            refused(.badAttestationSignature) { $0.statement = .members(["alg": -7, "sig": .bytes(signature)]) }
        }
    }

    @Test("WebAuthn Level 3 §7.1, step 13, and §6.5.4: an attestation object of another form is refused")
    func object() {
        let data = CBORValue.bytes(SoftAuthenticator().authenticatorData(withCredential: true))
        for object in [
            1, .array([]), .map([]), .members(["fmt": "none", "attStmt": .map([])]),
            .members(["fmt": "none", "authData": data]), .members(["attStmt": .map([]), "authData": data]),
            .members(["fmt": 1, "attStmt": .map([]), "authData": data]),
            .members(["fmt": "none", "attStmt": .array([]), "authData": data]),
            .members(["fmt": "none", "attStmt": .map([]), "authData": "text"]),
            .members(["fmt": "none", "epAtt": .bool(true), "attStmt": .map([]), "authData": data]),
        ] as [CBORValue] {
            refused(.malformedAttestationObject) { $0.attestationObject = object }
        }
        refused(.cbor(.keyOrder)) {
            $0.attestationObject = .members(["authData": data, "fmt": "none", "attStmt": .map([])])
        }
        refused(.cbor(.duplicateKey)) {
            $0.attestationObject = .members(["fmt": "none", "fmt": "packed", "attStmt": .map([]), "authData": data])
        }
    }
}
