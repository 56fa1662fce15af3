import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("NIST SP 800-63B-4 §4.1.2.1: clients are told of what binds their users to devices")
struct BindingNoticeTests {
    /// What is on its way to a receiver, oldest first.
    private static func notices(in world: World, to uri: CallbackURI) async throws -> [JSONValue] {
        let now = world.time.now
        let leased = try await world.store.lease(.callback, limit: 100, now: now, until: now.adding(seconds: 1))
        return try leased.map(\.message).sorted { $0.id < $1.id }.compactMap { message in
            guard case .notice(uri, _, let body) = message.content else { return nil }
            return try JSONValue(parsing: body)
        }
    }

    private static func uri(_ text: String) throws -> CallbackURI {
        try #require(CallbackURI(text, isDevelopment: false))
    }

    @Test(
        "Every change is told, with the client's own name for the user, and nothing secret", arguments: Engine.allCases)
    func changes(_ engine: Engine) async throws {
        let scene = try await CustomScene(engine: engine)
        let (world, user) = (scene.world, scene.user)
        let uri = try Self.uri("https://shop.example.com/notices")
        let changes = ClientChanges(notices: .set(uri), waivesEnrollmentApproval: false)
        let shop = try await UpdateClient.update(scene.shop.id, changes, by: scene.shop.actor, ports: world.ports).get()
        // Ids are in the order of their times.
        func later() { world.time.advance(seconds: 1) }
        let pin = try await scene.device.setPIN()
        later()
        world.hooks.say(HookVerdict(.ok))
        _ = try await scene.device.send(try await scene.registration(authorizer: pin))
        later()
        let asked = try await scene.ask()
        world.hooks.say(HookVerdict(.fail))
        _ = try await scene.send(try await scene.approval(of: asked), to: asked)
        later()
        let second = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
        _ = try await second.enroll()
        world.time.advance(Client.standardCoolingOff)
        try await ExpireChallenges.sweep(ports: world.ports)
        try await TellWaits.sweep(ports: world.ports)
        for _ in 0..<5 {
            later()
            _ = try await PINChange(of: scene.device, from: scene.device.newPINKey(), to: nil).send()
        }
        later()
        #expect(
            try await RemoveEnrollment.remove(second.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
                == .removed)

        let notices = try await Self.notices(in: world, to: uri)
        #expect(
            notices.map { [$0["type"], $0["method"], $0["change"], $0["reason"]].map { $0?.string ?? "-" } } == [
                ["method.changed", "pin", "set", "-"], ["method.changed", "custom:phrase", "set", "-"],
                ["method.changed", "custom:phrase", "removed", "-"], ["enrollment.created", "-", "-", "-"],
                ["enrollment.approved", "-", "-", "-"], ["pin.locked", "-", "-", "-"],
                ["enrollment.removed", "-", "-", "removed_by_client"],
            ])
        for notice in notices {
            #expect(notice["user"] == ["id": .string("\(user)"), "external_id": "customer 1"])
            #expect(notice["device"]?["name"] != nil && notice["timestamp"] != nil)
        }
        #expect(notices[3]["enrollment"] == .string("\(second.enrollment)") && notices[3]["waiver"] == false)
        #expect(notices[3]["fingerprint"] == .string("\(second.certificate.fingerprint)"))
        #expect(notices[4]["fingerprint"] == nil)
        #expect(notices[3]["waiting_until"]?.string != nil && notices[4]["waiting_until"] == nil)
    }

    @Test("Of a device that came by a waiver it is said; every client that knows the user is told, and no other")
    func receivers() async throws {
        let world = try await World()
        let (first, second) = (try Self.uri("https://a.example.com/n"), try Self.uri("https://b.example.com/n"))
        let third = try Self.uri("https://c.example.com/n")
        let shop = try await world.makeClient(waives: true).client
        let bank = try await world.makeClient("Bank").client
        let stranger = try await world.makeClient("Stranger").client
        for (client, uri) in [(shop, first), (bank, second), (stranger, third)] {
            _ = try await UpdateClient.update(
                client.id, ClientChanges(notices: .set(uri)), by: client.actor, ports: world.ports)
        }
        let user = try await world.makeUser("customer 1", of: shop)
        #expect(try await world.store.commit { try $0.links.put(user, to: bank.id, externalID: nil) })
        _ = try await world.makeDevice(of: user, by: shop)
        let told = try await Self.notices(in: world, to: first)
        #expect(told.map { $0["waiver"] } == [true])
        world.time.advance(seconds: 2)
        let other = try await Self.notices(in: world, to: second)
        #expect(other.map { $0["user"] } == [["id": .string("\(user)")]])
        world.time.advance(seconds: 2)
        #expect(try await Self.notices(in: world, to: third).isEmpty)
        // And no longer.
        for client in [shop, bank] {
            _ = try await UpdateClient.update(
                client.id, ClientChanges(notices: .removed), by: client.actor, ports: world.ports)
        }
        let before = try await world.count("outbox")
        _ = try await world.makeDevice(of: user, by: shop)
        #expect(try await world.count("outbox") == before)
    }
}
