package import CountersignWire

/// What its client sees of a challenge.
package struct ShownChallenge: Equatable, Sendable {
    /// Its id.
    package let id: ChallengeID
    /// By which policy it was asked.
    package let type: TypeName
    /// Who is asked; nil while anybody may claim it.
    package let user: UserID?
    /// By which methods devices may answer it; none where the user types a code that was sent to them.
    package let methods: [AnswerMethod]
    /// When it was asked.
    package let askedAt: Timestamp
    /// When it ends unanswered.
    package let expiresAt: Timestamp
    /// When a device claimed it by its code; nil where none did.
    package let claimedAt: Timestamp?
    /// What the client wanted back with it.
    package let clientState: String?
    /// How far it has come.
    package let state: ChallengeState
}

extension ShownChallenge {
    /// A challenge as its client sees it.
    package init(_ challenge: Challenge) {
        self.init(
            id: challenge.id, type: challenge.question.type, user: challenge.user, methods: challenge.methods,
            askedAt: challenge.question.askedAt, expiresAt: challenge.expiresAt, claimedAt: challenge.channel.claimedAt,
            clientState: challenge.clientState, state: challenge.state)
    }
}
