import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Operators see and remove passkeys and addresses")
struct AdministerSignInTests {
    private func removePasskey(
        _ id: PasskeyID, of user: UserID, _ scene: AccountScene
    ) async throws -> RemovePasskey.Outcome {
        try await RemovePasskey.remove(id, of: .id(user), by: scene.account.caller, ports: scene.world.ports)
    }

    private func removeAddress(
        _ name: String, of user: UserID, _ scene: AccountScene
    ) async throws -> RemoveAddress.Outcome {
        try await RemoveAddress.remove(
            .email(try SignInScene.email(name)), of: .id(user), by: scene.account.caller, ports: scene.world.ports)
    }

    private func passkeys(_ scene: AccountScene) async throws -> [PasskeyID] {
        let listed = try await ListPasskeys.list(
            of: .id(scene.user), by: scene.account, ports: scene.world.ports)
        guard case .passkeys(let passkeys) = listed else { throw World.Broken("passkeys") }
        return passkeys.map(\.id)
    }

    private func addresses(_ scene: AccountScene) async throws -> (proved: [String], claimed: [String]) {
        let listed = try await ListAddresses.list(
            of: .id(scene.user), by: scene.account, ports: scene.world.ports)
        guard case .addresses(let proved, let claimed) = listed else { throw World.Broken("addresses") }
        return (proved.map { "\($0.address)" }, claimed.map { "\($0.address)" })
    }

    @Test("A removed passkey signs nobody in, its session ends, and the next one by an address waits")
    func passkey() async throws {
        let scene = try await AccountScene()
        let (soft, row) = try await scene.passkey(by: try await scene.byPIN())
        let session = try #require(try await scene.byPasskey(soft).session).secret
        #expect(try await scene.show(session) != nil)
        #expect(try await passkeys(scene) == [row.id])
        #expect(try await removePasskey(row.id, of: scene.user, scene) == .removed)
        #expect(try await passkeys(scene).isEmpty)
        #expect(try await scene.show(session) == nil)
        #expect(try await scene.enter(soft) == .refused)
        let event = try #require(try await scene.world.audit().last { $0.kind == .passkeyRemoved })
        #expect(event.actor == scene.account.actor)
        let next = try await scene.passkey(by: try await scene.byMail(), "two").row
        #expect(!next.counts(at: scene.world.time.now))
        #expect(try await removePasskey(row.id, of: scene.user, scene) == .notFound)
    }

