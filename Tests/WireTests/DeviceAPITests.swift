import CountersignWire
import Crypto
import Encodings
import JOSE
import OpenPGP
import Testing

@Suite("What devices send and are sent")
struct DeviceAPITests {
    private static let device: JSONValue = [
        "name": "Anna's phone", "model": "iPhone 17", "system": "iOS 26.1", "app": "Acme 2.0", "storage": "enclave",
    ]
    private static let request: JSONValue = [
        "ticket": "tkt_secret", "certificate": "AAEC", "device": device, "versions": [1],
    ]

    @Test("A description comes back, with everything and with the least")
    func descriptions() throws {
        let labels = DeviceLabels(
            name: try DisplayLine("Anna's phone"), model: try DisplayLine("iPhone 17"),
            system: try DisplayLine("iOS 26.1"), app: try DisplayLine("Acme 2.0"))
        let full = DeviceDescription(labels: labels, storage: .enclave)
        #expect(full.json == Self.device)
        #expect(try DeviceDescription(Self.device, at: "") == full)
        let least = DeviceDescription(name: try DisplayLine("x"), storage: .software)
        #expect(least.json == ["name": "x", "storage": "software"])
        #expect(try DeviceDescription(least.json, at: "") == least)
    }

    @Test("A request to enroll comes back")
    func requests() throws {
        let request = try EnrollmentRequest(try JSONValue(parsing: Self.request.encoded))
        #expect(request.ticket.reveal() == "tkt_secret" && request.certificate == [0, 1, 2] && request.versions == [1])
        #expect(request.json == Self.request)
        #expect(try EnrollmentRequest(Self.request.setting(["versions"], [3, 1, 2])).versions == [3, 1, 2])
    }

    @Test(
        "A request to enroll with a wrong member is refused by its pointer",
        arguments: [
            (["ticket"], [1, [], true]), (["certificate"], [1, "AAE", "AAE=\n", "AAF=", "-_-_", []]),
            (["device"], ["phone", 1, []]), (["versions"], [1, "1", [], [2], ["1"], [1, "2"], [.double(1.5), 1]]),
            (["device", "name"], ["", 1, "a\nb", "a\u{202E}b", .string(String(repeating: "a", count: 101))]),
            (["device", "model"], ["", 1, "a ", .string(String(repeating: "a", count: 101))]),
            (["device", "system"], ["", 1, "e\u{301}"]), (["device", "app"], ["", 1, "a\u{200B}"]),
            (["device", "storage"], ["", "Enclave", "hardware", 1]),
        ] as [([String], [JSONValue])])
    func invalid(path: [String], values: [JSONValue]) throws {
        let pointer = "/" + path.joined(separator: "/")
        for value in values {
            let json = Self.request.setting(path, value)
            let error = try #require(throws: JSONShapeError.self) { try EnrollmentRequest(json) }
            guard case .invalid(pointer, _) = error else {
                Issue.record("\(error) instead of \(pointer)")
                continue
            }
        }
    }

