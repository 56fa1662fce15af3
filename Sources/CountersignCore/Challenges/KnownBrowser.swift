package import CountersignWire
import Encodings

/// A browser from which a user has approved something of a client's.
package enum KnownBrowser {
    /// How long it is remembered after the last approval: as long as browsers keep a cookie.
    package static let keptFor = Seconds.days(400)
}

extension UnitOfWork {
    /// Learns from the end of a challenge which browsers are the user's.
    func learnBrowser(_ outcome: ChallengeOutcome, from challenge: Challenge) throws {
        guard let browser = challenge.browser, let user = challenge.user else { return }
        let client = challenge.question.client
        switch outcome {
        // The browser becomes the user's when the sign-in ends there, after the user was told that it is new.
        case .approved where challenge.purpose.authorization != nil: return
        case .approved: try browsers.put(browser, of: user, by: client, at: now)
        // Somebody else sits there.
        case .reported: try browsers.delete(browser, of: user, by: client)
        // A code that was read out to somebody is typed in theirs.
        case .entered, .denied, .failed, .cancelled, .expired: return
        }
    }
}
