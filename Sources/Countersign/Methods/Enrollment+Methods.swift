public import CountersignWire
import Encodings
import OpenPGP

/// How the methods of an enrollment stand, as the server sees it.
public struct EnrolledMethods: Sendable {
    /// How the PIN stands.
    public let pin: MethodsReply.PINState
    /// How many wrong PINs are left.
    public let attemptsLeft: Int
    /// The rules for PINs, for the screen where one is chosen.
    public let pinPolicy: PINPolicy
}

extension Enrollment {
    /// Asks the server how the methods stand.
    public func methods() async throws(CountersignError) -> EnrolledMethods {
        let reply = try await authenticator.methods(of: stored)
        return EnrolledMethods(pin: reply.pin, attemptsLeft: reply.attemptsLeft, pinPolicy: reply.policy)
    }

    /// Sets the first PIN.
    ///
    /// - Parameters:
    ///   - pin: the PIN.
    ///   - authority: what lets it be set, where the enrollment is older than ten minutes.
    /// - Throws: ``CountersignError/pinPolicy(_:)``, ``CountersignError/pinAlreadySet``,
    ///   ``CountersignError/authorityNeeded`` and others.
    public func setPIN(_ pin: PIN, authority: EnrollmentAuthority? = nil) async throws(CountersignError) {
        try await authenticator.changePIN(from: nil, to: pin, authority: authority, of: stored)
    }

    /// Replaces the PIN.
    ///
    /// - Throws: ``CountersignError/pinIncorrect(attemptsLeft:)`` when the old one is wrong, which counts, and others.
    public func changePIN(from old: PIN, to new: PIN) async throws(CountersignError) {
        try await authenticator.changePIN(from: old, to: new, of: stored)
    }

    /// Removes the PIN.
    ///
    /// - Throws: ``CountersignError/pinIncorrect(attemptsLeft:)`` when it is wrong, which counts, and others.
    public func removePIN(_ pin: PIN) async throws(CountersignError) {
        try await authenticator.changePIN(from: pin, to: nil, of: stored)
    }
}

/// A change that was sent and whose reply has not come yet.
///
/// The same bytes sent again change nothing twice and count no PIN twice.
private struct KeptChange: Sendable {
    static let record = "pin-change"

    /// What the device keeps when the change is made; nil when the PIN is removed.
    let next: StoredPIN?
    let request: MethodChangeRequest

    var encoded: [UInt8] {
        JSONValue.members(["v": 1, "next": next?.json, "request": request.json]).encoded
    }

    init(next: StoredPIN?, request: MethodChangeRequest) {
        self.next = next
        self.request = request
    }

    init?(_ record: [UInt8]) {
        guard let json = try? JSONValue(parsing: record), json["v"] == 1,
            let request = json["request"].flatMap({ try? MethodChangeRequest($0) })
        else { return nil }
        self.init(next: json["next"].flatMap { StoredPIN($0) }, request: request)
    }
}

extension Authenticator {
    /// How often a change is sent again at once when its reply is lost.
    private static let attempts = 4

    fileprivate func methods(of stored: StoredEnrollment) async throws(CountersignError) -> MethodsReply {
        let json = try await send("GET", "/v1/enrollments/self/methods", for: stored).json()
        do { return try MethodsReply(json) } catch { throw .notHandleable(reason: "\(error)") }
    }

    /// The key of a PIN that may be the right one.
    ///
    /// - Throws: ``CountersignError/pinNotSet`` when this device knows of none.
    func signingKey(of pin: PIN, for stored: StoredEnrollment) async throws(CountersignError) -> SigningKeyPair {
        try await settleChange(of: stored)
        guard let known = try await storedPIN(of: stored) else { throw .pinNotSet }
        return try await signingKey(of: pin, known, for: stored)
    }

    private func signingKey(
        of pin: PIN, _ known: StoredPIN, for stored: StoredEnrollment
    ) async throws(CountersignError) -> SigningKeyPair {
        try await vaulted { [vault] in
            guard let key = try await vault.agreementKey(known.role, of: stored.id) else {
                throw CountersignError.pinNotSet
            }
            return try await known.signingKey(of: pin, with: key, primary: stored.certificate.fingerprint)
        }
    }

    private func storedPIN(of stored: StoredEnrollment) async throws(CountersignError) -> StoredPIN? {
        let record = try await vaulted { [vault] in try await vault.record(StoredPIN.record, of: stored.id) }
        guard let record else { return nil }
        guard let pin = (try? JSONValue(parsing: record)).flatMap({ StoredPIN($0) }) else {
            throw .vault("the record of a PIN is damaged or of a newer version")
        }
        return pin
    }

