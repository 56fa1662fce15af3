package import CountersignWire

/// Lists the locks after reported challenges, in the order in which the challenges were asked.
///
/// This operation is for operators.
package enum ListLocks {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// A page of locks.
        case locks([AskingLock])
    }

    /// Lists a page of locks.
    ///
    /// - Parameters:
    ///   - id: the challenge of the last lock on the previous page; nil for the first page.
    ///   - limit: the maximum number of locks.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func list(after id: ChallengeID?, limit: Int, ports: Ports) async throws -> Outcome {
        .locks(try await ports.store.read { try $0.askingLocks.list(after: id, limit: limit) })
    }
}
