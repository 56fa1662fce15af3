import CountersignCore
import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@Suite("Who acts stands in the audit")
struct ActorTests {
    @Test("An actor is read in the form in which it is written, and in no other")
    func form() async throws {
        let world = try await World()
        let (client, device): (ClientID, EnrollmentID) = (world.newID(), world.newID())
        let forms: [(Actor, String)] = [
            (.client(client), "client:\(client)"), (.device(device), "device:\(device)"),
            (.operator(client), "operator:\(client)"), (.bootstrap(client), "bootstrap:\(client)"),
            (.system, "system"),
        ]
        for (actor, text) in forms {
            #expect("\(actor)" == text)
            #expect(Actor(text) == actor)
        }
        let others = [
            "", ":", "system:", "system:\(client)", "client", "client:", "client:\(device)", "device:\(client)",
            "client:\(client):", "Client:\(client)", " system", "user:\(client)",
        ]
        for text in others { #expect(Actor(text) == nil, "\(text)") }
    }

    @Test("A secret makes a client, the bootstrap token whoever has it, and a signature a device")
    func doors() async throws {
        let world = try await World()
        let first = try await FirstStart.prepare(store: world.store, time: world.time, random: world.random)
        guard case .prepared(let token) = first,
            case .authenticated(let owner) = try await AuthenticateClient.authenticate(
                bootstrapToken: token, isFromLoopback: true, ports: world.ports)
        else { throw World.Broken("the operator's client") }
        #expect(owner.client.isOperator && owner.actor == .bootstrap(owner.client.id))
        let created = try await world.makeClient(waives: true)
        let outcome = try await AuthenticateClient.authenticate(
            "\(created.client.id)", secret: created.secret, ports: world.ports)
        guard case .authenticated(let shop) = outcome else { throw World.Broken("client") }
        #expect(shop.actor == .client(created.client.id))
    }

    @Test("An event names who did it, whether it concerns a client, a user or a device", arguments: Engine.allCases)
    func audited(_ engine: Engine) async throws {
        let world = try await World(engine)
        let ports = world.ports
        try await world.makeType(numberEntry: false)
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        _ = try await device.answer(try await world.ask(try world.request(for: user), by: shop), .denied)
        _ = try await world.ask(try world.request(for: user), by: shop)
        world.time.advance(seconds: 120)
        try await ExpireChallenges.sweep(ports: ports)
        let other: ClientID = world.newID()
        for (isSuspended, actor) in [(true, Actor.operator(other)), (false, .bootstrap(other))] {
            _ = try await SuspendEnrollment.suspend(device.enrollment, isSuspended, by: actor, ports: ports)
        }
        _ = try await DeleteUser.delete(.id(user), by: shop.caller, ports: ports)
        let (client, phone) = ("client:\(shop.id)", "device:\(device.enrollment)")
        #expect(
            try await world.audit().map { "\($0.kind.rawValue) \($0.actor)" } == [
                "client.created system", "user.created \(client)", "ticket.created \(client)",
                "enrollment.created \(phone)", "challenge.asked \(client)", "challenge.fetched \(phone)",
                "challenge.denied \(phone)", "challenge.asked \(client)", "challenge.expired system",
                "enrollment.suspended operator:\(other)", "enrollment.resumed bootstrap:\(other)",
                "enrollment.removed \(client)", "user.deleted \(client)",
            ])
    }
}
