import Encodings
import Testing

@testable import WebAuthn

@Suite("WebAuthn Level 3 §5.1: the JSON that browsers send")
struct ResponseTests {
    private static let good = SoftAuthenticator()

    private func refused(_ error: WebAuthnError, _ name: String, _ value: JSONValue?) {
        for (json, read) in [
            (Self.good.registration, { json throws(WebAuthnError) in _ = try RegistrationResponse(json) }),
            (Self.good.assertion, { json throws(WebAuthnError) in _ = try AssertionResponse(json) }),
        ] as [(JSONValue, (JSONValue) throws(WebAuthnError) -> Void)] {
            var object = json.object ?? [:]
            object[name] = value
            #expect(throws: error, "\(name)") { try read(.object(object)) }
        }
    }

    @Test("A member that is missing or of another kind is refused")
    func members() {
        for name in ["id", "rawId", "response", "type"] {
            for value in [nil, .null, 1, []] as [JSONValue?] { refused(.malformedResponse, name, value) }
        }
        refused(.malformedResponse, "response", [:])
        for (name, json) in [("registration", Self.good.registration), ("assertion", Self.good.assertion)] {
            for value in ["AQ==", "A", "+/", " AQ", "AR"] as [JSONValue] {
                var object = json.object ?? [:]
                object["id"] = value
                object["rawId"] = value
                #expect(throws: WebAuthnError.malformedResponse, "\(name)") {
                    if name == "registration" {
                        _ = try RegistrationResponse(.object(object))
                    } else {
                        _ = try AssertionResponse(.object(object))
                    }
                }
            }
        }
        for json in [.null, [], "", 1] as [JSONValue] {
            #expect(throws: WebAuthnError.malformedResponse) { try RegistrationResponse(json) }
            #expect(throws: WebAuthnError.malformedResponse) { try AssertionResponse(json) }
        }
    }

    @Test("Two different ids are refused")
    func ids() {
        refused(.malformedResponse, "id", "AQID")
        refused(.malformedResponse, "rawId", "AQID")
    }

    @Test("WebAuthn Level 3 §5.8.2: a credential of another type is refused")
    func type() {
        for type in ["password", "", "Public-Key"] as [JSONValue] { refused(.notPublicKey, "type", type) }
    }

    @Test("Every part of a response must be base64url, and has a limit")
    func sizes() {
        let long = Base64URL.encode([UInt8](repeating: 0, count: CredentialJSON.maximumSize + 1))
        for name in ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"] {
            for (value, error) in [
                (nil, .malformedResponse), (.null, .malformedResponse), (1, .malformedResponse),
                ("A", .malformedResponse),
                (.string(long), .tooLarge),
            ] as [(JSONValue?, WebAuthnError)] {
                var authenticator = Self.good
                authenticator.response = [name: value]
                if ["clientDataJSON", "attestationObject"].contains(name) {
                    #expect(throws: error) { try authenticator.register() }
                }
                if name != "attestationObject", name != "userHandle" || value != nil && value != .null {
                    #expect(throws: error) { try authenticator.signIn() }
                }
            }
        }
    }

    @Test("WebAuthn Level 3 §5.4.3: a user handle that is empty or too long is refused")
    func userHandles() {
        for count in [0, 65] {
            #expect(UserHandle([UInt8](repeating: 0, count: count)) == nil)
            var authenticator = Self.good
            authenticator.userHandle = .string(Base64URL.encode([UInt8](repeating: 0, count: count)))
            #expect(throws: WebAuthnError.malformedResponse) { try authenticator.signIn() }
        }
        for count in [1, 64] { #expect(UserHandle([UInt8](repeating: 0, count: count)) != nil) }
    }

    @Test("WebAuthn Level 3 §5.2.1: transports are kept as far as they are words, and none is needed")
    func transports() throws {
        let cases: [(JSONValue?, [String])] = [
            (["internal", "hybrid"], ["internal", "hybrid"]), (nil, []), (.null, []), ("usb", []), ([], []),
            (
                ["usb", 1, "", "USB", "smart-card", "a b", .string(String(repeating: "a", count: 33))],
                ["usb", "smart-card"]
            ),
            (.array([JSONValue](repeating: "usb", count: 20)), [String](repeating: "usb", count: 8)),
        ]
        for (value, expected) in cases {
            var authenticator = Self.good
            authenticator.response = ["transports": value]
            #expect(try authenticator.register().transports == expected)
        }
    }

    @Test("Whether the passkey is discoverable is told as the browser tells it")
    func discoverable() throws {
        let cases: [(JSONValue, Bool?)] = [
            ([:], nil), (["credProps": ["rk": true]], true), (["credProps": ["rk": false]], false),
            (["credProps": 1], nil),
            (.null, nil), (["other": true], nil),
        ]
        for (value, expected) in cases {
            var authenticator = Self.good
            authenticator.clientExtensions = value
            #expect(try authenticator.register().isDiscoverable == expected)
        }
    }
}
