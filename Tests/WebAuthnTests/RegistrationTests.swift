import Encodings
import Foundation
import Testing

@testable import WebAuthn

@Suite("WebAuthn Level 3 §7.1: registration")
struct RegistrationTests {
    @Test("What is verified is what was sent")
    func verified() throws {
        let authenticator = SoftAuthenticator()
        let registration = try authenticator.register()
        #expect(registration.credentialID.bytes == authenticator.id)
        #expect(registration.publicKey.cose == SoftAuthenticator.coseKey.encoded)
        #expect(registration.signCount == 0)
        #expect(registration.transports == ["internal"])
    }

    @Test("WebAuthn Level 3 §7.1, step 25: an id that is empty or longer than 1023 bytes is refused")
    func idLength() throws {
        var authenticator = SoftAuthenticator()
        for count in [1, 1023] {
            authenticator.id = [UInt8](repeating: 9, count: count)
            #expect(try authenticator.register().credentialID.bytes.count == count)
        }
        for count in [0, 1024] {
            authenticator.id = [UInt8](repeating: 9, count: count)
            authenticator.rawID = nil
            #expect(throws: WebAuthnError.credentialIDLength) { try authenticator.register() }
            #expect(throws: WebAuthnError.credentialIDLength) {
                try AuthenticatorData(parsing: authenticator.authenticatorData(withCredential: true))
            }
        }
    }

    @Test("A response that names another credential than the authenticator is refused")
    func otherCredential() {
        var authenticator = SoftAuthenticator()
        authenticator.credential = authenticator.attestedCredential
        authenticator.id = [1]
        #expect(throws: WebAuthnError.otherCredential) { try authenticator.register() }
    }

    @Test("WebAuthn Level 3 §13.5.3: a challenge has 16 bytes at least, and 128 at most")
    func challenges() {
        for count in [0, 15, 129] { #expect(CeremonyChallenge([UInt8](repeating: 0, count: count)) == nil) }
        for count in [16, 128] { #expect(CeremonyChallenge([UInt8](repeating: 0, count: count)) != nil) }
    }

    @Test("WebAuthn Level 3 §7.1, step 26: the id that the caller must compare is told")
    func toldID() throws {
        #expect(try SoftAuthenticator().register().credentialID == CredentialID(Array(1...20)))
    }

    @Test("Each byte of a registration that its key signed is changed in turn: none is accepted")
    func everyByte() throws {
        let good = SoftAuthenticator().registration
        _ = try Self.site.verify(try RegistrationResponse(good), challenge: SoftAuthenticator.challenge)
        for part in ["clientDataJSON", "attestationObject"] {
            try Mutations.ofPart(part, of: good) { changed, place in
                #expect(throws: WebAuthnError.self, "\(part), \(place)") {
                    try Self.site.verify(try RegistrationResponse(changed), challenge: SoftAuthenticator.challenge)
                }
            }
        }
        for changed in Mutations.ofID(good) {
            #expect(throws: WebAuthnError.self) {
                try Self.site.verify(try RegistrationResponse(changed), challenge: SoftAuthenticator.challenge)
            }
        }
    }

    @Test("Each byte of a registration that nobody signed: what is accepted says nothing but count, model and backup")
    func everyByteUnsigned() throws {
        var authenticator = SoftAuthenticator()
        authenticator.format = "none"
        authenticator.statement = .map([])
        authenticator.flags = 0x0D
        let good = authenticator.registration
        let start =
            authenticator.attestationObjectBytes.count - authenticator.authenticatorData(withCredential: true).count
        // Flags, count and model; the flags only where the rules for them hold.
        let free = start + 32..<start + 53
        var accepted = 0
        try Mutations.ofPart("attestationObject", of: good) { changed, place in
            guard
                let registration = try? Self.site.verify(
                    try RegistrationResponse(changed), challenge: SoftAuthenticator.challenge)
            else { return }
            accepted += 1
            #expect(free.contains(place.index), "\(place)")
            #expect(registration.credentialID.bytes == authenticator.id)
            #expect(registration.publicKey.cose == SoftAuthenticator.coseKey.encoded)
        }
        #expect(accepted > 20)
        try Mutations.ofPart("clientDataJSON", of: good) { changed, place in
            guard
                (try? Self.site.verify(try RegistrationResponse(changed), challenge: SoftAuthenticator.challenge))
                    != nil
            else { return }
            // A member that nobody knows may be there instead of `crossOrigin`, which may be missing.
            let text = String(decoding: authenticator.clientDataJSON("webauthn.create"), as: UTF8.self)
            let range = try #require(text.range(of: "crossOrigin"))
            let first = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
            #expect((first..<first + 11).contains(place.index), "\(place)")
        }
    }

    private static let site = SoftAuthenticator.site
}

/// Changes of one byte each: one of its bits, and all of them.
enum Mutations {
    struct Place: CustomStringConvertible {
        let index: Int
        let bits: UInt8

        var description: String { "byte \(index), bits \(Hex.encode([bits]))" }
    }

    static func ofPart(_ name: String, of json: JSONValue, _ check: (JSONValue, Place) throws -> Void) throws {
        let bytes = try #require(json["response"]?[name]?.string.flatMap { Base64URL.decode($0) })
        try #require(!bytes.isEmpty)
        for index in bytes.indices {
            for bits in [1 << UInt8(index % 8), 0xFF] as [UInt8] {
                var other = bytes
                other[index] ^= bits
                var object = json.object ?? [:]
                var response = json["response"]?.object ?? [:]
                response[name] = .string(Base64URL.encode(other))
                object["response"] = .object(response)
                try check(.object(object), Place(index: index, bits: bits))
            }
        }
    }

    static func ofID(_ json: JSONValue) -> [JSONValue] {
        let id = json["id"]?.string.flatMap { Base64URL.decode($0) } ?? []
        return id.indices.map { index in
            var other = id
            other[index] ^= 1
            var object = json.object ?? [:]
            object["id"] = .string(Base64URL.encode(other))
            object["rawId"] = object["id"]
            return .object(object)
        }
    }
}
