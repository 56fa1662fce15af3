import CountersignWire
import Crypto
import Encodings
import OpenPGP
import TestSupport
import Testing

@Suite("No byte of a receipt can be changed without gpg, and we, refusing it")
struct TamperingTests {
    private let gpg: GPG
    private let holder: Holder
    private let message: String
    /// Where the signed text stands in the file, dashes that escape it included.
    private let text: Range<Int>

    init() async throws {
        gpg = try GPG()
        holder = try await Holder()
        message = try await CleartextMessage.sign(
            try Self.receipt(of: holder).text, by: holder.primary, at: Holder.time + 31
        ).encoded
        let bytes = Array(message.utf8)
        let start = try #require(bytes.firstRange(of: Array("\n\n".utf8))).upperBound
        let end = try #require(bytes.firstRange(of: Array("\n-----BEGIN PGP SIGNATURE-----\n".utf8))).lowerBound
        text = start..<end
        try gpg.run("--import", try gpg.folder.write("certificate.asc", holder.certificate.armored.utf8))
    }

    /// A receipt with every kind of line, more than one script, and lines that are escaped.
    private static func receipt(of holder: Holder) throws -> Receipt {
        let asked = Timestamp(seconds: Int64(Holder.time))
        func random(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 10) }
        let question = Question(
            challenge: ChallengeID(at: asked, random: random(1)), nonce: try #require(Nonce(bytes: Array(0..<32))),
            issuer: try #require(Issuer("https://login.example.com")), client: ClientID(at: asked, random: random(2)),
            clientName: try ClientName("Acme Bank"), type: .confirm,
            context: try DisplayLine("Firefox on Windows, 203.0.113.7, Zürich"), askedAt: asked,
            details: [try Detail(label: "Betrag", value: "1 250,00 €")], signingData: "data",
            message: try DisplayMessage("Überweisen?\n- 金额\n\n-----BEGIN PGP SIGNATURE-----\nFrom here!"))
        return Receipt(
            of: question, user: UserID(at: asked, random: random(3)), device: holder.primary.publicKey.fingerprint,
            decision: .approved(.confirm, number: EntryNumber("471932")), answeredAt: asked.adding(seconds: 31))
    }

    private func altered(at index: Int, by change: UInt8) -> [UInt8] {
        var bytes = Array(message.utf8)
        bytes[index] ^= change
        return bytes
    }

    /// What gpg says of each file, one process for all of them.
    private func verdicts(on files: [String]) throws -> [Substring] {
        // In batch mode gpg would stop at the first file that is not good.
        let output = try gpg.run(arguments: ["--no-batch", "--status-fd", "1", "--verify-files"] + files).output
        return output.split(separator: "[GNUPG:] FILE_START 1 ", omittingEmptySubsequences: false).dropFirst().map {
            $0
        }
    }

    @Test("The receipt as it was signed is good, for gpg and for us")
    func untouched() throws {
        let result = try gpg.run("--status-fd", "1", "--verify", try gpg.folder.write("receipt.asc", message.utf8))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("VALIDSIG \(holder.primary.publicKey.fingerprint)"))
        let verified = try VerifiedReceipt(message: message, certificate: holder.certificate, now: Holder.time + 60)
        #expect(verified.receipt == (try Self.receipt(of: holder)))
        #expect(text.count > 600)
    }

    @Test(
        "Any byte of the text, changed in its lowest, its case or its highest bit, makes gpg refuse it",
        arguments: [0x01, 0x20, 0x80] as [UInt8])
    func everyByte(change: UInt8) throws {
        let good = try gpg.folder.write("good", message.utf8)
        let files = try text.map { try gpg.folder.write("\(change)-\($0)", altered(at: $0, by: change)) }
        // The untouched file at both ends shows that gpg judged everything in between.
        let verdicts = try verdicts(on: [good] + files + [good])
        #expect(verdicts.count == files.count + 2)
        for verdict in [verdicts.first, verdicts.last] { #expect(verdict?.contains("] VALIDSIG ") == true) }
        for (file, verdict) in zip(files, verdicts.dropFirst()) {
            #expect(verdict.hasPrefix(file + "\n"))
            #expect(!verdict.contains("] GOODSIG ") && !verdict.contains("] VALIDSIG "), "\(verdict)")
        }
    }

    @Test("gpg says so by its exit status, which is what people and scripts look at")
    func exitStatus() throws {
        for index in stride(from: text.lowerBound, to: text.upperBound, by: 29) {
            let file = try gpg.folder.write("altered", altered(at: index, by: 1))
            #expect(try gpg.run("--verify", file).status != 0, "byte \(index)")
        }
    }

    @Test("We refuse every one of them, too", arguments: [0x01, 0x20, 0x80] as [UInt8])
    func ours(change: UInt8) {
        for index in text {
            // What is not UTF-8 is not even a text.
            guard let file = String(strictUTF8: altered(at: index, by: change)) else { continue }
            #expect(throws: ReceiptRefusal.self, "byte \(index)") {
                try VerifiedReceipt(message: file, certificate: holder.certificate, now: Holder.time + 60)
            }
        }
    }

    @Test("A line removed, repeated or moved makes gpg refuse it")
    func lines() throws {
        let all = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let first = 3
        let last = try #require(all.lastIndex(of: "-----BEGIN PGP SIGNATURE-----"))
        var files: [String] = []
        for index in first..<last {
            var (removed, repeated, moved) = (all, all, all)
            removed.remove(at: index)
            repeated.insert(all[index], at: index)
            if index + 1 < last { moved.swapAt(index, index + 1) } else { moved.swapAt(first, index) }
            for (name, lines) in [("removed", removed), ("repeated", repeated), ("moved", moved)] {
                files.append(try gpg.folder.write("\(name)-\(index)", lines.joined(separator: "\n").utf8))
            }
        }
        let verdicts = try verdicts(on: files + [try gpg.folder.write("good", message.utf8)])
        #expect(verdicts.count == files.count + 1 && verdicts.last?.contains("] VALIDSIG ") == true)
        for verdict in verdicts.dropLast() { #expect(!verdict.contains("] GOODSIG "), "\(verdict)") }
    }
}
