import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Synchronization
import TestSupport
import Testing

@testable import CountersignCore

/// Runs something once before the next write of an engine, as if another node had been faster.
final class BeforeNextWrite: Sendable {
    private let body = Mutex<(@Sendable () async throws -> Void)?>(nil)

    func then(_ body: @escaping @Sendable () async throws -> Void) { self.body.withLock { $0 = body } }

    func run() async throws {
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        try await body?()
    }
}

@Suite("What waits can be undone, and is announced when it counts")
struct UndoMethodTests {
    @Test("A device that waits has no method to undo: it is not found, and the device waits on")
    func device() async throws {
        let world = try await World()
        let client = try await world.makeClient().client
        let user = try await world.makeUser(of: client)
        let first = try await world.makeDevice(of: user, by: client)
        let second = try await TestDevice(try await world.makeTicket(for: user, by: client), in: world)
        #expect(try await second.enroll().summary.hasPrefix("waiting"))
        for method in [AnswerMethod.confirm, .pin] {
            let outcome = try await UndoMethod.undo(
                method, of: second.enrollment, by: try await first.call(), ports: world.ports)
            #expect(outcome == .notFound)
        }
        let kept = try await world.store.read { try $0.enrollments.find(second.enrollment) }
        #expect(kept?.isPresent == true && kept?.counts(at: world.time.now) == false)
    }

    @Test("A method that is undone and set again while its end is announced waits anew, and is announced then")
    func setAgain() async throws {
        let pause = BeforeNextWrite()
        let world = try await World(.chosen, in: try TemporaryFolder(), time: ScriptedTime(), seed: 1) { engine in
            RecordingEngine(engine, beforeWrite: { _ in try await pause.run() })
        }
        let client = try await world.makeClient(waives: false).client
        let user = try await world.makeUser(of: client)
        let device = try await world.makeDevice(of: user, by: client)
        world.time.advance(Enrollment.enrolling)
        func setPIN() async throws -> String {
            var change = try await PINChange(of: device, to: device.newPINKey())
            change.ticket = try await world.makeTicket(for: user, by: client).ticket
            return try await change.send().summary
        }
        #expect(try await setPIN() == "changed")
        world.time.advance(Client.standardCoolingOff)
        // As if the wait began anew on another node.
        let later = world.time.now.adding(seconds: 60)
        let id = device.enrollment
        pause.then {
            let pin = try await world.store.read { try $0.enrollments.find(id)?.pin }
            try await world.store.commit { stores in
                try stores.methods.put(pin?.key, for: .pin, of: id, certificate: nil, countsFrom: later)
                try stores.waits.insert(.pin, of: id, until: later)
            }
        }
        func announced() async throws -> Int {
            try await world.audit().filter { $0.kind == .methodChanged && $0.detail["change"] == "counts" }.count
        }
        try await TellWaits.sweep(ports: world.ports)
        #expect(try await announced() == 0)
        world.time.set(later)
        try await TellWaits.sweep(ports: world.ports)
        #expect(try await announced() == 1)
    }
}
