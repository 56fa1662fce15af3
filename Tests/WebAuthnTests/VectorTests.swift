import Crypto
import Encodings
import Foundation
import Testing

@testable import WebAuthn

@Suite("WebAuthn Level 3 §16: the examples of the specification")
struct VectorTests {
    private static let site = PasskeyRelyingParty(origin: "https://example.org", name: "Example")!
    private static let user = UserHandle([1])!

    /// An example with what becomes of it here.
    struct Example: Sendable, CustomStringConvertible {
        let description: String
        let values: [String: [UInt8]]

        func bytes(_ name: String) throws -> [UInt8] { try #require(values[name], "\(name) of \(description)") }

        func text(_ name: String) throws -> JSONValue { .string(Base64URL.encode(try bytes(name))) }
    }

    private static let examples: [Example] = {
        guard let file = Bundle.module.url(forResource: "level-3", withExtension: "txt", subdirectory: "Vectors"),
            let text = try? String(contentsOf: file, encoding: .utf8)
        else { return [] }
        return text.components(separatedBy: "\n[").dropFirst().map { section in
            let lines = section.split(separator: "\n")
            let pairs = lines.dropFirst().map { $0.components(separatedBy: " = ") }
            return Example(
                description: String(lines[0].dropLast()),
                values: Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], Hex.decode($0[1]) ?? []) }))
        }
    }()

    /// Why the registration of an example is refused; the others are accepted.
    private static let refusedRegistrations: [String: WebAuthnError] = [
        "16.2 none.ES256": .userNotVerified,
        "16.4 none.ES256.crossOrigin": .crossOrigin,
        "16.5 none.ES256.topOrigin": .crossOrigin,
        "16.6 none.ES256.long-credential-id": .userNotVerified,
        "16.7 packed.ES256": .attestationCertificates,
        "16.8 packed.ES384": .userNotVerified,
        "16.9 packed.ES512": .unsupportedAlgorithm,
        "16.10 packed.RS256": .attestationCertificates,
        "16.11 packed.EdDSA": .userNotVerified,
        "16.12 packed.Ed448": .userNotVerified,
        "16.13 tpm.ES256": .unsupportedAttestation,
        "16.14 android-key.ES256": .unsupportedAttestation,
        "16.15 apple.ES256": .userNotVerified,
        "16.16 fido-u2f.ES256": .userNotVerified,
    ]

    /// Why the sign-in of an example is refused; the others are accepted.
    private static let refusedSignIns: [String: WebAuthnError] = [
        "16.2 none.ES256": .userNotVerified,
        "16.3 packed-self.ES256": .userNotVerified,
        "16.4 none.ES256.crossOrigin": .crossOrigin,
        "16.5 none.ES256.topOrigin": .crossOrigin,
        "16.10 packed.RS256": .userNotVerified,
        "16.11 packed.EdDSA": .userNotVerified,
        "16.14 android-key.ES256": .userNotVerified,
        "16.15 apple.ES256": .userNotVerified,
        "16.16 fido-u2f.ES256": .userNotVerified,
    ]

    /// The examples with keys for algorithms that are not offered.
    private static let otherAlgorithms = ["16.8 packed.ES384", "16.9 packed.ES512", "16.12 packed.Ed448"]

    private static func data(_ example: Example) throws -> AuthenticatorData {
        let object = try AttestationObject(parsing: try example.bytes("registration.attestationObject"))
        return try AuthenticatorData(parsing: object.authenticatorData)
    }

    @Test("All examples are there")
    func complete() {
        #expect(Self.examples.count == 15)
        let names = Set(Self.examples.map(\.description))
        #expect(names.isSuperset(of: Self.refusedRegistrations.keys))
        #expect(names.isSuperset(of: Self.refusedSignIns.keys))
        #expect(names.isSuperset(of: Self.otherAlgorithms))
    }

    @Test("Registrations are accepted, or refused for this reason", arguments: examples)
    func registrations(example: Example) throws {
        let id = try #require(try Self.data(example).credential).id
        let response = try RegistrationResponse([
            "id": .string(Base64URL.encode(id.bytes)), "rawId": .string(Base64URL.encode(id.bytes)),
            "type": "public-key",
            "response": [
                "clientDataJSON": try example.text("registration.clientDataJSON"),
                "attestationObject": try example.text("registration.attestationObject"),
            ],
        ])
        let challenge = try #require(CeremonyChallenge(try example.bytes("registration.challenge")))
        if let error = Self.refusedRegistrations[example.description] {
            #expect(throws: error) { try Self.site.verify(response, challenge: challenge) }
        } else {
            let registration = try Self.site.verify(response, challenge: challenge)
            #expect(registration.attestation == .byItself)
            #expect(registration.isBackupEligible)
        }
    }

    @Test("Sign-ins are accepted, or refused for this reason", arguments: examples)
    func signIns(example: Example) throws {
        let data = try Self.data(example)
        let credential = try #require(data.credential)
        guard !Self.otherAlgorithms.contains(example.description) else {
            #expect(throws: WebAuthnError.unsupportedAlgorithm) { try CredentialPublicKey(cose: credential.publicKey) }
            return
        }
        let key = try CredentialPublicKey(cose: credential.publicKey)
        let passkey = Passkey(
            credentialID: credential.id, publicKey: key, userHandle: Self.user, signCount: data.signCount,
            isBackupEligible: data.flags.contains(.backupEligible))
        let response = try AssertionResponse([
            "id": .string(Base64URL.encode(credential.id.bytes)),
            "rawId": .string(Base64URL.encode(credential.id.bytes)),
            "type": "public-key",
            "response": [
                "clientDataJSON": try example.text("signIn.clientDataJSON"),
                "authenticatorData": try example.text("signIn.authenticatorData"),
                "signature": try example.text("signIn.signature"),
            ],
        ])
        let challenge = try #require(CeremonyChallenge(try example.bytes("signIn.challenge")))
        if let error = Self.refusedSignIns[example.description] {
            #expect(throws: error) {
                try Self.site.verify(response, challenge: challenge, by: passkey, of: Self.user)
            }
        } else {
            #expect(try Self.site.verify(response, challenge: challenge, by: passkey, of: Self.user).counter == .unused)
        }
        // What is refused for another reason is signed rightly.
        let input =
            try example.bytes("signIn.authenticatorData")
            + Array(SHA256.hash(data: try example.bytes("signIn.clientDataJSON")))
        #expect(key.isValid(try example.bytes("signIn.signature"), for: input))
        #expect(!key.isValid(try example.bytes("signIn.signature"), for: input + [0]))
    }
}
