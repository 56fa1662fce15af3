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
    /// What an app has asked is found by the user's name, whether there is such a user or not. Then comes what the client
    /// has asked by other calls, and such a device may answer. Either has a number by which it is answered and nothing
    /// else.
    ///
    /// - Parameters:
    ///   - user: the user, as the app names them.
    ///   - client: the client, which the caller has identified.
    ///   - writtenClient: the client, as the app writes its id.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func find(
        of user: String, at client: ClientID, _ writtenClient: String, ports: Ports
    ) async throws -> Outcome {
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
            guard let person = try reader.person(called: user, at: client, ports.hasher) else { return .nothing }
            for challenge in try reader.challenges.open(of: person).sorted(by: { $0.id < $1.id })
            where challenge.isOpen(at: now) && challenge.question.client == client {
                guard try reader.isEvent(challenge),
                    let event = AskedEvent(challenge, user: user, client: writtenClient)
                else { continue }
                let number = ports.hasher.responseNumber(of: challenge.id)
                return .event(ShownEvent(challenge, event, number: number))
            }
            return .nothing
        }
    }
}

extension Stores {
    /// Whether devices that sign short texts may answer a challenge which is no sign-in of an app of theirs.
    fileprivate func isEvent(_ challenge: Challenge) throws -> Bool {
        guard !challenge.needsReceipt, let type = try types.find(challenge.question.type), type.assurance == .event
        else { return false }
        guard let id = challenge.purpose.authorization else { return true }
        return try authorizations.find(id)?.wanted.device?.event == nil
    }
}
