import CountersignWire
import Encodings
import Foundation
import Logging

/// How a line of the log is written.
enum LogFormat: String, CaseIterable, Sendable {
    case text
    case json

    /// An event as one line, whatever is in it: what callers cause must not look like a line of ours.
    func line(
        _ level: Logger.Level, _ message: String, _ metadata: [(key: String, value: String)], at time: Timestamp
    ) -> String {
        switch self {
        case .text:
            let members = metadata.map { " \($0.key)=\(Self.word($0.value))" }.joined()
            return "\(time) \(level) \(ShownText.line(message))\(members)"
        case .json:
            var object = JSONObject([
                "time": .string("\(time)"), "level": .string(level.rawValue), "message": .string(message),
            ])
            for member in metadata { object[member.key] = .string(member.value) }
            return ShownText.json(.object(object))
        }
    }

    /// A value that ends where it seems to.
    private static func word(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" }
        return isPlain && ShownText.line(text) == text
            ? text : "\"\(ShownText.line(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")))\""
    }
}
