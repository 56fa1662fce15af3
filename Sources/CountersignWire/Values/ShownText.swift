package import Encodings

/// Text of others on a terminal or in a log, where some characters steer, hide or turn round what stands beside them.
///
/// Whatever is printed goes through here: text of a server, a device, a relying party or a file.
package enum ShownText {
    /// Begins and ends a text whose direction leaves what is around it alone.
    ///
    /// Spec: Unicode Standard Annex 9, *Explicit Directional Isolates*.
    private static let isolate: Unicode.Scalar = "\u{2068}"
    private static let pop: Unicode.Scalar = "\u{2069}"

    /// A text without what steers a terminal, hides or turns the direction; its lines stay.
    ///
    /// Isolates that are closed in their line stay too: they confine a direction, as ``isolated(_:)`` means them to.
    package static func escaped(_ text: String) -> String {
        text.split(separator: "\n" as Unicode.Scalar).map { escapedLine($0, keepsIsolates: true) }
            .joined(separator: "\n")
    }

    /// One line out of a text, whatever is in it.
    package static func line(_ text: String) -> String {
        escapedLine(Array(text.unicodeScalars)[...], keepsIsolates: false)
    }

    /// One line out of a text, to be put among words of ours.
    package static func isolated(_ text: String) -> String { confined(line(text)) }

    /// A text that others show among words of theirs, its direction confined; nothing else changes.
    package static func confined(_ text: String) -> String {
        isRightToLeft(text) ? "\(isolate)\(text)\(pop)" : text
    }

    /// JSON that means the same and steers no terminal.
    package static func json(_ value: JSONValue) -> String {
        // Such characters stand in strings alone.
        value.text.unicodeScalars.map { isShown($0) ? String($0) : escapedInJSON($0) }.joined()
    }

    /// Spec: RFC 8259 §7.
    private static func escapedInJSON(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
        }.joined()
    }

    /// Whether a character shows as what it is.
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

    /// Where isolates begin and end that do both.
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

    /// Whether anything in a text is written from right to left: Hebrew, Arabic and their like.
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
    /// The scalars between separators, empty ones too.
    fileprivate func split(separator: Unicode.Scalar) -> [ArraySlice<Unicode.Scalar>] {
        Array(unicodeScalars).split(separator: separator, omittingEmptySubsequences: false)
    }
}
