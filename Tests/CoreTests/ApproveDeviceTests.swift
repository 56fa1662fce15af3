import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A further device waits for one that the user has")
struct ApproveDeviceTests {
    /// A user with a device, and one more that waits to be added.
    private struct Scene: Sendable {
        let world: World
        let shop: Client
        let user: UserID
        let first: TestDevice
        let second: TestDevice
        let approval: Approval

        /// What the second device waits for.
        struct Approval: Sendable {
            let challenge: ChallengeID
            let number: EntryNumber
            let expiresAt: Timestamp

            init(_ outcome: EnrollDevice.Outcome) throws {
                guard case .enrolled(let made, let approval?) = outcome, let challenge = made.approval,
                    let number = approval.number
                else { throw World.Broken("waits") }
                self.challenge = challenge
                self.number = number
                expiresAt = approval.expiresAt
            }
        }

        init(_ world: World? = nil, firstHasPIN: Bool = false, limit: DeviceLimit? = nil) async throws {
            self.world = try await World()
            try await self.world.makeType(numberEntry: false)
            shop = try await self.world.makeClient().client
            if let limit {
                let changes = ClientChanges(devices: .set(limit))
                _ = try await UpdateClient.update(shop.id, changes, by: shop.actor, ports: self.world.ports)
            }
            user = try await self.world.makeUser(of: shop)
            first = try await self.world.makeDevice(of: user, by: shop)
            if firstHasPIN { _ = try await first.setPIN() }
            second = try await TestDevice(try await self.world.makeTicket(for: user, by: shop), in: self.world)
            approval = try Approval(try await second.enroll())
        }

        /// What comes of an answer of the first device.
        func answer(_ decision: Decision, by device: TestDevice? = nil) async throws -> String {
            let device = device ?? first
            try await device.open(approval.challenge)
            let challenge = try #require(try await challenge())
            let receipt = try await device.receipt(of: challenge, decision)
            return try await device.answer(approval.challenge, with: receipt).summary
        }

        func challenge() async throws -> Challenge? {
            try await world.store.read { [approval] in try $0.challenges.find(approval.challenge) }
        }

        /// How the second device stands.
        func status() async throws -> String {
            let kept = try await world.store.read { [second] in try $0.enrollments.find(second.enrollment) }
            switch kept?.state {
            case .active: return kept?.counts(at: world.time.now) == true ? "active" : "waiting"
            case .suspended: return "suspended"
            case .removed(let reason, _): return reason.rawValue
            case nil: return "-"
            }
        }

        /// Which devices are asked now.
        func asked() async throws -> [EnrollmentID] {
            try await world.ask(try world.request(for: user), by: shop).enrollments
        }
    }

    @Test("About three new devices a user is asked at once; a further one waits all the same")
    func threeAtOnce() async throws {
        let scene = try await Scene()
        var tickets: [EnrollmentInvitation] = []
        for _ in 0..<3 { tickets.append(try await scene.world.makeTicket(for: scene.user, by: scene.shop)) }
        for (number, ticket) in tickets.enumerated() {
            let outcome = try await TestDevice(ticket, in: scene.world).enroll()
            #expect(outcome.summary == "waiting \(ticket.enrollment)")
            #expect(outcome.shownNumber == (number < 2))
        }
        #expect(try await scene.answer(.denied) == "decided denied declined")
        let last = try await TestDevice(
            try await scene.world.makeTicket(for: scene.user, by: scene.shop), in: scene.world)
        #expect(try await last.enroll().shownNumber)
    }

    @Test(
        "A client has a user asked about five new devices an hour; a further one waits and shows no number"
    )
    func fiveAnHour() async throws {
        let scene = try await Scene()
        var waiting = scene.second.enrollment
        for number in 0..<5 {
            let removed = try await RemoveEnrollment.remove(
                waiting, of: .id(scene.user), by: scene.shop.caller, ports: scene.world.ports)
            #expect(removed == .removed)
            let ticket = try await scene.world.makeTicket(for: scene.user, by: scene.shop)
            let outcome = try await TestDevice(ticket, in: scene.world).enroll()
            #expect(outcome.summary == "waiting \(ticket.enrollment)" && outcome.shownNumber == (number < 4))
            waiting = ticket.enrollment
        }
    }

