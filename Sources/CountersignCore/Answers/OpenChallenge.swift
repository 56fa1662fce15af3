package import CountersignWire
import Encodings
import OpenPGP

/// Gives a device what it was asked, sealed to its key.
package enum OpenChallenge {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The sealed challenge: a binary OpenPGP message.
        case message([UInt8])
        /// The call of the device is refused.
        case refused(DeviceRefusal)
        /// The device was put no such challenge.
        case notFound
        /// It has ended.
        case alreadyEnded(ChallengeStatus)
    }

    /// Seals a pending challenge for the calling device.
    ///
    /// The first time is recorded.
    package static func open(_ id: ChallengeID, for call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let enrollment = call.enrollment
        let admitted: Admission = try await ports.commit(at: now, as: call.actor) { work in
            if let refusal = try work.admit(call) { return .other(.refused(refusal)) }
            guard let target = try work.targets.find(of: id, enrollment: enrollment.id),
                let challenge = try work.challenges.find(id)
            else { return .other(.notFound) }
            if let status = try work.endedStatusForDevice(of: challenge) { return .other(.alreadyEnded(status)) }
            if target.fetchedAt == nil {
                try work.targets.recordFetch(of: id, by: enrollment.id, at: now)
                try work.raise(.challengeFetched(challenge, by: enrollment))
            }
            guard challenge.methods.contains(.pin) else { return .challenge(challenge, attemptsLeft: nil) }
            let attemptsLeft = try work.stores.attemptsLeft(of: enrollment)
            let triesLeft = try work.triesLeft(of: challenge)
            return .challenge(challenge, attemptsLeft: min(attemptsLeft, triesLeft))
        }
        switch admitted {
        case .other(let outcome): return outcome
        case .challenge(let challenge, let attemptsLeft):
            let body = challenge.body(for: enrollment, attemptsLeft: attemptsLeft)
            return .message(try await ports.seal(body.json, to: enrollment, at: now))
        }
    }

    private enum Admission: Sendable {
        case challenge(Challenge, attemptsLeft: Int?)
        case other(Outcome)
    }
}

extension Ports {
    /// Signs something as the issuer and seals it to a device: a binary OpenPGP message.
    func seal(_ json: JSONValue, to enrollment: Enrollment, at now: Timestamp) async throws -> [UInt8] {
        try await EncryptedMessage.seal(
            .binary(json.encoded), signedBy: try keys.current().signing, to: enrollment.keys.encryption.publicKey,
            intendedRecipient: enrollment.keys.primary.fingerprint, at: now.unixSeconds)
    }
}
