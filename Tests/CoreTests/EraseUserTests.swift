import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Deleting a user erases what is personal, and keeps what evidence needs")
struct EraseUserTests {
    /// Stands in everything personal, so that it is found wherever any of it is left.
    private static let mark = "Zwiebelfisch"

    private struct Scene: Sendable {
        let world: World
        let shop: Client
        let bank: Client
        let user: UserID
        let device: TestDevice

        init() async throws {
            world = try await World()
            try await world.makeType()
            shop = try await world.makeClient(waives: true).client
            bank = try await world.makeClient("Bank", waives: true).client
            user = try await world.makeUser("\(mark)-1", of: shop)
            device = try await world.makeDevice(of: user, by: shop)
            let name = DeviceLabels(
                name: try DisplayLine("\(mark)'s phone"), model: try DisplayLine("\(mark) 9"))
            _ = try await UpdateEnrollment.update(
                EnrollmentUpdate(device: name), by: try await device.call(), ports: world.ports
            ).get()
        }

        func ask(by client: Client? = nil) async throws -> AskedChallenge {
            var request = try world.request(for: user)
            request.message = try DisplayMessage("Pay \(mark)?")
            request.secureMessage = try DisplayMessage("Pay \(mark) now?")
            request.details = [try Detail(label: "Payee", value: mark)]
            request.signingData = SigningData(mark)
            request.clientState = "session of \(mark)"
            request.browser = BrowserID("\(mark)-browser-0123456789")
            return try await world.ask(request, by: client ?? shop)
        }

        /// The bank knows the user, too.
        func linkBank() async throws {
            let (id, client) = (user, bank.id)
            let isLinked = try await world.store.commit { writer in
                try writer.links.put(id, to: client, externalID: try ExternalID("\(mark)-2"))
            }
            #expect(isLinked)
        }

