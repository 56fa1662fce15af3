import Synchronization

@testable import CountersignCore

/// A store before each of whose transactions something can happen, as on another node.
final class ActingStore: Store {
    private let store: any Store
    private let before: @Sendable (Int) async throws -> Void
    private let beforeCommit: @Sendable () async throws -> Void
    private let counted = Mutex(0)

    /// A store over another one.
    ///
    /// - Parameters:
    ///   - store: the other one.
    ///   - before: happens before each read; they are counted from 1.
    ///   - beforeCommit: happens before each commit.
    init(
        _ store: any Store, before: @escaping @Sendable (Int) async throws -> Void = { _ in },
        beforeCommit: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.store = store
        self.before = before
        self.beforeCommit = beforeCommit
    }

    /// How many reads there were.
    var reads: Int { counted.withLock { $0 } }

    func auditEnd() async throws -> Int64 { try await store.auditEnd() }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result {
        let number = counted.withLock { counted in
            counted += 1
            return counted
        }
        try await before(number)
        return try await store.read(body)
    }

    func commit<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result {
        try await beforeCommit()
        return try await store.commit(body)
    }
}
