import CountersignWire
package import Encodings

/// What a new deployment needs before anybody can do anything.
///
/// Spec: design 8, *Security in operation*.
package enum FirstStart {
    /// Makes the built-in client, the challenge types everybody has, and a bootstrap token, unless they exist.
    ///
    /// - Parameters:
    ///   - store: what is remembered.
    ///   - time: the present.
    ///   - random: chance.
    ///   - keep: puts the token where the operator finds it, before the transaction lasts: a start that is cut off in
    ///     between is a first start again, and none leaves a token behind that nobody knows.
    /// - Returns: the bootstrap token if it was made now.
    package static func prepare(
        store: any Store, time: any TimeSource, random: any RandomSource,
        keep: @escaping @Sendable (Secret<String>) throws -> Void = { _ in }
    ) async throws -> Secret<String>? {
        let now = time.now
        let token = newToken(random)
        let client = try Client(
            id: random.id(at: now), name: ClientName("Operator"), secretHash: nil, rights: Set(Right.allCases),
            callbackURIs: [], waivesEnrollmentApproval: true, isOperator: true, createdAt: now)
        return try await store.commit { writer in
            // Two first starts at once: the second finds what the first made.
            guard try writer.clients.operatorClient() == nil else { return nil }
            try writer.clients.insert(client, callbackSecret: nil)
            for type in ChallengeType.builtIn { try writer.types.put(type) }
            try writer.keys.put(bootstrap(token, at: now))
            try keep(token)
            return token
        }
    }

    /// Makes a new bootstrap token; the earlier one stops working.
    ///
    /// Only for a command on the server's machine.
    package static func renewBootstrapToken(
        store: any Store, time: any TimeSource, random: any RandomSource
    ) async throws -> Secret<String> {
        let now = time.now
        let token = newToken(random)
        let event = AuditEvent(id: random.id(at: now), at: now, kind: .bootstrapTokenRenewed)
        try await store.commit { writer in
            try writer.keys.put(bootstrap(token, at: now))
            try writer.audit.append(event)
        }
        return token
    }

    private static func newToken(_ random: any RandomSource) -> Secret<String> {
        Secret("cst_" + Base64URL.encode(random.bytes(32)))
    }

    private static func bootstrap(_ token: Secret<String>, at now: Timestamp) -> BootstrapToken {
        BootstrapToken(hash: SecretHash(of: token), expiresAt: now.adding(seconds: BootstrapToken.lifetime))
    }
}
