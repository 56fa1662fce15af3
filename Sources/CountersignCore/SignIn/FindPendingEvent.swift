package import CountersignWire

/// Finds what a user's devices are asked by an app that was written for Cotter.
///
/// Spec: docs/decisions/0108-cotters-door.md.
package enum FindPendingEvent {
    /// For how many minutes a question is found by the user's name.
    private static let minutes: Int64 = 3

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The event.
        case event(ShownEvent)
        /// There is none.
        case nothing
    }

    /// The event that a user's devices are asked about, and that nobody has answered; the oldest of several.
    ///
    /// It is found by the user's name, whether there is such a user or not, and has a number by which it is answered and
    /// nothing else.
    ///
    /// - Parameters:
    ///   - user: the user, as the app names them.
    ///   - client: the client, which the caller has identified.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func find(of user: String, at client: ClientID, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let minute = now.seconds / 60
        return try await ports.store.read { reader in
            for minute in (minute - minutes + 1)...minute {
                for hash in ports.hasher.pendingHashes(of: user, at: client, minute: minute) {
                    guard let id = try reader.authorizations.find(userCode: hash) else { break }
                    let number = ports.hasher.responseNumber(of: id)
                    guard let found = try reader.authorizations.find(id),
                        let shown = ShownEvent(found, number: number, at: now), shown.stage == .pending
                    else { continue }
                    return .event(shown)
                }
            }
            return .nothing
        }
    }
}
