import CountersignWire
import Encodings

extension JSONValue {
    /// A text as a field of a line for people, made safe so that it cannot begin a line of its own; nil if the value is
    /// no text.
    ///
    /// All text from a server is printed through this property.
    var field: String? { string.map(ShownText.line) }
}
