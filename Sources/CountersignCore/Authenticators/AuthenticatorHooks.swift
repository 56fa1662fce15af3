package import CountersignWire
package import Encodings

/// The question that the hook of a custom authenticator is asked.
package struct HookQuestion: Sendable {
    /// The purpose of the question.
    package enum Purpose: Sendable {
        /// Whether a device may answer by the authenticator from now on.
        case register
        /// Whether an answer to a challenge counts.
        case verify(ChallengeID, type: TypeName)
    }

    /// The `webhook-id`, which is the same when the device sends the same data again.
    package let id: String
    /// When the question is asked.
    package let askedAt: Timestamp
    /// The purpose of the question.
    package let purpose: Purpose
    /// The authenticator whose hook is asked.
    package let authenticator: CustomAuthenticator
    /// The client that has the hook: the one whose ticket enrolled the device, even if another client asked the user.
    package let client: ClientID
    /// The enrollment of the device.
    package let enrollment: EnrollmentID
    /// The user.
    package let user: UserID
    /// The client's external id for the user; nil if it has none.
    package let externalID: ExternalID?
    /// The data of the app that the hook judges.
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

    /// The question as JSON, which is the body of the request to the hook.
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

/// The verdict of a hook.
package struct HookVerdict: Hashable, Sendable {
    /// The greatest length of the payload, in bytes of UTF-8.
    package static let maximumPayload = 4096

    /// Whether the hook accepts the data.
    package enum Result: String, CaseIterable, Sendable {
        /// The hook accepts the data.
        case ok
        /// The hook refuses the data, and the user may try again.
        case retry
        /// The hook refuses the data; an answer by the authenticator then also ends its registration.
        case fail
        /// The hook does not know the device; an answer by the authenticator then also ends its registration.
        case notRegistered = "not_registered"
    }

    /// Whether the hook accepts the data.
    package let result: Result
    /// The hook's message to the app; nil if there is none.
    package let payload: String?

    /// A verdict of these parts.
    package init(_ result: Result, payload: String? = nil) {
        self.result = result
        self.payload = payload
    }

    /// Reads a verdict and ignores unknown members; nil if the result is unknown or the payload is too long or no text.
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
    /// Asks a hook, and waits at most until the authenticator's deadline.
    ///
    /// - Returns: the verdict; nil if the hook cannot be asked, or gives no valid answer in time.
    func ask(_ question: HookQuestion) async -> HookVerdict?
}

extension UnitOfWork {
    /// The question to the hook of an authenticator; nil if the client no longer has such an authenticator.
    ///
    /// - Parameters:
    ///   - purpose: the purpose of the question.
    ///   - name: the name of the authenticator.
    ///   - data: the data of the app.
    ///   - enrollment: the enrollment of the device.
    ///   - id: the `webhook-id`.
    /// - Throws: ``StoreError``.
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

    /// Ends the registration of an authenticator on a device.
    ///
    /// The client's hook is told, because it may keep data about the device. The caller keeps others from changing the
    /// enrollment.
    func dropAuthenticator(
        _ name: AuthenticatorName, of enrollment: Enrollment
    ) throws {
        var customs = enrollment.customs
        customs[name] = nil
        try methods.put(customs, of: enrollment.id)
        try waits.delete(.custom(name), of: enrollment.id)
        try raise(.authenticatorDeregistered(name, of: enrollment))
    }

    /// Enqueues the message to a client's hook that an authenticator is no longer registered on a device.
    ///
    /// Nothing is sent if the client no longer has the authenticator.
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
                id: nextID(),
                content: .hook(authenticator.hook, client: enrollment.client, body: body.encoded), dueAt: now,
                expiresAt: now.adding(OutboxMessage.lifetime)))
    }
}
