import Crypto
import Encodings
import Testing

@testable import WebAuthn

@Suite("WebAuthn Level 3 §7.2: signing in")
struct AssertionTests {
    private static let other = UserHandle([9])!

    @Test("What is verified is what was sent")
    func verified() throws {
        let assertion = try SoftAuthenticator().signIn()
        #expect(assertion.userHandle == SoftAuthenticator.user)
        #expect(assertion.signCount == 0)
        #expect(assertion.counter == .unused)
        #expect(!assertion.isBackedUp)
    }

    @Test("WebAuthn Level 3 §7.2, step 5: another passkey than the one that the response names is refused")
    func otherCredential() throws {
        let passkey = try SoftAuthenticator.passkey(id: [1])
        #expect(throws: WebAuthnError.otherCredential) { try SoftAuthenticator().signIn(passkey) }
    }

    @Test("WebAuthn Level 3 §7.2, step 6: somebody must say who signs in")
    func missingUserHandle() throws {
        for missing in [nil, .null] as [JSONValue?] {
            var authenticator = SoftAuthenticator()
            authenticator.userHandle = missing
            #expect(throws: WebAuthnError.missingUserHandle) { try authenticator.signIn() }
            #expect(try authenticator.signIn(of: SoftAuthenticator.user).userHandle == SoftAuthenticator.user)
        }
    }

    @Test("WebAuthn Level 3 §7.2, step 6: a passkey of another user than the named one is refused")
    func passkeyOfAnother() throws {
        let passkey = try SoftAuthenticator.passkey(user: Self.other)
        #expect(throws: WebAuthnError.wrongUser) { try SoftAuthenticator().signIn(passkey) }
        var authenticator = SoftAuthenticator()
        authenticator.userHandle = nil
        #expect(throws: WebAuthnError.wrongUser) { try authenticator.signIn(passkey, of: SoftAuthenticator.user) }
        authenticator.userHandle = .string(Base64URL.encode(Self.other.bytes))
        #expect(throws: WebAuthnError.wrongUser) { try authenticator.signIn() }
        #expect(throws: WebAuthnError.wrongUser) { try authenticator.signIn(of: SoftAuthenticator.user) }
    }

    @Test("WebAuthn Level 3 §7.2, step 6: a passkey of another user than the known one is refused")
    func passkeyOfKnownUser() {
        #expect(throws: WebAuthnError.wrongUser) { try SoftAuthenticator().signIn(of: Self.other) }
    }

    @Test("WebAuthn Level 3 §6.1: a sign-in with a new key is refused")
    func newCredential() {
        var authenticator = SoftAuthenticator()
        authenticator.credential = authenticator.attestedCredential
        #expect(throws: WebAuthnError.unexpectedCredential) { try authenticator.signIn() }
    }

    @Test("WebAuthn Level 3 §7.2, step 19: a key that could not be backed up cannot now, nor the other way round")
    func backupEligibility() throws {
        var authenticator = SoftAuthenticator()
        let eligible = try SoftAuthenticator.passkey(isBackupEligible: true)
        #expect(throws: WebAuthnError.backupEligibilityChanged) { try authenticator.signIn(eligible) }
        authenticator.flags = 0x0D
        #expect(throws: WebAuthnError.backupEligibilityChanged) { try authenticator.signIn() }
        #expect(try !authenticator.signIn(eligible).isBackedUp)
        authenticator.flags = 0x1D
        #expect(try authenticator.signIn(eligible).isBackedUp)
    }

    @Test("WebAuthn Level 3 §7.2, step 21: a signature by another key, or over something else, is refused")
    func signature() throws {
        let authenticator = SoftAuthenticator()
        let data = authenticator.authenticatorData(withCredential: false)
        let clientData = authenticator.clientDataJSON("webauthn.get")
        let input = data + Array(SHA256.hash(data: clientData))
        let signatures = [
            [], [0], [UInt8](try P256.Signing.PrivateKey().signature(for: input).derRepresentation),
            SoftAuthenticator.signature(data, clientData + [0]), SoftAuthenticator.signature(data + [0], clientData),
            SoftAuthenticator.signature(clientData, data),
            [UInt8](try SoftAuthenticator.key.signature(for: input).rawRepresentation),
        ]
        for signature in signatures {
            var changed = authenticator
            changed.response = ["signature": .string(Base64URL.encode(signature))]
            #expect(throws: WebAuthnError.badSignature) { try changed.signIn() }
        }
        var right = authenticator
        right.response = ["signature": .string(Base64URL.encode(SoftAuthenticator.signature(data, clientData)))]
        _ = try right.signIn()
    }

    @Test(
        "WebAuthn Level 3 §7.2, step 22: a count that does not grow is told, and refuses nothing",
        arguments: [
            (0, 0, .unused), (0, 1, .grew), (5, 6, .grew), (5, .max, .grew), (5, 5, .didNotGrow), (5, 4, .didNotGrow),
            (5, 0, .didNotGrow), (.max, 0, .didNotGrow),
        ] as [(UInt32, UInt32, VerifiedAssertion.Counter)])
    func counter(kept: UInt32, sent: UInt32, expected: VerifiedAssertion.Counter) throws {
        var authenticator = SoftAuthenticator()
        authenticator.signCount = sent
        let assertion = try authenticator.signIn(try SoftAuthenticator.passkey(signCount: kept))
        #expect(assertion.counter == expected)
        #expect(assertion.signCount == sent)
    }

    @Test("Each byte of a sign-in is changed in turn: none is accepted")
    func everyByte() throws {
        let good = SoftAuthenticator().assertion
        let passkey = try SoftAuthenticator.passkey()
        func verify(_ json: JSONValue) throws {
            _ = try SoftAuthenticator.site.verify(
                try AssertionResponse(json), challenge: SoftAuthenticator.challenge, by: passkey, of: nil)
        }
        try verify(good)
        for part in ["clientDataJSON", "authenticatorData", "signature", "userHandle"] {
            try Mutations.ofPart(part, of: good) { changed, place in
                #expect(throws: WebAuthnError.self, "\(part), \(place)") { try verify(changed) }
            }
        }
        for changed in Mutations.ofID(good) { #expect(throws: WebAuthnError.otherCredential) { try verify(changed) } }
    }

    @Test("A sign-in is none with another challenge, at another site, or as a registration")
    func elsewhere() throws {
        let passkey = try SoftAuthenticator.passkey()
        let good = SoftAuthenticator()
        let later = try #require(CeremonyChallenge([UInt8](repeating: 1, count: 32)))
        #expect(throws: WebAuthnError.wrongChallenge) {
            try SoftAuthenticator.site.verify(
                try AssertionResponse(good.assertion), challenge: later, by: passkey, of: nil)
        }
        let site = try #require(PasskeyRelyingParty(origin: "https://login.example.org", name: "Other"))
        #expect(throws: WebAuthnError.wrongOrigin) {
            try site.verify(
                try AssertionResponse(good.assertion), challenge: SoftAuthenticator.challenge, by: passkey, of: nil)
        }
        #expect(throws: WebAuthnError.malformedResponse) { try RegistrationResponse(good.assertion) }
        #expect(throws: WebAuthnError.malformedResponse) { try AssertionResponse(good.registration) }
    }
}
