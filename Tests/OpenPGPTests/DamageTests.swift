import Encodings
@testable import OpenPGP
import TestSupport
import Testing

@Suite("Damaged OpenPGP objects are refused and never trap")
struct DamageTests {
    private let box: MessageForge

    init() async throws {
        box = try await MessageForge()
    }

    @Test("A message with any byte changed is refused")
    func everyByte() async throws {
        let message = try await box.sealed()
        for index in message.indices {
            for change in [0x01, 0xFF] as [UInt8] {
                var other = message
                other[index] ^= change
                await #expect(throws: OpenPGPError.self, "byte \(index) ^ \(change)") { try await box.open(other) }
            }
        }
    }

    @Test("A message cut off anywhere is refused as cut off")
    func everyLength() async throws {
        let message = try await box.sealed()
        for length in 0..<message.count {
            await #expect(throws: OpenPGPError.truncated, "\(length) bytes") {
                try await box.open(Array(message.prefix(length)))
            }
        }
    }

    @Test("What a damaged message holds inside its encryption is refused, or is what the sender said")
    func insides() async throws {
        var generator = SeededGenerator.announced(by: "DamageTests.insides")
        let packets = try await box.packets()
        let (seed, expected) = (generator.seed, CanonicalText.withLineFeeds(MessageForge.content[...]))
        for _ in 0..<2000 {
            let damaged = generator.mutated(packets)
            do {
                // File name, date and the unsigned issuer are not covered; nor do line ends count in a text.
                let opened = try await box.open(packets: damaged)
                #expect(
                    CanonicalText.withLineFeeds(opened.content[...]) == expected,
                    "seed \(seed): \(Hex.encode(damaged))")
                #expect(opened.signer.fingerprint == box.sender.certificate.fingerprint)
            } catch {
                #expect(error is OpenPGPError, "seed \(seed): \(Hex.encode(damaged))")
            }
        }
    }

    @Test("Damaged messages are refused")
    func messages() async throws {
        var generator = SeededGenerator.announced(by: "DamageTests.messages")
        let (seed, message) = (generator.seed, try await box.sealed())
        let expected = CanonicalText.withLineFeeds(MessageForge.content[...])
        for _ in 0..<3000 {
            let damaged = generator.mutated(message)
            guard damaged != message else { continue }
            do {
                let opened = try await box.open(damaged)
                // A packet that is skipped, a marker or another's session key, may have come in.
                #expect(
                    CanonicalText.withLineFeeds(opened.content[...]) == expected,
                    "seed \(seed): \(Hex.encode(damaged))")
                #expect(opened.signer.fingerprint == box.sender.certificate.fingerprint)
            } catch {
                #expect(error is OpenPGPError, "seed \(seed): \(Hex.encode(damaged))")
            }
        }
    }

    @Test("Damaged certificates are refused, or are the same keys with the same uses")
    func certificates() throws {
        var generator = SeededGenerator.announced(by: "DamageTests.certificates")
        let (seed, original) = (generator.seed, box.sender.certificate)
        let known = original.keys.map { "\($0.fingerprint) \($0.flags)" }
        for _ in 0..<3000 {
            let damaged = generator.mutated(original.encoded)
            guard let certificate = try? Certificate(parsing: damaged) else { continue }
            // Subkeys can get lost, with their signatures; none can come in or change.
            #expect(
                certificate.keys.allSatisfy { known.contains("\($0.fingerprint) \($0.flags)") },
                "seed \(seed): \(Hex.encode(damaged))")
            #expect(try Certificate(parsing: certificate.encoded).encoded == damaged)
        }
    }

    @Test("Damaged keys, signatures and packets are refused or written again with the same bytes")
    func parts() async throws {
        var generator = SeededGenerator.announced(by: "DamageTests.parts")
        let key = box.sender.encryption.publicKey.body
        let signature = try await Signature.make(.text, over: .text([]), by: box.sender.primary, at: Holder.time) {
            $0.notations = [Notation(name: "a@example.com", value: "b")]
            $0.embeddedSignature = [1, 2, 3]
            $0.statesPreferences = true
        }
        let packets = try await box.packets()
        for _ in 0..<3000 {
            let damagedKey = generator.mutated(key)
            if let read = try? PublicKey(parsing: damagedKey) {
                #expect(PublicKey(read.material, createdAt: read.createdAt).body == damagedKey)
            }
            let damaged = generator.mutated(signature.body)
            if let read = try? Signature(parsing: damaged) { #expect(read.body == damaged) }
            let damagedPackets = generator.mutated(packets)
            guard let read = try? Packet.sequence(damagedPackets[...]) else { continue }
            let again = try Packet.sequence(Array(read.map { Forge.packet($0.tag, $0.body) }.joined())[...])
            #expect(again.map(\.tag) == read.map(\.tag))
            #expect(again.map { Array($0.body) } == read.map { Array($0.body) })
        }
    }

    @Test("Damaged armor and cleartext messages are refused, or say what was signed")
    func texts() async throws {
        var generator = SeededGenerator.announced(by: "DamageTests.texts")
        let text = "Title\n- dash\n\nlast"
        let signed = try await CleartextMessage.sign(text, by: box.sender.primary, at: Holder.time)
        let (cleartext, armor) = (Array(signed.encoded.utf8), Array(box.sender.certificate.armored.utf8))
        for _ in 0..<3000 {
            let damaged = String(decoding: generator.mutated(cleartext), as: UTF8.self)
            if let read = try? CleartextMessage(parsing: damaged),
                (try? read.verify(by: box.sender.certificate, now: Holder.time)) != nil
            {
                #expect(read.text == text, "seed \(generator.seed): \(damaged)")
            }
            let damagedArmor = String(decoding: generator.mutated(armor), as: UTF8.self)
            if let bytes = try? Armor.decode(damagedArmor, as: .publicKey) {
                // Only a lost checksum lets changed bytes through.
                #expect(
                    bytes == box.sender.certificate.encoded || !damagedArmor.contains("\n="),
                    "seed \(generator.seed): \(damagedArmor)")
            }
        }
    }

    @Test("Random bytes are no object of any kind")
    func random() async throws {
        var generator = SeededGenerator.announced(by: "DamageTests.random")
        for _ in 0..<3000 {
            let bytes = generator.bytes(Int.random(in: 0...200, using: &generator))
            #expect(throws: OpenPGPError.self) { try Certificate(parsing: bytes) }
            #expect(throws: OpenPGPError.self) { try PublicKey(parsing: bytes) }
            #expect(throws: OpenPGPError.self) { try Signature(parsing: [4, 1, 19, 8] + bytes) }
            await #expect(throws: OpenPGPError.self) { try await box.open(bytes) }
        }
    }
}
