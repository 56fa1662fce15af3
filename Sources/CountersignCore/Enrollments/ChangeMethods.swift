import Crypto
public import CountersignWire
import Encodings
import OpenPGP

/// Shows, sets, replaces and removes the methods of an enrollment.
///
/// Spec: design 3.1, *Changing methods*.
public enum ChangeMethods {
    /// How long a nonce can be used, in seconds.
    static let nonceLifetime: Int64 = 300
    /// How long after it was made an enrollment may set its first PIN by itself, in seconds.
    static let graceAfterEnrollment: Int64 = 600

    /// What came of a change.
    public enum Outcome: Sendable {
        /// It is so now, or was before; what a custom authenticator's hook says to the app.
        case changed(payload: String?)
        /// The device is not let in.
        case refused(DeviceRefusal)
        /// The change is refused: one outcome for every cause.
        case invalid
        /// What it needs besides: the PIN, or a ticket.
        case notAuthorized(needs: Authority)
        /// The PIN that should authorize it is wrong.
        case pinIncorrect(attemptsLeft: Int)
        /// A wrong PIN was typed too often before.
        case pinLocked
        /// The custom authenticator wants another try; its payload.
        case customRetry(payload: String?)
        /// The custom authenticator refused; its payload.
        case customFailed(payload: String?)
        /// The client has no such authenticator.
        case customNotRegistered
        /// The custom authenticator cannot be asked now.
        case customUnavailable
        /// Too many refused changes.
        case rateLimited(retryAfter: Int64)
    }

    /// What can authorize a change.
    public enum Authority: String, Sendable {
        /// The PIN there is.
        case pin
        /// A ticket for the same user.
        case ticket
    }

    /// How the methods of the calling device stand, with a nonce to change them.
    public static func show(_ call: DeviceCall, ports: Ports) async throws -> Result<MethodsReply, DeviceRefusal> {
        let issuer = ports.issuer
        let nonce = ports.hasher.changeNonce(
            for: call.enrollment.id, at: ports.time.now, random: ports.random.bytes(8))
        return try await ports.store.commit { writer in
            if let refusal = try writer.admit(call, issuer: issuer) { return .failure(refusal) }
            guard let enrollment = try writer.enrollment(call.enrollment.id) else {
                throw StoreError.corruptRow("enrollment")
            }
            return .success(
                MethodsReply(
                    nonce: nonce, pin: enrollment.pinState, attemptsLeft: try writer.attemptsLeft(of: enrollment),
                    policy: try writer.pinPolicy(of: enrollment), hasBiometric: enrollment.biometric != nil,
                    custom: try writer.customs(of: enrollment)))
        }
    }

