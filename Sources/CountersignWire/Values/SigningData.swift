/// Data that is signed along with an answer: a text that is not empty, without U+0000.
package struct SigningData: Hashable, Sendable {
    /// The text.
    package let text: String

    /// Accepts a text, or nil.
    package init?(_ text: String) {
        guard !text.isEmpty, !text.utf8.contains(0) else { return nil }
        self.text = text
    }
}