    @Test("The one that the user has types the number that the new one shows; then it is asked, too, and not before")
    func approved() async throws {
        let scene = try await Scene()
        #expect(try await scene.asked() == [scene.first.enrollment])
        #expect(scene.approval.expiresAt == scene.world.time.now.adding(Client.standardCoolingOff))
        // The reply was lost: the same certificate is told the same number.
        let again = try Scene.Approval(try await scene.second.enroll())
        #expect(again.number == scene.approval.number && again.challenge == scene.approval.challenge)
        #expect(again.expiresAt == scene.approval.expiresAt)
        #expect(try await scene.answer(.approved(.confirm, number: again.number)) == "decided approved -")
        #expect(try await scene.status() == "active")
        #expect(try await Set(scene.asked()) == [scene.first.enrollment, scene.second.enrollment])
        let event = try #require(try await scene.world.audit().last { $0.kind == .enrollmentApproved })
        #expect(event.enrollment == scene.second.enrollment)
        #expect(event.detail["by"] == .string("\(scene.first.enrollment)"))
        guard case .enrolled(_, nil) = try await scene.second.enroll() else { throw World.Broken("active") }
    }

    @Test("Whatever is no yes keeps it out", arguments: ["denied", "reported", "wrong", "cancelled"])
    func keptOut(_ way: String) async throws {
        let scene = try await Scene()
        let wrong = EntryNumber(scene.approval.number.digits == "000000" ? "000001" : "000000")
        switch way {
        case "denied": #expect(try await scene.answer(.denied) == "decided denied declined")
        case "reported": #expect(try await scene.answer(.reported) == "decided denied reported")
        case "wrong":
            #expect(try await scene.answer(.approved(.confirm, number: wrong)) == "decided failed wrong_number")
        default:
            _ = try await CancelChallenge.cancel(
                scene.approval.challenge, by: scene.shop.caller, ports: scene.world.ports)
        }
        #expect(try await scene.status() == (way == "cancelled" ? "removed_by_client" : "denied"))
        guard
            case .refused(.deregistered(let notice)) = try await VerifyDevice.verify(
                try await scene.second.request(), ports: scene.world.ports)
        else {
            Issue.record("it is still let in")
            return
        }
        #expect(notice.reason == (way == "cancelled" ? .client : .denied))
        let isLocked = try await scene.world.store.read { try $0.askingLocks.exists(of: scene.user, by: scene.shop.id) }
        #expect(isLocked == (way == "reported"), "who is told that it was somebody else asks no more")
    }

    @Test("Silence lets it in when the time is over, and not a second before")
    func silence() async throws {
        let scene = try await Scene()
        scene.world.time.advance(Client.standardCoolingOff - 1)
        try await ExpireChallenges.sweep(ports: scene.world.ports)
        try await TellWaits.sweep(ports: scene.world.ports)
        #expect(try await scene.status() == "waiting")
        scene.world.time.advance(seconds: 1)
        try await ExpireChallenges.sweep(ports: scene.world.ports)
        try await TellWaits.sweep(ports: scene.world.ports)
        #expect(try await scene.status() == "active")
        let event = try #require(try await scene.world.audit().last { $0.kind == .enrollmentApproved })
        #expect(event.detail["by"] == "time")
    }

