package import CountersignWire

/// Takes a device's answer, by nine checks in this order.
///
/// - 1, the HTTP signature of an active enrollment: `VerifyDevice.swift`, whose call this takes.
/// - 2, the challenge was put to this enrollment, and 3, it is pending and its time is not over: this file.
/// - 4, the answer opens and has one signature of the right form, 5, it says what was asked, 6, it is signed by the key
///   that proves the method, and 7, the number: `ReceiptVerifier.swift`.
/// - 8, what a custom authenticator says: `CustomAnswer.swift`.
/// - 9, one transaction that repeats the conditions: `SettleAnswer.swift`.
///
/// Spec: design 3.8.
package enum AnswerChallenge {
    /// How far `answered` may lie outside the time from first fetch to now.
    static let tolerance = Seconds.minutes(1)

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The challenge has ended with this answer, or did when the same answer came before.
        case decided(AnswerReply)
        /// The call of the device is refused.
        case refused(DeviceRefusal)
        /// The device was put no such challenge.
        case notFound
        /// It had ended, by something else than this answer.
        case alreadyEnded(ChallengeStatus)
        /// The answer is refused: to the device one outcome for every cause.
        case invalid(AnswerFault)
        /// The PIN is wrong; the challenge can be answered again unless that was the last attempt.
        case pinIncorrect(attemptsLeft: Int)
        /// A wrong PIN was typed too often before.
        case pinLocked
        /// The custom authenticator wants another try; the challenge stays pending.
        case customRetry(CustomReply)
        /// The custom authenticator refused, and is not registered any more; its payload.
        case customFailed(payload: String?)
        /// The custom authenticator is not registered.
        case customNotRegistered
        /// The custom authenticator cannot be asked now; nothing was counted.
        case customUnavailable
        /// Too many refused answers.
        case rateLimited(retryAfter: Seconds)
    }

    /// Takes an answer.
    ///
    /// - Parameters:
    ///   - request: the sealed receipt, with the sealed data for a custom authenticator.
    ///   - id: the challenge it answers.
    ///   - call: the device's call.
    ///   - ports: the external dependencies.
    package static func answer(
        _ request: AnswerRequest, to id: ChallengeID, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        // What is sealed differs each time: the receipt's bytes tell all of an answer apart, for it names the data.
        let digest = MessageDigest(of: request.message)
        let facts = try await ports.store.read { try Facts(id, by: call.enrollment.id, digest: digest, from: $0) }
        let finding = try await judge(request, facts, by: call.enrollment, at: now, ports: ports)
        let outcome: Outcome
        if case .custom(let answer) = finding {
            outcome = try await answer.settled(digest: digest, call, at: now, ports: ports)
        } else {
            outcome = try await ports.commit(at: now, as: call.actor) { work in
                try SettleAnswer(id: id, digest: digest, enrollment: call.enrollment, work: work)
                    .settle(finding, of: call)
            }
        }
        guard case .decided(var reply) = outcome, reply.status.state == "approved",
            facts.challenge?.channel.returnURI != nil
        else { return outcome }
        let message = ReturnMessage(
            issuer: ports.issuer, challenge: id, enrollment: call.enrollment.id, code: ports.hasher.returnCode(of: id))
        reply.returnMessage = try await ports.seal(message.json, to: call.enrollment, at: now)
        return .decided(reply)
    }

    /// What is known before the answer is opened.
    struct Facts: Sendable {
        let challenge: Challenge?
        let target: ChallengeTarget?
        let certificate: [UInt8]?
        let recorded: RecordedAnswer?

        init(_ id: ChallengeID, by enrollment: EnrollmentID, digest: MessageDigest, from reader: any Stores) throws {
            recorded = try reader.answers.find(by: enrollment, digest: digest)
            target = try reader.targets.find(of: id, enrollment: enrollment)
            challenge = try reader.challenges.find(id)
            certificate = try reader.methods.certificate(of: enrollment)
        }
    }

    /// What an answer amounts to, before the transaction that makes it count.
    enum Finding: Sendable {
        case notFound
        case repeated(RecordedAnswer)
        case ended(Challenge)
        case judged(Challenge, AnswerVerdict)
        case custom(CustomAnswer)
    }

    /// Checks 2 to 7, and the data that check 8 needs.
    private static func judge(
        _ request: AnswerRequest, _ facts: Facts, by enrollment: Enrollment, at now: Timestamp, ports: Ports
    ) async throws -> Finding {
        // 2: put to this enrollment. A repeat of an answer already decided comes first: its challenge has ended by it.
        guard let target = facts.target, let challenge = facts.challenge, let certificate = facts.certificate,
            challenge.user == enrollment.user
        else { return .notFound }
        if let recorded = facts.recorded {
            return recorded.challenge == challenge.id
                ? .repeated(recorded) : .judged(challenge, .invalid(.otherChallenge))
        }
        // 3: pending and unexpired.
        guard challenge.isOpen(at: now) else { return .ended(challenge) }
        let verdict: AnswerVerdict
        switch enrollment.credential {
        case .openPGP:
            let verifier = ReceiptVerifier(
                challenge: challenge, fetchedAt: target.fetchedAt, enrollment: enrollment, certificate: certificate,
                keys: try ports.keys.current(), hasher: ports.hasher, now: now)
            verdict = await verifier.verify(request.message)
        }
        guard case .verified(let answer) = verdict, case .approved(.custom(let name), _) = answer.decision else {
            return .judged(challenge, verdict)
        }
        let custom = try await CustomAnswer(
            answer, to: challenge, by: name, request.customData, from: enrollment, at: now, ports: ports)
        return custom.map(Finding.custom) ?? .judged(challenge, .invalid(.customData))
    }
}
