package import CountersignWire
import Encodings

/// Takes a client away for good.
///
/// For operators. From the moment on nobody is let in as it, and none of its secrets are there any more; its open
/// challenges are cancelled. Then, in batches, it is unlinked from its users: who has no other client is deleted, with
/// their devices. What others rest on stays: devices of users that other clients know, ended challenges and their
/// receipts, the audit.
package enum DeleteClient {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The client is gone.
        case deleted
        /// There is none of this id that can be deleted.
        case notFound
    }

    /// How many users are unlinked in one transaction.
    private static let batch = 50

    /// Deletes a client.
    ///
    /// What is left to do when this is cut off is done by ``sweep(ports:)``.
    package static func delete(_ id: ClientID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let outcome: Outcome = try await ports.commit(at: now, as: actor) { work in
            guard let client = try work.clients.find(id), !client.isOperator else { return .notFound }
            try work.clients.delete(id, at: now)
            try work.raise(.clientDeleted(id))
            return .deleted
        }
        if outcome == .deleted { try await clear(id, as: actor, ports: ports) }
        return outcome
    }

    /// Finishes what is left of clients that were deleted.
    package static func sweep(ports: Ports) async throws {
        for id in try await ports.store.read({ try $0.clients.deleted() }) {
            try await clear(id, as: .system, ports: ports)
        }
    }

    private static func clear(_ id: ClientID, as actor: Actor, ports: Ports) async throws {
        try await DisableClient.cancelOpen(of: id, as: actor, ports: ports)
        while try await ports.store.read({ try !$0.links.users(of: id, limit: 1).isEmpty }) {
            let now = ports.time.now
            try await ports.commit(at: now, as: actor) { work in
                for user in try work.links.users(of: id, limit: batch) {
                    guard let linked = try work.links.find(.id(user), of: id) else { continue }
                    try work.letGo(linked.id, by: id, asked: id)
                }
            }
        }
        try await EraseUser.sweep(ports: ports)
    }
}
