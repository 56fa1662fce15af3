package import CountersignWire

/// Lists the locks, in the order in which the reported questions were asked.
///
/// For operators.
package enum ListLocks {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// A page of them.
        case locks([AskingLock])
    }

    /// A page of locks, behind the one of a question.
    package static func list(after id: ChallengeID?, limit: Int, ports: Ports) async throws -> Outcome {
        .locks(try await ports.store.read { try $0.askingLocks.list(after: id, limit: limit) })
    }
}
