import CountersignServer
import CountersignWire
import Encodings

/// Formats an event of the audit as one line of the Common Event Format, which log collectors read.
///
/// Every value is escaped, so that no text of a user or a device can begin another field or another line.
enum CommonEventFormat {
    /// The line for an event from the server.
    static func line(of event: JSONValue) -> String {
        let kind = event["kind"]?.string ?? ""
        let header = [
            "CEF:0", "Countersign", "countersign", header(ServerVersion.text), header(kind),
            header(kind.replacing(".", with: " ")), "\(severity(of: kind))",
        ]
        var fields: [(String, String)] = []
        if let time = event["at"]?.string.flatMap({ Timestamp($0) }) { fields.append(("rt", "\(time.milliseconds)")) }
        if let id = event["id"]?.string { fields.append(("externalId", id)) }
        if let user = event["user"]?.string { fields.append(("duid", user)) }
        for (number, name) in ["client", "enrollment", "challenge"].enumerated() {
            guard let value = event[name]?.string else { continue }
            fields.append(("cs\(number + 1)Label", name))
            fields.append(("cs\(number + 1)", value))
        }
        if let reason = event["detail"]?["reason"]?.string { fields.append(("reason", reason)) }
        fields.append(("msg", (event["detail"] ?? [:]).text))
        let extensions = fields.map { "\($0.0)=\(value($0.1))" }.joined(separator: " ")
        return "\(header.joined(separator: "|"))|\(extensions)"
    }

    /// The severity of a kind of event, from 0 to 10.
    private static func severity(of kind: String) -> Int {
        switch kind {
        case "challenge.reported", "pin.locked", "user_code.locked": 8
        case "answer.refused", "pin.incorrect", "user_code.incorrect", "method_change.refused", "custom.refused": 6
        case "challenge.denied", "challenge.failed", "enrollment.removed", "user.deleted", "user.exported": 5
        default: 3
        }
    }

    /// A text for the header, in which bars separate the parts.
    static func header(_ text: String) -> String { escaped(text, "\\", "|") }

    /// A text for the value of a field, which a name and an equals sign would end.
    static func value(_ text: String) -> String { escaped(text, "\\", "=") }

    /// A text with some characters after a backslash, and without characters that would end the line or be invisible.
    private static func escaped(_ text: String, _ special: Unicode.Scalar...) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case _ where special.contains(scalar): escaped += "\\\(scalar)"
            case _ where isHidden(scalar): escaped += "\\\\u{\(String(scalar.value, radix: 16))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Whether a scalar is a control character, ends a line or paragraph, or changes how others are displayed.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
