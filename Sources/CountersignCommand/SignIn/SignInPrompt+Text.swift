import Countersign
import CountersignServer
import Encodings
import Foundation

extension SignInPrompt {
    /// What a person at a terminal reads, and with a terminal the code of the page to scan.
    ///
    /// What the issuer says in it has no character that controls a terminal: the SDK takes nothing else.
    var text: String {
        text(isPictured: ProgressLine.hasTerminal, inColours: TerminalColours.areShown(in: STDERR_FILENO))
    }

    /// What a person reads.
    ///
    /// - Parameters:
    ///   - isPictured: whether the page's address is shown as a QR code, too.
    ///   - isColoured: whether that has its colours.
    func text(isPictured: Bool, inColours isColoured: Bool) -> String {
        var lines: [String] = []
        if let number {
            lines.append("Number to type on your device: \(number)")
            lines.append("Or open \(verificationURI.absoluteString) on another device, and type the code \(userCode).")
        } else {
            let whole = verificationURIComplete?.absoluteString
            if isPictured, let whole, let picture = try? QRPicture(of: whole) {
                lines.append(picture.blocks(inColours: isColoured))
            }
            lines.append("Open this address on another device: \(verificationURI.absoluteString)")
            lines.append("Code to type there: \(userCode)")
        }
        lines.append("Waiting for \(expiresIn.components.seconds) seconds at most. End with Ctrl-C.")
        return lines.joined(separator: "\n")
    }

    /// The same for a script, in the names of RFC 8628.
    var json: JSONValue {
        .members([
            "number": number.map(JSONValue.string), "user_code": .string(userCode),
            "verification_uri": .string(verificationURI.absoluteString),
            "verification_uri_complete": verificationURIComplete.map { .string($0.absoluteString) },
            "expires_in": .integer(expiresIn.components.seconds),
        ])
    }
}
