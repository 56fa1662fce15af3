package import Encodings

/// Makes other parties' text safe for a terminal or a log, where some characters control the terminal, are invisible,
/// or reverse the text beside them.
///
/// All text of a server, a device, a relying party or a file passes through here before it is printed.
package enum ShownText {
    /// Begins and ends a text whose direction does not affect the text around it.
    ///
    /// Spec: Unicode Standard Annex 9, *Explicit Directional Isolates*.
    private static let isolate: Unicode.Scalar = "\u{2068}"
    private static let pop: Unicode.Scalar = "\u{2069}"

    /// A text without characters that control a terminal, are invisible or change the direction; its lines stay.
    ///
    /// Isolates that are closed within their line stay, too: they confine a direction, as in ``isolated(_:)``.
    package static func escaped(_ text: String) -> String {
        text.split(separator: "\n" as Unicode.Scalar).map { escapedLine($0, keepsIsolates: true) }
            .joined(separator: "\n")
    }

    /// A text as one line, whatever it contains.
    package static func line(_ text: String) -> String {
        escapedLine(Array(text.unicodeScalars)[...], keepsIsolates: false)
    }

    /// A text as one line that can be put into a sentence of ours.
    package static func isolated(_ text: String) -> String { confined(line(text)) }

    /// A text with its direction confined, for use within another text; nothing else changes.
    package static func confined(_ text: String) -> String {
        isRightToLeft(text) ? "\(isolate)\(text)\(pop)" : text
    }

    /// JSON with the same meaning that does not control a terminal.
    package static func json(_ value: JSONValue) -> String {
        // Such characters occur only in strings.
        value.text.unicodeScalars.map { isShown($0) ? String($0) : escapedInJSON($0) }.joined()
    }

    /// Spec: RFC 8259 §7.
    private static func escapedInJSON(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
        }.joined()
    }

    /// Whether a character is displayed as itself.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20..<0x7F).contains(scalar.value) { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: return false
        default: return !scalar.properties.isDefaultIgnorableCodePoint && AssignedCharacters.contains(scalar)
        }
    }

    private static func escapedLine(_ scalars: ArraySlice<Unicode.Scalar>, keepsIsolates: Bool) -> String {
        let kept = keepsIsolates ? closedIsolates(in: scalars) : []
        var result = ""
        for (index, scalar) in zip(scalars.indices, scalars) {
            if isShown(scalar) || kept.contains(index) {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }

    /// The positions of isolates that both begin and end.
    private static func closedIsolates(in scalars: ArraySlice<Unicode.Scalar>) -> Set<Int> {
        var (open, closed) = ([Int](), Set<Int>())
        for index in scalars.indices {
            if scalars[index] == isolate {
                open.append(index)
            } else if scalars[index] == pop, let beginning = open.popLast() {
                closed.formUnion([beginning, index])
            }
        }
        return closed
    }

    /// Whether a text contains right-to-left script, such as Hebrew or Arabic.
    private static func isRightToLeft(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
            default: false
            }
        }
    }
}

extension String {
    /// The scalars between separators, including empty parts.
    fileprivate func split(separator: Unicode.Scalar) -> [ArraySlice<Unicode.Scalar>] {
        Array(unicodeScalars).split(separator: separator, omittingEmptySubsequences: false)
    }
}
