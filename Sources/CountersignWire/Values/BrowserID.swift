package import Encodings

/// What a client knows a browser by, such as the value of a cookie: a secret between the two.
package struct BrowserID: Sendable {
    /// What it must be, after "must be".
    package static let expected = "16 to 128 visible ASCII characters"

    /// The text.
    package let text: Secret<String>

    /// Accepts 16 to 128 visible ASCII characters.
    package init?(_ text: String) {
        guard (16...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        self.text = Secret(text)
    }
}