    @Test("A thief who removes the device that would be asked, or locks its PIN, has to wait all the same")
    func removed() async throws {
        let scene = try await Scene()
        #expect(
            try await RemoveOwnEnrollment.remove(by: try await scene.first.call(), ports: scene.world.ports) == .removed
        )
        #expect(try await scene.status() == "waiting")
        #expect(try await scene.challenge()?.state == .pending)
        scene.world.time.advance(Client.standardCoolingOff)
        try await ExpireChallenges.sweep(ports: scene.world.ports)
        try await TellWaits.sweep(ports: scene.world.ports)
        #expect(try await scene.status() == "active")
    }

    @Test("Where a PIN is set, possession of the phone approves no further one; it can still say no")
    func pin() async throws {
        let scene = try await Scene(firstHasPIN: true)
        #expect(try await scene.challenge()?.methods == [.pin, .biometric])
        #expect(try await scene.answer(.approved(.confirm, number: scene.approval.number)) == "invalid")
        #expect(try await scene.status() == "waiting")
        let wrong = scene.first.newPINKey()
        for left in [4, 3, 2, 1, 0] {
            let receipt = Receipt(
                of: try #require(try await scene.challenge()).question, user: scene.user,
                device: scene.first.certificate.fingerprint,
                decision: .approved(.pin, number: scene.approval.number), answeredAt: scene.world.time.now)
            let message = try await scene.first.seal(receipt.text, signedBy: wrong)
            #expect(
                try await scene.first.answer(scene.approval.challenge, with: message).summary
                    == "PIN incorrect, \(left) left")
        }
        #expect(try await scene.challenge()?.state == .pending, "the time lets it in, and a no keeps it out")
        #expect(try await scene.answer(.denied) == "decided denied declined")
        #expect(try await scene.status() == "denied")
    }

    @Test("A PIN that was set since the question guards also where the question's client was deleted meanwhile")
    func clientDeleted() async throws {
        let scene = try await Scene()
        let (world, user) = (scene.world, scene.user)
        let bank = try await world.makeClient("Bank").client
        _ = try await world.store.commit { try $0.links.put(user, to: bank.id, externalID: nil) }
        _ = try await scene.first.setPIN()
        #expect(try await DeleteClient.delete(scene.shop.id, by: .system, ports: world.ports) == .deleted)
        #expect(try await scene.challenge()?.state == .pending)
        #expect(try await scene.answer(.approved(.confirm, number: scene.approval.number)) == "invalid")
        #expect(try await scene.status() == "waiting")
        #expect(try await world.audit().contains { $0.kind == .answerRefused && $0.detail["reason"] == "method" })
    }

    @Test("A device that waits approves nothing, is not asked about others, and its removal ends the question")
    func waiting() async throws {
        let scene = try await Scene()
        let third = try await TestDevice(
            try await scene.world.makeTicket(for: scene.user, by: scene.shop), in: scene.world)
        let other = try Scene.Approval(try await third.enroll())
        let targets = try await scene.world.store.read { try $0.targets.all(of: other.challenge) }
        #expect(targets == [scene.first.enrollment])
        #expect(
            try await RemoveOwnEnrollment.remove(by: try await scene.second.call(), ports: scene.world.ports)
                == .removed)
        #expect(try await scene.challenge()?.state.status.state == "cancelled")
        #expect(try await scene.status() == "removed_by_device")
    }

    @Test("Of a limit that replaces the oldest device it is replaced when the new one is let in, and not before")
    func limit() async throws {
        let limit = DeviceLimit(maximum: 1, replacesOldest: true)
        let scene = try await Scene(limit: limit)
        func first() async throws -> Enrollment.State? {
            try await scene.world.store.read { try $0.enrollments.state(scene.first.enrollment) }
        }
        #expect(try await first() == .active)
        #expect(
            try await scene.answer(.approved(.confirm, number: scene.approval.number)) == "decided approved -")
        #expect(try await scene.status() == "active")
        #expect(try await first() == .removed(.replaced, at: scene.world.time.now))
    }

    @Test("A client may have it wait longer or shorter; who waits already waits as long as it was told")
    func coolingOff() async throws {
        let scene = try await Scene()
        let changes = ClientChanges(coolingOff: 3600)
        _ = try await UpdateClient.update(scene.shop.id, changes, by: scene.shop.actor, ports: scene.world.ports)
        let again = try Scene.Approval(try await scene.second.enroll())
        #expect(again.expiresAt == scene.approval.expiresAt)
        let third = try await TestDevice(
            try await scene.world.makeTicket(for: scene.user, by: scene.shop), in: scene.world)
        let other = try Scene.Approval(try await third.enroll())
        #expect(other.expiresAt == scene.world.time.now.adding(seconds: 3600))
    }

    @Test("What is asked about new devices neither counts as an ask of the client nor is held up by its limits")
    func limits() async throws {
        let scene = try await Scene()
        let now = scene.world.time.now
        let asks = try await scene.world.store.read {
            try $0.challenges.asks(
                of: scene.user, by: scene.shop.id, now: now, since: Timestamp(seconds: 0), limits: (10, 10))
        }
        #expect(asks == EarlierAsks(isLocked: false, open: 0, recent: []))
    }
}

extension EnrollDevice.Outcome {
    /// Whether the device that waits was told a number to show.
    var shownNumber: Bool {
        guard case .enrolled(_, let approval?) = self else { return false }
        return approval.number != nil
    }
}
