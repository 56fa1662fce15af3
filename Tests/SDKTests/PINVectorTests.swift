import CountersignWire
import Crypto
import Encodings
import Foundation
import OpenPGP
import Testing

@testable import Countersign

/// The answers are of `scripts/make-pin-vectors`, which derives them with Python's own libraries.
@Suite("Design 3.1, PIN subkey: known answers for the key that is derived from a PIN")
struct PINVectorTests {
    private static let vectors: [JSONValue] = {
        guard let file = Bundle.module.url(forResource: "Vectors/pins", withExtension: "jsonl"),
            let lines = try? Data(contentsOf: file).split(separator: 0x0A)
        else { return [] }
        return lines.compactMap { try? JSONValue(parsing: Array($0)) }
    }()

    @Test("Known answers, one of them of another cost, one of another PIN", arguments: 0..<6)
    func knownAnswer(_ index: Int) async throws {
        let vector = try #require(Self.vectors.count == 6 ? Self.vectors[index] : nil)
        func bytes(_ name: String) throws -> [UInt8] { try #require(vector[name]?.string.flatMap { Hex.decode($0) }) }
        let cost = try #require(vector["cost"]?.integer)
        let stored = StoredPIN(
            role: .pin, salt: try bytes("salt"), point: try bytes("point"),
            cost: Int(cost), createdAt: 1_795_169_702)
        #expect(StoredPIN(stored.json) == stored)
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: try bytes("agreement_key"))
        let digits = try #require(vector["pin"]?.string)
        let pin = try PIN(digits)
        let primary = try #require(vector["primary"]?.string.flatMap { Fingerprint($0.uppercased()) })
        let derived = try await stored.signingKey(of: pin, with: key, primary: primary)
        let expected = try P256.Signing.PrivateKey(rawRepresentation: try bytes("key"))
        let pair = SigningKeyPair(expected, createdAt: 1_795_169_702)
        #expect(derived.publicKey.fingerprint == pair.publicKey.fingerprint)
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
