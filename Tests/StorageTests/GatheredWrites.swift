import CountersignCore
import CountersignStorage
import Dispatch
import StorageTestSupport
import Synchronization
import Testing

/// Writes that come while another one holds the writer, so that they share a transaction.
///
/// Each inserts its number as a user.
enum GatheredWrites {
    /// What a write was told.
    enum Told: Equatable {
        case done
        case failed(String)
    }

    static let insert = SQLStatement("INSERT INTO users (id, created_at) VALUES ($1, 0)")

    /// Lets writes gather behind a blocked one, then runs them.
    ///
    /// - Returns: what each was told.
    static func run(
        _ count: Int, in world: World, _ extra: @escaping @Sendable (Int, any SQLConnection) throws -> Void
    ) async throws -> [Told] {
        let gate = DispatchSemaphore(value: 0)
        let held = AsyncStream.makeStream(of: Void.self)
        let blocker = Task {
            try await world.engine.write { _ in
                held.continuation.finish()
                gate.wait()
                return ((), changes: [])
            }
        }
        // Were it not the only one in its transaction, it would share the fate of the others.
        for await _ in held.stream {}
        let arrived = Atomic(0)
        let started = AsyncStream.makeStream(of: Void.self)
        let all = Task {
            try await atOnce(count) { number -> Told in
                if arrived.wrappingAdd(1, ordering: .relaxed).newValue == count { started.continuation.finish() }
                return await write(number, in: world, extra)
            }
        }
        for await _ in started.stream {}
        gate.signal()
        try await blocker.value
        return try await all.value
    }

    /// One write.
    static func write(
        _ number: Int, in world: World,
        _ extra: @escaping @Sendable (Int, any SQLConnection) throws -> Void = { _, _ in
        }
    ) async -> Told {
        do {
            try await world.engine.write { connection in
                try connection.execute(insert, [.text("\(number)")])
                try extra(number, connection)
                return ((), changes: [])
            }
            return .done
        } catch {
            return .failed("\(error)")
        }
    }

    /// The numbers whose rows are there.
    static func kept(in world: World) async throws -> Set<Int> {
        let rows = try await world.engine.read { try $0.rows(SQLStatement("SELECT id FROM users"), []) }
        return Set(try rows.compactMap { Int(try $0.text(0)) })
    }

    /// Every write was told the truth: done exactly when its row is there.
    static func expectTruth(_ told: [Told], in world: World) async throws {
        let kept = try await kept(in: world)
        for (number, told) in told.enumerated() {
            #expect((told == .done) == kept.contains(number), "write \(number) was told \(told)")
        }
    }
}
