import Crypto
package import CountersignWire
import Encodings

/// Lists the pending challenges of a device as signed announcements, newest first.
///
/// Spec: design 3.6, 4.
package enum PendingChallenges {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The announcements, in the form that a push has; `cursor` names the list in the next call.
        case list([SignedAnnouncement], cursor: String)
        /// The call of the device is refused, or its enrollment was removed or suspended during the wait.
        case refused(DeviceRefusal)
    }

    /// Lists the pending challenges of the calling device at once.
    package static func list(for call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        switch try await admit(call, at: now, ports: ports) {
        case .refused(let refusal): return .refused(refusal)
        case .pending(let challenges): return try await told(challenges, to: call.enrollment.id, ports: ports)
        }
    }

    /// Lists the pending challenges of the calling device, or waits if the device has the same list already.
    ///
    /// - Parameters:
    ///   - call: the authenticated call of the device.
    ///   - deadline: the end of the wait.
    ///   - cursor: the cursor of the list that the device has; nil for the empty list.
    ///   - changes: notifies of changes.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of signing the announcements.
    package static func list(
        for call: DeviceCall, waitingUntil deadline: Timestamp, since cursor: String?, changes: any ChangeNotifier,
        ports: Ports
    ) async throws -> Beginning {
        let (id, user) = (call.enrollment.id, call.enrollment.user)
        // Subscribed before the first look, so that no challenge in between is missed.
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

    /// The first result of a call that may wait.
    package enum Beginning: Sendable {
        /// The outcome is known at once.
        case ended(Outcome)
        /// The device has the list already and waits for a change.
        case waiting(Wait)
    }

    /// The state of a waiting call; it is small because thousands wait at once.
    package struct Wait: Sendable {
        /// The enrollment that waits.
        package let enrollment: EnrollmentID
        fileprivate let user: UserID
        fileprivate let known: String
        fileprivate let deadline: Timestamp
        fileprivate let subscription: any ChangeSubscription
        fileprivate let next: Timestamp

        /// Waits until the list differs from the one that the device has, or until the deadline.
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
                // A removed or suspended enrollment ends the wait at once.
                if let refusal = try reader.refusal(of: enrollment, issuer: issuer) { return .refused(refusal) }
                return .pending(
                    try reader.targets.pending(
                        of: enrollment, user: user, now: now, limit: Challenge.pendingLimit))
            }
        }
    }

    /// The result of reading the list.
    private enum Look: Sendable {
        case pending([Challenge])
        case refused(DeviceRefusal)
    }

    /// Admits the call and reads the list in the same transaction.
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

    /// The first time at which the list can change without a notification, or the deadline.
    private static func nextChange(for challenges: [Challenge], before deadline: Timestamp) -> Timestamp {
        challenges.map(\.expiresAt).min().map { min($0, deadline) } ?? deadline
    }

    /// The cursor of a list: a hash over the ids in it.
    private static func cursor(of challenges: [Challenge]) -> String {
        let ids = challenges.map { "\($0.id)" }.joined(separator: ",")
        return Base64URL.encode(Array(SHA256.hash(data: Array(ids.utf8)).prefix(12)))
    }
}
