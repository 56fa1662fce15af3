import CountersignCore
import CountersignStorage
import CountersignWire

/// Takes an unlocked phone whose user has a PIN, which the thief does not know, with the app's session on it: tickets are
/// theirs for the asking.
///
/// Spec: design 13.
final class Thief: @unchecked Sendable {
    /// How far a node's clock may be set back, in milliseconds.
    private static let margin: Int64 = 310_000

    private unowned let world: SimulatedWorld
    private var made: Set<EnrollmentID> = []

    init(_ world: SimulatedWorld) {
        self.world = world
    }

    func steal() async {
        while !world.isCalm {
            try? await world.pause(.seconds(world.draw(300...3600)))
            let stolen = world.users.flatMap { user in
                user.phones.filter { !$0.isStolen && $0.device?.pin != nil }.map { (user, $0) }
            }
            guard !world.isCalm, let (user, phone) = world.pick(stolen), isProtected(phone) else { continue }
            await rob(user, of: phone)
        }
    }

    /// Whether phone and PIN count: a phone that waits itself keeps nobody out.
    private func isProtected(_ phone: Phone) -> Bool {
        guard let device = phone.device?.id else { return false }
        let protected = SQLStatement(
            """
            SELECT 1 FROM enrollments WHERE id = $1 AND removed_at IS NULL AND counts_from <= $2 AND pin_counts_from <= $2
            """)
        let earlier = world.now.milliseconds - Self.margin
        return (try? world.database.look { try $0.rows(protected, [.text("\(device)"), .integer(earlier)]) })?.isEmpty
            == false
    }

    private func rob(_ user: User, of phone: Phone) async {
        world.trace.note("thief", "takes \(phone.name)")
        world.ledger.counts.thefts += 1
        phone.isStolen = true
        let first = world.now
        made = []
        var own: [Phone] = []
        for _ in 0..<world.draw(2...6) {
            await act(user, phone, &own)
            check(made, since: first)
            try? await world.pause(.seconds(world.draw(5...120)))
            check(made, since: first)
        }
    }

    private func act(_ user: User, _ phone: Phone, _ own: inout [Phone]) async {
        let act = world.draw(0...3)
        world.trace.note("thief", "does \(act)")
        do {
            switch act {
            case 0: try await phone.removeItself()
            case 1, 2:
                guard let portal = world.pick(world.portals), let invitation = await portal.ticket(for: user) else {
                    return
                }
                let other = Phone(own.count + 1, of: user, in: world, isThiefs: true)
                if try await other.enroll(with: invitation) {
                    made.insert(invitation.enrollment)
                    own.append(other)
                }
            default:
                for device in [phone] + own { try await device.sayYes() }
            }
        } catch {
            world.trace.note("thief", "fails: \(error)")
        }
    }

    /// Nothing that the thief has made counts before the wait is over.
    func check(_ made: Set<EnrollmentID>, since first: Timestamp) {
        do {
            for id in made.sorted(by: { "\($0)" < "\($1)" }) {
                let rows = try world.database.look {
                    try $0.rows(
                        SQLStatement("SELECT counts_from FROM enrollments WHERE id = $1 AND removed_at IS NULL"),
                        [.text("\(id)")])
                }
                guard let from = try rows.first?.integer(0) else { continue }
                if from < first.milliseconds + Portal.coolingOff * 1000 - Self.margin {
                    world.violate(14, "\(id), a device of the thief's, counts too soon")
                }
            }
        } catch {
            world.violate(0, "the thief cannot be watched: \(error)")
        }
    }
}
