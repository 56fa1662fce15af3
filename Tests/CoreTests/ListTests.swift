import CountersignStorage
import CountersignWire
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Lists come in pages, each of which begins where the one before ended, for its caller alone")
struct ListTests {
    private struct Scene: Sendable {
        let world: World
        let shop: Client
        let bank: Client

        init() async throws {
            world = try await World()
            try await world.makeType()
            shop = try await world.makeClient(waives: true).client
            bank = try await world.makeClient("Bank", waives: true).client
        }

        /// Many users at once, of both clients in turn.
        func makeUsers(_ count: Int) async throws -> [UserID] {
            let ids: [UserID] = (0..<count).map { _ in world.newID() }
            let now = world.time.now
            try await world.store.commit { writer in
                for (index, id) in ids.enumerated() {
                    try writer.users.insert(id, at: now)
                    let name = try ExternalID("customer-\(index)")
                    _ = try writer.links.put(id, to: index.isMultiple(of: 2) ? shop.id : bank.id, externalID: name)
                }
            }
            return ids
        }

        func users(_ client: Client, blocked: Bool? = nil) async throws -> [UserID] {
            var (all, cursor): ([UserID], String?) = ([], nil)
            repeat {
                let page = try await ListUsers.list(of: client.id, blocked: blocked, cursor: cursor, ports: world.ports)
                    .get()
                #expect(page.elements.count <= Listing.pageSize)
                all += page.elements.map(\.id)
                cursor = page.cursor
            } while cursor != nil
            return all
        }
    }

    @Test("Every user of a client is listed once, and no other client's, over several pages")
    func users() async throws {
        let scene = try await Scene()
        let all = try await scene.makeUsers(2 * Listing.pageSize * 2 + 2)
        let ours = all.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        #expect(try await scene.users(scene.shop) == ours.sorted())
        #expect(Set(try await scene.users(scene.bank)) == Set(all).subtracting(ours))
    }

    @Test("A page that ends exactly at the last entry has no further one")
    func exact() async throws {
        let scene = try await Scene()
        _ = try await scene.makeUsers(2 * Listing.pageSize)
        let page = try await ListUsers.list(of: scene.shop.id, blocked: nil, cursor: nil, ports: scene.world.ports)
            .get()
        #expect(page.elements.count == Listing.pageSize && page.cursor == nil)
    }

