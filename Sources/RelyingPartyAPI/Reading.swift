import CountersignWire
import Encodings

/// Accepts a text, or refuses it at a JSON pointer.
func refusing<Value>(
    at pointer: String, _ accept: () throws(TextRefusal) -> Value
) throws(RefusedText) -> Value {
    do { return try accept() } catch { throw RefusedText(error, at: pointer) }
}

extension JSONValue {
    /// What the strings of an array say; nil for another value, and where one of them says nothing.
    func each<Element>(_ read: (String) -> Element?) -> [Element]? {
        guard let elements = array?.map({ $0.string.flatMap(read) }), elements.allSatisfy({ $0 != nil }) else {
            return nil
        }
        return elements.compactMap { $0 }
    }

    /// What the strings of an array say, each once; nil for any other value.
    func eachOnce<Element: Hashable>(_ read: (String) -> Element?) -> [Element]? {
        each(read).flatMap { Set($0).count == $0.count ? $0 : nil }
    }
}
