package import CountersignWire

/// Lists the passkeys of a user.
///
/// This operation is for operators.
package enum ListPasskeys {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// Those that are not removed, oldest first.
        case passkeys([RegisteredPasskey])
        /// There is no such user.
        case userNotFound
    }

    /// Lists them.
    ///
    /// - Parameters:
    ///   - reference: the user, as ``Stores/named(_:by:in:)`` finds them for an operator.
    ///   - client: the operator's own client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func list(of reference: UserReference, by client: Client, ports: Ports) async throws -> Outcome {
        let admin = client.id
        return try await ports.store.read { stores in
            guard let user = try stores.named(reference, by: admin, in: .all) else { return .userNotFound }
            return .passkeys(try stores.passkeys.passkeys(of: user).filter(\.isPresent))
        }
    }
}

/// Removes a passkey of a user, who has lost it or has not registered it.
///
/// This operation is for operators. What an address brings in afterwards waits, as if the user had removed it, and all
/// addresses that the user has proved are told. Spec: docs/decisions/0078-passkeys-on-pages.md.
package enum RemovePasskey {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is removed, with the sessions and tokens that it gave.
        case removed
        /// There is no such user.
        case userNotFound
        /// The user has no such passkey.
        case notFound
    }

    /// Removes it; the parameters are those of ``ListPasskeys``.
    ///
    /// - Throws: ``StoreError``.
    package static func remove(
        _ id: PasskeyID, of reference: UserReference, by caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let (admin, transports) = (caller.client.id, ports.transports)
        return try await ports.commit(at: ports.time.now, as: caller.actor) { work in
            guard let user = try work.stores.named(reference, by: admin, in: .all) else { return .userNotFound }
            try work.users.lock(user)
            guard let passkey = try work.passkeys.find(id) else { return .notFound }
            // check: AdministerSignInTests.others
            guard passkey.user == user else { return .notFound }
            try work.remove(passkey)
            try work.tell(.passkey(.removed, passkey.name), of: user, doneByOperatorWith: transports)
            return .removed
        }
    }
}
