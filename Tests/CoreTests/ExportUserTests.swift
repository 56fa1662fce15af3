import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Issue 20.20: an export beside the erasure of its user")
struct ExportUserTests {
    private struct Scene: Sendable {
        let world: World
        let shop: Client
        let bank: Client

        init(_ engine: Engine) async throws {
            world = try await World(engine)
            try await world.makeType()
            shop = try await world.makeClient(waives: true).client
            bank = try await world.makeClient("Bank", waives: true).client
        }

        /// A user whom both know, and whom both have asked something.
        func user() async throws -> UserID {
            let user = try await world.makeUser(of: shop)
            let device = try await world.makeDevice(of: user, by: shop)
            let isLinked = try await world.store.commit { [bank] in try $0.links.put(user, to: bank.id, externalID: nil)
            }
            #expect(isLinked)
            for client in [shop, bank] {
                _ = try await device.answer(try await world.ask(try world.request(for: user), by: client), .denied)
            }
            return user
        }
    }

    /// The rest of an export.
    private static func rest(of export: ExportUser, in world: World) async throws -> [ExportUser.Part] {
        var export = export
        var rest: [ExportUser.Part] = []
        while let parts = try await export.next(ports: world.ports) { rest += parts }
        return rest
    }

    @Test(
        "Who is let go between any two parts ends the export of all that is erased from then on, and of nothing else",
        arguments: Engine.allCases, [true, false])
    func letGo(_ engine: Engine, _ isDeleted: Bool) async throws {
        let scene = try await Scene(engine)
        let (world, shop, bank) = (scene.world, scene.shop, scene.bank)
        var (interrupted, ended) = (0, 0)
        for step in 0..<20 {
            if ended == 3 { break }
            ended = 0
            let user = try await scene.user()
            var exports: [(scope: ListScope, export: ExportUser)] = []
            for scope in [ListScope.client(shop.id), .all, .client(bank.id)] {
                let begun = try await ExportUser.begin(.id(user), in: scope, by: shop.caller, ports: world.ports).export
                var export = try #require(begun)
                for _ in 0..<step { _ = try await export.next(ports: world.ports) }
                // Of one that has told everything there is nothing left to be kept back.
                var ahead = export
                let isOver = try await ahead.next(ports: world.ports) == nil
                if isOver { ended += 1 } else { exports.append((scope, export)) }
            }
            if isDeleted {
                #expect(try await DeleteUser.delete(.id(user), by: shop.caller, ports: world.ports) == .deleted)
            } else {
                #expect(try await UnlinkUser.unlink(.id(user), from: shop.caller, ports: world.ports) == .unlinked)
            }
            for (scope, export) in exports {
                if !isDeleted, case .client(bank.id) = scope {
                    for case .challenge(let challenge) in try await Self.rest(of: export, in: world) {
                        #expect(challenge.question.client == bank.id)
                        #expect(challenge.question.message.text != ErasedText.text)
                    }
                } else {
                    interrupted += 1
                    await #expect(throws: ExportUser.Interruption.userGone, "\(scope) after \(step) parts") {
                        try await Self.rest(of: export, in: world)
                    }
                }
            }
        }
        #expect(interrupted > 6 && ended == 3)
    }

    @Test("Who was deleted before is exported as what is left of them, to the end")
    func deletedBefore() async throws {
        let scene = try await Scene(.sqlite)
        let (world, user) = (scene.world, try await scene.user())
        #expect(try await DeleteUser.delete(.id(user), by: scene.shop.caller, ports: world.ports) == .deleted)
        let begun = try await ExportUser.begin(.id(user), in: .all, by: scene.shop.caller, ports: world.ports).export
        let parts = try await Self.rest(of: try #require(begun), in: world)
        guard case .known(let known)? = parts.first else { throw World.Broken("\(parts)") }
        #expect(known.deletedAt != nil && known.links.isEmpty)
        let messages = parts.compactMap { part in
            if case .challenge(let challenge) = part { challenge.question.message.text } else { nil }
        }
        #expect(messages == [ErasedText.text, ErasedText.text])
        let mine = try await ExportUser.begin(
            .id(user), in: .client(scene.shop.id), by: scene.shop.caller, ports: world.ports)
        guard case .notFound = mine else { throw World.Broken("the client may see a deleted user") }
    }
}
