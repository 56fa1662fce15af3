import Encodings
import RelyingPartyAPI
import ServerTestSupport
import Testing

@Suite("What relying parties send and get is described as the contract has it")
struct RelyingPartyAPITests {
    /// A type, the schema that describes it, and values that have all members of the schema between them.
    struct Described: Sendable, CustomTestStringConvertible {
        let schema: String
        /// Whether members nobody knows are refused.
        let isStrict: Bool
        let examples: [JSONValue]
        /// Reads a value and renders what was read.
        let roundTrip: @Sendable (JSONValue) throws -> JSONValue

        var testDescription: String { schema }
    }

    @Test("All members are read and rendered in their order, and no others", arguments: described)
    func members(_ type: Described) throws {
        var names: Set<String> = []
        for example in type.examples {
            #expect(try type.roundTrip(example).text == example.text)
            names.formUnion(example.object?.members.map(\.name) ?? [])
        }
        #expect(names == Set(try schema(type)["properties"]?.object?.members.map(\.name) ?? []))
    }

    @Test("What the contract requires is missed, and nothing else", arguments: described)
    func required(_ type: Described) throws {
        let schema = try schema(type)
        let example = try #require(type.examples.first?.object)
        // Of members that stand for each other, the example's.
        let either = schema["oneOf"]?.array?.map(Self.required).first { $0.allSatisfy { example[$0] != nil } }
        let required = Self.required(schema) + (either ?? [])
        var least = JSONObject()
        for name in required { least[name] = example[name] }
        #expect(throws: Never.self) { try type.roundTrip(.object(least)) }
        for name in required {
            var rest = example
            rest[name] = nil
            #expect(throws: JSONShapeError.missing(pointer: "/\(name)")) { try type.roundTrip(.object(rest)) }
        }
    }

    @Test("A request with a member nobody knows is refused; a reply is read without it", arguments: described)
    func unknown(_ type: Described) throws {
        let example = try #require(type.examples.first)
        var more = try #require(example.object)
        more["brand_new"] = 1
        if type.isStrict {
            #expect(throws: JSONShapeError.unknownMember(pointer: "/brand_new")) { try type.roundTrip(.object(more)) }
        } else {
            #expect(try type.roundTrip(.object(more)) == example)
        }
    }

    private static func required(_ schema: JSONValue) -> [String] {
        schema["required"]?.array?.compactMap(\.string) ?? []
    }

    private func schema(_ type: Described) throws -> JSONValue {
        try #require(Contract.served.document["components"]?["schemas"]?[type.schema], "\(type.schema)")
    }

    static let described: [Described] = [
        Described(schema: "Challenge", isStrict: false, examples: [challenge(["deliveries": [delivery]])]) {
            try ChallengeView($0).json
        },
        Described(schema: "ListedChallenge", isStrict: false, examples: [challenge(["client": .string(client)])]) {
            try ChallengeView($0).json
        },
        Described(
            schema: "AskedChallenge", isStrict: false,
            examples: [challenge(["number": "271828", "code": qr, "enrollments": [.string(enrollment)]])]
        ) { try AskedView($0).json },
        Described(
            schema: "ChallengeCode", isStrict: false,
            examples: [qr, ["link": "https://x.test/q#1", "expires_at": time]]
        ) {
            try CodeView($0).json
        },
        Described(schema: "Delivery", isStrict: false, examples: [delivery]) { try DeliveryView($0).json },
        Described(
            schema: "User", isStrict: false,
            examples: [
                [
                    "id": .string(user), "external_id": "customer-1", "enrollment_blocked": true, "created_at": time,
                ]
            ]
        ) { try UserView($0).json },
        Described(
            schema: "Ticket", isStrict: false,
            examples: [
                [
                    "ticket": "secret", "qr": "COUNTERSIGN:1", "user": .string(user),
                    "enrollment": .string(enrollment), "expires_at": time,
                ]
            ]
        ) { try TicketView($0).json },
        Described(schema: "PushTarget", isStrict: false, examples: [push]) { try PushTargetView($0).json },
        Described(
            schema: "Enrollment", isStrict: false,
            examples: [
                device("active", [:]), device("active", ["waiting": ["pin": time]]),
                device("waiting", ["approval": .string(id), "waiting_until": time, "waiting": ["pin": time]]),
                device("suspended", ["suspended_at": time]),
                device("removed", ["reason": "lost", "removed_at": time]),
            ]
        ) { try EnrollmentView($0).json },
    ]

    private static let id = "chl_00000000000000000000000001"
    private static let user = "usr_00000000000000000000000001"
    private static let client = "cli_00000000000000000000000001"
    private static let enrollment = "enr_00000000000000000000000001"
    private static let time: JSONValue = "2026-11-24T10:15:00.000Z"
    private static let qr: JSONValue = ["qr": "COUNTERSIGN:2", "expires_at": time]
    private static let delivery: JSONValue = [
        "enrollment": .string(enrollment), "push": ["state": "failed", "reason": "gone", "at": time],
        "fetched_at": time,
    ]
    private static let push: JSONValue = [
        "service": "apns", "app": "org.example.app", "environment": "production", "registered_at": time,
    ]

    /// A challenge with all that it may have everywhere, and some more.
    private static func challenge(_ more: JSONObject) -> JSONValue {
        var object = JSONObject([
            "id": .string(id), "state": "denied", "reason": "reported", "method": "pin", "type": "payment",
            "user": .string(user), "methods": ["confirm", "pin"], "asked_at": time, "expires_at": time,
            "claimed_at": time, "ended_at": time, "client_state": "opaque",
        ])
        for member in more.members { object[member.name] = member.value }
        return .object(object)
    }

    private static func device(_ state: String, _ more: JSONObject) -> JSONValue {
        var object = JSONObject([
            "enrollment": .string(enrollment), "user": .string(user),
            "fingerprint": "D1A66E1A23B182C9980F788CFBFCC82A015E7330",
            "device": ["name": "Phone", "model": "X", "system": "Y 1", "app": "Z 2", "storage": "enclave"],
            "versions": [1], "assurance": "hardware", "created_at": time, "pin": "set", "biometric": true,
            "custom": ["voice"], "push": push, "state": .string(state),
        ])
        for member in more.members { object[member.name] = member.value }
        return .object(object)
    }
}
