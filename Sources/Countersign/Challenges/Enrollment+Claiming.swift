import CountersignWire
public import Foundation

extension Authenticator {
    /// Whether a scanned text is the code of a challenge, and not a ticket, the code of a link or another system's
    /// code.
    public static func isChallengeCode(_ text: String) -> Bool { ChallengeCode(text) != nil }

    /// Whether a URL that the system gave the app is a link to a challenge of this issuer.
    ///
    /// Returns false for a scanned code that somebody turned into a link: its approval would need no return code.
    public func isChallengeLink(_ url: URL) -> Bool {
        ChallengeCode(link: url.absoluteString, to: connection.issuer) != nil
    }
}

extension Enrollment {
    /// Claims the challenge whose code the app's own scanner has read, and opens it.
    ///
    /// The code goes only to the server with which this device is enrolled. ``OpenedChallenge/isClaimed`` is true for
    /// the challenge: the user must have seen the code on a screen of their own.
    ///
    /// - Parameter text: the text of the code.
    /// - Returns: the challenge, which is also among the pending ones until it is answered.
    /// - Throws: ``CountersignError/codeRefused(_:)`` when the code is invalid or expired, or another device has
    ///   claimed it; ``CountersignError/methodMissing(_:)`` when this device has none of the challenge's methods: the
    ///   code can then still be scanned.
    public func claim(_ text: String) async throws(CountersignError) -> OpenedChallenge {
        guard let code = ChallengeCode(text) else { throw .codeRefused(.malformed) }
        return try await claim(code)
    }

    /// Claims the challenge whose link was opened on this device, and opens it.
    ///
    /// Anybody can send a link. So ask the user, together with the challenge, whether they followed the link
    /// themselves, where they started this. After the approval open ``Approved/returnURL``.
    ///
    /// - Parameter link: the URL that the system gave the app.
    /// - Returns: the challenge, which is also among the pending ones until it is answered.
    /// - Throws: the errors of ``claim(_:)``; ``CountersignError/codeRefused(_:)`` also when the link leads to another
    ///   issuer, or was made of a code for scanning.
    public func claim(link: URL) async throws(CountersignError) -> OpenedChallenge {
        guard let code = ChallengeCode(link: link.absoluteString, to: authenticator.connection.issuer) else {
            throw .codeRefused(.malformed)
        }
        return try await claim(code)
    }

    private func claim(_ code: ChallengeCode) async throws(CountersignError) -> OpenedChallenge {
        try await authenticator.claim(code, for: id)
        return try await authenticator.open(code.challenge, for: id)
    }
}

extension Authenticator {
    fileprivate func claim(_ code: ChallengeCode, for id: EnrollmentID) async throws(CountersignError) {
        guard let stored = await roster[id] else { throw .notEnrolled }
        _ = try await untilReplied { () throws(CountersignError) in
            try await send("POST", "/v1/challenges/claim", body: code.claim, for: stored)
        }
    }
}
