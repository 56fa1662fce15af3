import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import ServerTestSupport
import TestSupport
import Testing

@Suite("countersign demo --unattended, and countersign verify", .timeLimit(.minutes(15)))
struct VerifyCommandTests {
    /// Plays the demo into a folder with a blank in its name.
    private static func demo(in folder: TemporaryFolder) async throws -> (
        ProgramResult, receipt: String, certificate: String
    ) {
        let out = folder.path("demo files")
        let temporary = folder.path("tmp")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        let result = try await Tool.run(
            ["demo", "--unattended", "--out", out], environment: ["TMPDIR": temporary])
        return (result, "\(out)/receipt.asc", "\(out)/certificate.asc")
    }

    @Test("The demo plays through, leaves its two files, and nothing else")
    func demo() async throws {
        let folder = try TemporaryFolder()
        let (result, receipt, certificate) = try await Self.demo(in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.isEmpty, "\(result.errors)")
        let steps = [
            "Server at", "registered", "Phone enrolled", "pressed the button", "Phone received", "signed and sent",
            "turned to \"approved\"", "Receipt verified and kept",
        ]
        for step in steps { #expect(result.output.contains(step), "\(step)") }
        let verified = try await Tool.run(["verify", "--receipt", receipt, "--certificate", certificate])
        #expect(verified.status == 0, "\(verified.errors)")
        #expect(verified.output.contains("Good receipt") && verified.output.contains("Pay EUR 1,250.00 to ACME GmbH?"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("tmp")).isEmpty)
    }

    @Test("What the demo leaves verifies with gpg, and the fingerprint is that of the receipt")
    func gpg() async throws {
        let folder = try TemporaryFolder()
        let (played, receipt, certificate) = try await Self.demo(in: folder)
        #expect(played.status == 0, "\(played.errors)")
        let gpg = try GPG()
        #expect(try gpg.run("--import", certificate).status == 0)
        let result = try gpg.run("--status-fd", "1", "--verify", receipt)
        #expect(result.status == 0, "\(result.errors)")
        let text = try String(contentsOfFile: receipt, encoding: .utf8)
        let device = try #require(text.firstMatch(of: /device: ([0-9A-F]{40})/)?.output.1)
        #expect(result.output.contains("VALIDSIG \(device)"))
    }

    @Test("The demo refuses a folder it cannot write to")
    func unwritable() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("a file", [])
        let result = try await Tool.run(["demo", "--unattended", "--out", file])
        #expect(result.status == 1)
        #expect(result.errors.contains("--out"))
    }

    @Test("The demo names the port of its shop if another program has it")
    func takenPort() async throws {
        let other = try await SilentHost()
        let result = try await Tool.run(["demo", "--port", "\(other.port)"])
        try await other.close()
        #expect(result.status == 1)
        let told = "Port \(other.port) is taken. Choose another with --port, or 0 for a free one."
        #expect(result.errors.contains(told), "\(result.errors)")
    }

    @Test("An answer by JWT is verified by the device's keys, and altered ones, others' and undecided ones are not")
    func token() async throws {
        let folder = try TemporaryFolder()
        let (key, thief) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let time = Timestamp(milliseconds: 1_795_169_702_000)
        func id<Kind>() -> ID<Kind> { ID(at: time, random: [UInt8](repeating: 3, count: 10)) }
        let (challenge, enrollment, user): (ChallengeID, EnrollmentID, UserID) = (id(), id(), id())
        func token(_ consent: String, by key: P256.Signing.PrivateKey) async throws -> String {
            let claims: JSONValue = [
                "iss": .string("\(enrollment)"), "aud": "https://login.example.com", "sub": .string("\(user)"),
                "iat": 1_795_169_702, "exp": 1_795_170_002, "jti": "one", "tx": .string("\(challenge)"),
                "nonce": .string(String(repeating: "0a", count: 32)), "keyType": "proofOfPossession",
                "challengeResponseContext": ["userConsent": .string(consent)],
            ]
            return try await JWS.sign(claims.encoded, type: "okta-pushbind+jwt", by: key, keyID: "k")
        }
        let keys: JSONValue = ["proofOfPossession": JWK(.p256(key.publicKey), keyID: "k").json]
        let certificate = try folder.write("keys.json", keys.encoded)
        let right = try await token("APPROVED_CONSENT_PROMPT", by: key)
        for (text, error) in [
            (right, nil), (right + "\n", nil), (String(right.dropLast(4)) + "AAAA", "not what was signed"),
            (try await token("APPROVED_CONSENT_PROMPT", by: thief), "not what was signed"),
            (try await token("NONE", by: key), "decides nothing"), ("x", "no answer"),
        ] as [(String, String?)] {
            let receipt = try folder.write("answer.jwt", Array(text.utf8))
            let result = try await Tool.run(["verify", "--receipt", receipt, "--certificate", certificate])
            if let error {
                #expect(result.status == 1 && result.output.isEmpty && result.errors.contains(error))
            } else {
                #expect(result.status == 0 && result.output.contains("challenge: \(challenge)"))
                #expect(result.output.contains("nothing of what was shown"))
            }
        }
    }

    /// What happens to a receipt before it is verified.
    enum Harm: String, CaseIterable, Sendable {
        case amount, decision, number, lineAdded, signature, cut, emptied, notUTF8, otherCertificate, garbageCertificate
        case receiptAsCertificate, certificateAsReceipt
    }

    @Test("A receipt that was altered, or another's, ends with 1", arguments: Harm.allCases)
    func altered(_ harm: Harm) async throws {
        let folder = try TemporaryFolder()
        let played = try await Self.demo(in: folder)
        #expect(played.0.status == 0, "\(played.0.errors)")
        var (_, receipt, certificate) = played
        var text = try String(contentsOfFile: receipt, encoding: .utf8)
        let before = text
        switch harm {
        case .amount: text = text.replacing("1,250.00", with: "1,350.00")
        case .decision: text = text.replacing("decision: approved", with: "decision: denied")
        case .number: text = text.replacing(/number: [0-9]{6}/, with: "number: 12345x")
        case .lineAdded: text = text.replacing("message:\n", with: "message:\nMore.\n")
        case .signature:
            let end = try #require(text.range(of: "-----END PGP SIGNATURE-----"))
            let line = text[..<end.lowerBound].split(separator: "\n").dropLast().last ?? ""
            text = text.replacing(line, with: line.reversed().map(String.init).joined())
        case .cut: text = String(text.prefix(text.count / 2))
        case .emptied: text = ""
        case .notUTF8: break
        case .otherCertificate:
            let other = try TemporaryFolder()
            certificate = folder.path("other.asc")
            let made = try await Self.demo(in: other)
            try FileManager.default.copyItem(atPath: made.certificate, toPath: certificate)
        case .garbageCertificate: certificate = try folder.write("garbage.asc", Array("hello".utf8))
        case .receiptAsCertificate: certificate = receipt
        case .certificateAsReceipt: receipt = certificate
        }
        if harm == .notUTF8 {
            receipt = try folder.write("altered", Array(text.utf8) + [0xFF])
        } else if text != before {
            receipt = try folder.write("altered", text.utf8)
        }
        let result = try await Tool.run(["verify", "--receipt", receipt, "--certificate", certificate])
        #expect(result.status == 1, "\(result.output)\(result.errors)")
        #expect(result.output.isEmpty)
        #expect(result.errors.count > 10 && !result.errors.contains("Fatal error"))
    }
}
