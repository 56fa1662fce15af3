package import CountersignWire

/// Removes a challenge type.
///
/// This operation is for operators.
package enum RemoveType {
    /// The result of the operation.
    package enum Outcome: Hashable, Sendable {
        /// The type is removed.
        case removed
        /// There is no type with this name.
        case notFound
        /// These types name it as their fallback or as their type for unknown browsers, and these clients'
        /// OpenID settings name it.
        case neededBy([TypeName], clients: [ClientID])
    }

    /// Removes a type that no other type and no client's OpenID settings name.
    ///
    /// Challenges that were already asked stay open, but a code that no device has presented can no longer be
    /// claimed.
    package static func remove(_ name: TypeName, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard try work.types.lock(name) != nil else { return .notFound }
            let dependents = try work.types.all().filter { [$0.fallback, $0.unknownBrowser].contains(name) }
            let clients = try work.relyingParties.namers(of: name)
            // Sign-ins by a type that is gone would ask no phone, and nobody would notice.
            guard dependents.isEmpty, clients.isEmpty else {
                return .neededBy(dependents.map(\.name), clients: clients)
            }
            guard try work.types.delete(name) else { return .notFound }
            try work.raise(.typeRemoved(name))
            return .removed
        }
    }
}
