package import CountersignWire

/// Deletes users who have proved an address at a third party, and have never said what it may have.
///
/// Who says no is deleted at once. Who closes the page says nothing, and no client knows them who could delete them.
///
/// Spec: docs/decisions/0075-whose-devices-are-believed.md.
package enum ForgetUndecided {
    private static let batch = 200

    /// Deletes all whose sign-ins are forgotten now; call it before these are, since nothing else tells who they are.
    ///
    /// - Throws: ``StoreError``.
    package static func sweep(at now: Timestamp, ports: Ports) async throws {
        let oldest = now.adding(-Authorization.keptFor)
        _ = try await untilNothing {
            let found = try await ports.store.read { try $0.authorizations.undecided(since: oldest, limit: batch) }
            for (user, client) in found {
                try await ports.commit(at: now, as: .system) { work in
                    try work.users.lock(user)
                    // A client knows them since.
                    guard try !work.links.isLinked(user) else { return }
                    // Another node was faster.
                    guard try work.users.find(user)?.deletedAt == nil else {
                        try work.authorizations.deleteAll(of: user, at: nil)
                        return
                    }
                    try work.deleteIfUnknown(user, asked: client)
                }
            }
            return found.count
        }
    }
}
