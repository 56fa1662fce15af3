import CountersignCore
import CountersignStorage
import CountersignWire
import Dispatch
import StorageTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("Whoever follows the audit passes no event that commits late", .timeLimit(.minutes(15)))
struct AuditOrderTests {
    private static func event(_ world: World) -> AuditEvent {
        AuditEvent(id: world.newID(), at: world.time.now, kind: .typeSet, actor: .system)
    }

    /// What a follower reads on from a sequence number.
    private func read(after sequence: Int64, in world: World) async throws -> [(sequence: Int64, id: EventID)] {
        let end = try await world.store.auditEnd()
        return try await world.store.read { try $0.audit.list(after: sequence, limit: 1000) }
            .prefix { $0.sequence <= end }.map { ($0.sequence, $0.event.id) }
    }

    @Test("An event written first and committed last is read first, and nothing after it before it is there")
    func late() async throws {
        let (hasWritten, mayCommit) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let waits = Mutex(false)
        let world = try await World(.postgresql, in: try TemporaryFolder(), time: ScriptedTime(), seed: 1) { engine in
            RecordingEngine(
                engine,
                beforeCommit: { connection in
                    guard
                        waits.withLock({ isNext in
                            defer { isNext = false }; return isNext
                        })
                    else { return }
                    // Statements may wait for one that has a result: by this one the event is written.
                    _ = try connection.rows(SQLStatement("SELECT 1"), [])
                    hasWritten.signal()
                    mayCommit.wait()
                })
        }
        let before = try await read(after: 0, in: world).last?.sequence ?? 0
        let (first, second) = (Self.event(world), Self.event(world))
        let store = world.store
        waits.withLock { $0 = true }
        let slow = Task.detached { try await store.commit { try $0.audit.append(first) } }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                hasWritten.wait()
                continuation.resume()
            }
        }
        try await store.commit { try $0.audit.append(second) }
        // It is there to be seen, and not told: whoever went on from its number would pass the other.
        let seen = try await store.read { try $0.audit.list(after: before, limit: 100).map(\.event.id) }
        let told = try await read(after: before, in: world).map(\.id)
        mayCommit.signal()
        _ = try await slow.value
        #expect(seen == [second.id])
        #expect(told == [])
        #expect(try await read(after: before, in: world).map(\.id) == [first.id, second.id])
    }

    @Test("Followed while many write at once, the audit is told whole and in one order")
    func followed() async throws {
        let world = try await World(.postgresql)
        let events = (0..<200).map { _ in Self.event(world) }
        async let writing = atOnce(200) { number in
            try await world.store.commit { try $0.audit.append(events[number]) }
            return number
        }
        var told: [EventID] = []
        var sequence: Int64 = 0
        while told.count < events.count {
            let page = try await read(after: sequence, in: world)
            sequence = page.last?.sequence ?? sequence
            told += page.map(\.id)
        }
        _ = try await writing
        #expect(Set(told) == Set(events.map(\.id)) && told.count == events.count)
        #expect(try await read(after: 0, in: world).map(\.id) == told)
    }
}
