package import CountersignWire
import Encodings

/// Deletes a client for good.
///
/// This operation is for operators. The first transaction removes the client's secrets, so that nobody can
/// authenticate as the client any more. Then its open challenges are cancelled. Then it is unlinked from its users,
/// in batches; a user who has no other client is deleted, with their devices. The rest stays: devices of users whom
/// other clients know, ended challenges with their receipts, and the audit.
package enum DeleteClient {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client is deleted.
        case deleted
        /// There is no client with this id, or it is the operator's built-in client.
        case notFound
    }

    /// How many users are unlinked in one transaction.
    private static let batch = 50

    /// Deletes a client.
    ///
    /// If this call is cut off, ``sweep(ports:)`` does the rest.
    package static func delete(_ id: ClientID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let outcome: Outcome = try await ports.commit(at: now, as: actor) { work in
            guard let client = try work.clients.find(id), !client.isOperator else { return .notFound }
            try work.clients.delete(id, at: now)
            _ = try work.looks.removeLook(of: id)
            // The name of its API is free again.
            _ = try work.relyingParties.delete(id)
            try work.raise(.clientDeleted(id))
            return .deleted
        }
        if outcome == .deleted {
            try await clear(id, as: actor, ports: ports)
            try await EraseUser.sweep(ports: ports)
        }
        return outcome
    }

    /// Finishes the deletion of deleted clients.
    package static func sweep(ports: Ports) async throws {
        for id in try await ports.store.read({ try $0.clients.deleted() }) {
            try await clear(id, as: .system, ports: ports)
        }
        try await EraseUser.sweep(ports: ports)
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
    }
}
