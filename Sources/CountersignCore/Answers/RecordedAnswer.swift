package import CountersignWire

/// The reply to an answer, for the same answer sent again.
package struct RecordedAnswer: Sendable {
    /// The challenge it answered.
    package let challenge: ChallengeID
    /// The state of the challenge after it.
    package let status: ChallengeStatus
    /// How a custom authenticator judged it; nil where none was asked.
    package let custom: CustomReply?

    /// A record of these parts.
    package init(challenge: ChallengeID, status: ChallengeStatus, custom: CustomReply? = nil) {
        self.challenge = challenge
        self.status = status
        self.custom = custom
    }
}
