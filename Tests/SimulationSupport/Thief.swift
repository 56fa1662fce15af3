import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings

/// Takes an unlocked phone. The thief does not know the user's PIN, but the app is signed in, so the thief can get
/// tickets.
///
/// Spec: docs/decisions/0046-approval-of-devices.md.
final class Thief: @unchecked Sendable {
    /// How far a node's clock may be behind, in milliseconds.
    private var margin: Int64 { world.ledger.clockSteps == 0 ? 5000 : 310_000 }

    private unowned let world: SimulatedWorld
    private var made: Set<EnrollmentID> = []
    /// The methods that were set before the theft, with the times from which they count.
    private var earlier: Set<String> = []

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

    /// Whether the phone and its PIN both count; a phone that itself waits protects against nothing.
    private func isProtected(_ phone: Phone) -> Bool {
        guard let device = phone.device?.id else { return false }
        let protected = SQLStatement(
            """
            SELECT 1 FROM enrollments WHERE id = $1 AND removed_at IS NULL AND counts_from <= $2 AND pin_counts_from <= $2
            """)
        let earlier = world.now.milliseconds - margin
        return (try? world.database.look { try $0.rows(protected, [.text("\(device)"), .integer(earlier)]) })?.isEmpty
            == false
    }

    private func rob(_ user: User, of phone: Phone) async {
        world.trace.note("thief", "takes \(phone.name)")
        world.ledger.counts.thefts += 1
        phone.isStolen = true
        // What its user has begun with their PIN counts at once, and is nothing of the thief's.
        while phone.isChanging, !world.isCalm { try? await world.pause(.seconds(1)) }
        guard let device = phone.device else { return }
        let (first, began, robbed) = (world.now, world.scheduler.elapsed, device.invitation.user)
        made = []
        earlier = Set((try? methods(of: device.id).map { "\($0) \($1)" }) ?? [])
        var own: [Phone] = []
        for _ in 0..<world.draw(2...6) {
            // Enrollments that always belonged to another user do not matter.
            let ids = user.ids(since: began, from: robbed)
            await act(user, ids, phone, &own)
            for pause in [0, world.draw(5...120)] {
                try? await world.pause(.seconds(pause))
                check(made.union([device.id]), since: first, waiting: user.wait(of: robbed), isFirst: device.id)
            }
        }
    }

    private func act(_ user: User, _ ids: Set<UserID>, _ phone: Phone, _ own: inout [Phone]) async {
        let act = world.draw(0...10)
        world.trace.note("thief", "does \(act)")
        do {
            switch (act, phone.device) {
            case (0...1, _?): try await phone.removeItself()
            case (2, let device?): try await phone.change(.pin, by: world.pick([.none, .wrong]) ?? .none, of: device)
            case (3, let device?): try await phone.change(.biometric, by: .none, of: device)
            case (4, let device?): try await phone.changePhrase(by: .none, of: device)
            case (5, let device?):
                let method = world.pick([AnswerMethod.pin, .biometric]) ?? .pin
                try await phone.change(method, isRemoved: true, by: .wrong, of: device)
            case (6...7, _): for device in [phone] + own { try await device.sayYes() }
            default:
                let portals = world.portals.filter { user.id(at: $0).map(ids.contains) ?? false }
                guard let portal = world.pick(portals), let invitation = await portal.ticket(for: user),
                    ids.contains(invitation.user)
                else { return }
                let other = Phone(own.count + 1, of: user, in: world, isThiefs: true)
                if try await other.enroll(with: invitation) {
                    made.insert(invitation.enrollment)
                    own.append(other)
                }
            }
        } catch {
            world.trace.note("thief", "fails: \(error)")
        }
    }

    /// The times from which an enrollment and each of its methods count, by column.
    private func methods(of id: EnrollmentID) throws -> [(String, Int64)] {
        let counting = SQLStatement(
            """
            SELECT counts_from, pin_counts_from, biometric_counts_from, customs FROM enrollments
            WHERE id = $1 AND removed_at IS NULL
            """)
        guard let row = try world.database.look({ try $0.rows(counting, [.text("\(id)")]) }).first else { return [] }
        let customs = try row.optionalText(3).flatMap { try? JSONValue(parsing: Array($0.utf8)) }
        // The count of tries, from when it counts, and the time of the last try.
        let phrase = Portal.phrase.flatMap { customs?["\($0)"]?.array?.dropFirst().first?.integer }
        return [
            ("itself", try row.integer(0)), ("PIN", try row.optionalInteger(1)),
            ("biometric", try row.optionalInteger(2)), ("phrase", phrase),
        ].compactMap { name, time in time.map { (name, $0) } }
    }

    /// Checks that nothing made by the thief counts before the wait is over.
    ///
    /// - Parameters:
    ///   - devices: the thief's enrollments.
    ///   - first: the time of the theft.
    ///   - wait: how long new devices and methods wait.
    ///   - stolen: the enrollment that existed before the theft, with its methods.
    func check(_ devices: Set<EnrollmentID>, since first: Timestamp, waiting wait: Int64, isFirst stolen: EnrollmentID?)
    {
        do {
            for id in devices.sorted(by: { "\($0)" < "\($1)" }) {
                for (name, from) in try methods(of: id) where !(id == stolen && earlier.contains("\(name) \(from)")) {
                    if from < first.milliseconds + wait * 1000 - margin {
                        world.violate(14, "\(name) of \(id), a device of the thief's, counts too soon")
                    }
                }
            }
        } catch {
            world.violate(0, "the thief cannot be watched: \(error)")
        }
    }
}
