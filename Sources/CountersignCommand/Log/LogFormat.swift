import CountersignWire
import Encodings
import Foundation
import Logging

/// The format of a line in the log.
enum LogFormat: String, CaseIterable, Sendable {
    case text
    case json

    /// An event as one line; text from callers cannot look like a line of the server's.
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

    /// A value in a form that shows where it ends.
    private static func word(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" }
        return isPlain && ShownText.line(text) == text
            ? text : "\"\(ShownText.line(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")))\""
    }
}
