import CountersignWire
import Encodings
import Foundation
import JOSE
import Testing

// Spec: docs/protocol/jwk-devices.md, *Events*.
@Suite("What devices of apps that were written for Cotter sign")
struct SignedEventTests {
    // Spec: RFC 3279 §2.2.3, RFC 5280 §4.1.
    @Test("docs/protocol/vectors: each key and each signature, in the forms of Cotter's libraries")
    func vectors() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/protocol/vectors/event-answer.json")
        let file = try JSONValue(parsing: Array(Data(contentsOf: path)))
        let user = try #require(file["user"]?.string)
        let client = try #require(file["client"]?.string)
        let event = try #require(file["event"]?.string.flatMap { EventName($0) })
        let time = try #require(file["timestamp"]?.integer)
        let cases = try #require(file["cases"]?.array)
        try #require(cases.count > 20)
        for vector in cases {
            let name = try #require(vector["name"]?.string)
            let isApproved = try #require(vector["approved"]?.bool as Bool?)
            let signed = SignedEvent(
                user: user, client: client, name: event, timestamp: time, isApproved: isApproved)
            #expect(signed.text == vector["text"]?.string, "\(name)")
            let sent = try #require(vector["public_key"]?.string)
            guard let key = SignedEvent.key(sent, algorithm: vector["algorithm"]?.string) else {
                #expect(vector["error"] == "key", "\(name)")
                continue
            }
            let signature = try #require(vector["signature"]?.string.flatMap { SignedEvent.bytes($0) }, "\(name)")
            let isValid = key.isValid(derSignature: signature, for: Array(signed.text.utf8))
            #expect(isValid == (vector["error"] == .null), "\(name)")
            #expect(isValid || vector["error"] == "signature", "\(name)")
        }
    }

    @Test("A name has capital letters and underscores, and no digit that could belong to the time")
    func names() {
        for text in ["LOGIN", "LOGIN_WITH_DEVICE", "A", "_", String(repeating: "A", count: 64)] {
            #expect(EventName(text)?.text == text)
        }
        for text in ["", "login", "LOGIN1", "LOG IN", "LOGIN\n", "\u{C4}", String(repeating: "A", count: 65)] {
            #expect(EventName(text) == nil, "\(text)")
        }
    }

    @Test("What is too long is not decoded")
    func lengths() {
        #expect(SignedEvent.bytes(String(repeating: "A", count: 4096)) != nil)
        #expect(SignedEvent.bytes(String(repeating: "A", count: 4100)) == nil)
        #expect(SignedEvent.bytes(" \r\nAA\n==\t") == [0])
        for text in ["A", "AA", "AA=", "A-__", "\u{A0}AA=="] { #expect(SignedEvent.bytes(text) == nil, "\(text)") }
    }

    @Test("The key of such a device is kept with what it signs, and proves less than a JWT's")
    func kept() throws {
        let key = try #require(SignedEvent.key(Base64.encode(Self.edwards), algorithm: "ED25519"))
        let keys = DeviceJWKs(ofEvents: key)
        #expect(keys.form == .event && keys.userVerification == nil)
        #expect(Credential.jwk(keys).assurance == .event)
        let read = try #require(DeviceJWKs(keys.json))
        #expect(read.form == .event && read.json == keys.json && read.withoutUserVerification.form == .event)
        let jwt = try DeviceJWKs(proofOfPossession: JWK(key).json)
        #expect(jwt.form == .jwt && Credential.jwk(jwt).assurance == .challenge && jwt.json["answers"] == nil)
        #expect(jwt.thumbprints == keys.thumbprints)
        var json = try #require(keys.json.object)
        for value in ["jwt", "other", .null, true] as [JSONValue] {
            json["answers"] = value
            #expect(DeviceJWKs(.object(json)) == nil, "\(value)")
        }
        let evidence = [Evidence.event("{}", keys: []), .jwt("{}", keys: [])]
        #expect(evidence[0] == evidence[0] && evidence[0] != evidence[1])
        #expect(evidence[0].assurance == .event && evidence[0].text == "{}")
    }

    /// The public key of RFC 8032 §7.1, test 1.
    private static let edwards: [UInt8] =
        Hex.decode("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a") ?? []
}
