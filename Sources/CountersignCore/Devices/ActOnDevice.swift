package import CountersignWire
import Encodings
import OpenPGP

/// Suspends, resumes or removes another device of the user, for a device that counts itself.
///
/// Spec: design 13 §1.6 and §2.3.
package enum ActOnDevice {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// It is so now, or was before.
        case done
        /// The call is refused.
        case refused(DeviceRefusal)
        /// The calling device waits to be added itself.
        case waiting
        /// The user has no such device.
        case notFound
        /// The device waits, and can be removed only.
        case otherWaits
        /// What was signed is not what is asked for, or by somebody else: one outcome for every cause.
        case invalid
        /// It needs the signature of a method: this one, or any where the device has none that counts.
        case notAuthorized(needs: ChangeMethods.Authority)
        /// The PIN that should have signed is wrong.
        case pinIncorrect(attemptsLeft: Int)
        /// A wrong PIN was typed too often before.
        case pinLocked
        /// Too many refused ones.
        case rateLimited(retryAfter: Seconds)
    }

    /// Suspends, resumes or removes another device of the user.
    ///
    /// - Parameters:
    ///   - kind: what to do.
    ///   - other: with which device.
    ///   - authorization: the ``DeviceAct``, sealed and signed by a method's key.
    ///   - call: the device's call.
    ///   - ports: the world.
    package static func act(
        _ kind: DeviceAct.Kind, on other: EnrollmentID, _ authorization: [UInt8]?, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let caller = call.enrollment
        let (proof, nonce) = try await proof(authorization, of: kind, on: other, by: caller, at: now, ports)
        let repeated = authorization.map { IdempotencyKey(ofAct: $0, by: caller.id) }
        return try await ports.commit(at: now, as: call.actor) { work in
            try work.users.lock(caller.user)
            try work.enrollments.lock(caller.id)
            let refusal = try work.admit(call)
            if let repeated, let earlier = try ChangeMethods.outcome(ofEarlier: repeated, caller, in: work) {
                return refusal.map(Outcome.refused) ?? Outcome(earlier)
            }
            // A wrong PIN that was looked at counts, also where the request is not let in.
            if case .wrongPIN(let pin) = proof, let repeated {
                let counted = Outcome(
                    try ChangeMethods.count(pin, repeated, by: caller, in: work))
                return refusal.map(Outcome.refused) ?? counted
            }
            if let refusal { return .refused(refusal) }
            let trust = try work.trustState(of: caller.user)
            guard let current = trust.enrollments.first(where: { $0.id == caller.id }), current.isLetIn(at: now)
            else { return .waiting }
            guard let target = trust.enrollments.first(where: { $0.id == other }), other != caller.id else {
                return .notFound
            }
            if target.isAlready(kind) { return .done }
            guard target.counts(at: now) || kind == .remove else { return .otherWaits }
            // What waits can be undone by every device that is let in.
            if target.counts(at: now), trust.isGuarded(besides: kind == .resume ? nil : other) {
                guard let nonce, current.isProved(by: proof, like: caller, at: now) else {
                    return try unproved(proof, current, in: work)
                }
                guard try ChangeMethods.spend(nonce, of: caller, in: work) else {
                    return Outcome(try ChangeMethods.refuse(caller, "nonce", in: work))
                }
            }
            try work.carryOut(kind, on: target)
            if let repeated { try work.replies.insert(KeptChange.changed.kept, for: repeated, at: work.now) }
            return .done
        }
    }

    /// What the signature proves, with the nonce that it covers.
    private static func proof(
        _ authorization: [UInt8]?, of kind: DeviceAct.Kind, on other: EnrollmentID, by caller: Enrollment,
        at now: Timestamp, _ ports: Ports
    ) async throws -> (MethodProof, Nonce?) {
        guard let authorization else { return (.none, nil) }
        let keys = try ports.keys.current()
        let opened = try? await keys.openWithoutVerifying(
            authorization, intendedRecipient: keys.certificate.fingerprint)
        guard let opened, let act = String(strictUTF8: opened.content).flatMap({ DeviceAct($0) }),
            act.issuer == ports.issuer, act.enrollment == caller.id, act.kind == kind, act.device == other,
            ChangeMethods.isFresh(act.nonce, of: caller.id, at: now, ports.hasher)
        else { return (.invalid, nil) }
        let methods = [AnswerMethod.biometric, .pin].filter { caller.counts($0, at: now) }
        return (MethodProof(opened, by: methods, of: caller, at: now), act.nonce)
    }

    private static func unproved(
        _ proof: MethodProof, _ caller: Enrollment, in work: UnitOfWork
    ) throws -> Outcome {
        switch proof {
        case .pinLocked: return .pinLocked
        case .none, .missing:
            let needed: ChangeMethods.Authority =
                caller.counts(.pin, at: work.now)
                ? .pin : caller.counts(.biometric, at: work.now) ? .biometric : .method
            return .notAuthorized(needs: needed)
        case .invalid, .signed, .wrongPIN:
            return Outcome(try ChangeMethods.refuse(caller, "authorization", in: work))
        }
    }
}

extension ActOnDevice.Outcome {
    /// What a part that changes of methods and acts have in common comes to.
    fileprivate init(_ outcome: ChangeMethods.Outcome) {
        switch outcome {
        case .changed: self = .done
        case .refused(let refusal): self = .refused(refusal)
        case .pinIncorrect(let attemptsLeft): self = .pinIncorrect(attemptsLeft: attemptsLeft)
        case .pinLocked: self = .pinLocked
        case .notAuthorized(let needed): self = .notAuthorized(needs: needed)
        case .rateLimited(let seconds): self = .rateLimited(retryAfter: seconds)
        case .invalid, .blocked, .certificateFull, .customRetry, .customFailed, .customNotRegistered,
            .customUnavailable:
            self = .invalid
        }
    }
}

extension Enrollment {
    /// Whether an act would change nothing.
    fileprivate func isAlready(_ kind: DeviceAct.Kind) -> Bool {
        switch (kind, state) {
        case (.suspend, .suspended), (.resume, .active): true
        default: false
        }
    }

    /// Whether a method that counts has signed, and is still the one there is.
    fileprivate func isProved(by proof: MethodProof, like judged: Enrollment, at now: Timestamp) -> Bool {
        guard case .signed(let method) = proof, counts(method, at: now),
            key(of: method)?.fingerprint == judged.key(of: method)?.fingerprint
        else { return false }
        return method != .pin || pin?.lockedAt == nil
    }
}

extension IdempotencyKey {
    /// Names an act by what was signed.
    fileprivate init(ofAct authorization: [UInt8], by enrollment: EnrollmentID) {
        let digest = MessageDigest(of: authorization)
        guard let key = IdempotencyKey(scope: "act \(enrollment)", key: digest.hex, requestDigest: digest)
        else { preconditionFailure("hexadecimal digits are a key") }
        self = key
    }
}
