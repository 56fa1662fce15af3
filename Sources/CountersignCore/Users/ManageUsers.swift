import CountersignWire

/// Makes, shows, renames and unlinks users, for the client that is linked to them.
public enum ManageUsers {
    /// What came of making or renaming a user.
    public enum Outcome: Sendable {
        /// The user as the client knows them now.
        case user(LinkedUser)
        /// Another user of this client has the external id.
        case externalIDTaken
        /// The client is linked to no such user.
        case notFound
    }

    /// Makes a user and links them to the client.
    public static func create(
        externalID: ExternalID?, by client: Client, idempotency: IdempotencyKey?, ports: Ports,
        reply: @escaping @Sendable (LinkedUser) -> RecordedReply
    ) async throws -> Replayable<Outcome> {
        let now = ports.time.now
        let user = LinkedUser(id: ports.random.id(at: now), externalID: externalID, createdAt: now)
        return try await ports.commit(at: now) { work in
            try work.once(idempotency) {
                // Looked up first: a failed insert would end the transaction on some engines.
                if let externalID, try work.links.find(.externalID(externalID), of: client.id) != nil {
                    return (.externalIDTaken, nil)
                }
                try work.users.insert(user.id, at: now)
                guard try work.links.put(user.id, to: client.id, externalID: externalID) else {
                    throw StoreError.serializationFailure
                }
                try work.raise(.userCreated(user.id, by: client.id))
                return (.user(user), reply(user))
            }
        }
    }

    /// The user, or nil.
    public static func show(_ reference: UserReference, to client: Client, ports: Ports) async throws -> LinkedUser? {
        try await ports.store.read { try $0.links.find(reference, of: client.id) }
    }

    /// What changes of how a client knows a user; what is nil stays as it was.
    public struct Changes: Sendable {
        /// The client's own name; nil inside for none.
        public var externalID: ExternalID??
        /// Whether the client lets the user enroll no device.
        public var isEnrollmentBlocked: Bool?

        /// Changes of these parts.
        public init(externalID: ExternalID?? = nil, isEnrollmentBlocked: Bool? = nil) {
            self.externalID = externalID
            self.isEnrollmentBlocked = isEnrollmentBlocked
        }
    }

    /// Changes how a client knows a user.
    public static func update(
        _ reference: UserReference, _ changes: Changes, by client: Client, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now) { work in
            guard let user = try work.links.find(reference, of: client.id) else { return .notFound }
            let externalID = changes.externalID ?? user.externalID
            if let old = user.externalID, old != externalID {
                try work.leaveBehind(old, by: client.id, of: user.id)
            }
            guard try work.links.put(user.id, to: client.id, externalID: externalID) else { return .externalIDTaken }
            let isBlocked = changes.isEnrollmentBlocked ?? user.isEnrollmentBlocked
            if isBlocked != user.isEnrollmentBlocked {
                try work.links.blockEnrollment(isBlocked, of: user.id, by: client.id)
                try work.raise(.enrollingBlocked(isBlocked, user.id, by: client.id))
            }
            return .user(
                LinkedUser(
                    id: user.id, externalID: externalID, isEnrollmentBlocked: isBlocked, createdAt: user.createdAt))
        }
    }

    /// Deletes a user whoever knows them, for the operator.
    ///
    /// - Returns: false when there is no such user, or none any more.
    public static func delete(_ reference: UserReference, by admin: Client, ports: Ports) async throws -> Bool {
        let now = ports.time.now
        let isThere = try await ports.commit(at: now) { work in
            guard let id = try work.stores.named(reference, by: admin.id, in: .all), let user = try work.users.find(id),
                user.deletedAt == nil
            else { return false }
            for link in user.links where try work.links.find(.id(id), of: link.client) != nil {
                try work.letGo(id, by: link.client, asked: admin.id)
            }
            return true
        }
        if isThere { try await EraseUser.sweep(ports: ports) }
        return isThere
    }

    /// Unlinks a user from the client.
    ///
    /// What the client has asked the user, and is open, is cancelled. A user nobody is linked to any more is deleted and
    /// their devices removed. What was personal of what the client asked them is erased when this returns.
    ///
    /// - Returns: false when the client is linked to no such user.
    public static func unlink(_ reference: UserReference, from client: Client, ports: Ports) async throws -> Bool {
        let now = ports.time.now
        let isKnown = try await ports.commit(at: now) { work in
            guard let user = try work.links.find(reference, of: client.id) else { return false }
            try work.letGo(user.id, by: client.id, asked: client.id)
            return true
        }
        if isKnown { try await EraseUser.sweep(ports: ports) }
        return isKnown
    }
}
