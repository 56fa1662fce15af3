import CountersignCore
import CountersignWire
import StorageTestSupport

/// A person with phones, known to some portals by the same name.
final class User: @unchecked Sendable {
    /// The id by which a portal knows or knew the user.
    struct Link {
        let id: UserID
        let portal: Portal
        /// When the link ended; nil if it still exists.
        var end: Duration?
    }

    let number: Int
    let externalID: ExternalID
    /// The number for text messages.
    let telephone: PhoneNumber
    private(set) var links: [Link] = []
    private(set) var phones: [Phone] = []
    /// The numbers that portals show to the user.
    var screen: [ChallengeID: EntryNumber] = [:]
    /// The numbers that the user's own new phones show, the latest last.
    var approvals: [EntryNumber] = []
    /// The number that the thief's new phone shows.
    var thiefsNumber: EntryNumber?
    /// The code by which the user is asked by clients' servers, while one is set, and somebody else's.
    var askingCode: String { "kite-\(number) blue" }
    var wrongAskingCode: String { "kite-\(number + 1) blue" }
    /// The enrollments of which phones were told.
    var told: [EnrollmentID: String] = [:]
    /// The links that the user has opened, and the portals that asked.
    private(set) var opened: [ChallengeID: Portal] = [:]
    private unowned let world: SimulatedWorld
    private lazy var browser = Browser(of: self, in: world)

    init(_ number: Int, in world: SimulatedWorld, _ services: Node.Services) async throws {
        self.number = number
        self.world = world
        externalID = try ExternalID("customer-\(number)")
        guard let telephone = PhoneNumber("+49151000\(1000 + number)") else { throw World.Broken("telephone") }
        self.telephone = telephone
        // Some users are at all portals, some at all but the one with a wait of a week, and some only at the one with a
        // wait of a minute.
        let own = [world.portals, Array(world.portals.prefix(2)), Array(world.portals.dropFirst().prefix(1))][
            number % 3]
        for portal in own.isEmpty ? Array(world.portals.prefix(1)) : own {
            guard let known = links.first?.id else {
                let made = try await CreateUser.create(
                    externalID: externalID, by: portal.client.caller, idempotency: nil, ports: services.ports)
                guard case .done(.created(let user)) = made else { throw World.Broken("user") }
                link(user.id, at: portal)
                continue
            }
            let (client, name) = (portal.client.id, externalID)
            guard try await services.ports.store.commit({ try $0.links.put(known, to: client, externalID: name) })
            else { throw World.Broken("link") }
            link(known, at: portal)
        }
        if let known = links.first?.id {
            let name = externalID
            for other in world.others.map(\.client.id) {
                guard try await services.ports.store.commit({ try $0.links.put(known, to: other, externalID: name) })
                else { throw World.Broken("link") }
            }
        }
        for number in 1...(world.happens(percent: 40) ? 2 : 1) { phones.append(Phone(number, of: self, in: world)) }
    }

    func begin() {
        for phone in phones { phone.begin() }
        browser.begin()
    }

    /// Whether the user has no other enrolled phone.
    func isAlone(_ phone: Phone) -> Bool { !phones.contains { $0 !== phone && $0.device != nil } }

    // Names

    /// The user's current id at a portal.
    func id(at portal: Portal) -> UserID? { links.last { $0.portal === portal && $0.end == nil }?.id }

    /// Links the user to a portal.
    func link(_ id: UserID, at portal: Portal) { links.append(Link(id: id, portal: portal)) }

    /// Unlinks the user from a portal, or from all portals by an id.
    func unlink(_ id: UserID? = nil, from portal: Portal? = nil) {
        for index in links.indices where links[index].end == nil {
            if links[index].portal === portal || links[index].id == id { links[index].end = world.scheduler.elapsed }
        }
    }

    /// The minimum wait for new devices and methods of an id, in seconds: the longest wait of the portals that are
    /// linked to it, or were linked within their own waits.
    func wait(of id: UserID) -> Int64 {
        // By a clock that is ahead, that time ends sooner.
        let sooner = world.scheduler.elapsed + .seconds(world.ledger.clockSteps == 0 ? 10 : 3700)
        let counting = links.filter { link in
            link.id == id && (link.end.map { $0 + .seconds(link.portal.coolingOff) > sooner } ?? true)
        }
        return counting.map(\.portal.coolingOff).max() ?? 0
    }

    /// The id, and the ids that replaced it at some portal since a time.
    func ids(since time: Duration, from id: UserID) -> Set<UserID> {
        let left = links.filter { $0.id == id && ($0.end ?? .zero) >= time }.map(\.portal.number)
        return Set([id] + links.filter { left.contains($0.portal.number) && $0.end == nil }.map(\.id))
    }

    // Codes

    /// Scans a code after a while with one or two phones, or opens it as a link with one phone.
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
