package import CountersignWire
import Encodings
import OpenPGP

/// Suspends, resumes or removes another device of the user, at the request of a device that is let in.
///
/// Spec: docs/protocol/devices.md, *An act*.
package enum ActOnDevice {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The other device is in the wanted state, now or since before.
        case done
        /// The call is refused.
        case refused(DeviceRefusal)
        /// The calling device itself still waits to be added.
        case waiting
        /// The user has no such device, or it is the calling device.
        case notFound
        /// The other device still waits to be added, so it can only be removed.
        case otherWaits
        /// The authorization is not valid for this act; all causes have this one outcome.
        case invalid
        /// The act needs a method's signature; `needs` is the method, or `method` if the device has none that counts.
        case notAuthorized(needs: ChangeMethods.Authority)
        /// The authorization was made with a wrong PIN.
        case pinIncorrect(attemptsLeft: Int)
        /// The PIN is locked, because a wrong one was typed too often.
        case pinLocked
        /// Too many acts and changes of the calling device were refused.
        case rateLimited(retryAfter: Seconds)
    }

    /// Suspends, resumes or removes another device of the user.
    ///
    /// - Parameters:
    ///   - kind: the act.
    ///   - other: the enrollment of the other device.
    ///   - authorization: the ``DeviceAct``, sealed and signed by a method's key: a binary OpenPGP message; nil if the
    ///     device sent none.
    ///   - call: the call of the acting device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func act(
        _ kind: DeviceAct.Kind, on other: EnrollmentID, _ authorization: [UInt8]?, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let caller: Enrollment
        switch try await ports.store.read({ try $0.caller(of: call, issuer: ports.issuer) }) {
        case .success(let enrollment): caller = enrollment
        case .failure(let refusal): return .refused(refusal)
        }
        let (proof, nonce) = try await proof(authorization, of: kind, on: other, by: caller, at: now, ports)
        let repeated = authorization.map { IdempotencyKey(ofAct: $0, by: caller.id) }
        return try await ports.commit(at: now, as: call.actor) { work in
            try work.users.lock(caller.user)
            try work.enrollments.lock(caller.id)
            let refusal = try work.admit(call)
            if let repeated, let earlier = try ChangeMethods.outcome(ofEarlier: repeated, caller, in: work) {
                return refusal.map(Outcome.refused) ?? Outcome(earlier)
            }
            // A wrong PIN that was verified counts, even if the request is refused.
            if case .wrongPIN(let pin) = proof, let repeated {
                let counted = Outcome(
                    try ChangeMethods.count(pin, repeated, by: caller, in: work))
                return refusal.map(Outcome.refused) ?? counted
            }
            if let refusal { return .refused(refusal) }
            let all = try work.enrollments.active(of: caller.user)
            guard let current = all.first(where: { $0.id == caller.id }), current.isLetIn(at: now)
            else { return .waiting }
            // A device that signs nothing of what it shows acts on no other one.
            // check: AnswerByJWTTests.acts
            guard current.signsReceipts else { return .notAuthorized(needs: .method) }
            guard let target = all.first(where: { $0.id == other }), other != caller.id, current.mayActOn(target) else {
                return .notFound
            }
            if target.isAlready(kind) { return .done }
            guard target.counts(at: now) || kind == .remove else { return .otherWaits }
            // Every device that is let in can remove a device that waits, without a method's signature.
            let isGuarded =
                try target.counts(at: now)
                && Set([current.trustGroup, target.trustGroup]).contains { group in
                    try work.trustState(
                        of: caller.user, in: group, among: all, besides: kind == .resume ? nil : other
                    ).isGuarded()
                }
            if isGuarded {
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

    /// Opens the authorization, and returns what its signature proves and the nonce that it covers.
    private static func proof(
        _ authorization: [UInt8]?, of kind: DeviceAct.Kind, on other: EnrollmentID, by caller: Enrollment,
        at now: Timestamp, _ ports: Ports
    ) async throws -> (MethodProof, Nonce?) {
        guard let authorization else { return (.none, nil) }
        let keys = try ports.keys.current()
        let opened = try? await keys.openWithoutVerifying(
            authorization, intendedRecipient: keys.certificate.fingerprint)
        guard let opened, let act = String(strictUTF8: opened.content).flatMap({ DeviceAct($0) }),
            act.isFor(ports.issuer, kind, by: caller.id, on: other),
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
    /// The outcome of an act for the outcome of a step that acts share with changes of methods.
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
    /// Whether the device is already in the state that the act leads to.
    fileprivate func isAlready(_ kind: DeviceAct.Kind) -> Bool {
        switch (kind, state) {
        case (.suspend, .suspended), (.resume, .active): true
        default: false
        }
    }

    /// Whether a method signed that counts, is not locked, and has the same key as when the signature was verified.
    fileprivate func isProved(by proof: MethodProof, like judged: Enrollment, at now: Timestamp) -> Bool {
        guard case .signed(let method) = proof, counts(method, at: now),
            key(of: method)?.fingerprint == judged.key(of: method)?.fingerprint
        else { return false }
        return method != .pin || pin?.lockedAt == nil
    }
}

extension IdempotencyKey {
    /// Identifies an act by its authorization, so that a repeat of the request is recognized.
    fileprivate init(ofAct authorization: [UInt8], by enrollment: EnrollmentID) {
        let digest = MessageDigest(of: authorization)
        guard let key = IdempotencyKey(scope: "act \(enrollment)", key: digest.hex, requestDigest: digest)
        else { preconditionFailure("hexadecimal digits are a key") }
        self = key
    }
}
