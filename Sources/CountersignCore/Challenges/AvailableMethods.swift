package import CountersignWire

/// Lists for a client by which types a user could be asked now.
package enum AvailableMethods {
    /// A type by which a user could be asked, with the methods that would work.
    package struct Available: Hashable, Sendable {
        /// The type.
        package let type: TypeName
        /// The methods.
        package let methods: [AnswerMethod]
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The types; none for a user whom the client is not linked to, as for one without devices.
        case types([Available])
    }

    /// Looks which types would work.
    package static func list(
        for reference: UserReference, client: Client, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.store.read { reader in
            guard let user = try reader.links.find(reference, of: client.id) else { return .types([]) }
            // Of a user who has reported the client it is only by a code that anything can be asked.
            let isLocked = try reader.askingLocks.exists(of: user.id, by: client.id)
            let enrollments = try reader.enrollments.believed(of: user.id, in: client.trustGroup)
            let types = try reader.types.all().filter { $0.isOpen(to: client.id) && ($0.channel == .code || !isLocked) }
            func usable(_ type: ChallengeType) -> [AnswerMethod] {
                let able = enrollments.filter { $0.satisfies(type) }
                return type.methods.filter { method in able.contains { $0.usableMethods(at: now).contains(method) } }
            }
            let available: [Available] = types.compactMap { type in
                var methods = usable(type)
                if methods.isEmpty, let fallback = types.first(where: { $0.name == type.fallback }) {
                    methods = usable(fallback)
                }
                return methods.isEmpty ? nil : Available(type: type.name, methods: methods)
            }
            return .types(available)
        }
    }
}
