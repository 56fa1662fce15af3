import Encodings
import Testing

@testable import WebAuthn

@Suite("CTAP 2.2 §8: CBOR in canonical form")
struct CBORTests {
    private func read(_ hex: String) throws -> CBORValue { try CBORValue(parsing: try #require(Hex.decode(hex))) }

    @Test(
        "RFC 8949 §3.1: each kind of value, which encodes to the same bytes",
        arguments: [
            "00", "17", "1818", "18ff", "190100", "19ffff", "1a00010000", "1b0000000100000000", "1b7fffffffffffffff",
            "20", "37", "3818", "390100", "3b7fffffffffffffff", "40", "4100", "60", "6161", "62c3a4", "80", "820102",
            "a0", "a10001", "a2000120f6", "a26161f56162f4", "f4", "f5", "f6", "81818180", "a100a100a100a0",
        ])
    func values(hex: String) throws {
        #expect(Hex.encode(try read(hex).encoded) == hex)
    }

    @Test("The members of a map are found by number and by the bytes of their names")
    func members() throws {
        let map = try read("a301022005616103")
        #expect(map[1]?.integer == 2)
        #expect(map[-1]?.integer == 5)
        #expect(map["a"]?.integer == 3)
        #expect(map[3] == nil)
        #expect(map["b"] == nil)
        #expect(try read("01")["a"] == nil)
        // The letter with its ring in one character is not the letter followed by a ring.
        #expect(try read("a162c3a501")["a\u{30A}"] == nil)
    }

    @Test(
        "Bytes that end within a value",
        arguments: [
            "", "18", "19ff", "1a000000", "1b00000000000000", "41", "6261", "81", "8201", "a1",
            "a100", "5affffffff", "9affffffff", "9bffffffffffffffff", "baffffffff", "bbffffffffffffffff",
            "5bffffffffffffffff", "5b7fffffffffffffff",
        ])
    func ends(hex: String) {
        #expect(throws: CBORError.endsEarly) { try read(hex) }
    }

    @Test("Bytes after the value", arguments: ["0000", "a000", "4000", "f6f6"])
    func trailing(hex: String) {
        #expect(throws: CBORError.trailingData) { try read(hex) }
    }

    @Test(
        "Numbers and lengths that are longer than they need to be",
        arguments: [
            "1800", "1817", "190000", "1900ff", "1a00000000", "1a0000ffff", "1b0000000000000000", "1b00000000ffffffff",
            "3817", "5800", "780161", "9800", "b800", "59000100", "a1180000",
        ])
    func shortest(hex: String) {
        #expect(throws: CBORError.notShortest) { try read(hex) }
    }

    @Test("Lengths that are not known before the content", arguments: ["5f4100ff", "7f6161ff", "9f01ff", "bf0001ff"])
    func indefinite(hex: String) {
        #expect(throws: CBORError.indefiniteLength) { try read(hex) }
    }

    @Test(
        "First bytes without a meaning", arguments: ["1c", "1d", "1e", "1f", "3f", "5c", "7d", "9e", "bc", "fc", "ff"])
    func reserved(hex: String) {
        #expect(throws: CBORError.reserved) { try read(hex) }
    }

    @Test(
        "WebAuthn Level 3 §2.4: tags, floating-point numbers and simple values are no part of the form",
        arguments: ["c000", "d81800", "f93c00", "fa3f800000", "fb3ff0000000000000", "f7", "e0", "f820", "81c100"])
    func unsupported(hex: String) {
        #expect(throws: CBORError.unsupported) { try read(hex) }
    }

    @Test("A key twice", arguments: ["a200010002", "a2616101616102", "a2200120f6"])
    func duplicates(hex: String) {
        #expect(throws: CBORError.duplicateKey) { try read(hex) }
    }

    @Test(
        "Keys in another order: kind before length before bytes",
        arguments: ["a201010001", "a220000000", "a261610000f6", "a2626161006161f6", "a2616200616100", "a218180001f6"])
    func order(hex: String) {
        #expect(throws: CBORError.keyOrder) { try read(hex) }
    }

    @Test("Keys that are neither numbers nor texts", arguments: ["a14000", "a18000", "a1a000", "a1f500", "a1f600"])
    func keyTypes(hex: String) {
        #expect(throws: CBORError.keyType) { try read(hex) }
    }

    @Test("Texts that are not UTF-8", arguments: ["61ff", "62c328", "63eda080", "62c080"])
    func texts(hex: String) {
        #expect(throws: CBORError.invalidUTF8) { try read(hex) }
    }

    @Test(
        "Numbers beyond 64 bits with a sign",
        arguments: ["1b8000000000000000", "3b8000000000000000", "3bffffffffffffffff"])
    func range(hex: String) {
        #expect(throws: CBORError.integerOutOfRange) { try read(hex) }
    }

    @Test("More than four levels", arguments: ["8181818180", "a100a100a100a100a0", "81a10081a10080"])
    func depth(hex: String) {
        #expect(throws: CBORError.tooDeep) { try read(hex) }
    }

    @Test("More bytes than the limit")
    func size() throws {
        let content = [UInt8](repeating: 0, count: CBORReader.maximumSize - 5)
        let limit = CBORValue.bytes(content).encoded
        #expect(limit.count == CBORReader.maximumSize - 2)
        #expect(try CBORValue(parsing: limit).bytes == content)
        #expect(throws: CBORError.trailingData) { try CBORValue(parsing: limit + [0, 0]) }
        #expect(throws: CBORError.tooLarge) { try CBORValue(parsing: limit + [0, 0, 0]) }
    }

    @Test("The reader leaves what follows a value")
    func following() throws {
        var reader = try CBORReader([0xFF, 0x01, 0x41, 0x05], from: 1)
        #expect(try reader.value().integer == 1)
        #expect(reader.offset == 2)
        #expect(try reader.value().bytes == [5])
        #expect(throws: CBORError.endsEarly) { try reader.value() }
    }

    @Test("Whatever the bytes, they are refused, or encode to themselves", .timeLimit(.minutes(1)), arguments: 1...8)
    func random(seed: UInt64) throws {
        var chance = Chance(seed: seed)
        let good = SoftAuthenticator().attestationObjectBytes
        var read = 0
        for round in 0..<1500 {
            let input: [UInt8]
            if round.isMultiple(of: 2) {
                input = (0..<Int.random(in: 0...40, using: &chance)).map { _ in
                    UInt8.random(in: 0...255, using: &chance)
                }
            } else {
                input = chance.changed(good)
            }
            do throws(CBORError) {
                let value = try CBORValue(parsing: input)
                read += 1
                #expect(value.encoded == input, "seed \(seed), round \(round): \(Hex.encode(input))")
            } catch {}
            // The same bytes as parts of a response: refused or read, without a trap.
            _ = try? AuthenticatorData(parsing: input)
            _ = try? CredentialPublicKey(cose: input)
            _ = try? AttestationObject(parsing: input)
            _ = try? CollectedClientData(parsing: input)
        }
        #expect(read > 0)
    }

    @Test("A first byte that announces much makes no room for it", .timeLimit(.minutes(1)))
    func announcements() {
        for kind in [0x9A, 0xBA, 0x5A, 0x7A] as [UInt8] {
            for _ in 0..<10_000 {
                #expect(throws: CBORError.endsEarly) { try CBORValue(parsing: [kind, 0xFF, 0xFF, 0xFF, 0xFF, 0]) }
            }
        }
    }
}

/// A reproducible random generator: SplitMix64 by Steele, Lea and Flood.
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// The bytes with one to three of them changed, removed or repeated.
    mutating func changed(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...3, using: &self) {
            let index = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            default: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            }
        }
        return bytes
    }
}

extension SoftAuthenticator {
    var attestationObjectBytes: [UInt8] {
        registration["response"]?["attestationObject"]?.string.flatMap { Base64URL.decode($0) } ?? []
    }
}
