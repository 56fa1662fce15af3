package import CountersignWire
import Encodings
import OpenPGP

/// Sets, replaces and removes the methods of an enrollment.
///
/// Spec: design 3.1, *Changing methods*.
package enum ChangeMethods {
    /// How long a nonce can be used.
    static let nonceLifetime = Seconds.minutes(5)

    /// What came of a change.
    package enum Outcome: Equatable, Sendable {
        /// It is so now, or was before; what a custom authenticator's hook says to the app.
        case changed(payload: String?)
        /// The device is not let in.
        case refused(DeviceRefusal)
        /// The change is refused: one outcome for every cause.
        case invalid
        /// What it needs besides: the PIN, the biometric, or a ticket.
        case notAuthorized(needs: Authority)
        /// The ticket's client lets the user enroll nothing.
        case blocked
        /// The PIN that should authorize it is wrong.
        case pinIncorrect(attemptsLeft: Int)
        /// A wrong PIN was typed too often before.
        case pinLocked
        /// The certificate has no room for a further key.
        case certificateFull
        /// The custom authenticator wants another try; its payload.
        case customRetry(payload: String?)
        /// The custom authenticator refused; its payload.
        case customFailed(payload: String?)
        /// The client has no such authenticator.
        case customNotRegistered
        /// The custom authenticator cannot be asked now.
        case customUnavailable
        /// Too many refused changes.
        case rateLimited(retryAfter: Seconds)
    }

    /// What can authorize a change.
    package enum Authority: String, Sendable {
        /// The PIN there is.
        case pin
        /// The biometric there is.
        case biometric
        /// A method, of which this device has none that counts.
        case method
        /// A ticket for the same user.
        case ticket
    }

    /// Carries out a change.
    package static func change(
        _ request: MethodChangeRequest, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let verdict = try await judge(request, by: call.enrollment, at: now, ports: ports)
        let repeated = IdempotencyKey(ofChange: request, by: call.enrollment.id)
        let step = try await ports.commit(at: now, as: call.actor) { work in
            try work.users.lock(call.enrollment.user)
            try work.enrollments.lock(call.enrollment.id)
            let refusal = try work.admit(call)
            // The reply was lost and the device sends the same change again: it gets the same, and nothing counts twice.
            if let earlier = try outcome(ofEarlier: repeated, call.enrollment, in: work) {
                return Step.ended(refusal.map(Outcome.refused) ?? earlier)
            }
            // A wrong PIN that was looked at counts, also where the request is not let in.
            if let refusal {
                guard case .wrongPIN = verdict else { return .ended(.refused(refusal)) }
            }
            let step = try settle(verdict, request.ticket, repeated, by: call.enrollment, in: work)
            return refusal.map { .ended(.refused($0)) } ?? step
        }
        switch step {
        case .ended(let outcome): return outcome
        case .asking(let question, let registration):
            return try await register(registration, request.ticket, repeated, call, asking: question, ports: ports)
        }
    }

    /// Where a change stands after the transaction that let the device in.
    enum Step: Sendable {
        case ended(Outcome)
        case asking(HookQuestion, Registration)
    }

    /// The outcome of a change that comes again; nil for one that does not.
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

    /// Counts a wrong PIN.
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

    /// What a change amounts to, before the transaction that makes it count.
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
            return .register(Registration(change: .custom(change), name: change.name, data: data, signedBy: signer))
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

    /// What a device proves besides its own keys to have a change made.
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
            let permit = try permit(
                .key(change), change.header.nonce, ticket, signedBy: signer, of: enrollment, in: work)
            guard case .granted(let countsFrom) = permit else { return .ended(permit.refusal) }
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
            guard case .granted = permit else { return .ended(permit.refusal) }
            try work.dropAuthenticator(change.name, of: current)
            return .ended(
                try conclude(
                    .custom(change.name), .removed, countsFrom: nil, repeated, of: enrollment, in: work))
        case .register(let registration):
            return try begin(registration, ticket, of: enrollment, in: work)
        }
    }

    /// Notes a change that was made.
    ///
    /// - Parameter countsFrom: from when what is new counts; nil where nothing is.
    static func conclude(
        _ method: AnswerMethod, _ kind: MethodEvent.Change, countsFrom: Timestamp?, by verdict: HookVerdict? = nil,
        _ repeated: IdempotencyKey, of enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Outcome {
        let until = countsFrom.flatMap { $0 > work.now ? $0 : nil }
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

    /// Whether a change may be made, and from when what is new counts.
    enum Permit {
        case granted(countsFrom: Timestamp)
        case refused(Outcome)

        /// The outcome of what is not granted.
        var refusal: Outcome {
            switch self {
            case .granted: preconditionFailure("it is granted")
            case .refused(let outcome): outcome
            }
        }
    }

    /// Looks whether a change is still authorized by what it was judged by, and spends what it needs.
    ///
    /// Spec: design 13 §1.5.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - nonce: its nonce; nil where it was spent before.
    ///   - ticket: the secret of a ticket.
    ///   - signer: the method that has signed, too.
    ///   - enrollment: whose methods change, as it was judged.
    ///   - work: the transaction, which holds the enrollment.
    static func permit(
        _ change: SignedChange, _ nonce: Nonce?, _ ticket: Secret<String>?, signedBy signer: AnswerMethod?,
        of enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Permit {
        guard let current = try work.enrollments.find(enrollment.id),
            current.isProved(change, by: signer, like: enrollment, at: work.now)
        else { return .refused(try refuse(enrollment, "old", in: work)) }
        if signer == .pin, current.pin?.lockedAt != nil { return .refused(.pinLocked) }
        var isWaived = false
        let granted = try authority(ticket, for: enrollment, in: work)
        if current.needsTicket(for: change, signedBy: signer, at: work.now) {
            switch granted {
            case .ticket(let ticket):
                guard try work.tickets.spend(ticket.hash, at: work.now) else {
                    return .refused(.notAuthorized(needs: .ticket))
                }
                isWaived = ticket.waivesApproval
            case .none: return .refused(.notAuthorized(needs: .ticket))
            case .blocked: return .refused(.blocked)
            }
        } else if signer == nil, case .ticket(let ticket) = granted, ticket.waivesApproval {
            isWaived = try work.tickets.spend(ticket.hash, at: work.now)
        }
        if let nonce, try !spend(nonce, of: enrollment, in: work) {
            return .refused(try refuse(enrollment, "nonce", in: work))
        }
        let wait = try work.wait(of: enrollment.user)
        return .granted(
            countsFrom: current.newMethodCounts(at: work.now, after: wait, isProved: signer != nil || isWaived))
    }

    /// What a ticket amounts to.
    enum TicketAuthority {
        case ticket(Ticket)
        /// There is none that is good for the user.
        case none
        /// Its client lets the user enroll nothing.
        case blocked
    }

    /// A ticket that was made for the same user, looked at as at enrollment.
    static func authority(
        _ secret: Secret<String>?, for enrollment: Enrollment, in work: UnitOfWork
    ) throws -> TicketAuthority {
        guard let secret, let ticket = try work.tickets.find(SecretHash(of: secret)), ticket.user == enrollment.user,
            work.now < ticket.expiresAt, ticket.spentAt == nil,
            let user = try work.links.find(.id(ticket.user), of: ticket.client)
        else { return .none }
        return user.isEnrollmentBlocked ? .blocked : .ticket(ticket)
    }

    /// Whether a nonce was made for an enrollment, and not too long ago.
    static func isFresh(_ nonce: Nonce, of enrollment: EnrollmentID, at now: Timestamp, _ hasher: KeyedHasher) -> Bool {
        guard let made = hasher.time(of: nonce, for: enrollment) else { return false }
        // Another node may have made it, by a clock that is a little ahead.
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

/// A change of either kind.
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
    /// How its PIN stands.
    package var pinState: MethodsReply.PINState {
        guard let pin else { return .none }
        return pin.lockedAt == nil ? .set : .locked
    }
}

extension IdempotencyKey {
    /// Names a change by all that was sent.
    fileprivate init(ofChange request: MethodChangeRequest, by enrollment: EnrollmentID) {
        let digest = MessageDigest(of: request.json.encoded)
        guard
            let key = IdempotencyKey(
                scope: "change \(enrollment)", key: digest.hex, requestDigest: digest)
        else { preconditionFailure("hexadecimal digits are a key") }
        self = key
    }
}
