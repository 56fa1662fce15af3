import Encodings
import Foundation

/// Why a text cannot be shown and signed: it could deceive, or `gpg --verify` would not get it unchanged.
public enum TextRefusal: String, Error, Sendable, CaseIterable {
    /// The text is empty, or contains only blanks.
    case empty
    /// The text has too many characters.
    case tooLong = "too_long"
    /// A control character; LF is allowed in messages.
    case controlCharacter = "control_character"
    /// U+2028 or U+2029.
    case lineSeparator = "line_separator"
    /// A character that changes the direction of the text around it.
    case bidirectionalControl = "bidirectional_control"
    /// An invisible character; U+200C and U+200D are allowed inside a word.
    case invisibleCharacter = "invisible_character"
    /// A character that the shared version of Unicode does not assign, or reserves for private use.
    case unassignedCharacter = "unassigned_character"
    /// More than six combining marks on one character.
    case tooManyMarks = "too_many_marks"
    /// Not in Unicode Normalization Form C.
    case notNormalized = "not_normalized"
    /// A line that ends in a blank, which OpenPGP does not sign.
    case trailingBlank = "trailing_blank"
    /// An LF at the beginning or the end.
    case outerLineFeed = "outer_line_feed"
    /// More than two LF in a row.
    case blankLines = "blank_lines"
    /// `=` in a label.
    case equalsSign = "equals_sign"
    /// A parenthesis in a client's name.
    case parenthesis
    /// A line is longer than GnuPG can read.
    case lineTooLong = "line_too_long"
    /// A name that begins with a blank.
    case leadingBlank = "leading_blank"
}

/// A text of a request's body that is refused, and its place (RFC 6901).
public struct RefusedText: Error, Hashable, Sendable {
    /// The reason.
    public let refusal: TextRefusal
    /// The place.
    public let pointer: String

    /// A refusal with a reason and a place.
    public init(_ refusal: TextRefusal, at pointer: String) {
        self.refusal = refusal
        self.pointer = pointer
    }
}

/// One line that may be shown and signed.
public struct DisplayLine: Hashable, Sendable {
    /// The text.
    public let text: String

    /// Accepts a line.
    ///
    /// - Parameters:
    ///   - text: the line.
    ///   - limit: how many Unicode scalars it may have.
    public init(_ text: String, atMost limit: Int = 1000) throws(TextRefusal) {
        try TextRules.check(text, lineFeeds: false, atMost: limit)
        self.text = text
    }
}

/// A text of one or more lines that may be shown and signed.
public struct DisplayMessage: Hashable, Sendable {
    /// The text, its lines separated by LF.
    public let text: String

    /// Accepts a text.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - limit: how many Unicode scalars it may have; none by default, the size of a request is the limit.
    public init(_ text: String, atMost limit: Int = .max) throws(TextRefusal) {
        try TextRules.check(text, lineFeeds: true, atMost: limit)
        self.text = text
    }
}

/// A label and its value, shown and signed as one line.
public struct Detail: Hashable, Sendable {
    /// The label; it contains no `=`, so that the first `=` ends it.
    public let label: DisplayLine
    /// The value.
    public let value: DisplayLine

    /// Accepts a detail.
    ///
    /// A label has at most 64 Unicode scalars.
    public init(label: String, value: String) throws(TextRefusal) {
        guard !label.utf8.contains(UInt8(ascii: "=")) else { throw .equalsSign }
        self.label = try DisplayLine(label, atMost: 64)
        self.value = try DisplayLine(value)
    }
}

/// The name of a client, as users see it: a line without parentheses, because the client's id follows in parentheses.
public struct ClientName: Hashable, Sendable {
    /// The name.
    public let text: String

    /// Accepts a name of at most 64 Unicode scalars.
    public init(_ text: String) throws(TextRefusal) {
        guard !text.utf8.contains(UInt8(ascii: "(")), !text.utf8.contains(UInt8(ascii: ")")) else {
            throw .parenthesis
        }
        self.text = try DisplayLine(text, atMost: 64).text
    }
}

private enum TextRules {
    /// The greatest number of combining marks on a character; no language's words have more, and piles of marks cover
    /// the neighbouring lines.
    private static let maximumMarks = 6

    static func check(_ text: String, lineFeeds: Bool, atMost limit: Int) throws(TextRefusal) {
        if isPlain(text, atMost: limit) { return }
        let scalars = Array(text.unicodeScalars)
        guard scalars.count <= limit else { throw .tooLong }
        var marks = 0
        for (index, scalar) in scalars.enumerated() {
            marks = isMark(scalar) ? marks + 1 : 0
            guard marks <= maximumMarks else { throw .tooManyMarks }
            if scalar == "\n", lineFeeds { continue }
            // Printable ASCII is always allowed, without a look into the tables.
            if (0x20..<0x7F).contains(scalar.value) { continue }
            try check(scalar, before: scalars[..<index].last, after: scalars[(index + 1)...].first)
        }
        guard scalars.contains(where: { !isBlank($0) && $0 != "\n" }) else { throw .empty }
        guard scalars.first != "\n", scalars.last != "\n" else { throw .outerLineFeed }
        for line in scalars.split(separator: "\n", omittingEmptySubsequences: true) {
            if let last = line.last, isBlank(last) { throw .trailingBlank }
        }
        guard !text.utf8.containsRun(of: 0x0A, longerThan: 2) else { throw .blankLines }
        // Below U+0300 nothing composes, so such a text is already normalized.
        guard
            scalars.allSatisfy({ $0.value < 0x300 })
                || text.precomposedStringWithCanonicalMapping.hasSameBytes(as: text)
        else { throw .notNormalized }
    }

    /// Whether a text is one line of printable ASCII that does not end in a blank: such texts, which are the most
    /// frequent, pass all rules.
    private static func isPlain(_ text: String, atMost limit: Int) -> Bool {
        guard text.utf8.count <= limit, let last = text.utf8.last, last != UInt8(ascii: " ") else { return false }
        return text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }

    private static func check(
        _ scalar: Unicode.Scalar, before: Unicode.Scalar?, after: Unicode.Scalar?
    ) throws(TextRefusal) {
        let properties = scalar.properties
        switch scalar.value {
        case 0x2028, 0x2029:
            throw .lineSeparator
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069:
            throw .bidirectionalControl
        case 0x200C, 0x200D:
            guard let before, let after, isPartOfWord(before), isPartOfWord(after) else { throw .invisibleCharacter }
        default:
            guard properties.generalCategory != .control else { throw .controlCharacter }
            guard properties.generalCategory != .format, !properties.isDefaultIgnorableCodePoint else {
                throw .invisibleCharacter
            }
            guard AssignedCharacters.contains(scalar) else { throw .unassignedCharacter }
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300 else { return false }
        return switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark:
            true
        default:
            false
        }
    }

    /// Whether a character looks like a blank; the blank pattern of Braille does.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " "
            || scalar.value > 0x7F && (scalar.properties.generalCategory == .spaceSeparator || scalar == "\u{2800}")
    }
}

extension String.UTF8View {
    fileprivate func containsRun(of byte: UInt8, longerThan limit: Int) -> Bool {
        var length = 0
        for next in self {
            length = next == byte ? length + 1 : 0
            if length > limit { return true }
        }
        return false
    }
}
