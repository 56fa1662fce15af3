import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Issue 20.21: lists for clients and operators, and exports")
struct ListTests {
    private static func ids(_ page: JSONValue, _ member: String, _ id: String = "id") -> Set<String> {
        Set((page[member]?.array ?? []).compactMap { $0[id]?.string })
    }

    @Test("A client lists its own users, devices, challenges and types, and never another's")
    func own() async throws {
        try await Scene.with { scene in
            let bank = try await scene.server.makeClient("Bank")
            let theirs = try await bank.makeUser("customer-1")
            _ = try await TestPhone.enrolled(for: theirs, by: bank, at: scene.server)
            let asked = try await scene.ask()
            let foreign = try await bank.ask(theirs)
            let users = try await scene.shop.call(.GET, "/v1/users").success()
            #expect(Self.ids(users, "users") == [scene.user] && users["cursor"] == nil)
            #expect(users["users"]?.array?.first?["external_id"] == "customer-1")
            let devices = try await scene.shop.call(.GET, "/v1/enrollments?state=active").success()
            #expect(Self.ids(devices, "enrollments", "user") == [scene.user])
            let challenges = try await scene.shop.call(.GET, "/v1/challenges?state=pending").success()
            #expect(Self.ids(challenges, "challenges") == [asked.id])
            #expect(try await scene.shop.call(.GET, "/v1/challenges?user=\(theirs)").success() == ["challenges": []])
            #expect(try await scene.shop.call(.GET, "/v1/enrollments?user=\(theirs)").success() == ["enrollments": []])
            let byName = try await scene.shop.call(.GET, "/v1/challenges?user=external_id:customer-1").success()
            #expect(Self.ids(byName, "challenges") == [asked.id])
            let only: JSONValue = ["clients": [.string(bank.clientID)]]
            _ = try await scene.administrator.call(.PUT, "/v1/admin/types/bank", only).success()
            #expect(!Self.ids(try await scene.shop.call(.GET, "/v1/types").success(), "types", "name").contains("bank"))
            #expect(Self.ids(try await bank.call(.GET, "/v1/types").success(), "types", "name").contains("bank"))
            let everything = try await scene.administrator.call(.GET, "/v1/admin/challenges").success()
            #expect(Self.ids(everything, "challenges") == [asked.id, foreign["id"]?.string ?? ""])
            let one = try await scene.administrator.call(.GET, "/v1/admin/challenges?client=\(bank.clientID)").success()
            #expect(Self.ids(one, "challenges", "client") == [bank.clientID])
            let known = try await scene.administrator.call(.GET, "/v1/admin/users").success()
            #expect(Self.ids(known, "users") == [scene.user, theirs])
            let of = try await scene.administrator.call(.GET, "/v1/admin/enrollments?client=\(bank.clientID)").success()
            #expect(Self.ids(of, "enrollments", "user") == [theirs])
        }
    }

    @Test("Another client's cursor, one of another list and one that was made up are refused")
    func cursors() async throws {
        try await Scene.with { scene in
            let bank = try await scene.server.makeClient("Bank")
            for number in 0..<101 { _ = try await scene.shop.makeUser("more-\(number)") }
            let page = try await scene.shop.call(.GET, "/v1/users").success()
            let cursor = try #require(page["cursor"]?.string)
            #expect(page["users"]?.array?.count == 100)
            let rest = try await scene.shop.call(.GET, "/v1/users?cursor=\(cursor)").success()
            #expect(rest["users"]?.array?.count == 2 && rest["cursor"] == nil)
            for (caller, path) in [
                (bank, "/v1/users?cursor=\(cursor)"), (scene.shop, "/v1/challenges?cursor=\(cursor)"),
                (scene.shop, "/v1/users?enrollment_blocked=true&cursor=\(cursor)"),
                (scene.shop, "/v1/users?cursor=\(scene.user)"),
                (scene.administrator, "/v1/admin/users?cursor=\(cursor)"),
            ] {
                let refused = try await caller.call(.GET, path)
                expectRefusal(refused, 400, "invalid_parameter")
                #expect(refused.json["parameter"] == "cursor")
            }
        }
    }

