import CountersignWire
package import Encodings

/// What a new deployment needs before anybody can do anything.
///
/// Spec: design 8, *Security in operation*.
package enum FirstStart {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The deployment was new; its bootstrap token.
        case prepared(Secret<String>)
        /// The deployment was prepared by an earlier start.
        case alreadyPrepared
    }

    /// Makes the built-in client, the challenge types everybody has, and a bootstrap token, unless they exist.
    ///
    /// - Parameters:
    ///   - store: what is remembered.
    ///   - time: the present.
    ///   - random: chance.
    ///   - keep: puts the token where the operator finds it, before the transaction lasts: a start that is cut off in
    ///     between is a first start again, and none leaves a token behind that nobody knows.
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
            // Two first starts at once: the second finds what the first made.
            guard try writer.clients.operatorClient() == nil else { return .alreadyPrepared }
            try writer.clients.insert(client, callbackSecret: nil)
            for type in ChallengeType.builtIn { try writer.types.put(type) }
            try writer.keys.put(BootstrapToken(token, at: now))
            try keep(token)
            return .prepared(token)
        }
    }
}
