public import Encodings

/// The challenge as it travels, sealed, to one enrollment.
///
/// Members nobody knows are ignored; whatever must be understood raises ``version``.
public struct ChallengeBody: Hashable, Sendable {
    /// The version this module writes and reads.
    public static let version: Int64 = 1
    private static let kind = "challenge"
    /// How many versions a device may say that it reads.
    private static let maximumVersions = 16
    /// What ``versions(_:)`` reads, in words.
    static let expectedVersions = "an array of at most \(maximumVersions) whole numbers that holds \(version)"

    /// The versions that a device says it reads; nil where this one is not among them.
    static func versions(_ json: JSONValue) -> [Int64]? {
        guard let versions = json.array?.map(\.integer), !versions.contains(nil), versions.count <= maximumVersions,
            versions.contains(version)
        else { return nil }
        return versions.compactMap { $0 }
    }

    /// What is asked.
    public let question: Question
    /// Who is asked.
    public let user: UserID
    /// The enrollment it is put to.
    public let enrollment: EnrollmentID
    /// How it may be answered, in the order the client prefers.
    public let methods: [AnswerMethod]
    /// How many digits the number to be typed has; nil when none is asked for.
    public let numberEntry: Int?
    /// How many wrong PINs are left; nil where a PIN does not answer it.
    public let attemptsLeft: Int?
    /// When it ends unanswered.
    public let expiresAt: Timestamp
    /// The language the texts are in, if the client said.
    public let locale: String?
    /// Whether it was claimed by its code: then it is the user's own only if the code was on a screen of theirs.
    public let isClaimed: Bool
    /// Where the app goes back to, where the code was a link that is opened on the device itself: then it is the user's
    /// own only if they followed it where they started this, and an approval counts once the app has gone back there.
    public let returnURI: ReturnURI?

    /// Whether it was claimed by a link.
    public var isLink: Bool { returnURI != nil }

    /// A body of these parts.
    public init(
        question: Question, user: UserID, enrollment: EnrollmentID, methods: [AnswerMethod], numberEntry: Int?,
        attemptsLeft: Int? = nil, expiresAt: Timestamp, locale: String?, isClaimed: Bool = false,
        returnURI: ReturnURI? = nil
    ) {
        self.question = question
        self.user = user
        self.enrollment = enrollment
        self.methods = methods
        self.numberEntry = numberEntry
        self.attemptsLeft = attemptsLeft
        self.expiresAt = expiresAt
        self.locale = locale
        self.isClaimed = isClaimed
        self.returnURI = returnURI
    }

    /// The body as JSON.
    public var json: JSONValue {
        .members([
            "v": .integer(Self.version), "kind": .string(Self.kind),
            "challenge": .string("\(question.challenge)"), "nonce": .string("\(question.nonce)"),
            "issuer": .string("\(question.issuer)"),
            "client": .members(["id": .string("\(question.client)"), "name": .string(question.clientName.text)]),
            "user": .string("\(user)"), "enrollment": .string("\(enrollment)"),
            "type": .string("\(question.type)"), "methods": .array(methods.map { .string($0.rawValue) }),
            "message": .string(question.message.text),
            "details": .array(question.details.map(\.json)),
            "signing_data": question.signingData.map(JSONValue.string),
            "context": question.context.map { .string($0.text) },
            "number_entry": numberEntry.map { .integer(Int64($0)) },
            "attempts_left": attemptsLeft.map { .integer(Int64($0)) },
            "asked_at": .string(question.askedAt.secondsDescription), "expires_at": .string("\(expiresAt)"),
            "locale": locale.map(JSONValue.string), "claimed": isClaimed ? true : nil,
            "return_uri": returnURI.map { .string("\($0)") },
        ])
    }

    /// Reads a body.
    ///
    /// Every text is held against the rules for what may be shown.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        _ = try members.required("v", "the version \(Self.version)") { $0.integer == Self.version ? true : nil }
        _ = try members.required("kind", "\"\(Self.kind)\"") { $0 == .string(Self.kind) ? true : nil }
        var client = try JSONMembers(
            try members.required("client", "an object") { $0 }, at: members.pointer(to: "client"))
        var details: [Detail] = []
        for element in try members.array("details") { details.append(try Detail(element.value, at: element.pointer)) }
        question = Question(
            challenge: try members.required("challenge", "a challenge id") { $0.string.flatMap { ChallengeID($0) } },
            nonce: try members.required("nonce", "64 hexadecimal digits") { $0.string.flatMap { Nonce($0) } },
            issuer: try members.required("issuer", "an issuer") { $0.string.flatMap { Issuer($0) } },
            client: try client.required("id", "a client id") { $0.string.flatMap { ClientID($0) } },
            clientName: try client.required("name", "a client's name") { try? $0.string.map(ClientName.init) },
            type: try members.required("type", "a type's name") { $0.string.flatMap { TypeName($0) } },
            context: try members.optional("context", "a line") { try? $0.string.map { try DisplayLine($0) } },
            askedAt: try members.required("asked_at", "a time") { $0.string.flatMap { Timestamp($0) } },
            details: details,
            signingData: try members.optionalString("signing_data"),
            message: try members.required("message", "a message") { try? $0.string.map { try DisplayMessage($0) } })
        user = try members.required("user", "a user id") { $0.string.flatMap { UserID($0) } }
        enrollment = try members.required("enrollment", "an enrollment id") { $0.string.flatMap { EnrollmentID($0) } }
        // Methods this version does not know are left out: it cannot answer by them.
        methods = try members.strings("methods").compactMap(AnswerMethod.init(rawValue:))
        numberEntry = try members.optionalInteger("number_entry", in: 1...16).map(Int.init)
        attemptsLeft = try members.optionalInteger("attempts_left", in: 0...100).map(Int.init)
        expiresAt = try members.required("expires_at", "a time") { $0.string.flatMap { Timestamp($0) } }
        locale = try members.optionalString("locale")
        isClaimed = try members.optionalBool("claimed") ?? false
        // What an app opens is for it to say; here it is only a URL of a kind that is ever opened.
        returnURI = try members.optional("return_uri", ReturnURI.expected) { value in
            value.string.flatMap { ReturnURI($0, isDevelopment: true) }
        }
    }
}

extension Detail {
    /// The detail as JSON.
    public var json: JSONValue { .members(["label": .string(label.text), "value": .string(value.text)]) }

    /// Reads a detail that stands at a JSON pointer.
    ///
    /// Members nobody knows are ignored, as everywhere in a body.
    public init(_ json: JSONValue, at pointer: String) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        let label = try members.string("label")
        let value = try members.string("value")
        do {
            try self.init(label: label, value: value)
        } catch {
            throw .invalid(pointer: pointer, expected: "a label and a value that can be shown (\(error.rawValue))")
        }
    }
}
