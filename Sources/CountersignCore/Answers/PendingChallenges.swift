import Crypto
package import CountersignWire
import Encodings

/// Lists for a device what it is asked: signed announcements, newest first.
///
/// Spec: design 3.6, 4.
package enum PendingChallenges {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The announcements, each as a push would bring it, and what to send to wait for a change.
        case list([SignedAnnouncement], cursor: String)
        /// The call of the device is refused, or its enrollment was removed while it waited.
        case refused(DeviceRefusal)
    }

    /// Lists what is pending for the calling device.
    package static func list(for call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        switch try await admit(call, at: now, ports: ports) {
        case .refused(let refusal): return .refused(refusal)
        case .pending(let challenges): return try await told(challenges, to: call.enrollment.id, ports: ports)
        }
    }

    /// Lists what is pending for the calling device, unless it has that list already.
    ///
    /// - Parameters:
    ///   - call: the device's call.
    ///   - deadline: until when to wait for a list other than the one that the cursor names.
    ///   - cursor: of the list the device has; nil for an empty one.
    ///   - changes: notifies of changes.
    ///   - ports: the external dependencies.
    package static func list(
        for call: DeviceCall, waitingUntil deadline: Timestamp, since cursor: String?, changes: any ChangeNotifier,
        ports: Ports
    ) async throws -> Beginning {
        let (id, user) = (call.enrollment.id, call.enrollment.user)
        // Subscribed before the first look: a challenge in between is not missed.
        let subscription = changes.subscribe(to: .enrollment(id))
        let now = ports.time.now
        switch try await admit(call, at: now, ports: ports) {
        case .refused(let refusal): return .ended(.refused(refusal))
        case .pending(let challenges):
            let known = cursor ?? Self.cursor(of: [])
            guard now < deadline, Self.cursor(of: challenges) == known else {
                return .ended(try await told(challenges, to: id, ports: ports))
            }
            return .waiting(
                Wait(
                    enrollment: id, user: user, known: known, deadline: deadline, subscription: subscription,
                    next: nextChange(for: challenges, before: deadline)))
        }
    }

    /// How a call for a list begins.
    package enum Beginning: Sendable {
        /// It is known at once.
        case ended(Outcome)
        /// The device has the list already, and waits for a change.
        case waiting(Wait)
    }

    /// What is kept of a device's call while it waits; thousands wait at once.
    package struct Wait: Sendable {
        /// Who waits.
        package let enrollment: EnrollmentID
        fileprivate let user: UserID
        fileprivate let known: String
        fileprivate let deadline: Timestamp
        fileprivate let subscription: any ChangeSubscription
        fileprivate let next: Timestamp

        /// Waits for another list than the one the device has, or for the deadline.
        ///
        /// - Throws: `CancellationError` when the wait is interrupted; ``StoreError``.
        package func outcome(ports: Ports) async throws -> Outcome {
            var next = next
            while true {
                try await subscription.wait(until: next)
                let now = ports.time.now
                switch try await look(at: now, ports: ports) {
                case .refused(let refusal): return .refused(refusal)
                case .pending(let challenges):
                    guard now < deadline, cursor(of: challenges) == known else {
                        return try await told(challenges, to: enrollment, ports: ports)
                    }
                    next = nextChange(for: challenges, before: deadline)
                }
            }
        }

        private func look(at now: Timestamp, ports: Ports) async throws -> Look {
            try await ports.store.read { [enrollment, user, issuer = ports.issuer] reader in
                // The removal of the enrollment ends the wait at once.
                if let refusal = try reader.refusal(of: enrollment, issuer: issuer) { return .refused(refusal) }
                return .pending(
                    try reader.targets.pending(
                        of: enrollment, user: user, now: now, limit: Challenge.pendingLimit))
            }
        }
    }

    /// The result of a look at the list.
    private enum Look: Sendable {
        case pending([Challenge])
        case refused(DeviceRefusal)
    }

    /// The first look, in the transaction that admits the call.
    private static func admit(_ call: DeviceCall, at now: Timestamp, ports: Ports) async throws -> Look {
        try await ports.commit(at: now, as: call.actor) { work in
            if let refusal = try work.admit(call) { return .refused(refusal) }
            let (id, user) = (call.enrollment.id, call.enrollment.user)
            return .pending(try work.targets.pending(of: id, user: user, now: now, limit: Challenge.pendingLimit))
        }
    }

    private static func told(
        _ challenges: [Challenge], to enrollment: EnrollmentID, ports: Ports
    ) async throws -> Outcome {
        var announcements: [SignedAnnouncement] = []
        for challenge in challenges {
            announcements.append(
                try await challenge.announcement(to: enrollment, badge: challenges.count, ports: ports))
        }
        return .list(announcements, cursor: cursor(of: challenges))
    }

    /// When the list changes by itself, at the latest.
    private static func nextChange(for challenges: [Challenge], before deadline: Timestamp) -> Timestamp {
        challenges.map(\.expiresAt).min().map { min($0, deadline) } ?? deadline
    }

    /// Names a list: a hash over the ids in it.
    private static func cursor(of challenges: [Challenge]) -> String {
        let ids = challenges.map { "\($0.id)" }.joined(separator: ",")
        return Base64URL.encode(Array(SHA256.hash(data: Array(ids.utf8)).prefix(12)))
    }
}
