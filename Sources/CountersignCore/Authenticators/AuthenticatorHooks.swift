package import CountersignWire
package import Encodings

/// What a hook is asked.
package struct HookQuestion: Sendable {
    /// What it is about.
    package enum Purpose: Sendable {
        /// Whether a device may answer by the authenticator from now on.
        case register
        /// Whether an answer to a challenge counts.
        case verify(ChallengeID, type: TypeName)
    }

    /// The `webhook-id`: the same for the same data sent again.
    package let id: String
    /// When it is asked.
    package let askedAt: Timestamp
    /// What it is about.
    package let purpose: Purpose
    /// Who is asked.
    package let authenticator: CustomAuthenticator
    /// Whose hook it is: the client through which the device was enrolled, whoever asked the user.
    package let client: ClientID
    /// Which device.
    package let enrollment: EnrollmentID
    /// Whose.
    package let user: UserID
    /// The client's own name for the user.
    package let externalID: ExternalID?
    /// What the app has handed over.
    package let data: Secret<String>

    /// A question of these parts.
    package init(
        id: String, askedAt: Timestamp, purpose: Purpose, authenticator: CustomAuthenticator, client: ClientID,
        enrollment: EnrollmentID, user: UserID, externalID: ExternalID?, data: Secret<String>
    ) {
        self.id = id
        self.askedAt = askedAt
        self.purpose = purpose
        self.authenticator = authenticator
        self.client = client
        self.enrollment = enrollment
        self.user = user
        self.externalID = externalID
        self.data = data
    }

    /// The question as JSON: the body of the call.
    package var json: JSONValue {
        var object = JSONObject([
            "type": .string(typeName), "timestamp": .string("\(askedAt)"),
            "authenticator": .string("\(authenticator.name)"),
            "user": .members([
                "id": .string("\(user)"), "external_id": externalID.map { .string($0.text) },
            ]),
            "enrollment": .string("\(enrollment)"), "data": .string(data.reveal()),
        ])
        if case .verify(let challenge, let type) = purpose {
            object["challenge"] = ["id": .string("\(challenge)"), "type": .string("\(type)")]
        }
        return .object(object)
    }

    private var typeName: String {
        switch purpose {
        case .register: "authenticator.register"
        case .verify: "authenticator.verify"
        }
    }
}

/// What a hook says.
package struct HookVerdict: Hashable, Sendable {
    /// How long the payload may be, in bytes of UTF-8.
    package static let maximumPayload = 4096

    /// Whether it is satisfied.
    package enum Result: String, CaseIterable, Sendable {
        /// It is.
        case ok
        /// It is not, and the user may try again.
        case retry
        /// It is not: the authenticator is registered no more.
        case fail
        /// It does not know this device.
        case notRegistered = "not_registered"
    }

    /// Whether it is satisfied.
    package let result: Result
    /// What it says to the app; nil for nothing.
    package let payload: String?

    /// A verdict of these parts.
    package init(_ result: Result, payload: String? = nil) {
        self.result = result
        self.payload = payload
    }

    /// Reads a verdict, or nil; members nobody knows are ignored.
    package init?(_ json: JSONValue) {
        guard let result = json["result"]?.string.flatMap(Result.init(rawValue:)) else { return nil }
        self.result = result
        switch json["payload"] {
        case nil, .null?: payload = nil
        case .string(let text)? where text.utf8.count <= Self.maximumPayload: payload = text
        default: return nil
        }
    }

    var json: JSONValue {
        .members(["result": .string(result.rawValue), "payload": payload.map(JSONValue.string)])
    }
}

/// Asks the hooks of clients.
package protocol AuthenticatorHooks: Sendable {
    /// Asks a hook, for as long as it may take.
    ///
    /// - Returns: nil when it cannot be asked, or does not answer in time and as it must.
    func ask(_ question: HookQuestion) async -> HookVerdict?
}

extension UnitOfWork {
    /// What to ask a hook about a device of a user; nil when the client has no such authenticator any more.
    func hookQuestion(
        _ purpose: HookQuestion.Purpose, _ name: AuthenticatorName, _ data: CustomData, of enrollment: Enrollment,
        id: String
    ) throws -> HookQuestion? {
        guard let authenticator = try clients.find(enrollment.client)?.authenticators.first(where: { $0.name == name })
        else {
            return nil
        }
        let externalID = try links.find(.id(enrollment.user), of: enrollment.client)?.externalID
        return HookQuestion(
            id: id, askedAt: now, purpose: purpose, authenticator: authenticator, client: enrollment.client,
            enrollment: enrollment.id, user: enrollment.user, externalID: externalID, data: Secret(data.data))
    }

    /// Forgets that a device can answer by an authenticator, and tells the client's hook, which may keep something of
    /// it.
    ///
    /// The caller holds the enrollment.
    func dropAuthenticator(
        _ name: AuthenticatorName, of enrollment: Enrollment
    ) throws {
        var customs = enrollment.customs
        customs[name] = nil
        try methods.put(customs, of: enrollment.id)
        try waits.delete(.custom(name), of: enrollment.id)
        try raise(.authenticatorDeregistered(name, of: enrollment))
    }

    /// Tells a client's hook that a device answers by an authenticator no more.
    func tellDeregistered(
        _ name: AuthenticatorName, of enrollment: Enrollment
    ) throws {
        guard let authenticator = try clients.find(enrollment.client)?.authenticators.first(where: { $0.name == name })
        else {
            return
        }
        let body = JSONValue.members([
            "type": "authenticator.deregistered", "timestamp": .string("\(now)"), "authenticator": .string("\(name)"),
            "user": .members(["id": .string("\(enrollment.user)")]), "enrollment": .string("\(enrollment.id)"),
        ])
        try outbox.enqueue(
            OutboxMessage(
                id: nextEventID(),
                content: .hook(authenticator.hook, client: enrollment.client, body: body.encoded), dueAt: now,
                expiresAt: now.adding(OutboxMessage.lifetime)))
        notify(.outbox)
    }
}
