import Crypto
package import CountersignWire
import Encodings

/// Lists the pending challenges of a device, newest first, the first of them sealed to it.
///
/// A device that has a challenge by this list need not fetch it. The list records nothing: what it shows is what the
/// device may fetch anyway.
package enum PendingChallenges {
    /// The most challenges of a list that are sealed; the device fetches the others.
    static let maximumSealed = 3
    /// The most bytes of Base64 that the sealed challenges of a list take.
    static let maximumSize = 64 * 1024

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The challenges; `cursor` names the list in the next call.
        case list([PendingEntry], cursor: String)
        /// The call of the device is refused, or its enrollment was removed or suspended during the wait.
        case refused(DeviceRefusal)
    }

    /// Lists the pending challenges of the calling device at once.
    package static func list(for call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        switch try await admit(call, since: nil, at: now, ports: ports) {
        case .refused(let refusal): return .refused(refusal)
        case .pending(let list): return try await told(list, at: now, ports: ports)
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
    /// - Throws: ``StoreError``, or an error of sealing a challenge.
    package static func list(
        for call: DeviceCall, waitingUntil deadline: Timestamp, since cursor: String?, changes: any ChangeNotifier,
        ports: Ports
    ) async throws -> Beginning {
        let id = call.enrollment
        // Subscribed before the first look, so that no challenge in between is missed.
        let subscription = changes.subscribe(to: .enrollment(id))
        let now = ports.time.now
        let known = cursor ?? Self.cursor(of: [])
        switch try await admit(call, since: now < deadline ? known : nil, at: now, ports: ports) {
        case .refused(let refusal): return .ended(.refused(refusal))
        case .pending(let list):
            guard !list.isNews else { return .ended(try await told(list, at: now, ports: ports)) }
            return .waiting(
                Wait(
                    enrollment: id, user: call.user, known: known, deadline: deadline, subscription: subscription,
                    next: nextChange(for: list.challenges, before: deadline)))
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
                let known = now < deadline ? known : nil
                switch try await look(for: enrollment, of: user, since: known, at: now, ports: ports) {
                case .refused(let refusal): return .refused(refusal)
                case .pending(let list):
                    guard !list.isNews else { return try await told(list, at: now, ports: ports) }
                    next = nextChange(for: list.challenges, before: deadline)
                }
            }
        }
    }

    /// The result of reading the list.
    private enum Look: Sendable {
        case pending(List)
        case refused(DeviceRefusal)
    }

    /// Admits the call and reads the list.
    private static func admit(
        _ call: DeviceCall, since known: String?, at now: Timestamp, ports: Ports
    ) async throws -> Look {
        if let refusal = try ports.spendRead(of: call, at: now) { return .refused(refusal) }
        return try await look(for: call.enrollment, of: call.user, since: known, at: now, ports: ports)
    }

    private static func look(
        for enrollment: EnrollmentID, of user: UserID, since known: String?, at now: Timestamp, ports: Ports
    ) async throws -> Look {
        try await ports.store.read { reader in
            let limit = Challenge.pendingLimit
            guard
                let (current, pending) = try reader.targets.pending(
                    of: enrollment, user: user, now: now, limit: limit)
            else { return .refused(.unknownEnrollment) }
            // For its own sign-in the device has asked itself, and answers at once.
            let challenges = pending.filter { $0.purpose != .ownSignIn }
            // A removed or suspended enrollment ends the wait at once.
            if let refusal = ports.refusal(reading: current) { return .refused(refusal) }
            return .pending(try List(challenges, of: current, since: known, at: now, from: reader))
        }
    }

    /// The pending challenges of a device.
    private struct List: Sendable {
        let enrollment: Enrollment
        let challenges: [Challenge]
        /// For each challenge that is told whole, how many wrong PINs are left, or nil where no PIN answers; empty if
        /// the device has this list already.
        let attemptsLeft: [Int?]
        /// Whether the device does not have this list.
        let isNews: Bool

        init(
            _ challenges: [Challenge], of enrollment: Enrollment, since known: String?, at now: Timestamp,
            from stores: any Stores
        ) throws {
            self.enrollment = enrollment
            self.challenges = challenges
            isNews = known != cursor(of: challenges)
            attemptsLeft = try (isNews ? challenges.prefix(maximumSealed) : []).map {
                try stores.attemptsLeft(of: enrollment, for: $0, at: now)
            }
        }
    }

    private static func told(_ list: List, at now: Timestamp, ports: Ports) async throws -> Outcome {
        var entries: [PendingEntry] = []
        var room = maximumSize
        for (index, challenge) in list.challenges.enumerated() {
            var message: [UInt8]?
            if index < list.attemptsLeft.count,
                let sealed = try await ports.sealed(
                    challenge, attemptsLeft: list.attemptsLeft[index], to: list.enrollment, at: now)
            {
                let size = (sealed.count + 2) / 3 * 4
                if size <= room {
                    room -= size
                    message = sealed
                }
            }
            entries.append(PendingEntry(challenge: challenge.id, expiresAt: challenge.expiresAt, message: message))
        }
        return .list(entries, cursor: cursor(of: list.challenges))
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