    @Test("Lists need their right, operators' lists an operator, and a filter that means nothing is refused")
    func refused() async throws {
        try await Scene.with { scene in
            let poor = try await scene.server.makeClient("Poor", ["rights": []])
            for path in ["/v1/users", "/v1/enrollments", "/v1/challenges", "/v1/types"] {
                expectRefusal(try await poor.call(.GET, path), 403, "right_missing")
            }
            let admin = "/v1/admin"
            for path in [
                "\(admin)/users", "\(admin)/enrollments", "\(admin)/challenges", "\(admin)/users/\(scene.user)",
            ] {
                expectRefusal(try await scene.shop.call(.GET, path), 403, "right_missing")
            }
            expectRefusal(try await scene.shop.call(.DELETE, "\(admin)/users/\(scene.user)"), 403, "right_missing")
            expectRefusal(try await scene.shop.call(.DELETE, "\(admin)/types/payment"), 403, "right_missing")
            for path in ["/v1/users?enrollment_blocked=1", "/v1/challenges?state=open", "/v1/enrollments?state=gone"] {
                expectRefusal(try await scene.shop.call(.GET, path), 400, "invalid_parameter")
            }
            for path in ["events?kind=x", "events?user=x", "events?since=yesterday", "users?client=x"] {
                expectRefusal(try await scene.administrator.call(.GET, "\(admin)/\(path)"), 400, "invalid_parameter")
            }
        }
    }

