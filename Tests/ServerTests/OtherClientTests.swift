import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("Another client's is not there")
struct OtherClientTests {
    /// Ids that nobody has.
    private static let nobodys = [
        "{challenge}": "chl_01m7yfdvpt5prmr79m8dcgymep", "{user}": "usr_01m7yfdvpt5prmr79m8dcgymep",
        "{enrollment}": "enr_01m7yfdvpt5prmr79m8dcgymep",
    ]

    /// Every operation of clients that names something, as it is in the contract.
    private static var operations: [Contract.Operation] {
        Contract.served.operations.filter { operation in
            operation.path.contains("{") && !operation.path.hasPrefix("/v1/admin")
                && operation.value["security"]?.array?.contains { $0["clientSecret"] != nil } ?? false
        }
    }

    private static func path(_ operation: Contract.Operation, _ values: [String: String]) -> String {
        values.reduce(operation.path) { $0.replacing($1.key, with: $1.value) }
    }

    @Test("Another client's challenge, user and device get the reply of ids that nobody has, on every route")
    func everyRoute() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            let rival = try await scene.server.makeClient("Rival", ["waive_enrollment_approval": true])
            let before = try await scene.snapshot()
            #expect(Self.operations.count >= 11)
            let codes: Set = ["challenge_not_found", "user_not_found", "enrollment_not_found"]
            for user in [scene.user, "external_id:customer-1"] {
                let values = [
                    "{challenge}": asked.id, "{user}": user, "{enrollment}": "\(scene.phone.enrollment)",
                ]
                for operation in Self.operations {
                    let method = HTTPMethod(rawValue: operation.method)
                    let body: JSONValue? =
                        switch operation.path.split(separator: "/").last {
                        case "return": ["return_code": "x"]
                        case "code" where method == .POST: ["code": "123456"]
                        case "waiver": ["fingerprint": .string("\(scene.phone.certificate.fingerprint)")]
                        default: method == .PATCH ? ["external_id": "mine"] : nil
                        }
                    let others = try await rival.call(method, Self.path(operation, values), body)
                    let unknown = try await rival.call(method, Self.path(operation, Self.nobodys), body)
                    #expect(others.status == unknown.status, "\(others)")
                    #expect(others.bodyWithoutRequestID == unknown.bodyWithoutRequestID, "\(others)")
                    if operation.path.hasSuffix("/methods") {
                        #expect(others.json == ["types": []])
                    } else {
                        #expect(others.status == 404, "\(others)")
                        #expect(codes.contains(others.code ?? "none"), "\(others)")
                    }
                }
            }
            #expect(try await scene.snapshot() == before)
            // Nothing of that reached the challenge: its client sees it, its user answers it.
            #expect(try await scene.state(of: asked.id) == "pending")
            #expect(try await scene.phone.answer(asked.id, .denied).status == 200)
        }
    }

    @Test("Nobody asks another client's user, by whatever name, nor another client's device")
    func asking() async throws {
        try await Scene.with { scene in
            let rival = try await scene.server.makeClient("Rival")
            let own = try await rival.makeUser("customer-1")
            _ = try await TestPhone.enrolled(for: own, by: rival, at: scene.server)
            let before = try await scene.snapshot()
            func ask(_ user: String, _ members: JSONObject = JSONObject()) async throws -> Reply {
                var body = JSONObject(["user": .string(user), "type": "payment", "message": "Pay?"])
                for member in members.members { body[member.name] = member.value }
                return try await rival.call(.POST, "/v1/challenges", .object(body))
            }
            expectRefusal(try await ask(scene.user), 404, "user_not_found")
            let device: JSONObject = ["enrollments": [.string("\(scene.phone.enrollment)")]]
            expectRefusal(try await ask(own, device), 404, "enrollment_not_found", at: "/enrollments")
            #expect(try await scene.snapshot() == before)
            // The same external id is each client's own: this asks the rival's user, and the shop's sees nothing.
            #expect(try await ask("external_id:customer-1").status == 201)
            #expect(try await scene.snapshot().pending == before.pending)
        }
    }

    @Test("A device of another user is not removed by naming it beside a user of one's own")
    func deviceBesideOwnUser() async throws {
        try await Scene.with { scene in
            let other = try await scene.shop.makeUser("customer-2")
            let rival = try await scene.server.makeClient("Rival")
            let rivals = try await rival.makeUser()
            let before = try await scene.snapshot()
            for (caller, user) in [(scene.shop, other), (rival, rivals)] {
                let path = "/v1/users/\(user)/enrollments/\(scene.phone.enrollment)"
                expectRefusal(try await caller.call(.DELETE, path), 404, "enrollment_not_found")
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("The operator's own client is no master key: other clients' challenges and users are not there for it either")
    func theOperator() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            let administrator = scene.administrator
            for path in ["", "/receipt", "/events"] {
                let reply = try await administrator.call(.GET, "/v1/challenges/\(asked.id)\(path)")
                expectRefusal(reply, 404, "challenge_not_found")
            }
            expectRefusal(
                try await administrator.call(.DELETE, "/v1/challenges/\(asked.id)"), 404, "challenge_not_found")
            expectRefusal(try await administrator.call(.GET, "/v1/users/\(scene.user)"), 404, "user_not_found")
            #expect(try await scene.state(of: asked.id) == "pending")
        }
    }
}