    @Test("What comes and goes between two pages neither repeats an entry nor leaves one out that was there all along")
    func changes() async throws {
        let scene = try await Scene()
        let all = try await scene.makeUsers(2 * (Listing.pageSize + 20))
        let ours = all.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element).sorted()
        let ports = scene.world.ports
        let first = try await ListUsers.list(of: scene.shop.id, blocked: nil, cursor: nil, ports: ports).get()
        // The very entry where the page ended, and one before it, go; one comes.
        for index in [3, Listing.pageSize - 1] {
            #expect(try await UnlinkUser.unlink(.id(ours[index]), from: scene.shop.caller, ports: ports) == .unlinked)
        }
        scene.world.time.advance(seconds: 1)
        let new = try await scene.world.makeUser("new", of: scene.shop)
        let second = try await ListUsers.list(of: scene.shop.id, blocked: nil, cursor: first.cursor, ports: ports).get()
        #expect(second.elements.map(\.id) == Array(ours.dropFirst(Listing.pageSize)) + [new])
        #expect(second.cursor == nil)
    }

    @Test("A cursor of another client, another list or other filters, or a changed one, is refused")
    func bound() async throws {
        let scene = try await Scene()
        _ = try await scene.makeUsers(4 * Listing.pageSize)
        let ports = scene.world.ports
        let page = try await ListUsers.list(of: scene.shop.id, blocked: nil, cursor: nil, ports: ports).get()
        let cursor = try #require(page.cursor)
        #expect(
            try await ListUsers.list(of: scene.bank.id, blocked: nil, cursor: cursor, ports: ports) == .cursorRefused)
        #expect(
            try await ListUsers.list(of: scene.shop.id, blocked: false, cursor: cursor, ports: ports) == .cursorRefused)
        #expect(try await ListKnownUsers.list(of: scene.shop.id, cursor: cursor, ports: ports) == .cursorRefused)
        #expect(
            try await ListEnrollments.list(
                ListEnrollments.Filter(), in: .client(scene.shop.id), cursor: cursor, ports: ports) == .cursorRefused)
        let last = try #require(cursor.last)
        for changed in ["", "AAAA", "\(page.elements[0].id)", String(cursor.dropLast()) + (last == "A" ? "B" : "A")] {
            #expect(
                try await ListUsers.list(of: scene.shop.id, blocked: nil, cursor: changed, ports: ports)
                    == .cursorRefused, "\(changed)")
        }
        let other = try await scene.world.reopened()
        let next = try await ListUsers.list(of: scene.shop.id, blocked: nil, cursor: cursor, ports: other.ports).get()
        #expect(next.elements.count == Listing.pageSize, "it works at another server of the same database")
    }

    @Test("What a filter looks for is found behind many that it leaves out, and no page looks at more than a bound")
    func filtered() async throws {
        let scene = try await Scene()
        let all = try await scene.makeUsers(2 * (Listing.examined + 50))
        let rare = try #require(all.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element).max())
        _ = try await UpdateUser.update(
            .id(rare), UpdateUser.Changes(isEnrollmentBlocked: true), by: scene.shop.caller, ports: scene.world.ports)
        let first = try await ListUsers.list(of: scene.shop.id, blocked: true, cursor: nil, ports: scene.world.ports)
            .get()
        #expect(first.elements.isEmpty && first.cursor != nil)
        #expect(try await scene.users(scene.shop, blocked: true) == [rare])
    }

    @Test("Challenges are listed newest first: a client's own, of one user, by type and state; all for an operator")
    func challenges() async throws {
        let scene = try await Scene()
        try await scene.world.makeType("login")
        let user = try await scene.world.makeUser("customer", of: scene.shop)
        let other = try await scene.world.makeUser("other", of: scene.shop)
        let stranger = try await scene.world.makeUser("customer", of: scene.bank)
        let device = try await scene.world.makeDevice(of: user, by: scene.shop)
        _ = try await scene.world.makeDevice(of: other, by: scene.shop)
        _ = try await scene.world.makeDevice(of: stranger, by: scene.bank)
        func ask(_ user: UserID, _ type: String, _ client: Client) async throws -> ChallengeID {
            try await scene.world.ask(try scene.world.request(for: user, type: type), by: client).challenge.id
        }
        let payment = try await scene.world.ask(try scene.world.request(for: user), by: scene.shop)
        _ = try await device.answer(payment, .denied)
        scene.world.time.advance(seconds: 1)
        let login = try await ask(user, "login", scene.shop)
        // Three of one second: their order is that of their ids.
        let others = [
            try await ask(other, "payment", scene.shop), try await ask(other, "payment", scene.shop),
        ]
        scene.world.time.advance(seconds: 1)
        let foreign = try await ask(stranger, "payment", scene.bank)
        func list(
            _ scope: ListScope, _ change: (inout ListChallenges.Filter) -> Void = { _ in }
        ) async throws -> [ChallengeID] {
            var filter = ListChallenges.Filter()
            change(&filter)
            return try await ListChallenges.list(filter, in: scope, cursor: nil, ports: scene.world.ports)
                .get().elements.map(\.id)
        }
        let ours = ListScope.client(scene.shop.id)
        let newest = ([login] + others).sorted().reversed()
        #expect(try await list(ours) == newest + [payment.challenge.id])
        #expect(try await list(ours) { $0.user = user } == [login, payment.challenge.id])
        #expect(try await list(ours) { $0.state = "denied" } == [payment.challenge.id])
        #expect(try await list(ours) { $0.type = TypeName("login") } == [login])
        #expect(try await list(ours) { $0.user = stranger } == [])
        #expect(try await list(.all) == [foreign] + newest + [payment.challenge.id])
        #expect(try await list(.all) { $0.user = stranger } == [foreign])
    }

    @Test("Challenges of one user in one second are all listed, though a page ends among them")
    func sameSecond() async throws {
        let scene = try await Scene()
        try await scene.world.makeType("many", maximumPending: 1000, maximumAsks: 1000)
        let user = try await scene.world.makeUser("customer", of: scene.shop)
        _ = try await scene.world.makeDevice(of: user, by: scene.shop)
        var asked: [ChallengeID] = []
        for _ in 0..<(Listing.pageSize + 5) {
            let request = try scene.world.request(for: user, type: "many")
            asked.append(try await scene.world.ask(request, by: scene.shop).challenge.id)
        }
        for filter in [nil, user] {
            var (listed, cursor): ([ChallengeID], String?) = ([], nil)
            repeat {
                var wanted = ListChallenges.Filter()
                wanted.user = filter
                let page = try await ListChallenges.list(
                    wanted, in: .client(scene.shop.id), cursor: cursor, ports: scene.world.ports
                ).get()
                listed += page.elements.map(\.id)
                cursor = page.cursor
            } while cursor != nil
            #expect(listed == asked.sorted().reversed())
        }
    }

    @Test("Devices are listed of a client's users alone; an operator finds one by its fingerprint")
    func enrollments() async throws {
        let scene = try await Scene()
        let user = try await scene.world.makeUser("customer", of: scene.shop)
        let stranger = try await scene.world.makeUser("customer", of: scene.bank)
        let phone = try await scene.world.makeDevice(of: user, by: scene.shop)
        let tablet = try await scene.world.makeDevice(of: user, by: scene.shop)
        let foreign = try await scene.world.makeDevice(of: stranger, by: scene.bank)
        _ = try await RemoveEnrollment.remove(
            tablet.enrollment, of: .id(user), by: scene.shop.caller, ports: scene.world.ports)
        func list(
            _ scope: ListScope, _ change: (inout ListEnrollments.Filter) -> Void = { _ in }
        ) async throws -> Set<EnrollmentID> {
            var filter = ListEnrollments.Filter()
            change(&filter)
            return Set(
                try await ListEnrollments.list(filter, in: scope, cursor: nil, ports: scene.world.ports)
                    .get().elements.map(\.id))
        }
        let ours = ListScope.client(scene.shop.id)
        #expect(try await list(ours) == [phone.enrollment, tablet.enrollment])
        #expect(try await list(ours) { $0.state = ("active", { $0.state == .active }) } == [phone.enrollment])
        #expect(try await list(ours) { $0.user = stranger } == [])
        #expect(try await list(ours) { $0.fingerprint = foreign.certificate.fingerprint } == [])
        #expect(try await list(.all).count == 3)
        #expect(try await list(.all) { $0.fingerprint = foreign.certificate.fingerprint } == [foreign.enrollment])
    }
}

