import CountersignWire
import Crypto
import Encodings
import Foundation
import OpenPGP
import Testing

@testable import Countersign

/// The answers are those of `docs/protocol/vectors/pin.json`, which another implementation has made.
@Suite("Known answers for the key that is derived from a PIN")
struct PINVectorTests {
    private static let vectors: [JSONValue] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/protocol/vectors/pin.json")
        guard let bytes = try? Data(contentsOf: file) else { return [] }
        return (try? JSONValue(parsing: Array(bytes)))?["cases"]?.array ?? []
    }()

    @Test("Known answers, one of them of another cost, one of another PIN", arguments: 0..<6)
    func knownAnswer(_ index: Int) async throws {
        let vector = try #require(Self.vectors.count == 6 ? Self.vectors[index] : nil)
        func bytes(_ name: String) throws -> [UInt8] { try #require(vector[name]?.string.flatMap { Hex.decode($0) }) }
        let (cost, created) = (try #require(vector["cost"]?.integer), try #require(vector["created"]?.integer))
        let stored = StoredPIN(
            role: .pin, salt: try bytes("salt"), point: try bytes("point"), cost: Int(cost),
            createdAt: UnixSeconds(created))
        #expect(StoredPIN(stored.json) == stored)
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: try bytes("agreement_private_key"))
        let pin = try PIN(try #require(vector["pin"]?.string))
        let primary = try #require(vector["primary_fingerprint"]?.string.flatMap { Fingerprint($0) })
        let derived = try await stored.signingKey(of: pin, with: key, primary: primary)
        #expect("\(derived.publicKey.fingerprint)" == vector["fingerprint"]?.string)
        #expect(derived.publicKey.body == (try bytes("key_packet_body")))
        let expected = try P256.Signing.PrivateKey(rawRepresentation: try bytes("private_key"))
        #expect(SigningKeyPair(expected, createdAt: UnixSeconds(created)).publicKey.body == derived.publicKey.body)
    }

    @Test(
        "A PIN is 4 to 32 ASCII digits",
        arguments: ["", "123", "12a4", " 1234", "１２３４", String(repeating: "1", count: 33)])
    func refused(_ text: String) {
        let error = #expect(throws: CountersignError.self) { try PIN(text) }
        #expect(error?.code == "pin_policy")
        if case .pinPolicy(let violation) = error { #expect(violation == .length) }
    }

    @Test("A PIN is not printed")
    func hidden() throws {
        let pin = try PIN("83517")
        #expect(!"\(pin) \(String(reflecting: pin))".contains("83517"))
        var dumped = ""
        dump(pin, to: &dumped)
        #expect(!dumped.contains("83517"))
    }
}
