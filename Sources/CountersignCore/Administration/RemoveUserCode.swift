package import CountersignWire

/// Removes the code without which no client's server has a user's devices asked, and forgets the wrong ones.
///
/// This operation is for operators: the person cannot get to their account page, or somebody's wrong codes keep them from
/// being asked. All addresses that the user has proved are told, as where the user removes it. Spec:
/// docs/decisions/0097-user-code.md.
package enum RemoveUserCode {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user has none, perhaps since before.
        case removed
        /// There is no such user.
        case userNotFound
    }

    /// Removes it; the parameters are those of ``ListPasskeys``.
    ///
    /// - Throws: ``StoreError``.
    package static func remove(
        of reference: UserReference, by caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let (now, transports) = (ports.time.now, ports.transports)
        let admin = caller.client.id
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let user = try work.stores.named(reference, by: admin, in: .all) else { return .userNotFound }
            try work.users.lock(user)
            try work.forgetWrongAskingCodes(of: user)
            if try work.users.userCode(of: user) != nil {
                try work.users.setUserCode(nil, of: user)
                try work.raise(.userCodeRemoved(user))
                try work.tell(.userCode(.removed), of: user, doneByOperatorWith: transports)
            }
            return .removed
        }
    }
}