    /// Sets, replaces or removes the PIN.
    fileprivate func changePIN(
        from old: PIN?, to new: PIN?, authority: EnrollmentAuthority? = nil, of stored: StoredEnrollment
    ) async throws(CountersignError) {
        let ticket = try authority.map { authority throws(CountersignError) in
            try self.ticket(authority, of: stored)
        }
        try await settleChange(of: stored)
        let standing = try await methods(of: stored)
        if let new {
            do throws(PINViolation) { try standing.policy.check(new.digits.reveal()) } catch { throw .pinPolicy(error) }
        }
        let known = try await storedPIN(of: stored)
        switch (standing.pin, known) {
        case (.locked, _): throw .pinLocked
        case (.set, _?): if old == nil { throw .pinAlreadySet }
        // The server knows a PIN that this device has lost: only a new enrollment helps.
        case (.set, nil): throw .pinLocked
        case (.none, _): if old != nil { throw .pinNotSet }
        }
        let role: KeyRole = known?.role == .pin ? .otherPIN : .pin
        let now = await connection.now.unixSeconds
        let next = new.map { _ in StoredPIN(role: role, cost: standing.policy.cost, at: now) }
        if next != nil { _ = try await vaulted { [vault] in try await vault.makeAgreementKey(role, for: stored.id) } }
        var newKey: SigningKeyPair?
        if let new, let next { newKey = try await signingKey(of: new, next, for: stored) }
        var oldKey: SigningKeyPair?
        if let old, let known { oldKey = try await signingKey(of: old, known, for: stored) }
        let request = try await request(
            from: oldKey, to: newKey, nonce: standing.nonce, ticket: ticket, at: now, of: stored)
        let change = KeptChange(next: next, request: request)
        try await vaulted { [vault] in try await vault.write(change.encoded, as: KeptChange.record, of: stored.id) }
        try await deliver(change, of: stored)
    }

    private func ticket(
        _ authority: EnrollmentAuthority, of stored: StoredEnrollment
    ) throws(CountersignError) -> Secret<String> {
        switch authority {
        case .ticket(let text):
            guard let invitation = EnrollmentInvitation(text) else { throw .invitationRefused(.malformed) }
            guard invitation.issuer == stored.issuer else { throw .invitationRefused(.otherIssuer) }
            guard invitation.fingerprint == stored.serverCertificate.fingerprint else {
                throw .invitationRefused(.wrongFingerprint)
            }
            return invitation.ticket
        }
    }

    /// The change, signed by the primary key and by that of the old PIN.
    private func request(
        from old: SigningKeyPair?, to new: SigningKeyPair?, nonce: Nonce, ticket: Secret<String>?,
        at now: UnixSeconds, of stored: StoredEnrollment
    ) async throws(CountersignError) -> MethodChangeRequest {
        guard let key = try await vaulted({ [vault] in try await vault.signingKey(.primary, of: stored.id) }) else {
            throw .notEnrolled
        }
        let primary = SigningKeyPair(key, createdAt: stored.createdAt)
        let notations = [Method.pin.notation(of: stored.issuer)]
        return try await vaulted { [self] in
            var certificate = stored.certificate
            if let old {
                certificate = try await certificate.adding(.signing(old, notations: notations), by: primary, at: now)
                    .revoking(old.publicKey.fingerprint, because: .superseded, by: primary, at: now)
            }
            if let new {
                certificate = try await certificate.adding(.signing(new, notations: notations), by: primary, at: now)
            }
            let text = MethodChange(
                issuer: stored.issuer, enrollment: stored.id, nonce: nonce, method: .pin,
                old: old?.publicKey.fingerprint, new: new?.publicKey.fingerprint, certificate: certificate.encoded
            ).text
            var authorization: [UInt8]?
            if let old { authorization = try await seal(text, signedBy: old, for: stored) }
            return MethodChangeRequest(
                message: try await seal(text, signedBy: primary, for: stored), authorization: authorization,
                ticket: ticket)
        }
    }

    /// Sends a change again whose reply was lost, so that the device knows which PIN counts.
    private func settleChange(of stored: StoredEnrollment) async throws(CountersignError) {
        let record = try await vaulted { [vault] in try await vault.record(KeptChange.record, of: stored.id) }
        guard let record else { return }
        guard let change = KeptChange(record) else { throw .vault("the record of a change is damaged") }
        do throws(CountersignError) {
            try await deliver(change, of: stored)
        } catch {
            // What the server refused was refused to an earlier call, or a wrong PIN was counted then.
            guard error.settlesChange else { throw error }
        }
    }

    private func deliver(_ change: KeptChange, of stored: StoredEnrollment) async throws(CountersignError) {
        var attempt = 1
        while true {
            do throws(CountersignError) {
                _ = try await send("POST", "/v1/enrollments/self/methods", body: change.request.json, for: stored)
                return try await conclude(change, isMade: true, of: stored)
            } catch {
                if error.settlesChange { try await conclude(change, isMade: false, of: stored) }
                guard error.retryHelps, attempt < Self.attempts, !Task.isCancelled else { throw error }
                try await pause(attempt)
                attempt += 1
            }
        }
    }

    /// Keeps what counts from now on, and forgets the rest.
    private func conclude(
        _ change: KeptChange, isMade: Bool, of stored: StoredEnrollment
    ) async throws(CountersignError) {
        let known = try await storedPIN(of: stored)
        let current = isMade ? change.next : known
        let superseded = isMade ? known : change.next
        try await vaulted { [vault] in
            if isMade, let next = change.next {
                try await vault.write(next.json.encoded, as: StoredPIN.record, of: stored.id)
            } else if isMade {
                try await vault.remove(StoredPIN.record, of: stored.id)
            }
            if let superseded, superseded.role != current?.role {
                try await vault.removeKey(superseded.role, of: stored.id)
            }
            try await vault.remove(KeptChange.record, of: stored.id)
        }
    }
}

extension CountersignError {
    /// Whether the change it is about will never be made.
    fileprivate var settlesChange: Bool {
        switch self {
        case .pinIncorrect, .pinLocked, .authorityNeeded: true
        case .server(let problem): problem.knownCode == .changeInvalid
        default: false
        }
    }
}
