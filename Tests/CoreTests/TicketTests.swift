import CountersignCore
import CountersignWire
import StorageTestSupport
import Encodings
import OpenPGP
import Testing

@Suite("Tickets")
struct TicketTests {
    private func ticket(_ reference: UserReference, by client: Client, in world: World) async throws
        -> CreateTicket.Created?
    {
        let result = try await CreateTicket.create(
            for: reference, by: client.caller, idempotency: nil, ports: world.ports)
        switch result {
        case .done(.created(let created)): return created
        case .done(.notFound): return nil
        default: throw World.Broken("ticket")
        }
    }

    @Test("NIST SP 800-63B-4 §4.1.2.2: a ticket lives ten minutes and names issuer, user and the enrollment to be")
    func made() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser("customer-1", of: shop)
        let created = try #require(
            try await ticket(.externalID(try ExternalID("customer-1")), by: shop, in: world))
        #expect(created.expiresAt == world.time.now.adding(seconds: 600))
        #expect(created.invitation.user == user)
        #expect(created.invitation.issuer == world.ports.issuer)
        #expect(try created.invitation.fingerprint == world.issuerKeys.certificate.fingerprint)
        #expect(created.invitation.ticket.reveal().utf8.count == 4 + 32, "192 bits")
        let kept = try #require(
            try await world.ports.store.read { try $0.tickets.find(SecretHash(of: created.invitation.ticket)) })
        #expect(kept.enrollment == created.invitation.enrollment)
        #expect(kept.client == shop.id)
        #expect(kept.spentAt == nil)
    }

    @Test("A client gets no ticket for a user it is not linked to")
    func foreign() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let rival = try await world.makeClient("Rival").client
        let user = try await world.makeUser("customer-1", of: shop)
        #expect(try await ticket(.id(user), by: rival, in: world) == nil)
        #expect(try await ticket(.externalID(try ExternalID("customer-1")), by: rival, in: world) == nil)
        #expect(try await world.count("tickets") == 0)
    }

    @Test("A user whom the client blocks gets no ticket, those made before enroll nothing, and another client's do")
    func blocked() async throws {
        let world = try await World()
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser("customer-1", of: shop)
        let device = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
        func block(_ isBlocked: Bool) async throws -> LinkedUser {
            let outcome = try await UpdateUser.update(
                .id(user), UpdateUser.Changes(isEnrollmentBlocked: isBlocked), by: shop.caller, ports: world.ports)
            guard case .updated(let user) = outcome else { throw World.Broken("block") }
            return user
        }
        let changed = try await block(true)
        #expect(changed.isEnrollmentBlocked && changed.externalID?.text == "customer-1")
        let shown = try await ShowUser.show(.id(user), to: shop, ports: world.ports)
        #expect(shown == .user(changed, UserAddresses(), nil))
        #expect(try await device.enroll().summary == "blocked")
        await #expect(throws: World.Broken.self) { try await ticket(.id(user), by: shop, in: world) }
        let rival = try await world.makeClient("Rival", waives: true).client
        _ = try await world.ports.store.commit { try $0.links.put(user, to: rival.id, externalID: nil) }
        _ = try await world.makeDevice(of: user, by: rival)
        _ = try await block(true)
        #expect(try await !block(false).isEnrollmentBlocked)
        #expect(try await device.enroll().summary == "enrolled \(device.enrollment)", "its ticket was not spent")
        #expect(
            try await world.audit().map(\.kind).filter { [.enrollmentBlocked, .enrollmentUnblocked].contains($0) }
                == [.enrollmentBlocked, .enrollmentUnblocked], "what changes is told once")
    }

    @Test("Only a client with the operator's waiver makes tickets that waive approval, and the audit says so")
    func waiver() async throws {
        let world = try await World()
        for waives in [false, true] {
            let client = try await world.makeClient(waives: waives).client
            let user = try await world.makeUser(of: client)
            let invitation = try await world.makeTicket(for: user, by: client)
            let kept = try await world.ports.store.read { try $0.tickets.find(SecretHash(of: invitation.ticket)) }
            #expect(kept?.waivesApproval == waives)
            let events = try await world.audit().filter { $0.kind == .ticketCreated && $0.user == user }
            #expect(events.map { $0.detail["waiver"]?.bool } == [waives])
        }
    }
}
