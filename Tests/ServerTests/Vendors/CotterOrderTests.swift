import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

// Spec: docs/protocol/jwk-devices.md, *Events*.
@Suite("Cotter: what happens between a question and its answer")
struct CotterOrderTests {
    private static let notSigned = "no trusted device of the user has signed this"
    private static let over = "there is no such event, or it is over"

    @Test(
        "Suspended or switched off meanwhile, a device's answer is none; afterwards the same answer decides",
        arguments: ["suspended", "switched off"])
    func meanwhile(_ what: String) async throws {
        try await CotterEventScene.with { scene in
            let administrator = scene.app.scene.administrator
            let event = try await scene.ask()
            let found = try await scene.pending()
            let answer = try await scene.answer(found, true)
            if what == "suspended" {
                let users = "/v1/users/\(scene.app.scene.user)/enrollments"
                let list = try await scene.app.scene.shop.call(.GET, users).success()
                let device = list["enrollments"]?.array?.first { $0["assurance"] == "event" }
                let id = try #require(device?["enrollment"]?.string, "\(list)")
                let path = "/v1/admin/enrollments/\(id)"
                #expect(try await administrator.call(.POST, "\(path)/suspend").status < 300)
                expectMessage(try await scene.respond(found, answer), 400, Self.notSigned)
                expectMessage(try await scene.app.post("/event/create", answer), 400, Self.notSigned)
                #expect(try await administrator.call(.POST, "\(path)/resume").status < 300)
            } else {
                let path = "/v1/admin/clients/\(scene.app.key)"
                #expect(try await administrator.call(.PATCH, path, ["vendors": []]).status == 200)
                expectMessage(try await scene.respond(found, answer), 401, CotterSwitchTests.noKey)
                expectMessage(try await scene.look(event), 401, CotterSwitchTests.noKey)
                #expect(try await administrator.call(.PATCH, path, ["vendors": ["cotter"]]).status == 200)
            }
            #expect(try await scene.look(event).success()["new"] == true)
            #expect(try await scene.respond(found, answer).success()["approved"] == true)
            #expect(try await scene.look(event).success()["oauth_token"] != nil)
        }
    }

    @Test(
        "A client that is disabled, or a user who is deleted, while an event is open: nobody is signed in by it",
        arguments: ["disabled", "deleted"])
    func gone(_ what: String) async throws {
        try await CotterEventScene.with { scene in
            let (administrator, shop) = (scene.app.scene.administrator, scene.app.scene.shop)
            let event = try await scene.ask()
            let found = try await scene.pending()
            let answer = try await scene.answer(found, true)
            if what == "disabled" {
                let path = "/v1/admin/clients/\(scene.app.key)"
                #expect(try await administrator.call(.POST, "\(path)/disable").status == 200)
                expectMessage(try await scene.respond(found, answer), 401, CotterSwitchTests.noKey)
                #expect(try await administrator.call(.POST, "\(path)/enable").status == 200)
                // The question was taken back.
                #expect(try await scene.respond(found, answer).success()["approved"] == false)
            } else {
                #expect(try await shop.call(.DELETE, "/v1/users/\(scene.app.scene.user)").status == 204)
                expectMessage(try await scene.respond(found, answer), 400, Self.notSigned)
                // Made anew under the same name, the user is another one.
                _ = try await shop.makeUser("customer-1")
                expectMessage(try await scene.respond(found, answer), 400, Self.notSigned)
            }
            expectMessage(try await scene.app.post("/event/create?oauth_token=true", answer), 400, Self.notSigned)
            if what == "disabled" {
                let seen = try await scene.look(event).success()
                #expect(seen["approved"] == false && seen["oauth_token"] == nil, "\(seen)")
                scene.server.clock.advance(.minutes(2))
            }
            expectMessage(try await scene.look(event), 404, Self.over)
        }
    }

    @Test("While its type is deleted an event is answered by nobody; afterwards another answer decides")
    func typeGone() async throws {
        try await CotterEventScene.with { scene in
            let administrator = scene.app.scene.administrator
            let event = try await scene.ask()
            let found = try await scene.pending()
            let path = "/v1/admin/types/cotter"
            #expect(try await administrator.call(.DELETE, path).status == 204)
            expectMessage(
                try await scene.respond(found, try await scene.answer(found, true)), 400,
                "the device, or its answer, does not count for this")
            _ = try await administrator.call(.PUT, path, CotterEventScene.type).success()
            #expect(try await scene.look(event).success()["new"] == true)
            let answered = try await scene.respond(found, try await scene.answer(found, false)).success()
            #expect(answered["approved"] == false && answered["new"] == false, "\(answered)")
            #expect(try await scene.look(event).success()["oauth_token"] == nil)
        }
    }
}
