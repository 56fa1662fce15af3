package import CountersignWire
package import Encodings

/// Ends what a device or a client's server has asked for, because it wants no more of it.
///
/// What its person's devices were asked ends, so that a later yes is told that it came too late.
///
/// Spec: RFC 7009 §2, whose endpoint takes the device code, or the id of the server's request.
package enum CancelDeviceGrant {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It has ended, now or before; if there were tokens already, these have ended.
        case cancelled
        /// The code or the request is another client's.
        case notYours
        /// It is neither.
        case notFound
    }

    /// Ends it for its client, which the caller has authenticated.
    ///
    /// - Throws: ``StoreError``.
    package static func cancel(_ code: Secret<String>, by client: ClientID, ports: Ports) async throws -> Outcome {
        let hasher = ports.hasher
        guard let id = hasher.signIn(ofDeviceCode: code) ?? hasher.signIn(ofAuthRequest: code) else { return .notFound }
        return try await ports.commit(at: ports.time.now, as: .client(client)) { work in
            guard let found = try work.authorizations.find(id) else { return .cancelled }
            // check: DeviceCodeTests.cancelled
            guard found.client == client else { return .notYours }
            // The reply with the tokens was lost, and nobody has them.
            if case .redeemed(let who, let family) = found.state {
                try work.endFamilies(.family(family, of: who.user, at: client), because: .revoked)
                return .cancelled
            }
            guard try !work.refuse(found) else { return .cancelled }
            // It was over, or the device gets its tokens at this very moment: then all is looked at again.
            if case .redeemed = try work.authorizations.find(id)?.state { throw StoreError.serializationFailure }
            return .cancelled
        }
    }
}
