import Encodings

/// How much a challenge may say: no more than can be answered, and verified by every program that reads receipts.
///
/// Held where it is asked. Answers to what was asked before there were these limits are as good as ever.
public enum DisplayLimits {
    /// How long the message and the details of a challenge may be together, in octets of UTF-8.
    ///
    /// The answer brings all of it, with at most 16 KiB of data for a custom authenticator, in base64; a body has at most
    /// 256 KiB.
    public static let signedSize = 144 * 1024
    /// How long a line may be, in octets of UTF-8: GnuPG reads texts with lines of up to 19,995.
    public static let lineSize = 16_384

    /// Throws unless the message and the details of a challenge can be answered and verified.
    public static func check(_ message: DisplayMessage?, _ details: [Detail]) throws(RefusedText) {
        let pointer = "/secure_message"
        let text = message?.text.utf8 ?? "".utf8
        guard text.split(separator: 0x0A).allSatisfy({ $0.count <= lineSize }) else {
            throw RefusedText(.lineTooLong, at: pointer)
        }
        guard text.count <= signedSize else { throw RefusedText(.tooLong, at: pointer) }
        // Of each detail the receipt's line has twelve octets more.
        let lines = details.map { $0.label.text.utf8.count + $0.value.text.utf8.count + 12 }
        guard text.count + lines.reduce(0, +) <= signedSize else { throw RefusedText(.tooLong, at: "/details") }
    }

    /// Throws unless a text is one that names somebody or something: it does not begin with a blank, by which it would
    /// look like another, and has no blank pattern of Braille in it, which looks like one and is none.
    ///
    /// Held where names are given.
    public static func check(name: String) throws(TextRefusal) {
        guard !name.unicodeScalars.contains("\u{2800}") else { throw .invisibleCharacter }
        guard name.unicodeScalars.first?.properties.isWhitespace != true else { throw .leadingBlank }
    }
}
