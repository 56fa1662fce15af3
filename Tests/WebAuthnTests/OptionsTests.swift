import Encodings
import Testing

@testable import WebAuthn

@Suite("What browsers are asked for")
struct OptionsTests {
    private static let site = SoftAuthenticator.site
    private static let challenge = SoftAuthenticator.challenge
    private static let user = PasskeyUser(handle: SoftAuthenticator.user, name: "anna@example.com", displayName: "Anna")

    @Test(
        "WebAuthn Level 3 §5.4, §5.4.4 and §15.1: a discoverable passkey that verifies its user, vouched for by nobody")
    func creation() throws {
        let existing = PasskeyDescriptor(try CredentialID([1, 2, 3]), transports: ["usb", "nfc"])
        let options = Self.site.creationOptions(for: Self.user, challenge: Self.challenge, excluding: [existing])
        let expected: JSONValue = [
            "rp": ["id": "login.example.com", "name": "Example"],
            "user": ["id": "AQID", "name": "anna@example.com", "displayName": "Anna"],
            "challenge": .string(Base64URL.encode(Self.challenge.bytes)),
            "pubKeyCredParams": [
                ["type": "public-key", "alg": -7], ["type": "public-key", "alg": -8],
                ["type": "public-key", "alg": -257],
            ],
            "timeout": 300_000,
            "excludeCredentials": [["type": "public-key", "id": "AQID", "transports": ["usb", "nfc"]]],
            "authenticatorSelection": [
                "residentKey": "required", "requireResidentKey": true, "userVerification": "required",
            ],
            "attestation": "none",
            "extensions": ["credProps": true],
        ]
        #expect(options == expected)
        let none = Self.site.creationOptions(for: Self.user, challenge: Self.challenge, excluding: [], timeout: 400_000)
        #expect(none["excludeCredentials"] == [])
        #expect(none["timeout"] == 400_000)
    }

    @Test("WebAuthn Level 3 §5.5 and §5.8.3: any passkey of the site, or the named ones, with user verification")
    func request() throws {
        let options = Self.site.requestOptions(challenge: Self.challenge, allowing: [])
        let expected: JSONValue = [
            "challenge": .string(Base64URL.encode(Self.challenge.bytes)), "timeout": 300_000,
            "rpId": "login.example.com", "allowCredentials": [], "userVerification": "required",
        ]
        #expect(options == expected)
        let named = PasskeyDescriptor(try CredentialID([1, 2, 3]), transports: [])
        #expect(
            Self.site.requestOptions(challenge: Self.challenge, allowing: [named])["allowCredentials"]
                == [["type": "public-key", "id": "AQID", "transports": []]])
    }

    @Test(
        "WebAuthn Level 3 §4, Relying Party Identifier: the origins at which browsers have passkeys",
        arguments: [
            ("https://login.example.com", "login.example.com"), ("https://login.example.com:8443", "login.example.com"),
            ("http://localhost:8080", "localhost"), ("http://localhost", "localhost"),
            ("https://localhost", "localhost"),
            ("https://xn--mller-kva.example", "xn--mller-kva.example"), ("https://1.a2", "1.a2"),
        ])
    func origins(origin: String, id: String) throws {
        let site = try #require(PasskeyRelyingParty(origin: origin, name: "Example"))
        #expect(site.id == id)
        #expect(site.origin == origin)
    }

    @Test(
        "Other origins are refused",
        arguments: [
            "", "login.example.com", "https://", "https:/login.example.com", "http://login.example.com",
            "https://login.example.com/", "https://login.example.com/a", "https://login.example.com:443",
            "http://localhost:80", "https://login.example.com:", "https://login.example.com:0",
            "https://login.example.com:08443", "https://login.example.com:65536", "https://LOGIN.example.com",
            "https://192.0.2.1", "https://[2001:db8::1]", "https://a..b", "https://.example.com",
            "https://example.com.",
            "https://anna@example.com", "https://müller.example", "https://-a.example", "HTTPS://example.com",
            "http://127.0.0.1:8080", "ftp://localhost", "https://example.com?a", "https://example.com#a",
        ])
    func otherOrigins(origin: String) {
        #expect(PasskeyRelyingParty(origin: origin, name: "Example") == nil)
    }
}
