public import CountersignWire

/// Tells a client by which types a user could be asked now.
public enum AvailableMethods {
    /// Types with the methods that would work; none for a user the client is not linked to, as for one without devices.
    public static func list(
        for reference: UserReference, client: Client, ports: Ports
    ) async throws -> [(type: TypeName, methods: [Method])] {
        try await ports.store.read { reader in
            guard let user = try reader.linkedUser(reference, of: client.id),
                try !reader.isAskingLocked(of: user.id, by: client.id)
            else { return [] }
            let enrollments = try reader.activeEnrollments(of: user.id)
            return try reader.challengeTypes().filter { $0.isOpen(to: client.id) }.compactMap { type in
                let able = enrollments.filter { $0.satisfies(type) }
                let methods = type.methods.filter { method in able.contains { $0.usableMethods.contains(method) } }
                return methods.isEmpty ? nil : (type.name, methods)
            }
        }
    }
}
