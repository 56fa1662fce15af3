package import Encodings

/// What a captcha's provider gives to whoever has solved one; it is good once.
package struct CaptchaToken: Sendable {
    /// What it must be, after "must be".
    package static let expected = "1 to 4096 visible ASCII characters"

    /// The text.
    package let text: Secret<String>

    /// Accepts 1 to 4096 visible ASCII characters.
    package init?(_ text: String) {
        guard (1...4096).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        self.text = Secret(text)
    }
}
