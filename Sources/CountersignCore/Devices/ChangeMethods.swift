package import CountersignWire
import Encodings
import OpenPGP

/// Sets, replaces and removes the methods of an enrollment.
///
/// Spec: docs/protocol/methods.md, *A change*.
package enum ChangeMethods {
    /// How long after it was made a nonce is accepted.
    static let nonceLifetime = Seconds.minutes(5)

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The change is made, now or by an earlier copy of the request; `payload` is what the hook says to the app.
        case changed(payload: String?)
        /// The call is refused.
        case refused(DeviceRefusal)
        /// The change is not valid; all causes have this one outcome.
        case invalid
        /// The change needs a further authorization: the signature of the PIN or of the biometric, or a ticket.
        case notAuthorized(needs: Authority)
        /// The client that made the ticket does not let the user enroll devices.
        case blocked
        /// The authorization was made with a wrong PIN.
        case pinIncorrect(attemptsLeft: Int)
        /// The PIN is locked, because a wrong one was typed too often.
        case pinLocked
        /// The certificate has no room for a further key.
        case certificateFull
        /// The hook of the custom authenticator asks for another try; `payload` is what it says to the app.
        case customRetry(payload: String?)
        /// The hook of the custom authenticator refuses; `payload` is what it says to the app.
        case customFailed(payload: String?)
        /// The client or its hook does not know the authenticator, or the authenticator to remove is not registered.
        case customNotRegistered
        /// The hook of the custom authenticator cannot be reached, or does not answer in time.
        case customUnavailable
        /// Too many changes or acts of the device were refused, or it sent too many registrations.
        case rateLimited(retryAfter: Seconds)
    }

    /// An authorization that a change or an act can need.
    package enum Authority: String, Sendable {
        /// The signature of the PIN that is set.
        case pin
        /// The signature of the biometric that is registered.
        case biometric
        /// The signature of any method; the device has none that counts.
        case method
        /// A ticket for the same user.
        case ticket
    }

    /// Sets, replaces or removes a method of the calling device.
    ///
    /// - Parameters:
    ///   - request: the signed change, with its authorization, custom data and ticket as far as it needs them.
    ///   - call: the call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func change(
        _ request: MethodChangeRequest, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let enrollment: Enrollment
        switch try await ports.store.read({ try $0.caller(of: call, issuer: ports.issuer) }) {
        case .success(let caller): enrollment = caller
        case .failure(let refusal): return .refused(refusal)
        }
        let verdict = try await judge(request, by: enrollment, at: now, ports: ports)
        let repeated = IdempotencyKey(ofChange: request, by: enrollment.id)
        let step = try await ports.commit(at: now, as: call.actor) { work in
            try work.users.lock(enrollment.user)
            try work.enrollments.lock(enrollment.id)
            let refusal = try work.admit(call)
            // If the reply was lost, the device sends the same change again. It gets the same reply, and nothing
            // counts twice.
            if let earlier = try outcome(ofEarlier: repeated, enrollment, in: work) {
                return Step.ended(refusal.map(Outcome.refused) ?? earlier)
            }
            // A wrong PIN that was verified counts, even if the request is refused.
            if let refusal {
                guard case .wrongPIN = verdict else { return .ended(.refused(refusal)) }
            }
            let step = try settle(verdict, request.ticket, repeated, by: enrollment, in: work)
            return refusal.map { .ended(.refused($0)) } ?? step
        }
        switch step {
        case .ended(let outcome): return outcome
        case .asking(let question, let registration):
            return try await register(
                registration, request.ticket, repeated, by: enrollment, asking: question, ports: ports)
        }
    }

    /// The state of a change after the first transaction: it has ended, or the hook must be asked.
    enum Step: Sendable {
        case ended(Outcome)
        case asking(HookQuestion, Registration)
    }

    /// The outcome of an earlier copy of the same request; nil if there was none.
    ///
    /// - Parameters:
    ///   - key: identifies the request.
    ///   - enrollment: the calling device's enrollment, as it was read before the transaction.
    ///   - work: the transaction.
    /// - Throws: ``StoreError``.
    static func outcome(
        ofEarlier key: IdempotencyKey, _ enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome? {
        guard let earlier = try work.replies.find(key) else { return nil }
        guard let change = KeptChange(kept: earlier.form) else { throw StoreError.corruptRow("reply") }
        switch change {
        case .changed: return .changed(payload: nil)
        case .judged(let verdict): return Outcome(verdict)
        case .pinIncorrect:
            let current = try work.enrollments.find(enrollment.id) ?? enrollment
            return .pinIncorrect(attemptsLeft: try work.stores.attemptsLeft(of: current))
        }
    }

    /// Counts a wrong PIN, and records the outcome for repeats of the request.
    ///
    /// - Parameters:
    ///   - pin: the PIN that should have signed.
    ///   - repeated: identifies the request.
    ///   - enrollment: the calling device's enrollment.
    ///   - work: the transaction.
    /// - Throws: ``StoreError``.
    static func count(
        _ pin: EnrolledPIN, _ repeated: IdempotencyKey, by enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome {
        switch try work.noteWrongPIN(besides: pin.key, of: enrollment) {
        case .counted(let attemptsLeft):
            try work.replies.insert(KeptChange.pinIncorrect.kept, for: repeated, at: work.now)
            return .pinIncorrect(attemptsLeft: attemptsLeft)
        case .locked: return .pinLocked
        case .changed: return try refuse(enrollment, "old", in: work)
        }
    }

    /// The result of the checks that precede the transaction.
    private enum Verdict: Sendable {
        case invalid(reason: String)
        case pinLocked
        case unauthorized(needs: Authority)
        case wrongPIN(EnrolledPIN)
        case certificateFull
        case good(MethodChange, grown: Certificate, new: CertifiedKey?, signedBy: AnswerMethod?)
        case register(Registration)
        case deregister(AuthenticatorChange, signedBy: AnswerMethod?)
    }

    private static func judge(
        _ request: MethodChangeRequest, by enrollment: Enrollment, at now: Timestamp, ports: Ports
    ) async throws -> Verdict {
        let latest = now.adding(ReplayGuard.tolerance).unixSeconds
        let keys = try ports.keys.current()
        let opened = try? await keys.open(request.message, signedBy: enrollment, now: latest)
        guard let opened, opened.signature.type == .text else { return .invalid(reason: "message") }
        guard let change = String(strictUTF8: opened.content).flatMap({ SignedChange($0) }),
            change.header.issuer == ports.issuer, change.header.enrollment == enrollment.id
        else { return .invalid(reason: "text") }
        guard isFresh(change.header.nonce, of: enrollment.id, at: now, ports.hasher) else {
            return .invalid(reason: "nonce")
        }
        var signer: AnswerMethod?
        switch try await proof(of: change, request.authorization, opened.content, by: enrollment, at: now, ports) {
        case .none: break
        case .signed(let method): signer = method
        case .missing(let needed): return .unauthorized(needs: needed)
        case .invalid: return .invalid(reason: "authorization")
        case .wrongPIN(let pin): return .wrongPIN(pin)
        case .pinLocked: return .pinLocked
        }
        switch change {
        case .key(let change): return try await judge(change, of: enrollment, signedBy: signer, latest, ports: ports)
        case .custom(let change):
            guard let hash = change.customDataHash else { return .deregister(change, signedBy: signer) }
            guard let sealed = request.customData, MessageDigest(of: sealed).bytes == hash,
                let data = try await CustomData(sealed, from: enrollment, at: now, ports: ports)
            else { return .invalid(reason: "custom_data") }
            return .register(Registration(change: change, dataHash: hash, data: data, signedBy: signer))
        }
    }

    private static func judge(
        _ change: MethodChange, of enrollment: Enrollment, signedBy signer: AnswerMethod?, _ latest: UnixSeconds,
        ports: Ports
    ) async throws -> Verdict {
        guard change.old == enrollment.key(of: change.method)?.fingerprint else { return .invalid(reason: "old") }
        guard let bytes = try await ports.store.read({ try $0.methods.certificate(of: enrollment.id) }),
            let stored = try? Certificate(parsing: bytes)
        else { throw StoreError.corruptRow("certificate") }
        do throws(DeviceCertificateRefusal) {
            let (grown, new) = try DeviceKeys.grown(stored, by: change, now: latest)
            return .good(change, grown: grown, new: new, signedBy: signer)
        } catch {
            if case .size = error { return .certificateFull }
            return .invalid(reason: "certificate")
        }
    }

    /// Verifies the authorization of a change: the signature of a method, besides that of the primary key.
    private static func proof(
        of change: SignedChange, _ authorization: [UInt8]?, _ content: [UInt8], by enrollment: Enrollment,
        at now: Timestamp, _ ports: Ports
    ) async throws -> MethodProof {
        let signers = enrollment.signers(of: change, at: now)
        guard let authorization else { return signers.isNeeded ? .missing(signers.named) : .none }
        guard !signers.methods.isEmpty else { return .none }
        let keys = try ports.keys.current()
        let opened = try? await keys.openWithoutVerifying(
            authorization, intendedRecipient: keys.certificate.fingerprint)
        guard let opened, opened.content == content else { return .invalid }
        return MethodProof(opened, by: signers.methods, of: enrollment, at: now)
    }

    private static func settle(
        _ verdict: Verdict, _ ticket: Secret<String>?, _ repeated: IdempotencyKey, by enrollment: Enrollment,
        in work: UnitOfWork
    ) throws -> Step {
        switch verdict {
        case .pinLocked: return .ended(.pinLocked)
        case .certificateFull: return .ended(.certificateFull)
        case .unauthorized(let needed): return .ended(.notAuthorized(needs: needed))
        case .invalid(let reason): return .ended(try refuse(enrollment, reason, in: work))
        case .wrongPIN(let pin): return .ended(try count(pin, repeated, by: enrollment, in: work))
        case .good(let change, let grown, let new, let signer):
            guard try work.enrollments.find(enrollment.id)?.key(of: change.method)?.fingerprint == change.old else {
                return .ended(try refuse(enrollment, "old", in: work))
            }
            let countsFrom: Timestamp
            switch try permit(.key(change), change.header.nonce, ticket, signedBy: signer, of: enrollment, in: work) {
            case .granted(let time): countsFrom = time
            case .refused(let outcome): return .ended(outcome)
            }
            try work.methods.put(
                new, for: change.method, of: enrollment.id, certificate: grown.encoded, countsFrom: countsFrom)
            let kind: MethodEvent.Change = change.old == nil ? .set : change.new == nil ? .removed : .replaced
            return .ended(
                try conclude(
                    change.method, kind, countsFrom: new.map { _ in countsFrom }, repeated, of: enrollment, in: work))
        case .deregister(let change, let signer):
            guard let current = try work.enrollments.find(enrollment.id), current.customs[change.name] != nil else {
                return .ended(.customNotRegistered)
            }
            let permit = try permit(
                .custom(change), change.header.nonce, ticket, signedBy: signer, of: enrollment, in: work)
            if case .refused(let outcome) = permit { return .ended(outcome) }
            try work.dropAuthenticator(change.name, of: current)
            return .ended(
                try conclude(
                    .custom(change.name), .removed, countsFrom: nil, repeated, of: enrollment, in: work))
        case .register(let registration):
            return try begin(registration, ticket, of: enrollment, in: work)
        }
    }

    /// Records a change that was made: its wait, its consequences, and the outcome for repeats of the request.
    ///
    /// - Parameters:
    ///   - method: the method that was changed.
    ///   - kind: how it was changed.
    ///   - countsFrom: from when the new key or authenticator counts; nil if the method was removed.
    ///   - verdict: the verdict of the hook; nil if none was asked.
    ///   - repeated: identifies the request.
    ///   - enrollment: the enrollment of the device.
    ///   - work: the transaction.
    /// - Throws: ``StoreError``.
    static func conclude(
        _ method: AnswerMethod, _ kind: MethodEvent.Change, countsFrom: Timestamp?, by verdict: HookVerdict? = nil,
        _ repeated: IdempotencyKey, of enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome {
        let until = countsFrom.flatMap { enrollment.hasCome($0, at: work.now) ? nil : $0 }
        if let until {
            try work.waits.insert(method, of: enrollment.id, until: until)
        } else {
            try work.waits.delete(method, of: enrollment.id)
        }
        try work.raise(.methodChanged(MethodEvent(method: method, change: kind, until: until), of: enrollment))
        try work.replies.insert(
            (verdict.map(KeptChange.judged) ?? .changed).kept, for: repeated, at: work.now)
        return .changed(payload: verdict?.payload)
    }

    /// Whether a change may be made, and from when the new key or authenticator counts.
    enum Permit {
        case granted(countsFrom: Timestamp)
        case refused(Outcome)
    }

    /// Checks in the transaction whether a change is still authorized, and spends its ticket and nonce.
    ///
    /// Spec: docs/protocol/methods.md, *Which authorization is needed*.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - nonce: the nonce of the change; nil if it is spent already.
    ///   - ticket: the secret of a ticket; nil if the device sent none.
    ///   - signer: the method that has signed besides the primary key; nil if none has.
    ///   - enrollment: the enrollment whose methods change, as it was when the signatures were verified.
    ///   - work: the transaction, which holds the lock of the enrollment.
    /// - Throws: ``StoreError``.
    static func permit(
        _ change: SignedChange, _ nonce: Nonce?, _ ticket: Secret<String>?, signedBy signer: AnswerMethod?,
        of enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Permit {
        guard let current = try work.enrollments.find(enrollment.id),
            current.isProved(change, by: signer, like: enrollment, at: work.now)
        else { return .refused(try refuse(enrollment, "old", in: work)) }
        if signer == .pin, current.pin?.lockedAt != nil { return .refused(.pinLocked) }
        let needsTicket = current.needsTicket(for: change, signedBy: signer, at: work.now)
        var used: Ticket?
        switch try authority(ticket, for: enrollment, in: work) {
        case .ticket(let found):
            let endsWait = signer == nil && !change.removes && found.waivesApproval
            if needsTicket || endsWait { used = found }
        case .none: if needsTicket { return .refused(.notAuthorized(needs: .ticket)) }
        case .blocked: if needsTicket { return .refused(.blocked) }
        }
        if let nonce, try !spend(nonce, of: enrollment, in: work) {
            return .refused(try refuse(enrollment, "nonce", in: work))
        }
        // The ticket is spent last, so that a refused change does not cost it.
        var isWaived = false
        if let used {
            if try work.tickets.spend(used.hash, at: work.now) {
                isWaived = used.waivesApproval
            } else if needsTicket {
                return .refused(.notAuthorized(needs: .ticket))
            }
        }
        let end = try work.trustState(of: enrollment.user, in: nil, among: []).waitEnds
        return .granted(
            countsFrom: current.newMethodCounts(
                at: work.now, waitingUntil: end, isProved: signer != nil || isWaived))
    }

    /// What a ticket authorizes.
    enum TicketAuthority {
        case ticket(Ticket)
        /// There is no valid ticket for the user.
        case none
        /// The client that made the ticket does not let the user enroll devices.
        case blocked
    }

    /// Looks up a ticket, which must be made for the user of the enrollment by a client that is enabled and may let the
    /// methods of this enrollment be changed, be unspent and not have expired.
    ///
    /// - Parameters:
    ///   - secret: the secret of the ticket; nil if the device sent none.
    ///   - enrollment: the enrollment whose methods change.
    ///   - work: the transaction.
    /// - Throws: ``StoreError``.
    static func authority(
        _ secret: Secret<String>?, for enrollment: Enrollment, in work: UnitOfWork
    ) throws -> TicketAuthority {
        guard let secret, let ticket = try work.tickets.find(SecretHash(of: secret)), ticket.user == enrollment.user,
            work.now < ticket.expiresAt, ticket.spentAt == nil,
            let user = try work.links.find(.id(ticket.user), of: ticket.client),
            let client = try work.clients.find(ticket.client), client.disabledAt == nil, client.mayWaive(enrollment)
        else { return .none }
        // check: EnrollBySignInTests.method
        guard try work.isGood(ticket) else { return .none }
        return user.isEnrollmentBlocked ? .blocked : .ticket(ticket)
    }

    /// Whether a nonce was made for an enrollment and is not older than ``nonceLifetime``.
    static func isFresh(_ nonce: Nonce, of enrollment: EnrollmentID, at now: Timestamp, _ hasher: KeyedHasher) -> Bool {
        guard let made = hasher.time(of: nonce, for: enrollment) else { return false }
        // Another node, whose clock is a little ahead, may have made the nonce.
        return made <= now.adding(ReplayGuard.tolerance) && now < made.adding(nonceLifetime)
    }

    static func spend(
        _ nonce: Nonce, of enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Bool {
        try work.nonces.spend(
            nonce: "\(nonce)", of: nonceKey(enrollment), until: work.now.adding(2 * nonceLifetime))
    }

    static func nonceKey(_ enrollment: Enrollment) -> String { "change \(enrollment.id)" }

    static func refuse(
        _ enrollment: Enrollment, _ reason: String, in work: UnitOfWork
    ) throws -> Outcome {
        if let seconds = try work.countRefused(.change, of: enrollment.id) {
            return .rateLimited(retryAfter: seconds)
        }
        try work.raise(.methodChangeRefused(reason: reason, of: enrollment))
        return .invalid
    }
}

/// The signed change of a method that has a key, or of a custom authenticator.
enum SignedChange: Sendable {
    case key(MethodChange)
    case custom(AuthenticatorChange)

    init?(_ text: String) {
        if let change = MethodChange(text), change.method != .confirm {
            self = .key(change)
        } else if let change = AuthenticatorChange(text) {
            self = .custom(change)
        } else {
            return nil
        }
    }

    var header: ChangeHeader {
        switch self {
        case .key(let change): change.header
        case .custom(let change): change.header
        }
    }
}

extension Enrollment {
    /// The state of the enrollment's PIN.
    package var pinState: MethodsReply.PINState {
        guard let pin else { return .none }
        return pin.lockedAt == nil ? .set : .locked
    }
}

extension IdempotencyKey {
    /// Identifies a change by the whole request, so that a repeat is recognized.
    fileprivate init(ofChange request: MethodChangeRequest, by enrollment: EnrollmentID) {
        let digest = MessageDigest(of: request.json.encoded)
        guard
            let key = IdempotencyKey(
                scope: "change \(enrollment)", key: digest.hex, requestDigest: digest)
        else { preconditionFailure("hexadecimal digits are a key") }
        self = key
    }
}
