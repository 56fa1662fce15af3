package import CountersignWire

/// Lists the addresses of a user: those that the user has proved, and what clients say.
///
/// This operation is for operators.
package enum ListAddresses {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The addresses, oldest first.
        case addresses(proved: [VerifiedIdentifier], claimed: [ClaimedIdentifier])
        /// There is no such user.
        case userNotFound
    }

    /// Lists them; the parameters are those of ``ListPasskeys``.
    ///
    /// - Throws: ``StoreError``.
    package static func list(of reference: UserReference, by client: Client, ports: Ports) async throws -> Outcome {
        let admin = client.id
        return try await ports.store.read { stores in
            guard let user = try stores.named(reference, by: admin, in: .all) else { return .userNotFound }
            let (proved, claimed) = try stores.identifiers.identifiers(of: user)
            return .addresses(proved: proved, claimed: claimed)
        }
    }
}

/// Removes an address of a user, whether they have proved it or clients say that it is theirs.
///
/// This operation is for operators: the person no longer has the address, or somebody else has added it. It removes also
/// the last way to sign in; the person shows by other means who they are. Where the user has proved it, all addresses that
/// they have proved are told, also this one. Spec: docs/decisions/0079-addresses-on-the-account-page.md.
package enum RemoveAddress {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is removed, with the sessions and tokens that codes to it gave, and with what waits.
        case removed
        /// There is no such user.
        case userNotFound
        /// The user has not proved such an address, and no client says that it is theirs.
        case notFound
    }

    /// Removes it.
    ///
    /// - Parameters:
    ///   - address: the address, in any spelling that means the same.
    ///   - reference: the user, as ``Stores/named(_:by:in:)`` finds them for an operator.
    ///   - caller: the operator.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func remove(
        _ address: PersonalAddress, of reference: UserReference, by caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let (admin, transports) = (caller.client.id, ports.transports)
        return try await ports.commit(at: ports.time.now, as: caller.actor) { work in
            guard let user = try work.stores.named(reference, by: admin, in: .all) else { return .userNotFound }
            try work.users.lock(user)
            // Before the removal, so that the address itself is told, too.
            if let proved = try work.identifiers.verified(work.hasher.identifier(address)), proved.user == user {
                try work.tell(.address(.removed, proved.address), of: user, doneByOperatorWith: transports)
            }
            return try work.remove(address, of: user) ? .removed : .notFound
        }
    }
}
