import Encodings
import Testing

@testable import WebAuthn

@Suite("WebAuthn Level 3 §6.1: authenticator data")
struct AuthenticatorDataTests {
    private func refused(_ error: WebAuthnError, _ change: (inout SoftAuthenticator) -> Void) {
        var authenticator = SoftAuthenticator()
        change(&authenticator)
        #expect(throws: error) { try authenticator.register() }
        #expect(throws: error) { try authenticator.signIn() }
    }

    @Test("WebAuthn Level 3 §7.1, step 14, and §7.2, step 15: an answer for another relying party is refused")
    func relyingParty() {
        for other in ["example.com", "login.example.com.", "", "https://login.example.com"] {
            refused(.wrongRelyingParty) { $0.relyingParty = other }
        }
    }

    @Test("WebAuthn Level 3 §7.1, step 15, and §7.2, step 16: without a touch it is refused")
    func userPresent() {
        refused(.userNotPresent) { $0.flags = 0x04 }
        refused(.userNotPresent) { $0.flags = 0x00 }
    }

    @Test("WebAuthn Level 3 §7.1, step 16, and §7.2, step 17: without user verification it is refused")
    func userVerified() {
        refused(.userNotVerified) { $0.flags = 0x01 }
    }

    @Test("WebAuthn Level 3 §7.1, step 17, and §7.2, step 18: backed up without being able to be is refused")
    func backup() {
        refused(.backedUpWithoutEligibility) { $0.flags = 0x15 }
    }

    @Test("Reserved flags are ignored")
    func reserved() throws {
        var authenticator = SoftAuthenticator()
        authenticator.flags = 0x27
        _ = try authenticator.register()
        _ = try authenticator.signIn()
    }

    @Test("WebAuthn Level 3 §6.5: a registration without a key is refused")
    func noCredential() {
        var authenticator = SoftAuthenticator()
        authenticator.credential = .some(nil)
        #expect(throws: WebAuthnError.noCredential) { try authenticator.register() }
    }

    @Test("Data that are too short or too long are refused, and cut off everywhere")
    func lengths() throws {
        refused(.malformedAuthenticatorData) { $0.trailing = [0] }
        refused(.malformedAuthenticatorData) { $0.trailing = [0xA0] }
        var authenticator = SoftAuthenticator()
        authenticator.extensions = .members(["credProtect": 3])
        let whole = authenticator.authenticatorData(withCredential: true)
        _ = try AuthenticatorData(parsing: whole)
        for count in 0..<whole.count {
            #expect(throws: WebAuthnError.self, "\(count) bytes") {
                try AuthenticatorData(parsing: Array(whole[..<count]))
            }
        }
        for count in [0, 36] {
            #expect(throws: WebAuthnError.malformedAuthenticatorData) {
                try AuthenticatorData(parsing: Array(whole[..<count]))
            }
        }
        // Within the model of the authenticator, and within the credential id.
        for count in [40, 60] {
            #expect(throws: WebAuthnError.malformedAuthenticatorData) {
                try AuthenticatorData(parsing: Array(whole[..<count]))
            }
        }
    }

    @Test("Extensions that nobody asked for are ignored; they must be a map in canonical form")
    func extensions() throws {
        var authenticator = SoftAuthenticator()
        authenticator.extensions = .members(["credProtect": 3, "hmac-secret": .bool(true)])
        _ = try authenticator.register()
        _ = try authenticator.signIn()
        refused(.malformedAuthenticatorData) { $0.extensions = 1 }
        refused(.malformedAuthenticatorData) { $0.extensions = .array([]) }
        refused(.cbor(.keyOrder)) { $0.extensions = .members(["b": 1, "a": 1]) }
        refused(.cbor(.endsEarly)) { $0.flags = 0x85 }
    }

    @Test("What the flags and the count say is told")
    func told() throws {
        var authenticator = SoftAuthenticator()
        authenticator.signCount = 0x0102_0304
        authenticator.flags = 0x1D
        let registration = try authenticator.register()
        #expect(registration.signCount == 0x0102_0304)
        #expect(registration.isBackupEligible)
        #expect(registration.isBackedUp)
        #expect(registration.aaguid == [UInt8](repeating: 0xAA, count: 16))
        authenticator.flags = 0x0D
        #expect(try !authenticator.register().isBackedUp)
        authenticator.flags = 0x05
        #expect(try !authenticator.register().isBackupEligible)
    }
}
