import CountersignCore
import CountersignWire
import StorageTestSupport

/// Somebody with phones, known to every portal.
final class User: @unchecked Sendable {
    let number: Int
    let id: UserID
    private(set) var phones: [Phone] = []
    /// The numbers that portals show them.
    var screen: [ChallengeID: EntryNumber] = [:]
    /// The numbers that their own new phones show, the latest one last.
    var approvals: [EntryNumber] = []
    /// What the thief's new phone shows.
    var thiefsNumber: EntryNumber?
    /// The enrollments that phones were told of.
    var told: [EnrollmentID: String] = [:]
    private unowned let world: SimulatedWorld

    init(_ number: Int, in world: SimulatedWorld, _ services: Node.Services) async throws {
        self.number = number
        self.world = world
        let name = try ExternalID("customer-\(number)")
        let made = try await CreateUser.create(
            externalID: name, by: world.portals[0].client, idempotency: nil, ports: services.ports
        )
        guard case .done(.created(let user)) = made else { throw World.Broken("user") }
        id = user.id
        for portal in world.portals.dropFirst() {
            let (id, client) = (id, portal.client.id)
            guard try await services.ports.store.commit({ try $0.links.put(id, to: client, externalID: name) }) else {
                throw World.Broken("link")
            }
        }
        for number in 1...(world.happens(percent: 40) ? 2 : 1) { phones.append(Phone(number, of: self, in: world)) }
    }

    func begin() {
        for phone in phones { phone.begin() }
    }

    /// Whether no other phone of theirs is enrolled.
    func isAlone(_ phone: Phone) -> Bool { !phones.contains { $0 !== phone && $0.device != nil } }

    /// Scans a code after a while, with one phone, or with two at once.
    func scan(_ code: ChallengeCode) {
        for phone in world.happens(percent: 10) ? phones : Array(phones.prefix(1)) where !phone.isStolen {
            world.scheduler.start { [world] in
                try? await world.pause(world.milliseconds(1000...30_000))
                try? await phone.claim(code)
            }
        }
    }
}
