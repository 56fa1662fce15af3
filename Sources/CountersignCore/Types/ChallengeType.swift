public import CountersignWire
public import Encodings

/// A policy a client may ask by.
///
/// Requests can tighten it and never loosen it.
public struct ChallengeType: Sendable {
    /// Its name.
    public let name: TypeName
    /// The methods allowed, in order.
    public let methods: [Method]
    /// How long a challenge lives, in seconds, and the longest a request may ask for.
    public let lifetime: Int64
    /// Whether a number shown by the asking side must be typed on the device.
    public let numberEntry: Bool
    /// Whether a request may bring signing data.
    public let signingData: Bool
    /// The least an answer must prove.
    public let assurance: Assurance
    /// How many challenges of one client may be open for one user.
    public let maximumPending: Int
    /// How often a client may ask a user within an hour without being approved once.
    public let maximumAsks: Int
    /// How often a challenge may be announced again.
    public let maximumResends: Int

    /// How long unapproved asks count, in seconds.
    static let askWindow: Int64 = 3600

    /// The type that exists from the start.
    public static let confirm = ChallengeType(
        name: .confirm, methods: [.confirm], lifetime: 120, numberEntry: true, signingData: true,
        assurance: .receipt, maximumPending: 3, maximumAsks: 10, maximumResends: 3)

    /// A type of these parts.
    public init(
        name: TypeName, methods: [Method], lifetime: Int64, numberEntry: Bool, signingData: Bool,
        assurance: Assurance, maximumPending: Int, maximumAsks: Int, maximumResends: Int
    ) {
        self.name = name
        self.methods = methods
        self.lifetime = lifetime
        self.numberEntry = numberEntry
        self.signingData = signingData
        self.assurance = assurance
        self.maximumPending = maximumPending
        self.maximumAsks = maximumAsks
        self.maximumResends = maximumResends
    }

    /// The type as JSON.
    public var json: JSONValue {
        .members([
            "name": .string("\(name)"), "methods": .array(methods.map { .string($0.rawValue) }),
            "expires_in": .integer(lifetime), "number_entry": .bool(numberEntry), "signing_data": .bool(signingData),
            "assurance": .string(assurance.rawValue), "max_pending": .integer(Int64(maximumPending)),
            "max_asks": .integer(Int64(maximumAsks)), "max_resends": .integer(Int64(maximumResends)),
        ])
    }

    /// Reads a type; members left out get the values of ``confirm``.
    public init(_ json: JSONValue, name: TypeName) throws(JSONShapeError) {
        let standard = Self.confirm
        var members = try JSONMembers(json)
        self.name = name
        // A type as the API shows it may be sent back, its name included.
        _ = try members.optional("name", "\"\(name)\", as in the path") { $0 == .string("\(name)") ? true : nil }
        methods =
            try members.optional("methods", "an array of one or more of \(Self.methodNames)") {
                guard let names = $0.array, !names.isEmpty else { return nil }
                let methods = names.compactMap { $0.string.flatMap(Method.init(rawValue:)) }
                return methods.count == names.count && Set(methods).count == names.count ? methods : nil
            } ?? standard.methods
        lifetime = try members.optionalInteger("expires_in", in: 10...86400) ?? standard.lifetime
        numberEntry = try members.optionalBool("number_entry") ?? standard.numberEntry
        signingData = try members.optionalBool("signing_data") ?? standard.signingData
        assurance =
            try members.optional("assurance", "\"receipt\", \"challenge\" or \"event\"") {
                $0.string.flatMap(Assurance.init(rawValue:))
            } ?? standard.assurance
        maximumPending = Int(try members.optionalInteger("max_pending", in: 1...1000) ?? Int64(standard.maximumPending))
        maximumAsks = Int(try members.optionalInteger("max_asks", in: 1...1000) ?? Int64(standard.maximumAsks))
        maximumResends = Int(try members.optionalInteger("max_resends", in: 0...100) ?? Int64(standard.maximumResends))
        try members.refuseUnknown()
    }

    private static var methodNames: String {
        Method.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    }
}

/// Shows and sets challenge types.
///
/// For operators.
public enum ManageTypes {
    /// All types, by name.
    public static func list(ports: Ports) async throws -> [ChallengeType] {
        try await ports.store.read { try $0.challengeTypes() }
    }

    /// Makes a type or replaces it; challenges already asked keep what they were asked with.
    public static func set(_ type: ChallengeType, by client: Client, ports: Ports) async throws {
        let now = ports.time.now
        let event = AuditEvent(
            id: ports.random.id(at: now), at: now, kind: .typeSet, client: client.id,
            detail: ["type": type.json])
        try await ports.store.commit { writer in
            try writer.put(type)
            try writer.append(event)
        }
    }
}
