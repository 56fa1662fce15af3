/// Everything that a challenge shows a person, and so everything that the receipt of its answer says.
public struct Question: Hashable, Sendable {
    /// The challenge.
    public var challenge: ChallengeID
    /// The bytes that make the challenge unique.
    public var nonce: Nonce
    /// The server that asks for the client.
    public var issuer: Issuer
    /// The client that asks.
    public var client: ClientID
    /// The client's name at the time of asking, as users know it.
    public var clientName: ClientName
    /// The challenge type.
    public var type: TypeName
    /// Where the user started this, in one line.
    public var context: DisplayLine?
    /// When it was asked, to the second.
    public var askedAt: Timestamp
    /// Amount, payee and the like, in order.
    public var details: [Detail]
    /// Further data that the answer signs.
    public var signingData: String?
    /// The message.
    public var message: DisplayMessage

    /// A question of these parts.
    ///
    /// The time is cut to the second, as in receipts.
    public init(
        challenge: ChallengeID, nonce: Nonce, issuer: Issuer, client: ClientID, clientName: ClientName,
        type: TypeName, context: DisplayLine?, askedAt: Timestamp, details: [Detail], signingData: String?,
        message: DisplayMessage
    ) {
        self.challenge = challenge
        self.nonce = nonce
        self.issuer = issuer
        self.client = client
        self.clientName = clientName
        self.type = type
        self.context = context
        self.askedAt = askedAt.wholeSeconds
        self.details = details
        self.signingData = signingData
        self.message = message
    }
}

/// A person's decision.
public enum Decision: Hashable, Sendable {
    /// Approved by a method, with the number that was typed if one was needed.
    case approved(AnswerMethod, number: EntryNumber?)
    /// Denied.
    case denied
    /// Denied, and reported: the user did not start this.
    case reported

    /// The word in the receipt.
    public var name: String {
        switch self {
        case .approved: "approved"
        case .denied: "denied"
        case .reported: "reported"
        }
    }
}
