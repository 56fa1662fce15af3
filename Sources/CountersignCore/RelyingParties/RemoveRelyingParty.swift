package import CountersignWire

/// Ends that a client uses the OpenID provider, and all that it was given.
///
/// This operation is for operators.
package enum RemoveRelyingParty {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client no longer uses the provider.
        case removed
        /// The client did not use it.
        case notFound
    }

    /// Removes the settings of a client and its look, and ends its tokens.
    ///
    /// What people's devices are asked for it ends as well. A repeated call continues where an earlier one was cut off.
    package static func remove(_ client: ClientID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let outcome: Outcome = try await ports.commit(at: ports.time.now, as: actor) { work in
            guard try work.relyingParties.delete(client) else { return .notFound }
            _ = try work.looks.removeLook(of: client)
            try work.raise(.relyingPartyRemoved(client))
            return .removed
        }
        try await CancelVainQuestions.cancel(at: client, by: actor, ports: ports)
        return outcome
    }
}
