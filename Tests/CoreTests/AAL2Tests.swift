import CountersignStorage
import CountersignWire
import Encodings
import RelyingPartyAPI
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("NIST SP 800-63B-4 §3.1.3: a type that is labelled AAL2")
struct AAL2Tests {
    /// Everything a type can be in the members that matter, at the edges of each; and one that does not.
    private static let methods: [[String]] = [
        ["confirm"], ["pin"], ["biometric"], ["pin", "confirm"], ["confirm", "pin"], ["biometric", "pin"],
        ["pin", "biometric"], ["biometric", "confirm"], ["biometric", "pin", "confirm"],
        ["custom:phrase"], ["pin", "custom:phrase"],
    ]
    private static let lifetimes: [Int64] = [10, 120, 599, 600, 601, 3600, 86400]
    private static let asks: [Int64] = [1, 10, 99, 100, 101, 1000]
    private static let assurances = ["event", "challenge", "receipt"]
    private static let fallbacks: [JSONValue?] = [nil, "confirm", "pin"]

    /// A type that can be set; nil for one that is refused.
    private func settable(_ json: JSONValue, _ name: TypeName) -> ChallengeType? {
        (try? ChallengeType(json, name: name)).flatMap { $0.violation == nil ? $0 : nil }
    }

    @Test(
        "NIST SP 800-63B-4 §3.1.3, §3.1.3.1, §3.1.3.2, §3.1.3.4, §3.2.2, §3.2.3: of all policies those it accepts are accepted"
    )
    func space() throws {
        let name = try #require(TypeName("login"))
        var (accepted, all) = (0, 0)
        for methods in Self.methods {
            for (number, signing) in [(true, true), (true, false), (false, true), (false, false)] {
                for lifetime in Self.lifetimes {
                    for assurance in Self.assurances {
                        for asks in Self.asks {
                            for fallback in Self.fallbacks {
                                for (label, isQR) in [(true, true), (true, false), (false, true), (false, false)] {
                                    let json = JSONValue.members([
                                        "methods": .array(methods.map(JSONValue.string)), "number_entry": .bool(number),
                                        "signing_data": .bool(signing), "expires_in": .integer(lifetime),
                                        "assurance": .string(assurance), "max_asks": .integer(asks),
                                        "fallback": fallback, "aal2": .bool(label), "qr": .bool(isQR),
                                    ])
                                    // Written down from the standard, and not from the rules under test.
                                    let isFit =
                                        [["pin"], ["biometric", "pin"], ["pin", "biometric"]].contains(methods)
                                        && (number || isQR) && lifetime <= 600 && assurance == "receipt"
                                        && asks <= 100 && fallback == nil
                                    let type = settable(json, name)
                                    let canBe = !isQR || lifetime <= 180
                                    #expect((type != nil) == (canBe && (isFit || !label)), "\(json)")
                                    #expect(type == nil || type?.isAAL2 == label)
                                    accepted += type?.isAAL2 == true ? 1 : 0
                                    all += 1
                                }
                            }
                        }
                    }
                }
            }
        }
        #expect(all == 11 * 4 * 7 * 3 * 6 * 3 * 4)
        #expect(accepted == 3 * 2 * 4 * 4 + 3 * 4 * 2 * 4)
    }

    @Test("Of all policies by which a code is sent none is labelled AAL2, and none proves more than there is")
    func textCodes() throws {
        let name = try #require(TypeName("sms"))
        var accepted = 0
        for methods in [nil, []] + Self.methods {
            for (number, signing) in [(true, true), (true, false), (false, true), (false, false)] {
                for lifetime in Self.lifetimes {
                    for assurance in Self.assurances {
                        for fallback in Self.fallbacks {
                            for (label, isQR) in [(true, true), (true, false), (false, true), (false, false)] {
                                let json = JSONValue.members([
                                    "text_code": true, "clients": ["cli_01m7yfa1b2c3d4e5f6g7h8j9k0"],
                                    "methods": methods.map { .array($0.map(JSONValue.string)) },
                                    "number_entry": .bool(number), "signing_data": .bool(signing),
                                    "expires_in": .integer(lifetime), "assurance": .string(assurance),
                                    "fallback": fallback, "aal2": .bool(label), "qr": .bool(isQR),
                                ])
                                let isFit =
                                    methods?.isEmpty ?? true && !number && !signing && lifetime <= 600
                                    && assurance == "event" && fallback == nil && !label && !isQR
                                let type = settable(json, name)
                                #expect((type != nil) == isFit, "\(json)")
                                accepted += type == nil ? 0 : 1
                            }
                        }
                    }
                }
            }
        }
        #expect(accepted == 2 * 4)
    }

