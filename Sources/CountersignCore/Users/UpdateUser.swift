package import CountersignWire

/// Changes how a client knows a user.
package enum UpdateUser {
    /// The settings to change; nil leaves a setting as it is.
    package struct Changes: Sendable {
        /// The client's own name for the user; an inner nil removes it.
        package var externalID: ExternalID??
        /// Whether the client blocks the user from enrolling devices through it.
        package var isEnrollmentBlocked: Bool?

        /// What the client says of the user's addresses.
        package var addresses: ClaimedAddresses
        /// What the client says of the user for itself; an inner nil removes it.
        package var claims: UserClaims??

        /// Changes of these parts.
        package init(
            externalID: ExternalID?? = nil, isEnrollmentBlocked: Bool? = nil,
            addresses: ClaimedAddresses = ClaimedAddresses(), claims: UserClaims?? = nil
        ) {
            self.externalID = externalID
            self.isEnrollmentBlocked = isEnrollmentBlocked
            self.addresses = addresses
            self.claims = claims
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user as the client knows them now.
        case updated(LinkedUser)
        /// Another user of this client has this external id.
        case externalIDTaken
        /// Another user of this client has one of the addresses on its word.
        case addressTaken
        /// The client is linked to no such user.
        case notFound
    }

    /// Changes how a client knows a user.
    ///
    /// - Parameters:
    ///   - reference: the user.
    ///   - changes: the changes.
    ///   - caller: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func update(
        _ reference: UserReference, _ changes: Changes, by caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let client = caller.client.id
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let user = try work.links.find(reference, of: client) else { return .notFound }
            let externalID = changes.externalID ?? user.externalID
            // A refusal must not leave anything behind, so this is looked at first.
            if let externalID, let holder = try work.links.find(.externalID(externalID), of: client),
                holder.id != user.id
            {
                return .externalIDTaken
            }
            guard try !work.isClaimed(changes.addresses, by: client, besides: user.id) else { return .addressTaken }
            try work.claim(changes.addresses, of: user.id, by: client)
            if let old = user.externalID, old != externalID {
                try work.leaveBehind(old, by: client, of: user.id)
            }
            guard try work.links.put(user.id, to: client, externalID: externalID) else { return .externalIDTaken }
            if let claims = changes.claims {
                try work.links.setClaims(claims, of: user.id, by: client)
                try work.raise(.userClaimsSet(user.id))
            }
            let isBlocked = changes.isEnrollmentBlocked ?? user.isEnrollmentBlocked
            if isBlocked != user.isEnrollmentBlocked {
                try work.links.blockEnrollment(isBlocked, of: user.id, by: client)
                try work.raise(.enrollingBlocked(isBlocked, user.id))
            }
            return .updated(
                LinkedUser(
                    id: user.id, externalID: externalID, isEnrollmentBlocked: isBlocked, createdAt: user.createdAt))
        }
    }
}