    @Test("A removed address signs nobody in, its sessions end, and what clients say of it is gone")
    func address() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        #expect(try await addresses(scene).proved == ["customer-1@example.com"])
        #expect(try await removeAddress("Customer-1", of: scene.user, scene) == .removed)
        let left = try await addresses(scene)
        #expect(left.proved.isEmpty && left.claimed.isEmpty)
        #expect(try await scene.show(session) == nil)
        let event = try #require(try await scene.world.audit().last { $0.kind == .identifierRemoved })
        #expect(event.actor == scene.account.actor)
        // Whoever reads the mailbox is somebody else from now on.
        let again = try await scene.shop.signedInByMail("customer-1", at: scene.shop.shop)
        #expect(again.user != scene.user)
        #expect(try await removeAddress("customer-1", of: scene.user, scene) == .notFound)
    }

    @Test("An address that only a third party says is the user's is removed as well, proved there or not")
    func claimed() async throws {
        let scene = try await AccountScene()
        let (world, third) = (scene.world, scene.third)
        try await world.link(scene.user, to: third)
        for isProved in [false, true] {
            try await world.claim("planted", of: scene.user, by: third)
            if isProved { #expect(try await scene.shop.signedInByMail("planted", at: third).user == scene.user) }
            #expect(try await addresses(scene).claimed.contains("planted@example.com"))
            #expect(try await removeAddress("planted", of: scene.user, scene) == .removed)
            #expect(try await !addresses(scene).claimed.contains("planted@example.com"))
            let kind = isProved ? AuditEventKind.identifierRemoved : .claimEnded
            #expect(try await world.audit().last { $0.kind == kind }?.actor == scene.account.actor)
            #expect(try await removeAddress("planted", of: scene.user, scene) == .notFound)
            if !isProved { try await forgetRemoved("planted", scene) }
        }
        // Whoever reads that mailbox is nobody, or somebody else.
        #expect(try await scene.shop.signedInByMail("planted", at: third).user != scene.user)
    }

    @Test("All proved addresses are told of a passkey and of an address that is removed, also that one, and no others")
    func told() async throws {
        let scene = try await AccountScene()
        try await scene.add("second", by: try await scene.byMail())
        let row = try await scene.passkey(by: try await scene.byPIN()).row
        try await scene.world.link(scene.user, to: scene.third)
        try await scene.world.claim("planted", of: scene.user, by: scene.third)
        _ = try await scene.mails()
        func expectTold(_ template: MessageTemplate, of name: String, _ addresses: [String]) async throws {
            let mails = try await scene.mails()
            #expect(mails.map { "\($0.to)" }.sorted() == addresses)
            for (_, message) in mails {
                #expect(message.values["place"] == nil && message.values["removed"]?.reveal() == "yes")
                #expect(message.template == template && message.values[template.rawValue]?.reveal() == name)
            }
        }
        let (first, second) = ("customer-1@example.com", "second@example.com")
        #expect(try await removePasskey(row.id, of: scene.user, scene) == .removed)
        try await expectTold(.passkey, of: row.name.text, [first, second])
        #expect(try await removeAddress("planted", of: scene.user, scene) == .removed)
        #expect(try await removePasskey(row.id, of: scene.user, scene) == .notFound)
        #expect(try await removeAddress("nobody", of: scene.user, scene) == .notFound)
        #expect(try await scene.mails().isEmpty)
        #expect(try await removeAddress("Customer-1", of: scene.user, scene) == .removed)
        try await expectTold(.address, of: first, [first, second])
        #expect(try await removeAddress("second", of: scene.user, scene) == .removed)
        try await expectTold(.address, of: second, [second])
    }

    @Test("Where there is no account page they are told in the name of the host, and no message has a link to it")
    func toldWithoutPage() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        try await scene.add("second", by: try await scene.byMail())
        _ = try await FirstStart.prepare(store: world.store, time: world.time, random: world.random)
        let operating = try #require(try await world.store.read { try $0.clients.operatorClient() })
        _ = try await DisableClient.disable(scene.account.id, by: .system, ports: world.ports)
        #expect(try await removeAddress("customer-1", of: scene.user, scene) == .removed)
        let now = world.time.now
        let leased = try await world.store.lease(.mail, limit: 100, now: now, until: now)
        let told = leased.compactMap { leased -> (to: String, message: PersonalMessage)? in
            guard case .personal(let message, let address, operating.id) = leased.message.content else { return nil }
            return (to: "\(address)", message: message)
        }
        #expect(told.map { $0.to }.sorted() == ["customer-1@example.com", "second@example.com"])
        for (_, message) in told {
            #expect(message.template == .address && message.values["removed"]?.reveal() == "yes")
            #expect(message.values["page"] == nil && message.values["sender"]?.reveal() == world.ports.issuer.host)
        }
    }

    private func forgetRemoved(_ name: String, _ scene: AccountScene) async throws {
        let name = scene.world.ports.hasher.identifier(.email(try SignInScene.email(name)))
        try await scene.world.store.commit { try $0.identifiers.forgetRemoved(name, of: scene.user) }
    }

    @Test("Nothing of another user's is removed, and nothing of nobody's")
    func others() async throws {
        let scene = try await AccountScene()
        let (soft, row) = try await scene.passkey(by: try await scene.byPIN())
        let session = try await scene.byMail()
        let stranger = try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop).user
        #expect(try await removePasskey(row.id, of: stranger, scene) == .notFound)
        #expect(try await removeAddress("customer-1", of: stranger, scene) == .notFound)
        #expect(try await removeAddress("nobody", of: scene.user, scene) == .notFound)
        let nobody: UserID = scene.world.ports.random.id(at: scene.world.time.now)
        #expect(try await removePasskey(row.id, of: nobody, scene) == .userNotFound)
        #expect(try await removeAddress("customer-1", of: nobody, scene) == .userNotFound)
        #expect(try await passkeys(scene) == [row.id])
        #expect(try await addresses(scene).proved == ["customer-1@example.com"])
        _ = try await scene.byPasskey(soft)
        #expect(try await SignOut.isSignedIn(session, ports: scene.world.ports))
    }
}
