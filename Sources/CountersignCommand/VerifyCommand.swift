import ArgumentParser
import CountersignWire
import Encodings
import Foundation
import JOSE
import OpenPGP

/// The command `countersign verify`.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a receipt, without any server.",
        discussion: """
            Checks what gpg checks, and two things its exit status does not cover: that the certificate is that of the \
            device the receipt names, and that the key that signed proves the method the receipt names.

            Some devices of other vendors sign a JWT, which names the challenge and covers nothing of what was shown.
            """)

    @Option(help: "The receipt, a cleartext-signed message, or a signed JWT.")
    var receipt: String

    @Option(help: "The device's certificate, armored, or its keys as JSON.")
    var certificate: String

    @OptionGroup var output: OutputOptions

    mutating func run() throws {
        let message = try Self.read(receipt)
        let file = try Self.read(self.certificate)
        if let keys = (try? JSONValue(parsing: Array(file.utf8))).flatMap({ DeviceJWKs($0) }) {
            return try verify(message.trimmingCharacters(in: .newlines), by: keys)
        }
        let certificate: Certificate
        do {
            certificate = try Certificate(armored: file)
        } catch {
            throw CommandError("\(self.certificate) is not a certificate: \(error).")
        }
        let verified: VerifiedReceipt
        do {
            verified = try VerifiedReceipt(
                message: message, certificate: certificate,
                now: UnixSeconds(clamping: Int64(Date().timeIntervalSince1970)))
        } catch {
            throw CommandError("BAD receipt: \(Self.explain(error))")
        }
        let receipt = verified.receipt
        output.print(
            .members([
                "verified": true, "challenge": .string("\(receipt.challenge)"), "issuer": .string("\(receipt.issuer)"),
                "client": .string("\(receipt.client)"), "user": .string("\(receipt.user)"),
                "decision": .string(receipt.decision.name), "device": .string("\(receipt.device)"),
                "signer": .string("\(verified.signer.fingerprint)"), "answered": .string("\(receipt.answeredAt)"),
            ]),
            "Good receipt, signed by \(verified.signer.fingerprint):\n\n\(receipt.text)")
    }

    /// Verifies the answer of a device that has JWKs.
    ///
    /// Its times are those of a call, which is long over; when it was accepted, the server says.
    private func verify(_ token: String, by keys: DeviceJWKs) throws {
        let answer: JWTAnswer
        do {
            answer = try JWTAnswer(token, by: keys)
        } catch {
            throw CommandError("BAD answer: \(Self.explain(error))")
        }
        guard let decision = answer.decision else { throw CommandError("BAD answer: it decides nothing.") }
        let answered = Timestamp(seconds: answer.issuedAt)
        output.print(
            .members([
                "verified": true, "assurance": .string(Assurance.challenge.rawValue),
                "challenge": .string("\(answer.challenge)"), "issuer": .string(answer.audience),
                "user": .string("\(answer.user)"), "enrollment": .string("\(answer.enrollment)"),
                "decision": .string(decision.name), "key": .string(answer.role.rawValue),
                "signer": .string(answer.thumbprint), "answered": .string("\(answered)"),
            ]),
            """
            Good answer, signed by \(answer.thumbprint) (\(answer.role.rawValue)):

            issuer: \(answer.audience)
            challenge: \(answer.challenge)
            nonce: \(answer.nonce)
            user: \(answer.user)
            enrollment: \(answer.enrollment)
            decision: \(decision.name)
            answered: \(answered)

            The signature covers the challenge, and nothing of what was shown.
            """)
    }

    private static func explain(_ refusal: JWTAnswerRefusal) -> String {
        switch refusal {
        case .token(.unknownKeyID), .token(.wrongKey): "it was not signed by one of these keys."
        case .token(.badSignature): "it is not what was signed."
        case .token(let error): "it is no answer (\(error))."
        case .claim(let claim): "the claim \(claim.rawValue) is missing or malformed."
        case .keyType: "it names another purpose than that of the key that signed."
        }
    }

    private static func read(_ file: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw CommandError("\(file) cannot be read.", .usage)
        }
        guard let text = String(strictUTF8: Array(data)) else { throw CommandError("\(file) is not a text.") }
        return text
    }

    private static func explain(_ refusal: ReceiptRefusal) -> String {
        switch refusal {
        case .signature(.unknownSigner): "it was not signed by this certificate."
        case .signature(.badSignature): "the text is not the one that was signed."
        case .signature(let error): "\(error)."
        case .text(let error): "what was signed is not a receipt (\(error))."
        case .wrongDevice: "it names another device than this certificate's."
        case .wrongSigner: "the key that signed does not prove the method it names."
        }
    }
}
