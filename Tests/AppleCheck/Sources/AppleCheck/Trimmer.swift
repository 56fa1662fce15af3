import SwiftSyntax

/// Takes out of a file what a system of some version does not have: declarations whose comment names a newer version or
/// no version of the system, and all that stands under an `#available` or `@available` of a newer version.
///
/// Lines stay where they are.
final class Trimmer: SyntaxAnyVisitor {
    /// What cannot be judged; the check then fails.
    struct Unreadable: Error, CustomStringConvertible {
        let offset: Int
        let description: String
    }

    /// Ends a block that a value or a definition is expected of.
    private static let never = "preconditionFailure()"

    private let platform: String
    private let level: Version
    private(set) var edits: [(range: Range<Int>, text: String)] = []
    private(set) var unreadable: [Unreadable] = []
    private var read: Set<SyntaxIdentifier> = []

    init(platform: String, level: Version) {
        self.platform = platform
        self.level = level
        super.init(viewMode: .sourceAccurate)
    }

    /// The text without what was taken out.
    func trimmed(_ source: String) -> String {
        var bytes = Array(source.utf8)
        for (range, text) in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            let newlines = bytes[range].filter { $0 == UInt8(ascii: "\n") }
            bytes.replaceSubrange(range, with: Array(text.utf8) + newlines)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func replace(_ start: AbsolutePosition, _ end: AbsolutePosition, with text: String = "") {
        edits.append((start.utf8Offset..<end.utf8Offset, text))
    }

    override func visitAny(_ node: Syntax) -> SyntaxVisitorContinueKind {
        guard let declaration = node.asProtocol((any DeclSyntaxProtocol).self), isNewer(declaration) else {
            return .visitChildren
        }
        replace(node.position, node.endPositionBeforeTrailingTrivia)
        return .skipChildren
    }

    /// Whether the system's version does not have a declaration.
    private func isNewer(_ declaration: any DeclSyntaxProtocol) -> Bool {
        for piece in declaration.leadingTrivia {
            guard case .docLineComment(let comment) = piece, comment.hasPrefix("/// Page: ") else { continue }
            let words = comment.split(separator: " ")
            // Without any version the comment is wrong, which is not for this program to say.
            guard words.contains("iOS") || words.contains("macOS") else { return false }
            guard let place = words.firstIndex(of: Substring(platform)), place + 1 < words.count,
                let version = Version(words[place + 1])
            else { return true }
            return version > level
        }
        guard let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes else { return false }
        return attributes.contains { element in
            guard case .attribute(let attribute) = element, case .availability(let arguments) = attribute.arguments
            else { return false }
            return needsNewer(arguments)
        }
    }

    /// Whether a list of versions names a newer one for the system; what it does not name is the least version.
    private func needsNewer(_ arguments: AvailabilityArgumentListSyntax) -> Bool {
        for element in arguments {
            if case .availabilityLabeledArgument(let labeled) = element.argument {
                if labeled.label.text == "introduced" { complain(element, "write it as @available(\(platform) 18, *)") }
            } else if case .availabilityVersionRestriction(let restriction) = element.argument,
                restriction.platform.text == platform
            {
                guard let version = restriction.version.flatMap({ Version($0.trimmedDescription) }) else {
                    complain(element, "it names no version")
                    continue
                }
                return version > level
            }
        }
        return false
    }

    private func complain(_ node: some SyntaxProtocol, _ text: String) {
        unreadable.append(
            Unreadable(offset: node.positionAfterSkippingLeadingTrivia.utf8Offset, description: text))
    }

    /// The condition of a list that asks for the system's version.
    private func availability(in conditions: ConditionElementListSyntax) -> AvailabilityConditionSyntax? {
        for element in conditions {
            guard case .availability(let availability) = element.condition else { continue }
            read.insert(availability.id)
            return availability
        }
        return nil
    }

    override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
        guard let availability = availability(in: node.conditions), needsNewer(availability.availabilityArguments)
        else { return .visitChildren }
        guard availability.isAvailable else {
            complain(availability, "write it with #available")
            return .skipChildren
        }
        // What is bound after the version may be new as well, and only the body uses it.
        replace(
            node.conditions.positionAfterSkippingLeadingTrivia, node.conditions.endPositionBeforeTrailingTrivia,
            with: "Bool(true)")
        blank(node.body)
        if let other = node.elseBody { walk(other) }
        return .skipChildren
    }

    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
        guard let availability = availability(in: node.conditions), needsNewer(availability.availabilityArguments)
        else { return .visitChildren }
        guard availability.isAvailable else {
            complain(availability, "write it with #available")
            return .skipChildren
        }
        replace(
            node.conditions.positionAfterSkippingLeadingTrivia, node.conditions.endPositionBeforeTrailingTrivia,
            with: "Bool(true)")
        walk(node.body)
        guard let item = node.parent?.as(CodeBlockItemSyntax.self),
            let list = item.parent?.as(CodeBlockItemListSyntax.self)
        else {
            complain(node, "a guard that stands in no block")
            return .skipChildren
        }
        replace(item.endPositionBeforeTrailingTrivia, list.endPositionBeforeTrailingTrivia, with: "; \(Self.never)")
        return .skipChildren
    }

    override func visit(_ node: AvailabilityConditionSyntax) -> SyntaxVisitorContinueKind {
        // The list of a loop, which nobody needs.
        if !read.contains(node.id) { complain(node, "an availability that is neither an if's nor a guard's") }
        return .skipChildren
    }

    private func blank(_ block: CodeBlockSyntax) {
        replace(
            block.leftBrace.endPositionBeforeTrailingTrivia, block.rightBrace.positionAfterSkippingLeadingTrivia,
            with: " \(Self.never) ")
    }
}

extension AvailabilityConditionSyntax {
    /// Whether it asks whether something is there, and not whether it is missing.
    var isAvailable: Bool { availabilityKeyword.tokenKind == .poundAvailable }
}
