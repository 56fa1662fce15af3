import Encodings

/// The limits on a challenge's content: every challenge can be answered, and every program that reads receipts can
/// verify the answer.
///
/// They are enforced when a challenge is asked. Answers to challenges that were asked before these limits existed stay
/// valid.
public enum DisplayLimits {
    /// The greatest size of a challenge's message and details together, in octets of UTF-8.
    ///
    /// The answer contains all of it, with at most 16 KiB of data for a custom authenticator, in base64; a body has at
    /// most 256 KiB.
    public static let signedSize = 144 * 1024
    /// The greatest length of a line, in octets of UTF-8: GnuPG reads lines of up to 19,995.
    public static let lineSize = 16_384

    /// Throws unless the message and the details of a challenge can be answered and verified.
    public static func check(_ message: DisplayMessage?, _ details: [Detail]) throws(RefusedText) {
        let pointer = "/secure_message"
        let text = message?.text.utf8 ?? "".utf8
        guard text.split(separator: 0x0A).allSatisfy({ $0.count <= lineSize }) else {
            throw RefusedText(.lineTooLong, at: pointer)
        }
        guard text.count <= signedSize else { throw RefusedText(.tooLong, at: pointer) }
        // The receipt's line for a detail has twelve more octets.
        let lines = details.map { $0.label.text.utf8.count + $0.value.text.utf8.count + 12 }
        guard text.count + lines.reduce(0, +) <= signedSize else { throw RefusedText(.tooLong, at: "/details") }
    }

    /// Throws unless a text is acceptable as a name.
    ///
    /// A name must not begin with a blank, which would make it look like another name. It must not contain the blank
    /// pattern of Braille, which looks like a blank and is none. This is checked when a name is given.
    public static func check(name: String) throws(TextRefusal) {
        guard !name.unicodeScalars.contains("\u{2800}") else { throw .invisibleCharacter }
        guard name.unicodeScalars.first?.properties.isWhitespace != true else { throw .leadingBlank }
    }
}
