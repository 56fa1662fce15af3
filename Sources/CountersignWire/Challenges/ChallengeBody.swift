public import Encodings

/// The content of a challenge, which is sent sealed to one enrollment.
///
/// Readers ignore unknown members; a member that readers must understand needs a higher ``version``.
public struct ChallengeBody: Hashable, Sendable {
    /// The version that this module writes and reads.
    public static let version: Int64 = 1
    private static let kind = "challenge"
    /// The greatest number of versions that a device may list.
    private static let maximumVersions = 16
    /// What ``versions(_:)`` accepts, in words.
    static let expectedVersions = "an array of at most \(maximumVersions) whole numbers that holds \(version)"

    /// The versions that a device lists; nil if this version is not among them.
    static func versions(_ json: JSONValue) -> [Int64]? {
        guard let versions = json.array?.map(\.integer), !versions.contains(nil), versions.count <= maximumVersions,
            versions.contains(version)
        else { return nil }
        return versions.compactMap { $0 }
    }

    /// The content of the challenge.
    public let question: Question
    /// The short message for a notification or a list, if it is not the message of the question.
    public let alert: DisplayMessage?
    /// The user who is asked.
    public let user: UserID
    /// The enrollment to which it is sent.
    public let enrollment: EnrollmentID
    /// The methods that may answer it, in the client's order of preference.
    public let methods: [AnswerMethod]
    /// How many digits the user must type; nil if no number is needed.
    public let numberEntry: Int?
    /// How many wrong PINs are left; nil if it takes no PIN.
    public let attemptsLeft: Int?
    /// When it expires.
    public let expiresAt: Timestamp
    /// The language of the texts, if the client named one.
    public let locale: String?
    /// Whether the challenge was claimed by its code: then it is the user's own only if the code was on a screen of
    /// theirs.
    public let isClaimed: Bool
    /// Where the browser returns to, if the challenge was claimed by a link on the device itself.
    ///
    /// Then it is the user's own only if they followed the link where they started this. An approval counts only after
    /// the browser has returned.
    public let returnURI: ReturnURI?

    /// Whether the challenge was claimed by a link.
    public var isLink: Bool { returnURI != nil }

    /// A body of these parts.
    public init(
        question: Question, alert: DisplayMessage? = nil, user: UserID, enrollment: EnrollmentID,
        methods: [AnswerMethod], numberEntry: Int?, attemptsLeft: Int? = nil, expiresAt: Timestamp, locale: String?,
        isClaimed: Bool = false,
        returnURI: ReturnURI? = nil
    ) {
        self.question = question
        self.alert = alert
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
            "alert": alert.map { .string($0.text) },
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
    /// Every text is checked by the rules for texts that may be shown.
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
        alert = try members.optional("alert", "a message") { try? $0.string.map { try DisplayMessage($0) } }
        user = try members.required("user", "a user id") { $0.string.flatMap { UserID($0) } }
        enrollment = try members.required("enrollment", "an enrollment id") { $0.string.flatMap { EnrollmentID($0) } }
        // Methods that this version does not know are left out, because it cannot answer by them.
        methods = try members.strings("methods").compactMap(AnswerMethod.init(rawValue:))
        // Spec: docs/protocol/challenges.md, *The sealed body*: a number of another length is of another version.
        numberEntry = try members.optional("number_entry", "the number \(EntryNumber.length)") { value in
            value.integer == Int64(EntryNumber.length) ? EntryNumber.length : nil
        }
        attemptsLeft = try members.optionalInteger("attempts_left", in: 0...100).map(Int.init)
        expiresAt = try members.required("expires_at", "a time") { $0.string.flatMap { Timestamp($0) } }
        locale = try members.optionalString("locale")
        isClaimed = try members.optionalBool("claimed") ?? false
        // The app decides what it opens; this check only accepts the URLs that any app might open.
        returnURI = try members.optional("return_uri", ReturnURI.expected) { value in
            value.string.flatMap { ReturnURI($0, isDevelopment: true) }
        }
    }
}

extension Detail {
    /// The detail as JSON.
    public var json: JSONValue { .members(["label": .string(label.text), "value": .string(value.text)]) }

    /// Reads a detail at a JSON pointer.
    ///
    /// Unknown members are ignored, as everywhere in a body.
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
