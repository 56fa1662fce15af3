package import CountersignWire
import Encodings

/// Makes challenge types, or replaces them; challenges already asked keep what they were asked with.
///
/// For operators.
package enum SetType {
    /// The result of the operation.
    package enum Outcome: Hashable, Sendable {
        /// It is there, as it was given.
        case set
        /// It is none that can be set.
        case refused(ChallengeType.Violation)
    }

    /// Makes a type or replaces it.
    @discardableResult
    package static func set(_ type: ChallengeType, by actor: Actor, ports: Ports) async throws -> Outcome {
        if let violation = type.violation { return .refused(violation) }
        return try await ports.commit(at: ports.time.now, as: actor) { work in
            try work.types.put(type)
            try work.raise(.typeSet(type))
            return .set
        }
    }

    /// Makes or replaces those types that are other than they should be; further ones stay.
    ///
    /// For a start: what a file says counts anew each time.
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
