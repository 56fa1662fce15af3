import CountersignWire
package import Encodings

/// Creates what a new deployment needs before anybody can use it.
///
/// Spec: docs/guides/running.md, *The folder*.
package enum FirstStart {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The deployment was new; this is its bootstrap token.
        case prepared(Secret<String>)
        /// An earlier start has prepared the deployment.
        case alreadyPrepared
    }

    /// Creates the operator's built-in client, the built-in challenge types and a bootstrap token, unless an earlier
    /// start has done so.
    ///
    /// - Parameters:
    ///   - store: the database.
    ///   - time: the current time.
    ///   - random: random bytes.
    ///   - keep: stores the token where the operator finds it, before the transaction commits. If the start is cut
    ///     off in between, the next start is a first start again, so there is never a token that nobody knows.
    /// - Throws: ``StoreError``, or an error of `keep`.
    package static func prepare(
        store: any Store, time: any TimeSource, random: any RandomSource,
        keep: @escaping @Sendable (Secret<String>) throws -> Void = { _ in }
    ) async throws -> Outcome {
        let now = time.now
        let token = BootstrapToken.make(random)
        let client = try Client(
            id: random.id(at: now), name: ClientName("Operator"), secretHash: nil, rights: Set(Right.allCases),
            callbackURIs: [], waivesEnrollmentApproval: true, isOperator: true, createdAt: now)
        return try await store.commit { writer in
            // If two first starts run at once, the second one finds what the first one created.
            guard try writer.clients.operatorClient() == nil else { return .alreadyPrepared }
            try writer.clients.insert(client, callbackSecret: nil)
            for type in ChallengeType.builtIn { try writer.types.put(type) }
            try writer.keys.put(BootstrapToken(token, at: now))
            try keep(token)
            return .prepared(token)
        }
    }
}
