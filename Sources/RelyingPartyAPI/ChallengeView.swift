package import CountersignWire
package import Encodings

/// A challenge as its client sees it: `Challenge` and `ListedChallenge` of the contract.
package struct ChallengeView: Sendable {
    /// The challenge.
    package var id: ChallengeID
    /// Whether and how it has ended.
    package var status: ChallengeStatus
    /// By which method it was approved; nil while it was not.
    package var method: String?
    /// Its type.
    package var type: TypeName
    /// Who is asked; nil while nobody has claimed it.
    package var user: UserID?
    /// By which methods it may be answered.
    package var methods: [String]
    /// When it was asked.
    package var askedAt: Timestamp
    /// When it expires.
    package var expiresAt: Timestamp
    /// When a device claimed it; nil for none.
    package var claimedAt: Timestamp?
    /// When it ended; nil while it is open.
    package var endedAt: Timestamp?
    /// What the client wanted back.
    package var clientState: String?
    /// How each device was reached; nil where it is not told.
    package var deliveries: [DeliveryView]?
    /// The signed receipt of the answer that ended it, as text that gpg verifies; nil where it is not told.
    package var receipt: String?
    /// Whose it is; told to operators alone.
    package var client: ClientID?

    /// A view without what is told in some places only.
    package init(
        id: ChallengeID, status: ChallengeStatus, method: String?, type: TypeName, user: UserID?, methods: [String],
        askedAt: Timestamp, expiresAt: Timestamp, claimedAt: Timestamp?, endedAt: Timestamp?, clientState: String?
    ) {
        self.id = id
        self.status = status
        self.method = method
        self.type = type
        self.user = user
        self.methods = methods
        self.askedAt = askedAt
        self.expiresAt = expiresAt
        self.claimedAt = claimedAt
        self.endedAt = endedAt
        self.clientState = clientState
    }

    /// The view as JSON.
    package var json: JSONValue {
        .members([
            "id": .text(id), "state": .string(status.state), "reason": .text(status.reason), "method": .text(method),
            "type": .text(type), "user": .text(user), "methods": .texts(methods), "asked_at": .text(askedAt),
            "expires_at": .text(expiresAt), "claimed_at": .text(claimedAt), "ended_at": .text(endedAt),
            "client_state": .text(clientState), "deliveries": deliveries.map { .array($0.map(\.json)) },
            "receipt": receipt.map(JSONValue.string), "client": .text(client),
        ])
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        status = try ChallengeStatus(json)
        var members = try JSONMembers(json)
        id = try members.id("id")
        method = try members.optionalString("method")
        type = try members.required("type", "the name of a type") { $0.string.flatMap { TypeName($0) } }
        user = try members.optionalID("user")
        methods = try members.requiredStrings("methods")
        askedAt = try members.time("asked_at")
        expiresAt = try members.time("expires_at")
        claimedAt = try members.optionalTime("claimed_at")
        endedAt = try members.optionalTime("ended_at")
        clientState = try members.optionalString("client_state")
        if members.value("deliveries") != nil {
            deliveries = try members.array("deliveries").map { element throws(JSONShapeError) in
                try DeliveryView(element.value, at: element.pointer)
            }
        }
        receipt = try members.optionalString("receipt")
        client = try members.optionalID("client")
    }
}
