/// Everything a challenge shows a person, whoever that is, and so everything the receipt of the answer says.
public struct Question: Hashable, Sendable {
    /// The challenge.
    public var challenge: ChallengeID
    /// What makes it unlike any other.
    public var nonce: Nonce
    /// Who asks on the client's behalf.
    public var issuer: Issuer
    /// Who asks.
    public var client: ClientID
    /// What users know the client by, at the time of asking.
    public var clientName: ClientName
    /// The policy it was asked by.
    public var type: TypeName
    /// From where it was asked, in one line.
    public var context: DisplayLine?
    /// When it was asked, to the second.
    public var askedAt: Timestamp
    /// Amount, payee and the like, in order.
    public var details: [Detail]
    /// Data to be signed along.
    public var signingData: String?
    /// The message.
    public var message: DisplayMessage

    /// A question of these parts.
    ///
    /// The time is cut to the second, the way receipts write it.
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

/// What a person decided.
public enum Decision: Hashable, Sendable {
    /// Yes, proved by a method, with the number that was typed where one was asked for.
    case approved(AnswerMethod, number: EntryNumber?)
    /// No.
    case denied
    /// No, and it was not the user who started this.
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
