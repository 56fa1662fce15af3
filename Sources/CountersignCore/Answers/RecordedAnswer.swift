package import CountersignWire

/// The recorded result of an answer, for the same answer sent again.
package struct RecordedAnswer: Sendable {
    /// The challenge that was answered.
    package let challenge: ChallengeID
    /// The status of the challenge after the answer.
    package let status: ChallengeStatus
    /// The result of the custom authenticator; nil where none was asked.
    package let custom: CustomReply?

    /// A record of these parts.
    package init(challenge: ChallengeID, status: ChallengeStatus, custom: CustomReply? = nil) {
        self.challenge = challenge
        self.status = status
        self.custom = custom
    }
}
