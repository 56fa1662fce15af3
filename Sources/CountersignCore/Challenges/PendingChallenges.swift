import Crypto
public import CountersignWire
public import Encodings

/// Tells a device what it is asked: signed envelopes, newest first.
///
/// Spec: design 3.6, 4.
public enum PendingChallenges {
    /// How many a list holds; more than a person can be asked at once.
    static let limit = 100

    /// What came of it.
    public enum Outcome: Sendable {
        /// The payloads, each as a push would bring it, and what to send to wait for a change.
        case list([JSONValue], cursor: String)
        /// The device is not let in, or not any more.
        case refused(DeviceRefusal)
    }

    /// Lists what is pending for the calling device.
    ///
    /// - Parameters:
    ///   - call: the device's call.
    ///   - deadline: until when to wait for a list other than the one the cursor stands for; nil not to wait.
    ///   - cursor: of the list the device has; nil for an empty one.
    ///   - ports: the world.
    public static func list(
        for call: DeviceCall, waitingUntil deadline: Timestamp?, since cursor: String?, ports: Ports
    ) async throws -> Outcome {
        let id = call.enrollment.id
        let user = call.enrollment.user
        let issuer = ports.issuer
        // Subscribed before the first look: a challenge in between is not missed.
        let subscription = deadline.map { _ in ports.wakes.subscribe(to: .enrollment(id)) }
        // The first look shares the transaction that lets the device in.
        var now = ports.time.now
        var found = try await ports.store.commit { [now] writer in
            if let refusal = try writer.admit(call, issuer: issuer) { return Look.refused(refusal) }
            return .pending(try writer.pendingChallenges(of: id, user: user, now: now, limit: limit))
        }
        while true {
            let challenges: [Challenge]
            switch found {
            case .refused(let refusal): return .refused(refusal)
            case .pending(let list): challenges = list
            }
            let current = Self.cursor(of: challenges)
            guard let deadline, let subscription, now < deadline, current == cursor ?? Self.cursor(of: []) else {
                return .list(try await payloads(challenges, for: id, ports: ports), cursor: current)
            }
            let firstEnd = challenges.map(\.expiresAt).min() ?? deadline
            try await subscription.wait(until: min(deadline, firstEnd))
            now = ports.time.now
            found = try await ports.store.read { [now] reader in
                // Removal ends a wait at once.
                if let refusal = try reader.refusal(of: id, issuer: issuer) { return .refused(refusal) }
                return .pending(try reader.pendingChallenges(of: id, user: user, now: now, limit: limit))
            }
        }
    }

    /// What a look finds.
    private enum Look: Sendable {
        case pending([Challenge])
        case refused(DeviceRefusal)
    }

    /// Stands for a list: a hash over the ids in it.
    private static func cursor(of challenges: [Challenge]) -> String {
        let ids = challenges.map { "\($0.id)" }.joined(separator: ",")
        return Base64URL.encode(Array(SHA256.hash(data: Array(ids.utf8)).prefix(12)))
    }

    private static func payloads(
        _ challenges: [Challenge], for enrollment: EnrollmentID, ports: Ports
    ) async throws -> [JSONValue] {
        var payloads: [JSONValue] = []
        for challenge in challenges {
            payloads.append(
                try await challenge.announcement(to: enrollment, badge: challenges.count, ports: ports))
        }
        return payloads
    }
}