@Suite("The audit is read by filters, each of which an index serves")
struct AuditFilterTests {
    @Test("Each filter gives what meets it, together they give what meets all, and a place in the list goes on")
    func filters() async throws {
        let world = try await World()
        try await world.makeType()
        let shop = try await world.makeClient(waives: true).client
        let bank = try await world.makeClient("Bank", waives: true).client
        let begin = world.time.now
        var users: [UserID] = []
        for client in [shop, bank] {
            let user = try await world.makeUser("customer", of: client)
            let device = try await world.makeDevice(of: user, by: client)
            let asked = try await world.ask(try world.request(for: user), by: client)
            _ = try await device.answer(asked, .denied)
            users.append(user)
            world.time.advance(seconds: 3600)
        }
        let all = try await world.store.read { try $0.audit.list(after: 0, limit: 1000) }
        func read(
            after sequence: Int64 = 0, _ change: @escaping @Sendable (inout AuditFilter) -> Void
        ) async throws -> [EventID] {
            var filter = AuditFilter()
            change(&filter)
            return try await world.store.read { [filter] in
                try $0.audit.list(filter, after: sequence, limit: 1000).map(\.event.id)
            }
        }
        func expected(_ isMeant: (AuditEvent) -> Bool) -> [EventID] { all.map(\.event).filter(isMeant).map(\.id) }
        let user = users[0]
        let enrollment = try #require(all.first { $0.event.kind == .enrollmentCreated }?.event.enrollment)
        let challenge = try #require(all.last { $0.event.kind == .challengeDenied }?.event.challenge)
        #expect(try await read { $0.user = user } == expected { $0.user == user })
        #expect(try await read { $0.client = bank.id } == expected { $0.client == bank.id })
        #expect(try await read { $0.kind = .challengeDenied } == expected { $0.kind == .challengeDenied })
        #expect(try await read { $0.challenge = challenge } == expected { $0.challenge == challenge })
        #expect(try await read { $0.enrollment = enrollment } == expected { $0.enrollment == enrollment })
        let later = begin.adding(seconds: 1800)
        #expect(try await read { $0.since = later } == expected { $0.at >= later })
        #expect(try await read { $0.until = later } == expected { $0.at < later })
        #expect(try await read { $0.since = begin.adding(seconds: 100_000) } == [])
        let both = try await read {
            $0.user = user
            $0.kind = .challengeDenied
        }
        #expect(both.count == 1)
        let sequence = try #require(all.first { $0.event.user == user }?.sequence)
        #expect(try await read(after: sequence) { $0.user = user } == Array(expected { $0.user == user }.dropFirst()))
    }
}