    @Test("A type that was removed is asked by no more, and what was asked by it is answered")
    func typeRemoved() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            #expect(try await scene.administrator.call(.DELETE, "/v1/admin/types/payment").status == 204)
            expectRefusal(
                try await scene.administrator.call(.DELETE, "/v1/admin/types/payment"), 404, "type_not_found")
            let again: JSONValue = ["user": .string(scene.user), "type": "payment", "message": "Pay?"]
            expectRefusal(try await scene.shop.call(.POST, "/v1/challenges", again), 404, "type_not_found")
            #expect(try await scene.approve(asked).status == 200)
            #expect(try await scene.administrator.auditCount("type.removed") == 1)
        }
    }

    @Test("A type that others ask by is removed after them only: the refusal names them")
    func typeInUse() async throws {
        try await Scene.with { scene in
            let administrator = scene.administrator
            for (name, type) in [
                ("spare", [:]), ("b-careful", ["fallback": "spare"]), ("a-known", ["unknown_browser": "spare"]),
                ("other", ["fallback": "confirm"]),
            ] as [(String, JSONValue)] {
                _ = try await administrator.call(.PUT, "/v1/admin/types/\(name)", type).success()
            }
            func remove(_ name: String) async throws -> Reply {
                try await administrator.call(.DELETE, "/v1/admin/types/\(name)")
            }
            let refused = try await remove("spare")
            expectRefusal(refused, 409, "type_in_use")
            #expect(refused.json["types"] == ["a-known", "b-careful"])
            // One goes, the other asks by something else from now on: in either way it is needed no more.
            #expect(try await remove("b-careful").status == 204)
            let still = try await remove("spare")
            expectRefusal(still, 409, "type_in_use")
            #expect(still.json["types"] == ["a-known"])
            _ = try await administrator.call(.PUT, "/v1/admin/types/a-known", [:]).success()
            #expect(try await remove("spare").status == 204)
            expectRefusal(try await remove("spare"), 404, "type_not_found")
            // A name alone makes no type.
            _ = try await administrator.call(.PUT, "/v1/admin/types/a-known", ["fallback": "nowhere"]).success()
            expectRefusal(try await remove("nowhere"), 404, "type_not_found")
            #expect(try await administrator.auditCount("type.removed") == 2)
        }
    }

    @Test("A type by which a client asks when people sign in is removed after its settings name another")
    func typeOfSignIns() async throws {
        try await Scene.with { scene in
            let (administrator, id) = (scene.administrator, scene.shop.clientID)
            for (name, type) in [
                ("usual", [:]), ("strong", [:]), ("tap", ["number_entry": false]),
            ] as [(String, JSONValue)] {
                _ = try await administrator.call(.PUT, "/v1/admin/types/\(name)", type).success()
            }
            func set(_ members: JSONValue) async throws {
                _ = try await administrator.call(.PUT, "/v1/admin/clients/\(id)/openid", members).success()
            }
            func remove(_ name: String) async throws -> Reply {
                try await administrator.call(.DELETE, "/v1/admin/types/\(name)")
            }
            let uris: JSONValue = ["https://shop.example.com/callback"]
            try await set([
                "profile": "web", "redirect_uris": uris, "type": "usual", "step_up_types": ["strong"],
                "backchannel_token_delivery_mode": "poll", "backchannel_type": "tap",
            ])
            for name in ["usual", "strong", "tap"] {
                let refused = try await remove(name)
                expectRefusal(refused, 409, "type_in_use")
                #expect(refused.json["types"] == [])
                #expect(refused.json["clients"] == [.string(id)])
            }
            try await set(["profile": "web", "redirect_uris": uris])
            for name in ["usual", "strong", "tap"] { #expect(try await remove(name).status == 204) }
        }
    }

    @Test("Of two types that name each other neither goes before the other is changed, by whomever at once")
    func typesInCircle() async throws {
        try await Scene.with { scene in
            let administrator = scene.administrator
            _ = try await administrator.call(.PUT, "/v1/admin/types/one", ["fallback": "two"]).success()
            _ = try await administrator.call(.PUT, "/v1/admin/types/two", ["fallback": "one"]).success()
            async let first = administrator.call(.DELETE, "/v1/admin/types/one")
            async let second = administrator.call(.DELETE, "/v1/admin/types/two")
            for refused in [try await first, try await second] { expectRefusal(refused, 409, "type_in_use") }
            _ = try await administrator.call(.PUT, "/v1/admin/types/one", [:]).success()
            expectRefusal(try await administrator.call(.DELETE, "/v1/admin/types/one"), 409, "type_in_use")
            #expect(try await administrator.call(.DELETE, "/v1/admin/types/two").status == 204)
            #expect(try await administrator.call(.DELETE, "/v1/admin/types/one").status == 204)
        }
    }

    private static func lines(_ reply: Reply) throws -> [(name: String, value: JSONValue)] {
        try String(decoding: reply.body, as: UTF8.self).split(separator: "\n").map { line in
            let members = try JSONValue(parsing: Array(line.utf8)).object?.members ?? []
            let member = try #require(members.count == 1 ? members.first : nil)
            return (member.name, member.value)
        }
    }

    @Test("An export holds all that is the client's of a user, nothing of another client's, and says that it is whole")
    func export() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask(["details": [["label": "Payee", "value": "ACME"]]])
            #expect(try await scene.approve(asked).status == 200)
            let reply = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/export")
            let lines = try Self.lines(reply)
            #expect(lines.first?.name == "user" && lines.first?.value["external_id"] == "customer-1")
            #expect(lines.last?.name == "end" && lines.last?.value["lines"]?.integer == Int64(lines.count - 1))
            let challenge = try #require(lines.first { $0.name == "challenge" }?.value)
            #expect(
                challenge["id"] == .string(asked.id) && challenge["details"] == [["label": "Payee", "value": "ACME"]])
            let receipt = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)/receipt")
            let exported = try #require(lines.first { $0.name == "receipt" }?.value)
            #expect(exported["receipt"]?.string == String(decoding: receipt.body, as: UTF8.self))
            #expect(lines.filter { $0.name == "enrollment" }.count == 1)
            let clients = Set(lines.filter { $0.name == "event" }.compactMap { $0.value["client"]?.string })
            #expect(clients == [scene.shop.clientID])
            #expect(try await scene.administrator.auditCount("user.exported") == 1)
            let bank = try await scene.server.makeClient("Bank")
            expectRefusal(try await bank.call(.GET, "/v1/users/\(scene.user)/export"), 404, "user_not_found")
            let users = try await scene.server.makeClient("Users", ["rights": ["users"]])
            expectRefusal(try await users.call(.GET, "/v1/users/\(scene.user)/export"), 403, "right_missing")
        }
    }

    @Test("An operator deletes a user whoever knows them, and exports what is left: outcomes and receipts")
    func deleted() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask(["state": "session 7"])
            #expect(try await scene.approve(asked).status == 200)
            let path = "/v1/admin/users/\(scene.user)"
            let before = try await scene.administrator.call(.GET, path).success()
            let links: JSONValue = [["client": .string(scene.shop.clientID), "external_id": "customer-1"]]
            #expect(before["links"] == links)
            #expect(try await scene.administrator.call(.DELETE, path).status == 204)
            expectRefusal(try await scene.administrator.call(.DELETE, path), 404, "user_not_found")
            expectRefusal(try await scene.shop.call(.GET, "/v1/users/\(scene.user)"), 404, "user_not_found")
            expectRefusal(try await scene.shop.call(.GET, "/v1/users/\(scene.user)/export"), 404, "user_not_found")
            let after = try await scene.administrator.call(.GET, path).success()
            #expect(after["deleted_at"] != nil && after["links"] == [])
            let gone = try await scene.administrator.call(.GET, "/v1/admin/users?deleted=true").success()
            #expect(Self.ids(gone, "users") == [scene.user])
            let lines = try Self.lines(try await scene.administrator.call(.GET, "\(path)/export"))
            let challenge = try #require(lines.first { $0.name == "challenge" }?.value)
            #expect(challenge["message"] == "(erased)" && challenge["state"] == "approved")
            #expect(challenge["client_state"] == nil)
            #expect(lines.contains { $0.name == "receipt" })
            let removed = try await scene.phone.send(.GET, "/v1/enrollments/self")
            expectRefusal(removed, 403, "device_deregistered")
        }
    }

    @Test("An export beside the erasure of its user is whole, is refused, or breaks off without its last line")
    func exportBesideErasure() async throws {
        try await Scene.with { scene in
            for round in 0..<6 {
                let user = try await scene.shop.makeUser()
                _ = try await TestPhone.enrolled(for: user, by: scene.shop, at: scene.server)
                for _ in 0..<3 { _ = try await scene.shop.ask(user) }
                let isOperator = round % 2 == 0
                let caller = isOperator ? scene.administrator : scene.shop
                let path = "/v1\(isOperator ? "/admin" : "")/users/\(user)"
                // One that breaks off is no reply.
                async let exported = try? caller.call(.GET, "\(path)/export")
                async let deleted = caller.call(.DELETE, path)
                let (export, deletion) = (await exported, try await deleted)
                #expect(deletion.status == 204)
                guard let export, export.status == 200 else {
                    if let export { expectRefusal(export, 404, "user_not_found") }
                    continue
                }
                let lines = try Self.lines(export)
                let isWhole = lines.last?.name == "end"
                // Who is deleted already is told to be, and so is that what was personal is not there any more.
                guard isWhole, lines.first?.value["deleted_at"] == nil else { continue }
                let messages = lines.filter { $0.name == "challenge" }.map { $0.value["message"]?.string }
                #expect(messages.count == 3 && !messages.contains("(erased)"), "\(messages)")
            }
        }
    }

    @Test("The audit is filtered by what an operator names, and its cursor goes on")
    func events() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            #expect(try await scene.approve(asked).status == 200)
            let path = "/v1/admin/events?challenge=\(asked.id)"
            let page = try await scene.administrator.call(.GET, path).success()
            let kinds = (page["events"]?.array ?? []).compactMap { $0["kind"]?.string }
            #expect(kinds == ["challenge.asked", "challenge.fetched", "challenge.approved"])
            let actors = (page["events"]?.array ?? []).compactMap { $0["actor"]?.string }
            let device = try #require(page["events"]?.array?.last?["enrollment"]?.string)
            #expect(actors == ["client:\(scene.shop.clientID)", "device:\(device)", "device:\(device)"])
            let made = try await scene.administrator.call(.GET, "/v1/admin/events?kind=client.created").success()
            let maker = try #require(made["events"]?.array?.first?["actor"]?.string)
            #expect(maker.hasPrefix("bootstrap:cli_"))
            let cursor = try #require(page["cursor"]?.string)
            let next = try await scene.administrator.call(.GET, "\(path)&cursor=\(cursor)").success()
            #expect(next["events"] == [] && next["cursor"]?.string == cursor)
            let approved = try await scene.administrator.call(
                .GET, "/v1/admin/events?kind=challenge.approved&user=\(scene.user)&client=\(scene.shop.clientID)"
            ).success()
            #expect(approved["events"]?.array?.count == 1)
        }
    }
}
