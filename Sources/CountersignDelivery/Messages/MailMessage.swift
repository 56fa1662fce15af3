package import CountersignWire
import Encodings
import Foundation

/// A mail as it goes over the wire: headers, the text, and the same as a page.
///
/// Spec: RFC 5322 §3.6, RFC 2046 §5.1.4.
package struct MailMessage: Sendable {
    /// Its id, which stays the same when it is sent again.
    package let id: EventID
    /// Whom it is from.
    package let from: EmailAddress
    /// The same as people know it.
    package let sender: String
    /// Whom it is for.
    package let to: EmailAddress
    /// What it says.
    package let content: MessageTemplates.Mail
    /// When it is sent.
    package let date: Timestamp

    /// The longest line of a header, without the line's end.
    ///
    /// Spec: RFC 5322 §2.1.1.
    private static let lineLength = 78

    /// The whole message.
    package var bytes: [UInt8] {
        let boundary = "=_\(id)"
        let headers = [
            "Date: \(Self.text(of: date))",
            Self.mailbox(sender, from),
            "To: <\(to.onTheWire)>",
            "Subject: \(Self.unstructured(content.subject))",
            "Message-ID: <\(id)@\(from.asciiDomain)>",
            // A program must not answer it. Spec: RFC 3834 §5.
            "Auto-Submitted: auto-generated",
            "Content-Language: \(content.language)",
            "MIME-Version: 1.0",
            "Content-Type: multipart/alternative;\r\n boundary=\"\(boundary)\"",
        ]
        let parts = [("plain", content.text), ("html", content.html)].map { kind, text in
            """
            --\(boundary)\r
            Content-Type: text/\(kind); charset=utf-8\r
            Content-Transfer-Encoding: base64\r
            \r
            \(Self.base64(text))\r

            """
        }
        let lines = headers.joined(separator: "\r\n") + "\r\n\r\n" + parts.joined() + "--\(boundary)--\r\n"
        return Array(lines.utf8)
    }

    /// Text in lines of 76 characters, its own lines ended as mail ends them.
    ///
    /// Spec: RFC 2045 §6.8, RFC 2046 §4.1.1.
    private static func base64(_ text: String) -> String {
        let lines = text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
        return Data(lines.utf8).base64EncodedString(
            options: [.lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed])
    }

    /// Whom it is from, the address in a line of its own where both do not fit into one.
    private static func mailbox(_ name: String, _ address: EmailAddress) -> String {
        let (head, tail) = ("From: \(phrase(name))", "<\(address.onTheWire)>")
        let isShort = !head.contains("\r\n") && head.utf8.count + 1 + tail.utf8.count <= lineLength
        return head + (isShort ? " " : "\r\n ") + tail
    }

    /// A name before an address: words in quotation marks, or encoded.
    ///
    /// Spec: RFC 5322 §3.2.5.
    private static func phrase(_ text: String) -> String {
        guard isPlain(text) else { return encodedWords(text, after: "From: ".utf8.count) }
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }

    private static func unstructured(_ text: String) -> String {
        isPlain(text) && text.utf8.count <= lineLength - "Subject: ".utf8.count
            ? text : encodedWords(text, after: "Subject: ".utf8.count)
    }

    /// Whether a text can stand in a header as it is, and nobody takes it for an encoded one.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains("=?")
    }

    /// A text in words of at most 75 characters, none of which ends inside a character, a line each.
    ///
    /// Spec: RFC 2047 §2 and §5.
    private static func encodedWords(_ text: String, after used: Int) -> String {
        let (head, tail) = ("=?utf-8?B?", "?=")
        // Four characters stand for three bytes.
        func room(_ used: Int) -> Int { (min(75, lineLength - used) - head.utf8.count - tail.utf8.count) / 4 * 3 }
        var words: [[UInt8]] = [[]]
        var limit = room(used)
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if words[words.count - 1].count + bytes.count > limit {
                words.append([])
                limit = room(1)
            }
            words[words.count - 1] += bytes
        }
        return words.map { head + Base64.encode($0) + tail }.joined(separator: "\r\n ")
    }

    /// Spec: RFC 5322 §3.3.
    private static func text(of time: Timestamp) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
        return format.string(from: Date(timeIntervalSince1970: Double(time.milliseconds) / 1000))
    }
}