    @Test(
        "The refusal names what NIST does not accept",
        arguments: [
            ("/methods", ["methods": ["pin", "confirm"]]), ("/methods", ["methods": ["confirm"]]),
            ("/methods", ["methods": ["biometric"]]),
            ("/number_entry", ["number_entry": false]), ("/expires_in", ["expires_in": 601]),
            ("/assurance", ["assurance": "challenge"]), ("/max_asks", ["max_asks": 101]),
            ("/fallback", ["fallback": "confirm"]), ("/unknown_browser", ["unknown_browser": "qr"]),
        ] as [(String, JSONValue)])
    func named(_ pointer: String, _ change: JSONValue) throws {
        var members: JSONObject = ["methods": ["pin"], "aal2": true]
        for (name, value) in change.object?.members ?? [] { members[name] = value }
        let violation = try #require(try ChallengeType(.object(members), name: .pin).violation)
        #expect("/\(violation.member)" == pointer)
        #expect(violation.expected.hasSuffix("since the type is labelled AAL2"))
    }

    @Test(
        "NIST SP 800-63B-4 §3.2.13: a device that keeps its keys in software is not asked by it, and is asked by others"
    )
    func software() async throws {
        let scene = try await PINScene()
        _ = try await scene.device.setPIN()
        let labelled = try ChallengeType(["methods": ["pin"], "aal2": true], name: try #require(TypeName("strong")))
        try await SetType.set(labelled, by: scene.shop.actor, ports: scene.world.ports)
        let request = try scene.world.request(for: scene.user, type: "strong")
        func ask() async throws -> Replayable<AskChallenge.Outcome> {
            try await AskChallenge.ask(request, by: scene.shop.credential, idempotency: nil, ports: scene.world.ports)
        }
        guard case .done(.refused(.noEnrollment)) = try await ask() else {
            Issue.record("a device in software was asked")
            return
        }
        _ = try await scene.ask()
        let labels = DeviceLabels(name: try DisplayLine("Phone"))
        let renamed = try await UpdateEnrollment.update(
            EnrollmentUpdate(device: labels), by: try await scene.device.call(), ports: scene.world.ports
        ).get()
        #expect(renamed.device == DeviceDescription(labels: labels, storage: .software))
        guard case .done(.refused(.noEnrollment)) = try await ask() else {
            Issue.record("a device that says something else of itself was asked")
            return
        }
        let id = scene.device.enrollment
        try await scene.world.store.commit {
            try $0.enrollments.put(DeviceDescription(labels: labels, storage: .enclave), of: id)
        }
        guard case .done(.asked(let asked)) = try await ask() else {
            Issue.record("a device in hardware was not asked")
            return
        }
        #expect(asked.challenge.methods == [.pin] && asked.number != nil)
    }
}

@Suite("Where nobody can answer by a type, it falls back to another")
struct FallbackTests {
    @Test("To the other type, once, by its rules and under its name")
    func fallsBack() async throws {
        let scene = try await PINScene()
        for (name, fallback) in [("first", "second"), ("second", "third"), ("third", nil)] as [(String, String?)] {
            let json = JSONValue.members([
                "methods": [name == "third" ? "confirm" : "pin"], "expires_in": name == "third" ? 30 : 60,
                "fallback": fallback.map(JSONValue.string), "denial_pause": 0,
            ])
            let type = try ChallengeType(json, name: try #require(TypeName(name)))
            try await SetType.set(type, by: scene.shop.actor, ports: scene.world.ports)
        }
        func ask(
            _ type: String, _ change: (inout AskChallenge.Request) -> Void = { _ in }
        ) async throws -> AskChallenge.Outcome {
            var request = try scene.world.request(for: scene.user, type: type)
            change(&request)
            let result = try await AskChallenge.ask(
                request, by: scene.shop.credential, idempotency: nil, ports: scene.world.ports
            )
            guard case .done(let outcome) = result else { throw World.Broken("ask") }
            return outcome
        }
        let available = try await AvailableMethods.list(
            for: .id(scene.user), client: scene.shop, ports: scene.world.ports
        ).types
        #expect(available.first { "\($0.type)" == "second" }?.methods == [.confirm], "as it would be asked")
        #expect(!available.contains { "\($0.type)" == "first" })
        let asked = try await ask("second").get()
        #expect("\(asked.challenge.type)" == "third" && asked.challenge.methods == [.confirm])
        #expect(asked.challenge.expiresAt == scene.world.time.now.adding(seconds: 30))
        await #expect(throws: AskChallenge.Refusal.noEnrollment, "one step, no chain") { try await ask("first").get() }
        // What the other type does not allow is not allowed by falling back.
        await #expect(throws: AskChallenge.Refusal.notAllowedByType(.lifetime)) {
            try await ask("second") { $0.lifetime = 60 }.get()
        }
        // A fallback that does not exist is as good as none.
        let lost = try ChallengeType(["methods": ["pin"], "fallback": "nowhere"], name: try #require(TypeName("lost")))
        try await SetType.set(lost, by: scene.shop.actor, ports: scene.world.ports)
        await #expect(throws: AskChallenge.Refusal.noEnrollment) { try await ask("lost").get() }
        _ = try await scene.device.setPIN()
        #expect("\(try await ask("second").get().challenge.type)" == "second")
    }
}
