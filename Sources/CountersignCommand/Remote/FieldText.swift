import CountersignWire
import Encodings

extension JSONValue {
    /// A text as a field of a line for people, whatever is in it: it begins no line of its own.
    ///
    /// What a server tells is printed by this, and by nothing else; nil where it is no text.
    var field: String? { string.map(ShownText.line) }
}