    @Test(
        "A request to enroll without a member is refused by its pointer",
        arguments: [["ticket"], ["certificate"], ["device"], ["versions"], ["device", "name"], ["device", "storage"]])
    func missing(path: [String]) {
        for value in [nil, .null] as [JSONValue?] {
            #expect(throws: JSONShapeError.missing(pointer: "/" + path.joined(separator: "/"))) {
                try EnrollmentRequest(Self.request.setting(path, value))
            }
        }
    }

    @Test("A request with a member nobody knows is refused by its pointer")
    func unknown() {
        for name in ["enrollment", "user", "Ticket", "certificate ", ""] {
            #expect(throws: JSONShapeError.unknownMember(pointer: "/\(name)")) {
                try EnrollmentRequest(Self.request.setting([name], 1))
            }
            #expect(throws: JSONShapeError.unknownMember(pointer: "/device/\(name)")) {
                try EnrollmentRequest(Self.request.setting(["device", name], 1))
            }
            #expect(throws: JSONShapeError.unknownMember(pointer: "/\(name)")) {
                try AnswerRequest(AnswerRequest(message: [1]).json.setting([name], 1))
            }
        }
        #expect(throws: JSONShapeError.unknownMember(pointer: "/a~1b~0c")) {
            try EnrollmentRequest(Self.request.setting(["a/b~c"], .null))
        }
    }

    @Test("RFC 7493 §2.3: a member that stands twice is refused before anything is read")
    func duplicates() {
        let body = Array("{\"message\":\"AAEC\",\"message\":\"AAED\"}".utf8)
        #expect(throws: JSONSyntaxError.duplicateMember(name: "message")) { try JSONValue(parsing: body) }
        let escaped = Array("{\"message\":\"AAEC\",\"\\u006dessage\":\"AAED\"}".utf8)
        #expect(throws: JSONSyntaxError.duplicateMember(name: "message")) { try JSONValue(parsing: escaped) }
        let nested = Array("{\"device\":{\"name\":\"a\",\"name\":\"b\"}}".utf8)
        #expect(throws: JSONSyntaxError.duplicateMember(name: "name")) { try JSONValue(parsing: nested) }
    }

    @Test("An answer is a message in base 64, and nothing else")
    func answers() throws {
        #expect(AnswerRequest(message: [0, 1, 2]).json == ["message": "AAEC"])
        #expect(try AnswerRequest(["message": "AAEC"]).message == [0, 1, 2])
        for value in [1, "AAE", "AAF=", " AAEC", "AAEC\n", "_-8=", []] as [JSONValue] {
            #expect(throws: JSONShapeError.invalid(pointer: "/message", expected: "base64")) {
                try AnswerRequest(["message": value])
            }
        }
        for json in [.members([:]), ["message": .null]] as [JSONValue] {
            #expect(throws: JSONShapeError.missing(pointer: "/message")) { try AnswerRequest(json) }
        }
        for json in [.null, [], "AAEC", 1] as [JSONValue] {
            #expect(throws: JSONShapeError.invalid(pointer: "", expected: "an object")) { try AnswerRequest(json) }
        }
    }

    @Test("A status comes back, from among other members too")
    func standings() throws {
        for status in [
            ChallengeStatus(state: "pending", reason: nil),
            ChallengeStatus(state: "failed", reason: "wrong_number"),
        ] {
            #expect(try ChallengeStatus(status.json) == status)
            #expect(try ChallengeStatus(status.json.setting(["id"], "chl_1")) == status)
        }
        #expect(throws: JSONShapeError.missing(pointer: "/state")) { try ChallengeStatus(["reason": "x"]) }
        #expect(throws: JSONShapeError.invalid(pointer: "/reason", expected: "a string")) {
            try ChallengeStatus(["state": "failed", "reason": 1])
        }
    }

    @Test("The reply to an enrollment comes back, and members nobody knows are ignored")
    func replies() async throws {
        let sample = try Sample()
        let primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: 1_790_000_000)
        let certificate = try await Certificate.make(
            primary: primary, flags: [.certify, .sign], userID: "login.example.com", subkeys: [], at: 1_790_000_000)
        let reply = EnrollmentReply(
            enrollment: sample.enrollment, user: sample.user, serverCertificate: certificate,
            pushKeys: JWKSet([JWK(P256.Signing.PrivateKey().publicKey)]),
            policies: EnrollmentPolicies(
                pin: try PINPolicy(["min_length": 6, "attempts": 3], at: ""),
                devices: EnrollmentPolicies.DeviceLimit(maximum: 2, replacesOldest: true),
                authenticators: [try #require(AuthenticatorName("phrase"))]),
            approval: ApprovalNotice(number: sample.number, expiresAt: Sample.time))
        #expect(reply.json["policies"]?["number_length"] == 6)
        #expect(reply.json["policies"]?["pin"] == reply.policies.pin.json)
        #expect(reply.json["policies"]?["device_limit"] == ["max": 2, "at_limit": "replace"])
        #expect(reply.json["policies"]?["authenticators"] == ["phrase"])
        let read = try EnrollmentReply(try JSONValue(parsing: reply.json.setting(["more"], 1).encoded))
        #expect(read.enrollment == reply.enrollment && read.user == reply.user)
        #expect(read.serverCertificate.encoded == certificate.encoded)
        #expect(read.approval == reply.approval)
        #expect(read.policies == reply.policies)
        let old = try EnrollmentReply(reply.json.setting(["policies"], ["number_length": 6])).policies
        #expect(old.pin == .standard && old.devices == nil && old.authenticators.isEmpty)
        // One name of another form is no reason to throw away what the server has enrolled.
        let newer = try EnrollmentReply(reply.json.setting(["policies", "authenticators"], ["phrase", "Ünknown", 1]))
        #expect(newer.policies.authenticators.map { "\($0)" } == ["phrase"])
        for (name, value) in [("pin", ["attempts": 0]), ("device_limit", ["max": 0]), ("authenticators", 1)]
            as [(String, JSONValue)]
        {
            #expect(throws: JSONShapeError.self) {
                try EnrollmentReply(reply.json.setting(["policies", name], value))
            }
        }
        #expect(try EnrollmentReply(reply.json.setting(["approval"], nil)).approval == nil)
        for (name, value) in [("number", "47193"), ("expires_at", 1)] as [(String, JSONValue)] {
            let error = try #require(throws: JSONShapeError.self) {
                try EnrollmentReply(reply.json.setting(["approval", name], value))
            }
            guard case .invalid("/approval/\(name)", _) = error else {
                Issue.record("\(error)")
                continue
            }
        }
        #expect(read.pushKeys.keys.map(\.keyID) == reply.pushKeys.keys.map(\.keyID))
        for (name, value) in [
            ("enrollment", "usr_01m7w77m7b0c1g60r30c1g60r3"), ("user", "Anna"), ("server_certificate", ""),
            ("server_certificate", .string(String(certificate.armored.dropFirst()))), ("push_keys", []),
            ("push_keys", ["keys": [["kty": "EC", "crv": "P-256", "kid": "a", "x": "", "y": ""]]]),
        ] as [(String, JSONValue)] {
            let error = try #require(throws: JSONShapeError.self) {
                try EnrollmentReply(reply.json.setting([name], value))
            }
            guard case .invalid("/\(name)", _) = error else {
                Issue.record("\(error)")
                continue
            }
        }
        for name in ["enrollment", "user", "server_certificate", "push_keys"] {
            #expect(throws: JSONShapeError.missing(pointer: "/\(name)")) {
                try EnrollmentReply(reply.json.setting([name], nil))
            }
        }
    }

    @Test("What a newer server says of a device besides what is known is ignored, wherever it stands")
    func newerDevice() throws {
        let device: JSONValue = [
            "enrollment": "enr_01m7w77m7b0c1g60r30c1g60r3",
            "device": ["name": "Phone", "storage": "enclave", "colour": "red"],
            "fingerprint": "0123456789ABCDEF0123456789ABCDEF01234567", "state": "active",
            "created_at": .string("\(Sample.time)"), "methods": ["confirm", "smell"], "mood": 1,
        ]
        let read = try OtherDevice(device)
        #expect(read.device.labels.name.text == "Phone" && read.methods == [.confirm])
        // What a device says of itself is read strictly.
        #expect(throws: JSONShapeError.self) {
            try DeviceDescription(["name": "Phone", "storage": "enclave", "colour": "red"], at: "")
        }
    }
}
