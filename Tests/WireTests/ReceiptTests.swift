import CountersignWire
import Crypto
import Encodings
import OpenPGP
import TestSupport
import Testing

@Suite("The receipt as text")
struct ReceiptTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    @Test("The renderer writes the golden files byte for byte", arguments: Golden.allCases)
    func renders(golden: Golden) throws {
        let text = try golden.receipt.text
        #expect(text.hasSameBytes(as: try golden.text), "\(text)")
    }

    @Test("The parser reads the golden files", arguments: Golden.allCases)
    func parses(golden: Golden) throws {
        #expect(try Receipt(parsing: try golden.text) == golden.receipt)
    }

    @Test(
        "No golden file has a line that ends in a blank, an empty end or a carriage return", arguments: Golden.allCases)
    func survivesSigning(golden: Golden) throws {
        let bytes = Array(try golden.text.utf8)
        #expect(!bytes.contains(0x0D) && bytes.last != 0x0A)
        for line in bytes.split(separator: 0x0A) { #expect(line.last != 0x20 && line.last != 0x09) }
    }

    @Test("Both times are cut to the second, whatever the clocks said")
    func seconds() throws {
        let receipt = Receipt(
            of: try sample.question(), user: sample.user, device: sample.device, decision: .denied,
            answeredAt: Timestamp(milliseconds: 1_795_169_731_999))
        #expect(receipt.askedAt == Timestamp(seconds: 1_795_169_702))
        #expect(receipt.answeredAt == Sample.answeredAt)
        #expect(try Receipt(parsing: receipt.text) == receipt)
    }

    @Test("Signing data stand as the SHA-256 hash of their bytes")
    func signingData() throws {
        var question = try sample.question()
        for data in ["abc", "ABC", "abc\n", "\u{E9}", "e\u{301}"] {
            question.signingData = data
            let hash = Array(SHA256.hash(data: Array(data.utf8)))
            #expect(sample.receipt(of: question).signingDataHash == hash)
            #expect(
                sample.receipt(of: question).text.contains("\nsigning-data: sha256:\(Hex.encode(hash))\nmessage:\n"))
        }
    }

    @Test("Whatever is rendered is read as the same receipt")
    func roundTrip() throws {
        var generator = SeededGenerator.announced(by: "ReceiptTests.roundTrip")
        for _ in 0..<200 {
            let receipt = try Self.random(sample, using: &generator)
            #expect(try Receipt(parsing: receipt.text) == receipt, "seed \(generator.seed): \(receipt.text)")
        }
    }

    private static func random(_ sample: Sample, using generator: inout SeededGenerator) throws -> Receipt {
        let words = [
            "message:", "detail: a = b", "decision: denied", "-", "- -", "----- BEGIN", "Ж", "大阪", "🙂", "(", ")", "a",
            "\u{338}x", "\u{301}", "ﬀ", "From", "issuer: x", "=", "\"", "\\", "0",
        ]
        // Three of the longest words and their blanks are 50 scalars; a name or a label may have 64.
        func line(without characters: String = "", _ generator: inout SeededGenerator) -> String {
            let words = words.filter { word in !word.utf8.contains { characters.utf8.contains($0) } }
            let count = Int.random(in: 1...(characters.isEmpty ? 5 : 3), using: &generator)
            return (0..<count).compactMap { _ in words.randomElement(using: &generator) }.joined(separator: " ")
        }
        let client = line(without: "()", &generator)
        let lines = (0..<Int.random(in: 1...4, using: &generator)).map { _ in line(&generator) }
        var question = try sample.question(lines.joined(separator: "\n"), from: client)
        if Bool.random(using: &generator) { question.context = try DisplayLine(line(&generator)) }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            question.details.append(try Detail(label: line(without: "=", &generator), value: line(&generator)))
        }
        if Bool.random(using: &generator) { question.signingData = line(&generator) }
        let number = Bool.random(using: &generator) ? sample.number : nil
        let decisions: [Decision] = [.approved(.confirm, number: number), .denied, .reported]
        return sample.receipt(of: question, decisions.randomElement(using: &generator) ?? .denied)
    }

    @Test("A change of any byte is refused, or is another receipt", arguments: [0x01, 0x20, 0x80] as [UInt8])
    func everyByte(change: UInt8) throws {
        let receipt = try Golden.full.receipt
        let text = Array(receipt.text.utf8)
        for index in text.indices {
            var altered = text
            altered[index] ^= change
            // What is not UTF-8 is refused before there is a text.
            guard let alteredText = String(strictUTF8: altered),
                let other = try? Receipt(parsing: alteredText)
            else { continue }
            #expect(other != receipt, "byte \(index)")
            #expect(other.text.hasSameBytes(as: alteredText), "byte \(index)")
        }
    }

    @Test("Damaged texts are refused, or are another receipt")
    func mutations() throws {
        var generator = SeededGenerator.announced(by: "ReceiptTests.mutations")
        let receipts = try Golden.allCases.map { try $0.receipt }
        for receipt in receipts {
            let text = Array(receipt.text.utf8)
            for _ in 0..<300 {
                let bytes = generator.mutated(text)
                guard bytes != text, let damaged = String(strictUTF8: bytes),
                    let other = try? Receipt(parsing: damaged)
                else { continue }
                #expect(other != receipt && other.text.hasSameBytes(as: damaged), "seed \(generator.seed)")
            }
        }
    }
}
