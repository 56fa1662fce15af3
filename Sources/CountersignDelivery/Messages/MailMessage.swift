package import CountersignWire
import Encodings
import Foundation

/// A mail in its form for SMTP: headers, plain text and HTML.
///
/// Spec: RFC 5322 §3.6, RFC 2046 §5.1.4.
package struct MailMessage: Sendable {
    /// The id, which stays the same when the mail is sent again.
    package let id: EventID
    /// The sender's address.
    package let from: EmailAddress
    /// The sender's display name.
    package let sender: String
    /// The recipient's address.
    package let to: EmailAddress
    /// The subject and the texts.
    package let content: MessageTemplates.Mail
    /// When it is sent.
    package let date: Timestamp

    /// The maximum length of a header line, without its line end.
    ///
    /// Spec: RFC 5322 §2.1.1.
    private static let lineLength = 78

    package var bytes: [UInt8] {
        let boundary = "=_\(id)"
        let headers = [
            "Date: \(Self.text(of: date))",
            Self.mailbox(sender, from),
            "To: <\(to.onTheWire)>",
            "Subject: \(Self.unstructured(content.subject))",
            "Message-ID: <\(id)@\(from.asciiDomain)>",
            // Tells programs not to reply automatically. Spec: RFC 3834 §5.
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

    /// Encodes a text with CRLF line ends in base64, in lines of 76 characters.
    ///
    /// Spec: RFC 2045 §6.8, RFC 2046 §4.1.1.
    private static func base64(_ text: String) -> String {
        let lines = text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
        return Data(lines.utf8).base64EncodedString(
            options: [.lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed])
    }

    /// The From header; the address is on its own line if both do not fit on one.
    private static func mailbox(_ name: String, _ address: EmailAddress) -> String {
        let (head, tail) = ("From: \(phrase(name))", "<\(address.onTheWire)>")
        let isShort = !head.contains("\r\n") && head.utf8.count + 1 + tail.utf8.count <= lineLength
        return head + (isShort ? " " : "\r\n ") + tail
    }

    /// A display name: a quoted string, or encoded words.
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

    /// Whether a text can be used unencoded in a header and cannot be mistaken for an encoded word.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains("=?")
    }

    /// Encodes a text as encoded words of at most 75 characters, one on each line, without splitting a character.
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

    /// The date in the format of a mail header.
    ///
    /// Spec: RFC 5322 §3.3.
    private static func text(of time: Timestamp) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
        return format.string(from: Date(timeIntervalSince1970: Double(time.milliseconds) / 1000))
    }
}
