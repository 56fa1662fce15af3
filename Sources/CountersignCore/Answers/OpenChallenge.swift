package import CountersignWire

/// Gives a challenge to a device, encrypted to the device's key.
package enum OpenChallenge {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The sealed challenge: a binary OpenPGP message.
        case message([UInt8])
        /// The call of the device is refused.
        case refused(DeviceRefusal)
        /// No such challenge was put to the device.
        case notFound
        /// The challenge has ended, or the device has approved it.
        case alreadyEnded(ChallengeStatus)
    }

    /// Signs a pending challenge and encrypts it for the calling device; the first call is recorded.
    ///
    /// - Parameters:
    ///   - id: the challenge.
    ///   - call: the authenticated call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of sealing the message.
    package static func open(_ id: ChallengeID, for call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let admitted: Admission = try await ports.commit(at: now, as: call.actor) { work in
            let enrollment: Enrollment
            switch try work.admitted(call) {
            case .success(let caller): enrollment = caller
            case .failure(let refusal): return .other(.refused(refusal))
            }
            guard enrollment.keys != nil, let target = try work.targets.find(of: id, enrollment: enrollment.id),
                let challenge = try work.challenges.find(id)
            else { return .other(.notFound) }
            if let status = try work.endedStatusForDevice(of: challenge) { return .other(.alreadyEnded(status)) }
            if target.fetchedAt == nil { try work.recordFetch(of: challenge, by: enrollment) }
            return .challenge(
                challenge, for: enrollment,
                attemptsLeft: try work.stores.attemptsLeft(of: enrollment, for: challenge, at: now))
        }
        switch admitted {
        case .other(let outcome): return outcome
        case .challenge(let challenge, let enrollment, let attemptsLeft):
            return try await ports.sealed(challenge, attemptsLeft: attemptsLeft, to: enrollment, at: now)
                .map(Outcome.message) ?? .notFound
        }
    }

    private enum Admission: Sendable {
        case challenge(Challenge, for: Enrollment, attemptsLeft: Int?)
        case other(Outcome)
    }
}
