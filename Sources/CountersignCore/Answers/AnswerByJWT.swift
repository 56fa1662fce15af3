package import CountersignWire
import JOSE

/// Accepts the answer of a device that has JWKs: a signed JWT, which is also what shows who calls.
///
/// The order of checks is that of ``AnswerChallenge``, with the signature first, since nothing else authenticates the
/// call. Until it is verified, nothing is written, and one outcome says nothing of who exists.
/// Spec: docs/protocol/jwk-devices.md, *Checks*.
package enum AnswerByJWT {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The answer has decided the challenge, now or when the same answer came before.
        case decided(ChallengeStatus)
        /// No device that is known has signed the answer.
        case notSigned
        /// The device is suspended or removed, or has used the answer's `jti` before.
        case refused(DeviceRefusal)
        /// No such challenge was put to the device.
        case notFound
        /// The challenge had ended before, and not by this answer.
        case alreadyEnded(ChallengeStatus)
        /// The answer is refused; the device gets the same error for every fault.
        case invalid(AnswerFault)
        /// There were too many refused answers.
        case rateLimited(retryAfter: Seconds)
    }

    /// Checks an answer and stores the result.
    ///
    /// - Parameters:
    ///   - token: the signed JWT.
    ///   - id: the challenge that the request names.
    ///   - vendor: the vendor whose calls the app must be allowed to make that has enrolled the device; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func answer(
        _ token: String, to id: ChallengeID, making vendor: Vendor? = nil, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        guard token.utf8.count <= JWTAnswer.maximumSize,
            let named = JWS.unverifiedIssuer(of: token).flatMap({ EnrollmentID($0) })
        else { return .notSigned }
        let digest = MessageDigest(of: Array(token.utf8))
        let found = try await ports.store.read { reader in
            try Facts(id, by: named, digest: digest, making: vendor, from: reader)
        }
        guard let facts = found, let answer = try? JWTAnswer(token, by: facts.keys),
            answer.enrollment == facts.enrollment.id
        else { return .notSigned }
        let enrollment = facts.enrollment
        let finding = facts.finding(of: answer, token, issuer: ports.issuer, at: now)
        // It is remembered until the answer is refused for its age; one of the future for no longer than others.
        let end = min(
            Timestamp(seconds: answer.expiresAt), now.adding(JWTAnswer.longestLife + AnswerChallenge.tolerance))
        let once = ReplayGuard(
            answer.id, of: "jwt \(enrollment.id)", until: end.adding(AnswerChallenge.tolerance + ReplayGuard.margin))
        return try await ports.commit(at: now, as: .device(enrollment.id)) { work in
            if let refusal = try work.stores.refusal(of: enrollment.id, issuer: work.issuer) {
                return .refused(refusal)
            }
            let settling = SettleAnswer(id: id, digest: digest, enrollment: enrollment, work: work)
            // Of one answer that comes twice at once the second waits here, and then finds what came of the first.
            let replay = try work.spend(once)
            // The same answer sent again is no replay of another one.
            if let recorded = try work.answers.find(by: enrollment.id, digest: digest) {
                guard recorded.challenge == id else { return Outcome(try settling.refuse(because: .otherChallenge)) }
                return Outcome(try settling.settle(.repeated(recorded)))
            }
            if let replay { return .refused(replay) }
            return Outcome(try settling.settle(finding))
        }
    }

    /// The rows that are read before the answer is verified.
    private struct Facts: Sendable {
        let enrollment: Enrollment
        let keys: DeviceJWKs
        let answering: AnsweringFacts?
        let type: ChallengeType?

        /// The facts; nil if there is no such enrollment, its device has no JWKs, or its app makes no such calls.
        init?(
            _ id: ChallengeID, by named: EnrollmentID, digest: MessageDigest, making vendor: Vendor?,
            from reader: any Stores
        ) throws {
            guard let enrollment = try reader.enrollments.find(named), let keys = enrollment.jwks else { return nil }
            if let vendor {
                let vendors = try reader.clients.find(enrollment.client)?.vendors ?? []
                // check: OktaAnswerTests.switchedOff
                guard vendors.contains(vendor) else { return nil }
            }
            self.enrollment = enrollment
            self.keys = keys
            let answering = try reader.answers.answering(id, by: named, digest: digest)
            self.answering = answering
            type = try answering.flatMap { try reader.types.find($0.challenge.question.type) }
        }

        /// Makes checks 2 to 7.
        func finding(
            of answer: JWTAnswer, _ token: String, issuer: Issuer, at now: Timestamp
        ) -> AnswerChallenge.Finding {
            guard let answering, answering.isTarget, answering.challenge.user == enrollment.user else {
                return .notFound
            }
            let challenge = answering.challenge
            guard challenge.isOpen(at: now) else { return .ended(challenge) }
            let verifier = JWTVerifier(
                challenge: challenge, type: type, enrollment: enrollment, keys: keys, issuer: issuer, now: now)
            return .judged(challenge, verifier.verify(answer, token))
        }
    }
}

extension AnswerByJWT.Outcome {
    /// The outcome of an answer by JWT for that of the steps that all answers share.
    fileprivate init(_ outcome: AnswerChallenge.Outcome) {
        switch outcome {
        case .decided(let reply): self = .decided(reply.status)
        case .refused(let refusal): self = .refused(refusal)
        case .notFound: self = .notFound
        case .alreadyEnded(let status): self = .alreadyEnded(status)
        case .invalid(let fault): self = .invalid(fault)
        case .rateLimited(let seconds): self = .rateLimited(retryAfter: seconds)
        // A device with JWKs has neither a PIN nor a custom authenticator.
        case .pinIncorrect, .pinLocked, .customRetry, .customFailed, .customNotRegistered, .customUnavailable:
            self = .invalid(.method)
        }
    }
}
