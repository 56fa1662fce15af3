public import CountersignWire

/// What its client sees of a challenge.
public struct ShownChallenge: Equatable, Sendable {
    /// Its id.
    public let id: ChallengeID
    /// By which policy it was asked.
    public let type: TypeName
    /// Who is asked; nil while anybody may claim it.
    public let user: UserID?
    /// By which methods devices may answer it; none where the user types a code that was sent to them.
    public let methods: [AnswerMethod]
    /// When it was asked.
    public let askedAt: Timestamp
    /// When it ends unanswered.
    public let expiresAt: Timestamp
    /// When a device claimed it by its code; nil where none did.
    public let claimedAt: Timestamp?
    /// What the client wanted back with it.
    public let clientState: String?
    /// How far it has come.
    public let state: ChallengeState
}

extension ShownChallenge {
    /// A challenge as its client sees it.
    public init(_ challenge: Challenge) {
        self.init(
            id: challenge.id, type: challenge.question.type, user: challenge.user, methods: challenge.methods,
            askedAt: challenge.question.askedAt, expiresAt: challenge.expiresAt, claimedAt: challenge.channel.claimedAt,
            clientState: challenge.clientState, state: challenge.state)
    }
}
