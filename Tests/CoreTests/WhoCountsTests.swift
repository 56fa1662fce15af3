import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

@Suite("When a device and its methods count", .timeLimit(.minutes(30)))
struct WhoCountsTests {
    /// One act out of all, drawn by chance.
    private static func step(_ scene: inout ThiefScene, _ chance: inout SeededGenerator) async throws {
        let count = scene.phones.count
        let index = Int.random(in: 0..<count, using: &chance)
        let other = Int.random(in: 0..<count, using: &chance)
        let kind = DeviceAct.Kind.allCases.randomElement(using: &chance) ?? .remove
        let act = Int.random(in: 0..<22, using: &chance)
        scene.log.append("\(act) #\(index) #\(other) \(kind)")
        switch act {
        case 0: try await scene.removesItself(scene.phones[index].isStolen ? index : 0)
        case 1: try await scene.clientRemoves(index)
        case 2, 3: if count < 5 { try await scene.enrolls(asNamed: Bool.random(using: &chance)) }
        case 4: try await scene.setsPIN(index)
        case 5: try await scene.takesPINOff(index)
        case 6: try await scene.registersCustom(index)
        case 7, 8: try await scene.letsIn(index, other)
        case 9: try await scene.acts(kind, by: index, on: other)
        case 10: try await scene.makesAnew()
        case 11: try await scene.unlinksBank()
        case 12: if count < 5 { try await scene.removesAndEnrollsAtOnce(index) }
        case 13: try await scene.declaresLost(index)
        case 14: try await scene.suspends(index, Bool.random(using: &chance))
        case 15: try await scene.answersAtOnce(index, other)
        case 16: try await scene.registersBiometric(index)
        case 17: try await scene.describes(index)
        case 18: try await scene.undoes(Int.random(in: 0..<3, using: &chance), by: index, on: other)
        case 19: try await scene.ownerRemoves(index, onPage: Bool.random(using: &chance))
        case 20:
            let undoing: ThiefScene.Undoing = Bool.random(using: &chance) ? .method : .device
            if count < 5 { try await scene.ownerSaysYes(beside: undoing, by: index) }
        default:
            scene.world.time.advance(seconds: ThiefScene.wait / 3)
            try await ExpireChallenges.sweep(ports: scene.world.ports)
            try await TellWaits.sweep(ports: scene.world.ports)
        }
    }

    @Test("No order of acts makes anything of a thief's count before the wait is over", arguments: 0..<6)
    func noWayIn(_ number: Int) async throws {
        let seed = SeededGenerator.announced(by: "WhoCountsTests.noWayIn").seed
        var chance = SeededGenerator(seed: seed, of: number)
        for round in 0..<6 {
            var scene = try await ThiefScene(ThiefScene.Beginning.all[number], replaces: round.isMultiple(of: 2))
            for _ in 0..<12 {
                try await Self.step(&scene, &chance)
                let fault = try await scene.fault()
                #expect(fault == nil, "seed \(seed): \(scene.log.joined(separator: ", "))")
                if fault != nil { return }
            }
        }
    }

    // The shortest ways in that a model of the rule finds where a sentence is taken out. Each test fails where the guard
    // whose mark names it is disarmed.

