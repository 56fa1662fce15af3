import CountersignWire
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

/// A browser from which a user has approved something of a client's.
package enum KnownBrowser {
    /// How long it is remembered after the last approval, in seconds: 400 days, as long as browsers keep a cookie.
    package static let keptFor: Int64 = 400 * 86_400
}

extension UnitOfWork {
    /// Learns from the end of a challenge which browsers are the user's.
    func learnBrowser(_ outcome: ChallengeOutcome, from challenge: Challenge) throws {
        guard let browser = challenge.browser, let user = challenge.user else { return }
        let client = challenge.question.client
        switch outcome {
        case .approved: try browsers.put(browser, of: user, by: client, at: now)
        // Somebody else sits there.
        case .reported: try browsers.delete(browser, of: user, by: client)
        // A code that was read out to somebody is typed in theirs.
        case .entered, .denied, .failed, .cancelled, .expired: return
        }
    }
}
