import Encodings
import Testing

@testable import WebAuthn

@Suite("WebAuthn Level 3 §5.8.1: client data")
struct ClientDataTests {
    private func refused(_ clientData: KeyValuePairs<String, JSONValue?>, _ error: WebAuthnError) {
        var authenticator = SoftAuthenticator()
        authenticator.clientData = clientData
        #expect(throws: error) { try authenticator.register() }
        #expect(throws: error) { try authenticator.signIn() }
    }

    private func refused(_ bytes: [UInt8], _ error: WebAuthnError) {
        var authenticator = SoftAuthenticator()
        authenticator.clientDataBytes = bytes
        #expect(throws: error) { try authenticator.register() }
        #expect(throws: error) { try authenticator.signIn() }
    }

    @Test("WebAuthn Level 3 §7.1, step 7, and §7.2, step 10: client data of another ceremony are refused")
    func type() throws {
        for type in ["webauthn.other", "", "WebAuthn.create", "payment.get"] {
            refused(["type": .string(type)], .wrongType)
        }
        var authenticator = SoftAuthenticator()
        authenticator.clientData = ["type": "webauthn.get"]
        #expect(throws: WebAuthnError.wrongType) { try authenticator.register() }
        _ = try authenticator.signIn()
        authenticator.clientData = ["type": "webauthn.create"]
        #expect(throws: WebAuthnError.wrongType) { try authenticator.signIn() }
        _ = try authenticator.register()
    }

    @Test("WebAuthn Level 3 §7.1, step 8, and §7.2, step 11: another challenge is refused, and another spelling")
    func challenge() {
        let right = Base64URL.encode(SoftAuthenticator.challenge.bytes)
        for other in [
            "", String(right.dropLast()), right + "=", right + "A", Base64URL.encode([UInt8](repeating: 0, count: 32)),
        ] {
            refused(["challenge": .string(other)], .wrongChallenge)
        }
    }

    @Test("WebAuthn Level 3 §7.1, step 9, and §7.2, step 12: a page at another origin is refused")
    func origin() {
        for other in [
            "https://login.example.com:443", "https://login.example.com/", "http://login.example.com",
            "https://example.com", "https://login.example.com.evil.example", "https://LOGIN.example.com", "",
            "android:apk-key-hash:AAAA",
        ] {
            refused(["origin": .string(other)], .wrongOrigin)
        }
    }

    @Test("WebAuthn Level 3 §7.1, step 10, and §7.2, step 13: a frame in a page of another site is refused")
    func crossOrigin() throws {
        refused(["crossOrigin": true], .crossOrigin)
        // The member may be missing: browsers of Level 1 have none.
        var authenticator = SoftAuthenticator()
        authenticator.clientData = ["crossOrigin": nil]
        _ = try authenticator.register()
        _ = try authenticator.signIn()
    }

    @Test("WebAuthn Level 3 §7.1, step 11, and §7.2, step 14: a page around ours is refused, whoever's it is")
    func topOrigin() {
        for origin in ["https://example.com", .string(SoftAuthenticator.site.origin), .null, 1] as [JSONValue] {
            refused(["topOrigin": origin], .topOrigin)
        }
    }

    @Test("WebAuthn Level 3 §7.1, step 6, and §7.2, step 9: what is not the JSON of client data is refused")
    func malformed() {
        for name in ["type", "challenge", "origin"] {
            for value in [nil, .null, 1, true, [], [:]] as [JSONValue?] {
                refused([name: value], .malformedClientData)
            }
        }
        for value in [.null, 1, "true", []] as [JSONValue] { refused(["crossOrigin": value], .malformedClientData) }
        let right = String(decoding: SoftAuthenticator().clientDataJSON("webauthn.get"), as: UTF8.self)
        for text in [
            "", "[]", "null", "{", right + "}", right + right,
            right.replacing("{\"type\"", with: "{\"type\":\"a\",\"type\""),
        ] {
            refused(Array(text.utf8), .malformedClientData)
        }
        refused(
            Array(right.utf8.dropLast()) + Array(",\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8), .malformedClientData)
    }

    @Test("WebAuthn Level 3 §7.1, step 5, and §7.2, step 8: a byte order mark is skipped, and unknown members are")
    func byteOrderMark() throws {
        var authenticator = SoftAuthenticator()
        authenticator.clientData = ["tokenBinding": ["status": "supported"], "other": [1]]
        authenticator.clientDataBytes = [0xEF, 0xBB, 0xBF] + authenticator.clientDataJSON("webauthn.create")
        _ = try authenticator.register()
        authenticator.clientDataBytes = nil
        authenticator.clientDataBytes = [0xEF, 0xBB, 0xBF] + authenticator.clientDataJSON("webauthn.get")
        _ = try authenticator.signIn()
        refused([0xEF, 0xBB, 0xBF] + (authenticator.clientDataBytes ?? []), .malformedClientData)
    }
}
