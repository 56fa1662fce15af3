import CountersignWire
public import Foundation

extension Authenticator {
    /// Whether a scanned text is the code of a challenge, and not a ticket, a link's code or somebody else's.
    public static func isChallengeCode(_ text: String) -> Bool { ChallengeCode(text) != nil }

    /// Whether a URL that the system gave the app is the link of a challenge of this issuer.
    ///
    /// A scanned code that was made into a link is none: it would be approved without being held back.
    public func isChallengeLink(_ url: URL) -> Bool {
        ChallengeCode(link: url.absoluteString, to: connection.issuer) != nil
    }
}

extension Enrollment {
    /// Claims the challenge whose code was scanned, by the app's own scanner, and opens it.
    ///
    /// The code goes to the server this device is enrolled with and to no other. What is opened says by
    /// ``OpenedChallenge/isClaimed`` that the user must have seen the code on a screen of their own.
    ///
    /// - Parameter text: what the code holds.
    /// - Returns: the challenge, which waits among the pending ones, too, until it is answered.
    /// - Throws: ``CountersignError/codeRefused(_:)`` when the code is none, or over, or another device was first;
    ///   ``CountersignError/methodMissing(_:)`` when this device cannot answer by what the challenge allows, and then
    ///   the code can still be scanned.
    public func claim(_ text: String) async throws(CountersignError) -> OpenedChallenge {
        guard let code = ChallengeCode(text) else { throw .codeRefused(.malformed) }
        return try await claim(code)
    }

    /// Claims the challenge whose link was opened on this device, and opens it.
    ///
    /// Show it with the question whether the user followed the link themselves, where they started this: anybody can
    /// send a link. After the approval open ``Approved/returnURL``.
    ///
    /// - Parameter link: the URL that the system gave the app.
    /// - Returns: the challenge, which waits among the pending ones, too, until it is answered.
    /// - Throws: as ``claim(_:)``; ``CountersignError/codeRefused(_:)`` also when the link leads to another issuer, or was made of a
    ///   code that is for scanning.
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
