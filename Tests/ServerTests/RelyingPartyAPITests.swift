import CountersignWire
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

    static let described = views + requests

    private static let views: [Described] = [
        Described(
            schema: "Challenge", isStrict: false, examples: [challenge(["deliveries": [delivery], "receipt": "x"])]
        ) {
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
                    "id": .string(user), "external_id": "customer-1", "email": "a@example.com",
                    "email_verified": true, "phone": "+15551234567", "phone_verified": false,
                    "enrollment_blocked": true, "claims": ["groups": ["a"]], "created_at": time,
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
                device("active", [:]), device("active", [:], confirmedAt: time),
                device("active", ["waiting": ["pin": time]]),
                device("waiting", ["approval": .string(id), "waiting_until": time, "waiting": ["pin": time]]),
                device("suspended", ["suspended_at": time]),
                device("removed", ["reason": "lost", "removed_at": time]),
            ]
        ) { try EnrollmentView($0).json },
        Described(
            schema: "Look", isStrict: false,
            examples: [
                [
                    "client": .string(client),
                    "logo": [
                        "sha256": .string(String(repeating: "0", count: 64)), "width": 1, "height": 2, "path": "/x",
                    ], "accent": ["light": "#8a1538", "dark": "#ffb3c4"],
                ]
            ]
        ) { try LookView($0).json },
        Described(schema: "ChallengeType", isStrict: false, examples: [type, sentView]) { try TypeView($0).json },
        Described(schema: "DeviceLimitRequest", isStrict: true, examples: [limit]) {
            try EnrollmentPolicies.DeviceLimit($0).json
        },
        Described(schema: "Client", isStrict: false, examples: [shown([:])]) { try ClientView($0).json },
        Described(
            schema: "CreatedClient", isStrict: false,
            examples: [
                shown(
                    ["client_secret": "s", "callback_secret": "c", "notice_secret": "n", "hook_secret": "h"],
                    disabledAt: nil)
            ]
        ) { try CreatedClientView($0).json },
        Described(
            schema: "ClientSecret", isStrict: false,
            examples: [["client_id": .string(client), "client_secret": "s", "earlier_until": time]]
        ) { try ClientSecretView($0).json },
        Described(
            schema: "CallbackSecret", isStrict: false,
            examples: [["callback_secret": "c", "notice_secret": "n", "hook_secret": "h", "earlier_until": time]]
        ) { try CallbackSecretView($0).json },
    ]

    private static let requests: [Described] = [
        Described(
            schema: "AskRequest", isStrict: true,
            examples: [
                [
                    "user": "external_id:customer-1", "type": "payment", "message": "Pay?", "secure_message": "Pay it?",
                    "details": [["label": "Amount", "value": "EUR 1"]], "signing_data": "x",
                    "context": ["ip": "203.0.113.7", "user_agent": "Firefox/128.0 (Windows)"],
                    "browser": "0123456789abcdef", "number_entry": false, "expires_in": 60,
                    "methods": ["pin", "custom:voice"], "enrollments": [.string(enrollment)],
                    "callback_uri": "https://x.test/c", "return_uri": "https://x.test/r", "phone": "+15551234567",
                    "captcha_token": "x", "locale": "de", "state": "opaque",
                ]
            ]
        ) { try AskRequest($0).json },
        Described(schema: "EnteredCode", isStrict: true, examples: [["code": "271828"]]) {
            try EnteredCode($0).json
        },
        Described(schema: "ReturnRequest", isStrict: true, examples: [["return_code": "x"]]) {
            try ReturnRequest($0).json
        },
        Described(
            schema: "UserRequest", isStrict: true,
            examples: [["external_id": "customer-1", "email": "a@example.com", "phone": "+15551234567"]]
        ) { try UserRequest($0).json },
        Described(
            schema: "UserUpdate", isStrict: true,
            examples: [
                [
                    "external_id": "customer-1", "email": "a@example.com", "phone": "+15551234567",
                    "enrollment_blocked": false, "claims": ["groups": ["a"]],
                ],
                ["external_id": .null, "email": .null, "phone": .null, "claims": .null],
            ]
        ) { try UserUpdate($0).json },
        Described(schema: "EmptyRequest", isStrict: true, examples: [[:]]) { try TicketRequest($0).json },
        Described(
            schema: "WaiverRequest", isStrict: true,
            examples: [["fingerprint": "D1A66E1A23B182C9980F788CFBFCC82A015E7330"]]
        ) { try WaiverRequest($0).json },
        Described(schema: "TypeRequest", isStrict: true, examples: [type, sent]) { json in
            try TypeRequest(json, named: try #require(TypeName(json["name"]?.string ?? "login"))).json
        },
        Described(
            schema: "ClientRequest", isStrict: true, examples: [ClientRequest.json(settings, isThirdParty: true)]
        ) { try ClientRequest($0, isDevelopment: false).json },
        Described(
            schema: "ClientUpdate", isStrict: true,
            examples: [settings, ["notice_uri": .null, "callback_basic": .null, "device_limit": .null]]
        ) { try ClientChanges($0, isDevelopment: false).json },
        Described(
            schema: "BasicCredentials", isStrict: true, examples: [["username": "shop", "password": "p"]]
        ) { try BasicCredentials($0).json },
        Described(schema: "CustomAuthenticatorRequest", isStrict: true, examples: [authenticator]) {
            try CustomAuthenticator($0) { CallbackURI($0, isDevelopment: false) }.json
        },
        Described(schema: "ClientSecretRequest", isStrict: true, examples: [["overlap": 0]]) {
            try SecretRequest($0).json
        },
        Described(schema: "CallbackSecretRequest", isStrict: true, examples: [["overlap": 604_800]]) {
            try SecretRequest($0).json
        },
        Described(
            schema: "RotationRequest", isStrict: true, examples: [["at_once": true, "compromised": false]]
        ) { try RotationRequest($0).json },
    ]

    @Test("A test message goes to a mail address or a telephone number, and to one of them")
    func testMessage() throws {
        for address in [["email": "a@x.test"], ["phone": "+15551234567"]] as [JSONObject] {
            var object = address
            object["template"] = "code"
            object["language"] = "de"
            #expect(try TestMessageRequest(.object(object)).json == .object(object))
        }
        let schema = Contract.served.document["components"]?["schemas"]?["TestMessageRequest"]?["properties"]
        let names = ["email", "phone", "template", "language"]
        #expect(Set(schema?.object?.members.map(\.name) ?? []) == Set(names))
        #expect(throws: JSONShapeError.missing(pointer: "/email")) { try TestMessageRequest([:]) }
        #expect(throws: JSONShapeError.invalid(pointer: "/phone", expected: "absent where email is present")) {
            try TestMessageRequest(["email": "a@x.test", "phone": "+15551234567"])
        }
    }

    @Test("An element of the available types is read and rendered")
    func availableType() throws {
        let example: JSONValue = ["type": "payment", "methods": ["pin"]]
        #expect(try AvailableTypeView(example).json.text == example.text)
        let schema = Contract.served.document["components"]?["schemas"]?["AvailableTypes"]
        let element = schema?["properties"]?["types"]?["items"]?["properties"]?.object?.members.map(\.name)
        #expect(element == ["type", "methods"])
    }

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

    private static let type: JSONValue = [
        "name": "login", "methods": ["pin"], "qr": false, "text_code": false, "expires_in": 60, "number_entry": true,
        "signing_data": false, "assurance": "receipt", "aal2": false, "fallback": "other", "unknown_browser": "qr",
        "max_pending": 1, "max_asks": 2, "denial_pause": 3, "attempts": 4, "max_resends": 5,
        "texts": ["de": "Zahlen?", "en": "Pay?"], "clients": [.string(client)],
    ]
    private static let sent: JSONValue = ["text_code": true, "clients": [.string(client)], "captcha": "turnstile"]
    private static let sentView: JSONValue = [
        "name": "sms", "methods": [], "qr": false, "text_code": true, "expires_in": 60, "number_entry": false,
        "signing_data": false, "assurance": "event", "aal2": false, "max_pending": 1, "max_asks": 2, "denial_pause": 3,
        "max_resends": 5, "texts": [:], "clients": [.string(client)], "captcha": "turnstile",
    ]
    private static let limit: JSONValue = ["max": 2, "at_limit": "replace"]
    private static let authenticator: JSONValue = [
        "name": "voice", "hook": "https://x.test/h", "deadline": 2, "attempts": 3,
    ]
    private static let settings: JSONValue = [
        "name": "Shop", "rights": ["challenges", "users"], "callback_uris": ["https://x.test/c"],
        "return_uris": ["https://x.test/r"], "notice_uri": "https://x.test/n",
        "callback_basic": ["username": "shop", "password": "p"], "waive_enrollment_approval": true,
        "enrollment_cooling_off": 60, "pin_policy": PINPolicy.standard.json, "device_limit": limit,
        "authenticators": [authenticator], "vendors": ["cotter", "okta", "onewelcome"],
    ]

    /// A client with all that it may have everywhere, and some more.
    private static func shown(_ more: JSONObject, disabledAt: JSONValue? = time) -> JSONValue {
        var object = JSONObject([
            "client_id": .string(client), "name": "Shop", "rights": ["challenges"],
            "callback_uris": ["https://x.test/c"], "gone_callback_uris": ["https://x.test/c"],
            "return_uris": ["https://x.test/r"], "notice_uri": "https://x.test/n", "callback_username": "shop",
            "waive_enrollment_approval": false, "enrollment_cooling_off": 60, "pin_policy": PINPolicy.standard.json,
            "device_limit": limit, "authenticators": [authenticator], "vendors": ["okta"], "is_operator": false,
            "third_party": true, "disabled_at": disabledAt, "created_at": time,
        ])
        for member in more.members { object[member.name] = member.value }
        return .object(object)
    }

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

    private static func device(_ state: String, _ more: JSONObject, confirmedAt: JSONValue? = nil) -> JSONValue {
        var object = JSONObject([
            "enrollment": .string(enrollment), "user": .string(user),
            "fingerprint": "D1A66E1A23B182C9980F788CFBFCC82A015E7330",
            "device": ["name": "Phone", "model": "X", "system": "Y 1", "app": "Z 2", "storage": "enclave"],
            "versions": [1], "assurance": "hardware", "created_at": time, "confirmed_at": confirmedAt,
            "pin": "set", "biometric": true,
            "custom": ["voice"], "push": push, "state": .string(state),
        ])
        for member in more.members { object[member.name] = member.value }
        return .object(object)
    }
}