    /// Carries out a change.
    public static func change(
        _ request: MethodChangeRequest, by call: DeviceCall, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let verdict = try await judge(request, by: call.enrollment, at: now, ports: ports)
        let repeated = IdempotencyKey(ofChange: request, by: call.enrollment.id)
        let issuer = ports.issuer
        let events = EventIDs(ports, at: now)
        let step = try await ports.store.commit { writer in
            try writer.hold(call.enrollment.id)
            let refusal = try writer.admit(call, issuer: issuer)
            // The reply was lost and the device sends the same change again: it gets the same, and nothing counts twice.
            if let recorded = try writer.recordedReply(repeated) {
                return Step.ended(try refusal.map(Outcome.refused) ?? outcome(recorded, call.enrollment, writer))
            }
            // A wrong PIN that was looked at counts, also where the request is not let in.
            if let refusal {
                guard case .wrongPIN = verdict else { return .ended(.refused(refusal)) }
            }
            let step = try settle(verdict, request.ticket, repeated, by: call.enrollment, at: now, events, writer)
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

    /// What a change got that comes again.
    static func outcome(
        _ recorded: RecordedReply, _ enrollment: Enrollment, _ reader: any StoreReader
    ) throws -> Outcome {
        if let verdict = (try? JSONValue(parsing: recorded.body)).flatMap({ HookVerdict($0) }) {
            return Outcome(verdict)
        }
        if recorded.status == Recorded.changed { return .changed(payload: nil) }
        let current = try reader.enrollment(enrollment.id) ?? enrollment
        return .pinIncorrect(attemptsLeft: try reader.attemptsLeft(of: current))
    }

    /// Counts a wrong PIN.
    private static func count(
        _ pin: EnrolledPIN, _ repeated: IdempotencyKey, by enrollment: Enrollment, at now: Timestamp,
        _ events: EventIDs, _ writer: any StoreWriter
    ) throws -> Outcome {
        switch try writer.noteWrongPIN(besides: pin.key, of: enrollment, at: now, events) {
        case .counted(let attemptsLeft):
            try writer.record(RecordedReply(status: Recorded.pinIncorrect, body: []), for: repeated, at: now)
            return .pinIncorrect(attemptsLeft: attemptsLeft)
        case .locked: return .pinLocked
        case .changed: return try refuse(enrollment, "old", at: now, events, writer)
        }
    }

    /// What is kept of a change for its repeats, by the status that it got; with a hook's verdict, where one was asked.
    enum Recorded {
        static let changed = 204
        static let pinIncorrect = 422
        static let customRefused = 422
    }

    /// What a change amounts to, before the transaction that makes it count.
    private enum Verdict: Sendable {
        case invalid(reason: String)
        case pinLocked
        case unauthorized
        case wrongPIN(EnrolledPIN)
        case good(MethodChange, grown: Certificate, new: CertifiedKey?)
        case register(Registration)
        case deregister(AuthenticatorChange)
    }

    private static func judge(
        _ request: MethodChangeRequest, by enrollment: Enrollment, at now: Timestamp, ports: Ports
    ) async throws -> Verdict {
        let latest = now.adding(seconds: SpendableNonce.tolerance).unixSeconds
        let opened = try? await EncryptedMessage.open(
            request.message, with: ports.keys.encryption, signers: [enrollment.keys.primary],
            intendedRecipient: ports.keys.certificate.fingerprint, now: latest)
        guard let opened, opened.signature.type == .text else { return .invalid(reason: "message") }
        guard let change = String(strictUTF8: opened.content).flatMap({ SignedChange($0) }),
            change.header.issuer == ports.issuer, change.header.enrollment == enrollment.id
        else { return .invalid(reason: "text") }
        // Another node may have made it, by a clock that is a little ahead.
        guard let made = ports.hasher.time(of: change.header.nonce, for: enrollment.id),
            made <= now.adding(seconds: SpendableNonce.tolerance), now < made.adding(seconds: nonceLifetime)
        else { return .invalid(reason: "nonce") }
        if let pin = enrollment.pin {
            guard pin.lockedAt == nil else { return .pinLocked }
            guard let authorization = request.authorization else { return .unauthorized }
            switch await authorizes(authorization, opened.content, pin, latest, ports) {
            case .no: return .invalid(reason: "authorization")
            case .wrongPIN: return .wrongPIN(pin)
            case .yes: break
            }
        }
        switch change {
        case .key(let change): return try await judge(change, of: enrollment, latest, ports: ports)
        case .custom(let change):
            guard let hash = change.customDataHash else { return .deregister(change) }
            guard let sealed = request.customData, Array(SHA256.hash(data: sealed)) == hash,
                let data = await CustomData(sealed, from: enrollment, at: now, ports: ports)
            else { return .invalid(reason: "custom_data") }
            return .register(Registration(change: change, data: data))
        }
    }

    private static func judge(
        _ change: MethodChange, of enrollment: Enrollment, _ latest: UnixSeconds, ports: Ports
    ) async throws -> Verdict {
        guard change.old == enrollment.key(of: change.method)?.fingerprint else { return .invalid(reason: "old") }
        guard let bytes = try await ports.store.read({ try $0.certificate(of: enrollment.id) }),
            let stored = try? Certificate(parsing: bytes)
        else { throw StoreError.corruptRow("certificate") }
        do throws(DeviceCertificateRefusal) {
            let (grown, new) = try DeviceKeys.grown(stored, by: change, now: latest)
            return .good(change, grown: grown, new: new)
        } catch {
            return .invalid(reason: "certificate")
        }
    }

    private enum Authorization { case yes, no, wrongPIN }

    /// Whether the PIN's key says the same as the primary key.
    ///
    /// What it says comes first: the PIN's key is looked at only where a wrong PIN will count.
    private static func authorizes(
        _ message: [UInt8], _ content: [UInt8], _ pin: EnrolledPIN, _ latest: UnixSeconds, _ ports: Ports
    ) async -> Authorization {
        let opened = try? await EncryptedMessage.openWithoutVerifying(
            message, with: ports.keys.encryption, intendedRecipient: ports.keys.certificate.fingerprint)
        guard let opened, opened.content == content, opened.signature.type == .text else { return .no }
        do throws(OpenPGPError) {
            _ = try opened.verified(signers: [pin.key], now: latest)
            return .yes
        } catch {
            return error == .unknownSigner ? .wrongPIN : .no
        }
    }

    private static func settle(
        _ verdict: Verdict, _ ticket: Secret<String>?, _ repeated: IdempotencyKey, by enrollment: Enrollment,
        at now: Timestamp, _ events: EventIDs, _ writer: any StoreWriter
    ) throws -> Step {
        switch verdict {
        case .pinLocked: return .ended(.pinLocked)
        case .unauthorized: return .ended(.notAuthorized(needs: .pin))
        case .invalid(let reason): return .ended(try refuse(enrollment, reason, at: now, events, writer))
        case .wrongPIN(let pin): return .ended(try count(pin, repeated, by: enrollment, at: now, events, writer))
        case .good(let change, let grown, let new):
            guard try writer.enrollment(enrollment.id)?.key(of: change.method)?.fingerprint == change.old else {
                return .ended(try refuse(enrollment, "old", at: now, events, writer))
            }
            if let refusal = try authorize(change.header.nonce, ticket, of: enrollment, at: now, events, writer) {
                return .ended(refusal)
            }
            try writer.put(new, for: change.method, of: enrollment.id, certificate: grown.encoded)
            let kind = change.old == nil ? "set" : change.new == nil ? "removed" : "replaced"
            return .ended(try conclude(change.method, kind, repeated, of: enrollment, at: now, events, writer))
        case .deregister(let change):
            guard let current = try writer.enrollment(enrollment.id), current.customs[change.name] != nil else {
                return .ended(.customNotRegistered)
            }
            if let refusal = try authorize(change.header.nonce, ticket, of: enrollment, at: now, events, writer) {
                return .ended(refusal)
            }
            try writer.dropAuthenticator(change.name, of: current, at: now, events)
            return .ended(
                try conclude(.custom(change.name), "removed", repeated, of: enrollment, at: now, events, writer))
        case .register(let registration):
            return try begin(registration, ticket, of: enrollment, at: now, events, writer)
        }
    }

    /// Notes a change that was made.
    static func conclude(
        _ method: Method, _ kind: String, by verdict: HookVerdict? = nil, _ repeated: IdempotencyKey,
        of enrollment: Enrollment, at now: Timestamp, _ events: EventIDs, _ writer: any StoreWriter
    ) throws -> Outcome {
        try writer.append(
            .methodChanged, ["method": .string(method.rawValue), "change": .string(kind)], of: enrollment, at: now,
            events)
        try writer.tellClients(.method(method, change: kind), of: enrollment, at: now, events)
        try writer.record(
            RecordedReply(status: Recorded.changed, body: verdict?.json.encoded ?? []), for: repeated, at: now)
        return .changed(payload: verdict?.payload)
    }

    /// Looks whether a change is still authorized by what it was judged by, and spends what it needs.
    ///
    /// - Parameter nonce: the nonce; nil where it was spent before.
    /// - Returns: why not, or nil.
    static func authorize(
        _ nonce: Nonce?, _ ticket: Secret<String>?, of enrollment: Enrollment, at now: Timestamp, _ events: EventIDs,
        _ writer: any StoreWriter
    ) throws -> Outcome? {
        guard let current = try writer.enrollment(enrollment.id),
            current.pin?.key.fingerprint == enrollment.pin?.key.fingerprint
        else { return try refuse(enrollment, "old", at: now, events, writer) }
        guard current.pin?.lockedAt == nil else { return .pinLocked }
        if needsTicket(current, at: now) {
            guard let ticket = try authority(ticket, for: enrollment, at: now, writer),
                try writer.spend(ticket.hash, at: now)
            else { return .notAuthorized(needs: .ticket) }
        }
        if let nonce, try !spend(nonce, of: enrollment, at: now, writer) {
            return try refuse(enrollment, "nonce", at: now, events, writer)
        }
        return nil
    }

    /// Whether nothing else authorizes a change of an enrollment's methods.
    static func needsTicket(_ enrollment: Enrollment, at now: Timestamp) -> Bool {
        enrollment.pin == nil && now >= enrollment.createdAt.adding(seconds: graceAfterEnrollment)
    }

    /// A ticket that was made for the same user; one is as good as a sign-in.
    static func authority(
        _ secret: Secret<String>?, for enrollment: Enrollment, at now: Timestamp, _ reader: any StoreReader
    ) throws -> Ticket? {
        guard let secret, let ticket = try reader.ticket(SecretHash(of: secret)), ticket.user == enrollment.user,
            now < ticket.expiresAt, ticket.spentAt == nil
        else { return nil }
        return ticket
    }

    static func spend(
        _ nonce: Nonce, of enrollment: Enrollment, at now: Timestamp, _ writer: any StoreWriter
    ) throws -> Bool {
        try writer.spend(nonce: "\(nonce)", of: nonceKey(enrollment), until: now.adding(seconds: 2 * nonceLifetime))
    }

    static func nonceKey(_ enrollment: Enrollment) -> String { "change \(enrollment.id)" }

    static func refuse(
        _ enrollment: Enrollment, _ reason: String, at now: Timestamp, _ events: EventIDs, _ writer: any StoreWriter
    ) throws -> Outcome {
        if let seconds = try writer.countRefused("change", of: enrollment.id, at: now) {
            return .rateLimited(retryAfter: seconds)
        }
        try writer.append(.methodChangeRefused, ["reason": .string(reason)], of: enrollment, at: now, events)
        return .invalid
    }
}

/// A change of either kind.
private enum SignedChange {
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
    public var pinState: MethodsReply.PINState {
        guard let pin else { return .none }
        return pin.lockedAt == nil ? .set : .locked
    }
}

extension IdempotencyKey {
    /// Names a change by all that was sent.
    fileprivate init(ofChange request: MethodChangeRequest, by enrollment: EnrollmentID) {
        let digest = Array(SHA256.hash(data: request.json.encoded))
        guard
            let key = IdempotencyKey(
                scope: "change \(enrollment)", key: Hex.encode(digest), requestDigest: digest)
        else { preconditionFailure("hexadecimal digits are a key") }
        self = key
    }
}
