import ArgumentParser
import CountersignWire
import Encodings
import Foundation
import OpenPGP

/// The command `countersign verify`.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a receipt, without any server.",
        discussion: """
            Checks what gpg checks, and two things its exit status does not cover: that the certificate is that of the \
            device the receipt names, and that the key that signed proves the method the receipt names.
            """)

    @Option(help: "The receipt, a cleartext-signed message.")
    var receipt: String

    @Option(help: "The device's certificate, armored.")
    var certificate: String

    @OptionGroup var output: OutputOptions

    mutating func run() throws {
        let message = try Self.read(receipt)
        let certificate: Certificate
        do {
            certificate = try Certificate(armored: try Self.read(self.certificate))
        } catch let error as OpenPGPError {
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
