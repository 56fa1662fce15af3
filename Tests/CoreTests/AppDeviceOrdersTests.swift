import CountersignStorage
import CountersignWire
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/protocol/jwk-devices.md, *Enrolling*, *A biometric that is set later*.
@Suite("Devices of other vendors' apps, in every order")
struct AppDeviceOrdersTests {
    @Test("Enrolled again with new keys, a removed device waits as if it were there, and its old keys decide nothing")
    func again() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        try await world.makeWeakType()
        let first = try await world.makeJWKDevice(of: user, by: shop)
        let asked = try await world.ask(try world.request(for: user, type: "tap"), by: shop)
        let late = try await first.token(for: try await world.challenge(asked))
        let removed = try await RemoveEnrollment.remove(
            first.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
        #expect(removed == .removed)
        let ticket = try await world.makeTicket(for: user, by: shop)
        let same = try TestJWKDevice(ticket, in: world, possession: first.possession)
        #expect(try await same.enroll().summary == "already enrolled")
        // What was refused has spent nothing.
        let second = try TestJWKDevice(ticket, in: world)
        guard case .enrolled(let made, .some) = try await second.enroll() else {
            Issue.record("it does not wait")
            return
        }
        #expect(!made.counts(at: world.time.now) && made.user == user)
        guard case .refused(.deregistered) = try await first.answer(asked.challenge.id, with: late) else {
            Issue.record("a removed device answers")
            return
        }
        let ended = try await world.challenge(asked)
        #expect(ended.state.status.state == "failed")
        world.time.advance(seconds: Client.standardCoolingOff.value)
        let next = try await world.ask(try world.request(for: user, type: "tap"), by: shop)
        #expect(next.enrollments == [second.enrollment])
        #expect(try await second.answer(next) == .decided(ChallengeStatus(state: "approved", reason: nil)))
    }

    // Spec: docs/decisions/0046-approval-of-devices.md.
    @Test("A biometric that a token removes or replaces guards for the wait, as that of a removed device does")
    func guardLooksBack() async throws {
        for replaces in [false, true] {
            let world = try await World()
            let shop = try await world.makeClient().client
            let user = try await world.makeUser(of: shop)
            _ = try await world.makeDevice(of: user, by: shop)
            let other = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world, verifies: true)
            _ = try await other.enroll()
            func isGuarded() async throws -> Bool {
                try await world.ports.read(at: world.time.now, as: .system) { work in
                    try work.trustState(of: user, in: nil).isGuarded()
                }
            }
            #expect(try await isGuarded() == false)
            world.time.advance(seconds: Client.standardCoolingOff.value)
            #expect(try await isGuarded())
            let owner = DeviceOwner(user: user, client: shop, scopes: [Ticket.scope], device: nil)
            let outcome: ChangeAppBiometric.Outcome
            if replaces {
                let face = try TestJWKDevice.Kind.p256.key(named: "face")
                let ticket = try await world.makeTicket(for: user, by: shop)
                outcome = try await ChangeAppBiometric.set(
                    face.publicKey.json, with: ticket.ticket, of: other.enrollment, by: owner, ports: world.ports)
            } else {
                outcome = try await ChangeAppBiometric.remove(of: other.enrollment, by: owner, ports: world.ports)
            }
            #expect(outcome == .changed)
            #expect(try await isGuarded())
            world.time.advance(seconds: Client.standardCoolingOff.value - 1)
            #expect(try await isGuarded())
            world.time.advance(seconds: 1)
            // By now the new one counts.
            #expect(try await isGuarded() == replaces)
        }
    }

    // Spec: docs/protocol/devices.md, *An act*.
    @Test("A device whose biometric a token has ended is suspended by a tap, as before that; others are not")
    func suspendedByTap() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let phone = try await world.makeDevice(of: user, by: shop)
        let other = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world, verifies: true)
        _ = try await other.enroll()
        let third = try TestJWKDevice(try await world.makeTicket(for: user, by: shop), in: world)
        _ = try await third.enroll()
        world.time.advance(seconds: Client.standardCoolingOff.value)
        let owner = DeviceOwner(user: user, client: shop, scopes: [Ticket.scope], device: nil)
        let ended = try await ChangeAppBiometric.remove(of: other.enrollment, by: owner, ports: world.ports)
        #expect(ended == .changed)
        func suspend(_ id: EnrollmentID) async throws -> ActOnDevice.Outcome {
            try await ActOnDevice.act(.suspend, on: id, nil, by: try await phone.call(), ports: world.ports)
        }
        #expect(try await suspend(third.enrollment) == .notAuthorized(needs: .method))
        #expect(try await suspend(other.enrollment) == .done)
    }

    @Test("One key for the biometric that comes twice at once is set once, and spends one sign-in")
    func sameKeyTwice() async throws {
        let scene = try await JWKScene()
        let world = scene.world
        let owner = DeviceOwner(user: scene.user, client: scene.shop, scopes: [Ticket.scope], device: nil)
        let face = try TestJWKDevice.Kind.p256.key(named: "face")
        let first = try await world.makeTicket(for: scene.user, by: scene.shop)
        let second = try await world.makeTicket(for: scene.user, by: scene.shop)
        for ticket in [first, second] {
            let outcome = try await ChangeAppBiometric.set(
                face.publicKey.json, with: ticket.ticket, of: scene.device.enrollment, by: owner, ports: world.ports)
            #expect(outcome == .changed)
        }
        let kept = try await scene.enrollment()
        #expect(kept.jwks?.userVerification?.thumbprint == face.publicKey.thumbprint)
        let replaced = try await world.audit().filter {
            $0.kind == .methodChanged && $0.detail["change"] == "replaced"
        }
        #expect(replaced.count == 1)
        let other = try TestJWKDevice(second, in: world)
        #expect(try await other.enroll().summary == "enrolled \(second.enrollment)")
    }
}
