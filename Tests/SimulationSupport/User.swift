import CountersignCore
import CountersignWire
import StorageTestSupport

/// Somebody with phones, known to some portals by the same name.
final class User: @unchecked Sendable {
    /// By what id a portal knows them, or did.
    struct Link {
        let id: UserID
        let portal: Portal
        /// Since when it does no more.
        var end: Duration?
    }

    let number: Int
    let externalID: ExternalID
    /// Where text messages reach them.
    let telephone: PhoneNumber
    private(set) var links: [Link] = []
    private(set) var phones: [Phone] = []
    /// The numbers that portals show them.
    var screen: [ChallengeID: EntryNumber] = [:]
    /// The numbers that their own new phones show, the latest one last.
    var approvals: [EntryNumber] = []
    /// What the thief's new phone shows.
    var thiefsNumber: EntryNumber?
    /// The enrollments that phones were told of.
    var told: [EnrollmentID: String] = [:]
    /// What they have opened by a link, and who asked it.
    private(set) var opened: [ChallengeID: Portal] = [:]
    private unowned let world: SimulatedWorld

    init(_ number: Int, in world: SimulatedWorld, _ services: Node.Services) async throws {
        self.number = number
        self.world = world
        externalID = try ExternalID("customer-\(number)")
        guard let telephone = PhoneNumber("+49151000\(1000 + number)") else { throw World.Broken("telephone") }
        self.telephone = telephone
        // Some are with all, some with all but who has them wait for a week, some with who has them wait for a minute.
        let own = [world.portals, Array(world.portals.prefix(2)), Array(world.portals.dropFirst().prefix(1))][
            number % 3]
        for portal in own.isEmpty ? Array(world.portals.prefix(1)) : own {
            guard let known = links.first?.id else {
                let made = try await CreateUser.create(
                    externalID: externalID, by: portal.client, idempotency: nil, ports: services.ports)
                guard case .done(.created(let user)) = made else { throw World.Broken("user") }
                link(user.id, at: portal)
                continue
            }
            let (client, name) = (portal.client.id, externalID)
            guard try await services.ports.store.commit({ try $0.links.put(known, to: client, externalID: name) })
            else { throw World.Broken("link") }
            link(known, at: portal)
        }
        for number in 1...(world.happens(percent: 40) ? 2 : 1) { phones.append(Phone(number, of: self, in: world)) }
    }

    func begin() {
        for phone in phones { phone.begin() }
    }

    /// Whether no other phone of theirs is enrolled.
    func isAlone(_ phone: Phone) -> Bool { !phones.contains { $0 !== phone && $0.device != nil } }

    // Names

    /// As what a portal knows them now.
    func id(at portal: Portal) -> UserID? { links.last { $0.portal === portal && $0.end == nil }?.id }

    /// A portal knows them by an id from now on.
    func link(_ id: UserID, at portal: Portal) { links.append(Link(id: id, portal: portal)) }

    /// A portal knows them no more, or none does by an id.
    func unlink(_ id: UserID? = nil, from portal: Portal? = nil) {
        for index in links.indices where links[index].end == nil {
            if links[index].portal === portal || links[index].id == id { links[index].end = world.scheduler.elapsed }
        }
    }

    /// How long what is new must wait at least of who has an id, in seconds: the longest that a portal has which knows
    /// them, or did within its own time.
    func wait(of id: UserID) -> Int64 {
        // By a clock that is ahead that time is over sooner.
        let sooner = world.scheduler.elapsed + .seconds(world.ledger.clockSteps == 0 ? 10 : 3700)
        let counting = links.filter { link in
            link.id == id && (link.end.map { $0 + .seconds(link.portal.coolingOff) > sooner } ?? true)
        }
        return counting.map(\.portal.coolingOff).max() ?? 0
    }

    /// The id, and those that some portal has known them by since a time in its place.
    func ids(since time: Duration, from id: UserID) -> Set<UserID> {
        let left = links.filter { $0.id == id && ($0.end ?? .zero) >= time }.map(\.portal.number)
        return Set([id] + links.filter { left.contains($0.portal.number) && $0.end == nil }.map(\.id))
    }

    // Codes

    /// Scans a code after a while, with one phone, or with two at once; or opens it as a link, with one.
    func present(_ code: ChallengeCode, of portal: Portal) {
        let isLink = code.form == .link
        if isLink { opened[code.challenge] = portal }
        let several = !isLink && world.happens(percent: 10)
        for phone in several ? phones : Array(phones.prefix(1)) where !phone.isStolen {
            world.scheduler.start { [world] in
                try? await world.pause(world.milliseconds(1000...30_000))
                try? await phone.claim(code)
            }
        }
    }
}
