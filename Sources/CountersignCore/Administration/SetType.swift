package import CountersignWire
import Encodings

/// Creates or replaces challenge types; challenges that were already asked keep their settings.
///
/// This operation is for operators.
package enum SetType {
    /// The result of the operation.
    package enum Outcome: Hashable, Sendable {
        /// The type is stored as it was given.
        case set
        /// The type breaks this rule.
        case refused(ChallengeType.Violation)
    }

    /// Creates or replaces a type.
    @discardableResult
    package static func set(_ type: ChallengeType, by actor: Actor, ports: Ports) async throws -> Outcome {
        if let violation = type.violation(with: ports.captchas.names) { return .refused(violation) }
        return try await ports.commit(at: ports.time.now, as: actor) { work in
            try work.types.put(type)
            try work.raise(.typeSet(type))
            return .set
        }
    }

    /// Creates the missing types, and replaces those that differ; other types stay.
    ///
    /// The server calls this at each start with the types of its file.
    package static func set(
        _ types: [ChallengeType], store: any Store, time: any TimeSource, random: any RandomSource
    ) async throws {
        let now = time.now
        let events = types.map {
            AuditEvent(id: random.id(at: now), at: now, kind: .typeSet, actor: .system, detail: ["type": $0.json])
        }
        try await store.commit { writer in
            for (type, event) in zip(types, events) where try writer.types.find(type.name)?.json != type.json {
                try writer.types.put(type)
                try writer.audit.append(event)
            }
        }
    }
}
