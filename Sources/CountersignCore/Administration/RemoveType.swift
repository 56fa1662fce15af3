package import CountersignWire

/// Removes a challenge type.
///
/// For operators.
package enum RemoveType {
    /// The result of the operation.
    package enum Outcome: Hashable, Sendable {
        /// It is gone.
        case removed
        /// There is none of this name.
        case notFound
        /// Other types ask by it where they cannot ask by themselves: these, by name.
        case neededBy([TypeName])
    }

    /// Removes a type that no other one names; challenges already asked go on, but a code that no device has presented
    /// leads nowhere.
    package static func remove(_ name: TypeName, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard try work.types.find(name) != nil else { return .notFound }
            let dependents = try work.types.all().filter { [$0.fallback, $0.unknownBrowser].contains(name) }
            guard dependents.isEmpty else { return .neededBy(dependents.map(\.name)) }
            guard try work.types.delete(name) else { return .notFound }
            try work.raise(.typeRemoved(name))
            return .removed
        }
    }
}