    @Test("Decision 46: who has a phone waits for the next one")
    func hasOne() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[4])
        try await scene.enrolls(asNamed: false)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test("Decision 46: who had a phone within the wait waits for the next one")
    func hadOne() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[1])
        try await scene.removesItself(0)
        try await scene.enrolls(asNamed: false)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test("Decision 46: an external id that leaves a user leaves the phones behind")
    func leftBehind() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[1])
        try await scene.makesAnew()
        try await scene.enrolls(asNamed: true)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test("Decision 46: a tap lets no PIN in")
    func noStronger() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[0])
        try await scene.enrolls(asNamed: false)
        try await scene.letsIn(0, 1)
        let isLetIn = try await scene.enrollment(1).isLetIn(at: scene.world.time.now)
        #expect(isLetIn)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test("Decision 46: where the user has a PIN, a tap lets no phone in")
    func needsMethod() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[1])
        try await scene.enrolls(asNamed: false)
        try await scene.letsIn(0, 1)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test("Decision 46: nor where they had one within the wait, on a phone that is removed")
    func guardLooksBack() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[2])
        try await scene.clientRemoves(1)
        try await scene.enrolls(asNamed: false)
        try await scene.letsIn(0, 2)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test("Decision 46: a first method by a ticket waits", arguments: ["PIN", "biometric", "custom authenticator"])
    func ticketIsNoStrength(_ method: String) async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[0])
        switch method {
        case "PIN": try await scene.setsPIN(0)
        case "biometric": try await scene.registersBiometric(0)
        default: try await scene.registersCustom(0)
        }
        let waits = try await scene.enrollment(0).waiting(at: scene.world.time.now).count
        #expect(waits == 1)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test("Decision 46: a ticket takes no PIN off, which would take the guard away from the next phone")
    func takenOff() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[1])
        try await scene.takesPINOff(0)
        try await scene.enrolls(asNamed: false)
        try await scene.letsIn(0, 1)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    // Two guards stand in this way, and each alone closes it: so the test looks at what either of them does.
    @Test("Decision 46: a suspended phone is not asked, and every call but the removal of itself is refused")
    func suspendedDoesNothing() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[5])
        try await scene.enrolls(asNamed: false)
        let made = try await scene.enrollment(1)
        #expect(made.approval == nil)
        try await scene.letsIn(0, 1)
        let fault = try await scene.fault()
        #expect(fault == nil)
        let call = try await scene.phones[0].device.call()
        let told = try await UndoMethod.undo(.pin, of: made.id, by: call, ports: scene.world.ports)
        #expect(told == .refused(.suspended))
        try await scene.removesItself(0)
        let isThere = try await scene.isPresent(0)
        #expect(!isThere)
    }

    @Test("What a lost phone leaves behind ends with the wait, whatever a thief has begun meanwhile")
    func lost() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[4])
        try await scene.declaresLost(0)
        scene.world.time.advance(seconds: ThiefScene.wait / 3)
        try await scene.clientRemoves(0)
        scene.world.time.advance(seconds: ThiefScene.wait - ThiefScene.wait / 3)
        try await scene.enrolls(asNamed: false)
        let isLetIn = try await scene.enrollment(1).isLetIn(at: scene.world.time.now)
        #expect(isLetIn)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test(
        "The owner's yes beside an undoing or a removal, by the same phone and by another: one of them comes first",
        arguments: ThiefScene.Undoing.allCases, [true, false])
    func yesBesideUndoing(_ undoing: ThiefScene.Undoing, _ hasPIN: Bool) async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning(phones: [(hasPIN, false), (false, true)]))
        for index in [0, 1, 0, 1] {
            try await scene.ownerSaysYes(beside: undoing, by: index)
            // The yes is given up only where the phone is gone.
            let made = try await scene.enrollment(scene.phones.count - 1)
            let isThere = made.isPresent
            let isLetIn = made.isLetIn(at: scene.world.time.now)
            #expect(isLetIn == isThere)
            #expect(isThere || undoing == .device)
        }
        #expect(scene.phones.count == 6)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test("The owner's phone undoes a PIN that waits on a stolen one; the next one waits anew, and goes with the phone")
    func undoneByOwner() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[2])
        try await scene.setsPIN(0)
        scene.world.time.advance(seconds: ThiefScene.wait / 3)
        let waits = try await scene.enrollment(0).waiting(at: scene.world.time.now).count
        #expect(waits == 1)
        try await scene.undoes(0, by: 1, on: 0)
        let left = try await scene.enrollment(0).methods
        #expect(left == [])
        // The owner's PIN counts, and no phone undoes it: neither a stranger's nor the owner's.
        try await scene.undoes(0, by: 0, on: 1)
        try await scene.undoes(0, by: 1, on: 1)
        let kept = try await scene.enrollment(1).methods
        #expect(kept == [.pin])
        try await scene.setsPIN(0)
        let until = scene.world.time.now.adding(seconds: ThiefScene.wait)
        let again = try await scene.enrollment(0).pin?.countsFrom
        #expect(again == until)
        try await scene.ownerRemoves(0, onPage: false)
        let isThere = try await scene.isPresent(0)
        #expect(!isThere)
    }

    @Test(
        "A removal by the owner shortens no wait, by the phone itself or as the account page does",
        arguments: [false, true])
    func removedByOwner(_ onPage: Bool) async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[4])
        let until = scene.world.time.now.adding(seconds: ThiefScene.wait)
        try await scene.ownerRemoves(0, onPage: onPage)
        let isThere = try await scene.isPresent(0)
        #expect(!isThere)
        try await scene.enrolls(asNamed: false)
        let made = try await scene.enrollment(1)
        #expect(made.countsFrom == until && made.pin?.countsFrom == until)
        let fault = try await scene.fault()
        #expect(fault == nil)
    }

    @Test("A method waits as long as a new device where the external id named somebody with a longer wait")
    func formerUser() async throws {
        var scene = try await ThiefScene(ThiefScene.Beginning.all[1])
        let until = scene.world.time.now.adding(seconds: ThiefScene.wait)
        try await scene.makesAnew()
        try await scene.enrolls(asNamed: true)
        let made = try await scene.enrollment(1)
        #expect(made.countsFrom == until && made.pin?.countsFrom == until)
        // A device that is let in by a waiver has its first methods let in with it. What is set later waits all the same.
        let world = scene.world
        let device = try await TestDevice(try await world.makeTicket(for: scene.named, by: scene.shop), in: world)
        _ = try await device.enroll()
        _ = try await WaiveWait.waive(
            device.enrollment, device.certificate.fingerprint, by: scene.shop.actor, ports: world.ports)
        world.time.advance(seconds: 601)
        var change = try await PINChange(of: device, to: device.newPINKey())
        change.ticket = try await world.makeTicket(for: scene.named, by: scene.shop).ticket
        #expect(try await change.send().summary == "changed")
        #expect(try await device.methods().waiting == [.pin: until])
    }

    @Test(
        "The first device counts at once with a PIN of its first ten minutes, and a later one waits"
    )
    func firstPIN() async throws {
        for (seconds, waits) in [(599, false), (600, true)] as [(Int64, Bool)] {
            let world = try await World()
            let shop = try await world.makeClient().client
            let user = try await world.makeUser(of: shop)
            let device = try await world.makeDevice(of: user, by: shop)
            world.time.advance(seconds: seconds)
            var change = try await PINChange(of: device, to: device.newPINKey())
            change.ticket = try await waits ? world.makeTicket(for: user, by: shop).ticket : nil
            #expect(try await change.send().summary == "changed")
            let until = world.time.now.adding(Client.standardCoolingOff)
            #expect(try await device.methods().waiting == (waits ? [.pin: until] : [:]))
            let kept = try #require(try await world.store.read { try $0.enrollments.find(device.enrollment) })
            #expect(kept.usableMethods(at: world.time.now).contains(.pin) == !waits)
            #expect(kept.usableMethods(at: until).contains(.pin))
        }
    }

    @Test(
        "A yes by PIN brings the new device's methods, a tap its device key alone",
        arguments: [true, false])
    func yes(_ byPIN: Bool) async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let first = try await world.makeDevice(of: user, by: shop)
        let pin = try await byPIN ? first.setPIN() : nil
        world.time.advance(seconds: 3600)
        let second = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
        guard case .enrolled(let made, let approval?) = try await second.enroll(), let id = made.approval else {
            throw World.Broken("waits")
        }
        _ = try await second.setPIN()
        let question = try #require(try await world.store.read { try $0.challenges.find(id) })
        #expect(question.methods == (byPIN ? [.pin, .biometric] : [.confirm]))
        try await first.open(id)
        let receipt = Receipt(
            of: question.question, user: user, device: first.certificate.fingerprint,
            decision: .approved(byPIN ? .pin : .confirm, number: approval.number), answeredAt: world.time.now)
        let message = try await first.seal(receipt.text, signedBy: pin ?? first.primary)
        #expect(try await first.answer(id, with: message).summary == "decided approved -")
        let now = world.time.now
        let kept = try #require(try await world.store.read { try $0.enrollments.find(second.enrollment) })
        #expect(kept.usableMethods(at: now) == (byPIN ? [.confirm, .pin] : [.confirm]))
        let until = now.adding(Client.standardCoolingOff)
        #expect(kept.usableMethods(at: until) == [.confirm, .pin])
        #expect(kept.waiting(at: now).map(\.until) == (byPIN ? [] : [until]))
    }

    @Test("A PIN is neither replaced nor removed by a ticket, with a waiver or without")
    func ownSignature() async throws {
        for waives in [true, false] {
            let world = try await World()
            let shop = try await world.makeClient(waives: waives).client
            let user = try await world.makeUser(of: shop)
            let device = try await world.makeDevice(of: user, by: shop)
            let pin = try await device.setPIN()
            world.time.advance(seconds: 3600)
            for new in [device.newPINKey(), nil] {
                var change = try await PINChange(of: device, from: pin, to: new)
                change.authorizer = nil
                change.ticket = try await world.makeTicket(for: user, by: shop).ticket
                #expect(try await change.send().summary == "needs pin")
            }
            #expect(try await world.count("tickets", where: "spent_at IS NOT NULL") == 1, "the enrollment's own")
        }
    }

    @Test("What waits guards nothing: a waiting PIN is given up without it, and by another device")
    func undone() async throws {
        let world = try await World()
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let other = try await world.makeDevice(of: user, by: shop)
        let strict = try await UpdateClient.update(
            shop.id, ClientChanges(waivesEnrollmentApproval: false), by: shop.actor, ports: world.ports
        ).get()
        world.time.advance(seconds: 3600)
        func set() async throws -> SigningKeyPair {
            let key = device.newPINKey()
            var change = try await PINChange(of: device, to: key)
            change.ticket = try await world.makeTicket(for: user, by: strict).ticket
            let told = try await change.send().summary
            #expect(told == "changed")
            return key
        }
        let key = try await set()
        var removal = try await PINChange(of: device, from: key, to: nil)
        removal.authorizer = nil
        let told = try await removal.send().summary
        #expect(told == "changed")
        _ = try await set()
        let call = try await other.call()
        guard case .undone = try await UndoMethod.undo(.pin, of: device.enrollment, by: call, ports: world.ports) else {
            Issue.record("not undone")
            return
        }
        #expect(try await device.methods().pin == .none)
        #expect(try await world.count("waits") == 0)
        let changes = try await world.audit().filter { $0.kind == .methodChanged }.map { $0.detail["change"]?.string }
        #expect(changes == ["set", "removed", "set", "undone"])
    }

    @Test("What is left behind stays as long as the wait, whatever is swept")
    func swept() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser("customer-1", of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        #expect(
            try await RemoveEnrollment.remove(device.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
                == .removed)
        world.time.advance(Client.standardCoolingOff - 1)
        // By a server whose clock is an hour ahead.
        func sweep() async throws {
            let now = world.time.now.adding(seconds: 3600)
            _ = try await world.store.commit { try $0.retention.sweep(now: now, limit: 1000) }
        }
        try await sweep()
        #expect(try await world.count("left_behind") == 2, "by the user and by the client's name")
        let waiting = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
        let outcome = try await waiting.enroll()
        #expect(outcome.summary == "waiting \(waiting.enrollment)" && !outcome.shownNumber)
        world.time.advance(seconds: 2)
        try await sweep()
        #expect(try await world.count("left_behind") == 0)
    }

    @Test("An external id that cannot be given to a user, because another has it, leaves nothing behind")
    func takenExternalID() async throws {
        let world = try await World()
        let client = try await world.makeClient(waives: true).client
        let user = try await world.makeUser("one", of: client)
        _ = try await world.makeUser("two", of: client)
        _ = try await world.makeDevice(of: user, by: client)
        let outcome = try await UpdateUser.update(
            .id(user), UpdateUser.Changes(externalID: .some(try ExternalID("two"))), by: client.caller,
            ports: world.ports)
        #expect(outcome == .externalIDTaken)
        #expect(try await world.count("left_behind") == 0)
    }
}
