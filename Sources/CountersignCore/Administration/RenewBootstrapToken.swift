import CountersignWire
package import Encodings

/// Makes a new bootstrap token; the earlier one stops working.
///
/// This operation is only for a command on the server's machine.
package enum RenewBootstrapToken {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The new token.
        case renewed(Secret<String>)
    }

    /// Makes a new token.
    package static func renew(
        store: any Store, time: any TimeSource, random: any RandomSource
    ) async throws -> Outcome {
        let now = time.now
        let token = BootstrapToken.make(random)
        let event = AuditEvent(id: random.id(at: now), at: now, kind: .bootstrapTokenRenewed, actor: .system)
        try await store.commit { writer in
            try writer.keys.put(BootstrapToken(token, at: now))
            try writer.audit.append(event)
        }
        return .renewed(token)
    }
}

extension BootstrapToken {
    static func make(_ random: any RandomSource) -> Secret<String> {
        Secret("cst_" + Base64URL.encode(random.bytes(32)))
    }

    init(_ token: Secret<String>, at now: Timestamp) {
        self.init(hash: SecretHash(of: token), expiresAt: now.adding(Self.lifetime))
    }
}
