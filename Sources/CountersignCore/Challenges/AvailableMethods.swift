public import CountersignWire

/// Tells a client by which types a user could be asked now.
public enum AvailableMethods {
    /// Types with the methods that would work; none for a user the client is not linked to, as for one without devices.
    public static func list(
        for reference: UserReference, client: Client, ports: Ports
    ) async throws -> [(type: TypeName, methods: [Method])] {
        let types: [ChallengeType] = try await ports.store.read { reader in
            guard let user = try reader.linkedUser(reference, of: client.id),
                try !reader.isAskingLocked(of: user.id, by: client.id)
            else { return [] }
            let enrollments = try reader.activeEnrollments(of: user.id)
            return try reader.challengeTypes().filter { type in
                type.isOpen(to: client.id) && enrollments.contains { $0.credential.assurance >= type.assurance }
            }
        }
        return types.map { ($0.name, $0.methods) }
    }
}