        func delete(by client: Client? = nil) async throws {
            #expect(
                try await UnlinkUser.unlink(.id(user), from: (client ?? shop).caller, ports: world.ports) == .unlinked)
        }
    }

    /// In which columns a text stands anywhere in the database.
    private func columns(holding text: String, in world: World) async throws -> Set<String> {
        var found: Set<String> = []
        for (table, columns) in try await world.columns() {
            for column in columns {
                let condition = "CAST(\(column) AS TEXT) LIKE '%\(text)%'"
                if try await world.count(table, where: condition) > 0 { found.insert("\(table).\(column)") }
            }
        }
        return found
    }

    @Test("What was asked by a node whose clock is ahead is erased, too, also if the client was let go before")
    func askedAhead() async throws {
        let scene = try await Scene()
        try await scene.linkBank()
        scene.world.time.advance(seconds: 60)
        _ = try await scene.ask(by: scene.bank)
        _ = try await scene.ask()
        scene.world.time.advance(seconds: -60)
        try await scene.delete(by: scene.bank)
        try await scene.delete()
        #expect(try await columns(holding: Self.mark, in: scene.world).isEmpty)
    }

    @Test("Messages, names and addresses are gone; that something was asked, how it ended and the receipt are not")
    func deleted() async throws {
        let scene = try await Scene()
        let denied = try await scene.ask()
        _ = try await scene.device.answer(denied, .denied)
        let open = try await scene.ask()
        let before = try await columns(holding: Self.mark, in: scene.world)
        #expect(
            before.isSuperset(of: [
                "challenges.message", "challenges.alert", "challenges.details", "challenges.signing_data",
                "challenges.client_state", "user_links.external_id", "enrollments.device", "audit.detail",
                "receipts.text",
            ]), "\(before)")
        try await scene.delete()
        #expect(try await columns(holding: Self.mark, in: scene.world) == ["receipts.text"])
        let (first, second) = (denied.challenge.id, open.challenge.id)
        let kept = try await scene.world.store.read { (try $0.challenges.find(first), try $0.challenges.find(second)) }
        #expect(kept.0?.state.status == ChallengeStatus(state: "denied", reason: "declined"))
        #expect(kept.1?.state.isEnded == true)
        #expect(kept.0?.user == scene.user)
        guard case .receipt = try await ShowReceipt.receipt(of: first, to: scene.shop.id, ports: scene.world.ports)
        else { throw World.Broken("receipt") }
        let created = try await scene.world.audit().first { $0.kind == .enrollmentCreated }
        #expect(created?.detail["fingerprint"] == .string("\(scene.device.certificate.fingerprint)"))
        // What a removed device needs to hear of it, and what keeps its key from being enrolled anew.
        let id = scene.device.enrollment
        let state = try await scene.world.store.read { try $0.enrollments.state(id) }
        #expect(state == .removed(.user, at: scene.world.time.now))
        let fingerprint = scene.device.certificate.fingerprint
        #expect(try await scene.world.store.read { try $0.enrollments.isEnrolled(fingerprint) })
    }

    @Test("A device of the user is told that it is over, and what it answers late is refused")
    func device() async throws {
        let scene = try await Scene()
        let asked = try await scene.ask()
        try await scene.device.open(asked.challenge.id)
        let call = try await scene.device.call()
        let message = try await scene.device.receipt(of: asked, .denied)
        try await scene.delete()
        let answer = try await AnswerChallenge.answer(
            AnswerRequest(message: message), to: asked.challenge.id, by: call, ports: scene.world.ports)
        guard case .refused(.deregistered) = answer else { throw World.Broken("\(answer)") }
        #expect(try await scene.world.count("receipts") == 0)
    }

    @Test("A client that lets a user go takes its own questions along, and leaves those of others alone")
    func shared() async throws {
        let scene = try await Scene()
        try await scene.linkBank()
        let ours = try await scene.ask()
        let theirs = try await scene.ask(by: scene.bank)
        for asked in [ours, theirs] { _ = try await scene.device.answer(asked, .denied) }
        try await scene.delete()
        func message(_ asked: AskedChallenge) async throws -> String? {
            let id = asked.challenge.id
            return try await scene.world.store.read { try $0.challenges.find(id)?.question.message.text }
        }
        #expect(try await message(ours) == "(erased)")
        #expect(try await message(theirs) == "Pay \(Self.mark) now?")
        let id = scene.device.enrollment
        #expect(
            try await scene.world.store.read { try $0.enrollments.state(id) } == .active, "the bank's user has it yet")
        try await scene.delete(by: scene.bank)
        #expect(try await columns(holding: Self.mark, in: scene.world) == ["receipts.text"])
    }

    @Test("A question whose message is the text that replaces others is erased as well")
    func namedErased() async throws {
        let scene = try await Scene()
        let (world, user) = (scene.world, scene.user)
        var request = try world.request(for: user)
        request.message = try DisplayMessage("(erased)")
        request.details = [try Detail(label: "Payee", value: Self.mark)]
        request.clientState = "session of \(Self.mark)"
        _ = try await world.ask(request, by: scene.shop)
        try await scene.delete()
        #expect(try await columns(holding: Self.mark, in: world).isEmpty)
    }

    @Test("A question about a new device is erased with the user, also if its client was unlinked before the last one")
    func newDevice() async throws {
        let scene = try await Scene()
        let (world, user) = (scene.world, scene.user)
        let early = try await world.makeClient("Early").client
        _ = try await world.store.commit { try $0.links.put(user, to: early.id, externalID: nil) }
        let further = try await TestDevice(try await world.makeTicket(for: user, by: early), in: world)
        _ = try await further.enroll()
        func questions() async throws -> Int64 {
            try await world.count("challenges", where: "details LIKE '%\(further.certificate.fingerprint)%'")
        }
        #expect(try await questions() == 1)
        try await scene.delete(by: early)
        #expect(try await questions() == 1, "the user decides")
        try await scene.delete()
        #expect(try await questions() == 0)
        #expect(try await world.count("challenges", where: "purpose = 'new_device'") == 1)
    }

    @Test(
        "What clients have asked that have no link, or whose link keeps nobody, is erased with the user",
        arguments: [false, true])
    func withoutLink(isLinked: Bool) async throws {
        let scene = try await AccountScene()
        let (world, shop, user) = (scene.world, scene.shop, scene.user)
        try await scene.confirmPhone()
        world.time.advance(seconds: 60)
        var wanted = try shop.wanted("customer-1", at: scene.account)
        wanted.redirectURI = world.ports.issuer.accountPage
        guard case .asked(let asked) = try await shop.ask(wanted, by: .device) else { throw World.Broken("asked") }
        if isLinked {
            try await shop.approve(asked)
            guard case .finished = try await shop.finish(asked) else { throw World.Broken("finished") }
        } else {
            try await shop.answer(asked) { _ in .denied }
        }
        let asks = "client_id = '\(scene.account.id)' AND context IS NOT NULL"
        #expect(try await world.count("challenges", where: asks) == 1)
        let outcome = try await UnlinkUser.unlink(.id(user), from: shop.shop.caller, ports: world.ports)
        #expect(outcome == .unlinked)
        #expect(try await world.store.read { try $0.users.find(user)?.deletedAt } != nil)
        #expect(try await world.count("challenges", where: asks) == 0)
        #expect(try await world.count("erasures") == 0)
    }

    @Test("Made anew under the same name, a user is another one, of whom nothing is known")
    func anew() async throws {
        let scene = try await Scene()
        let asked = try await scene.ask()
        _ = try await scene.device.answer(asked, .denied)
        try await scene.delete()
        let again = try await scene.world.makeUser("\(Self.mark)-1", of: scene.shop)
        #expect(again != scene.user)
        #expect(try await scene.world.store.read { try $0.enrollments.all(of: again).isEmpty })
        let old = scene.user
        #expect(try await ShowUser.show(.id(old), to: scene.shop, ports: scene.world.ports) == .notFound)
    }

    @Test("What a server that died has left to be erased is erased by the next upkeep, batch after batch")
    func afterKill() async throws {
        let scene = try await Scene()
        for _ in 0..<3 { _ = try await scene.device.answer(try await scene.ask(), .denied) }
        // The transaction of a deletion, and nothing after it.
        let (user, client, now) = (scene.user, scene.shop.id, scene.world.time.now)
        try await scene.world.ports.commit(at: now, as: .system) { try $0.letGo(user, by: client, asked: client) }
        #expect(try await scene.world.count("erasures") == 1)
        #expect(try await columns(holding: Self.mark, in: scene.world).contains("challenges.message"))
        let erasure = try #require(try await scene.world.store.read { try $0.erasures.next(of: nil) })
        #expect(try await scene.world.store.commit { try $0.erasures.erase(erasure, limit: 2) } > 0)
        let other = try await scene.world.reopened()
        try await EraseUser.sweep(ports: other.ports)
        #expect(try await columns(holding: Self.mark, in: other) == ["receipts.text"])
        #expect(try await other.count("erasures") == 0)
    }

    @Test("A request that deletes one user leaves to the upkeep what others have left to be erased")
    func others() async throws {
        let scene = try await Scene()
        _ = try await scene.device.answer(try await scene.ask(), .denied)
        let (user, client, now) = (scene.user, scene.shop.id, scene.world.time.now)
        try await scene.world.ports.commit(at: now, as: .system) { try $0.letGo(user, by: client, asked: client) }
        let next = try await scene.world.makeUser(of: scene.shop)
        let third = try await scene.world.makeUser(of: scene.shop)
        let ports = scene.world.ports
        #expect(try await UnlinkUser.unlink(.id(next), from: scene.shop.caller, ports: ports) == .unlinked)
        #expect(try await DeleteUser.delete(.id(third), by: scene.shop.caller, ports: ports) == .deleted)
        #expect(try await scene.world.count("erasures") == 1)
        #expect(try await columns(holding: Self.mark, in: scene.world).contains("challenges.message"))
        try await EraseUser.sweep(ports: ports)
        #expect(try await scene.world.count("erasures") == 0)
    }

    @Test("What a client asks after it knows a user again is not what it was to erase")
    func linkedAgain() async throws {
        let scene = try await Scene()
        try await scene.linkBank()
        let (user, client, now) = (scene.user, scene.shop.id, scene.world.time.now)
        try await scene.world.ports.commit(at: now, as: .system) { try $0.letGo(user, by: client, asked: client) }
        scene.world.time.advance(seconds: 60)
        _ = try await scene.world.store.commit { try $0.links.put(user, to: client, externalID: nil) }
        let asked = try await scene.ask()
        _ = try await scene.device.answer(asked, .denied)
        try await EraseUser.sweep(ports: scene.world.ports)
        let id = asked.challenge.id
        #expect(
            try await scene.world.store.read { try $0.challenges.find(id)?.question.message.text }
                == "Pay \(Self.mark) now?")
    }

    @Test("Deleted and asked at once: the question is refused, or it ends with the user")
    func atTheSameTime() async throws {
        for _ in 0..<3 {
            let scene = try await Scene()
            let request = try scene.world.request(for: scene.user)
            _ = try await atOnce(2) { number in
                if number == 0 {
                    try await scene.delete()
                } else {
                    _ = try await AskChallenge.ask(
                        request, by: scene.shop.credential, idempotency: nil, ports: scene.world.ports)
                }
            }
            let id = scene.user
            #expect(try await scene.world.store.read { try $0.challenges.open(of: id).isEmpty })
        }
    }
}
