import CountersignWire
import Crypto
import Encodings
import OpenPGP

extension Authenticator {

    func methods(of stored: StoredEnrollment) async throws(CountersignError) -> MethodsReply {
        let json = try await send("GET", "/v1/enrollments/self/methods", for: stored).json()
        do { return try MethodsReply(json) } catch { throw .notHandleable(reason: "\(error)") }
    }

    /// The key derived from a PIN, which may be the wrong PIN.
    ///
    /// - Throws: ``CountersignError/pinNotSet`` when this device has no record of a PIN.
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

    func hasBiometricKey(of id: EnrollmentID) async -> Bool {
        await roster[id]?.biometricSubkey != nil
    }

    /// The key that signs after the user's biometric check.
    func biometricKey(_ prompt: String, of stored: StoredEnrollment) async throws(CountersignError) -> SigningKeyPair {
        guard let biometrics = vault as? any BiometricVault else { throw .biometric(.unavailable) }
        try await settleChange(of: stored)
        guard let subkey = (await roster[stored.id] ?? stored).biometricSubkey,
            let key = try await vaulted({ try await biometrics.biometricKey(of: stored.id, prompt: prompt) })
        else { throw .biometric(.notRegistered) }
        // The vault's key is not the one that the certificate names: the server refused the change that made it.
        guard case .ecdsa(let known) = subkey.publicKey.material,
            known.rawRepresentation == key.publicKey.rawRepresentation
        else { throw .biometric(.changed) }
        return SigningKeyPair(key, createdAt: subkey.publicKey.createdAt)
    }
}

/// Changes of methods; each enrollment has one at a time under way.
extension Authenticator {
    /// Runs a change alone: two changes at once would replace each other's keys.
    func alone<Result: Sendable>(
        _ id: EnrollmentID, _ body: () async throws(CountersignError) -> Result
    ) async throws(CountersignError) -> Result {
        guard await roster.startsChange(of: id) else {
            throw .configurationInvalid("another change of this enrollment is under way")
        }
        do throws(CountersignError) {
            let result = try await body()
            await roster.endChange(of: id)
            return result
        } catch {
            await roster.endChange(of: id)
            throw error
        }
    }

    /// The data with which a change begins.
    private struct Beginning {
        let stored: StoredEnrollment
        let status: MethodsReply
        let ticket: Secret<String>?
        let primary: SigningKeyPair

        var header: ChangeHeader {
            ChangeHeader(issuer: stored.issuer, enrollment: stored.id, nonce: status.nonce)
        }
    }

    private func begin(
        _ authority: EnrollmentAuthority?, _ id: EnrollmentID
    ) async throws(CountersignError) -> Beginning {
        guard let first = await roster[id] else { throw .notEnrolled }
        var ticket: Secret<String>?
        if let authority { ticket = try await self.ticket(authority, of: first) }
        try await settleChange(of: first)
        let status = try await methods(of: first)
        guard status.pin != .locked else { throw .pinLocked }
        guard let stored = await roster[id],
            let key = try await vaulted({ [vault] in try await vault.signingKey(.primary, of: id) })
        else { throw .notEnrolled }
        return Beginning(
            stored: stored, status: status, ticket: ticket,
            primary: SigningKeyPair(key, createdAt: stored.createdAt))
    }

    private func ticket(
        _ authority: EnrollmentAuthority, of stored: StoredEnrollment
    ) async throws(CountersignError) -> Secret<String> {
        let invitation = try await invitation(for: authority)
        guard invitation.fingerprint == stored.serverCertificate.fingerprint else {
            throw .invitationRefused(.wrongFingerprint)
        }
        return invitation.ticket
    }

    /// Sets, replaces or removes the PIN.
    func changePIN(
        from old: PIN?, to new: PIN?, authority: EnrollmentAuthority? = nil, of id: EnrollmentID
    ) async throws(CountersignError) {
        try await alone(id) { () throws(CountersignError) in
            try await changePINAlone(from: old, to: new, authority: authority, of: id)
        }
    }

    private func changePINAlone(
        from old: PIN?, to new: PIN?, authority: EnrollmentAuthority?, of id: EnrollmentID
    ) async throws(CountersignError) {
        let beginning = try await begin(authority, id)
        let (stored, status) = (beginning.stored, beginning.status)
        if let new {
            do throws(PINViolation) { try status.policy.check(new.digits.reveal()) } catch { throw .pinPolicy(error) }
        }
        let known = try await storedPIN(of: stored)
        if status.pin == .none {
            guard old == nil else { throw .pinNotSet }
        } else {
            guard old != nil else { throw .pinAlreadySet }
            // The server has a PIN whose record this device has lost: only a new enrollment helps.
            guard known != nil else { throw .pinLocked }
        }
        let role: KeyRole = known?.role == .pin ? .otherPIN : .pin
        let now = await connection.now.unixSeconds
        var next: StoredPIN?
        var newKey: SigningKeyPair?
        if let new {
            _ = try await vaulted { [vault] in try await vault.makeAgreementKey(role, for: id) }
            let made = StoredPIN(role: role, cost: status.policy.cost, at: now)
            newKey = try await signingKey(of: new, made, for: stored)
            next = made
        }
        var oldKey: SigningKeyPair?
        if let old, let known { oldKey = try await signingKey(of: old, known, for: stored) }
        // The stored certificate does not contain the PIN's key: it is bound again so that it can be marked as
        // superseded.
        var certificate = stored.certificate
        if let oldKey { certificate = try await binding(oldKey, .pin, to: certificate, beginning, at: now) }
        certificate = try await superseding(oldKey?.publicKey.fingerprint, in: certificate, beginning, at: now)
        if let newKey { certificate = try await binding(newKey, .pin, to: certificate, beginning, at: now) }
        try await change(
            .pin, from: oldKey?.publicKey.fingerprint, to: newKey?.publicKey.fingerprint, certificate,
            authorizer: oldKey, beginning, .pin(next))
    }

    /// Registers, replaces or removes the biometric.
    ///
    /// - Parameters:
    ///   - prompt: the text of the system's prompt; nil to remove the biometric.
    ///   - pin: the PIN, if one is set.
    ///   - authority: what entitles the device to the change if no PIN is set and the enrollment is older than ten
    ///     minutes.
    ///   - id: the enrollment.
    func changeBiometric(
        to prompt: String?, pin: PIN?, authority: EnrollmentAuthority?, of id: EnrollmentID
    ) async throws(CountersignError) {
        try await alone(id) { () throws(CountersignError) in
            try await changeBiometricAlone(to: prompt, pin: pin, authority: authority, of: id)
        }
    }

    private func changeBiometricAlone(
        to prompt: String?, pin: PIN?, authority: EnrollmentAuthority?, of id: EnrollmentID
    ) async throws(CountersignError) {
        guard let biometrics = vault as? any BiometricVault else { throw .biometric(.unavailable) }
        let beginning = try await begin(authority, id)
        let stored = beginning.stored
        // Another device may have undone it: its key is still in the certificate then.
        let old = beginning.status.hasBiometric ? stored.biometricSubkey : nil
        guard prompt != nil || old != nil else { throw .biometric(.notRegistered) }
        var authorizer = try await self.authorizer(pin, beginning)
        // Without a PIN, the biometric itself signs its removal; a biometric that waits needs no signature.
        if authorizer == nil, old != nil, beginning.status.waiting[.biometric] == nil {
            authorizer = try await biometricKey(prompt ?? "Remove", of: stored)
        }
        let now = await connection.now.unixSeconds
        var certificate = try await superseding(old?.fingerprint, in: stored.certificate, beginning, at: now)
        var new: SigningKeyPair?
        if let prompt {
            let key = try await vaulted { try await biometrics.makeBiometricKey(for: id, prompt: prompt) }
            let pair = SigningKeyPair(key, createdAt: now)
            certificate = try await binding(pair, .biometric, to: certificate, beginning, at: now)
            new = pair
        }
        try await change(
            .biometric, from: old?.fingerprint, to: new?.publicKey.fingerprint, certificate, authorizer: authorizer,
            beginning, .certificate(certificate))
    }

    /// The PIN's key, which must sign every change if a PIN is set.
    private func authorizer(
        _ pin: PIN?, _ beginning: Beginning
    ) async throws(CountersignError) -> SigningKeyPair? {
        // A PIN that waits protects nothing.
        guard beginning.status.pin == .set, beginning.status.waiting[.pin] == nil else { return nil }
        guard let pin else { throw .pinRequired }
        return try await signingKey(of: pin, for: beginning.stored)
    }

    /// Registers a custom authenticator, again if it was registered before, or deregisters it.
    ///
    /// The device keeps no record of it: the server knows whether the registration was made, and a repeat has the same
    /// result.
    ///
    /// - Parameters:
    ///   - text: the authenticator's name.
    ///   - data: the data to register; nil to deregister it.
    ///   - pin: the PIN, if one is set.
    ///   - authority: what entitles the device to the change if no PIN is set and the enrollment is older than ten
    ///     minutes.
    ///   - id: the enrollment.
    /// - Returns: the authenticator's data for the app.
    func changeAuthenticator(
        _ text: String, to data: String?, pin: PIN?, authority: EnrollmentAuthority?, of id: EnrollmentID
    ) async throws(CountersignError) -> String? {
        guard let name = AuthenticatorName(text) else {
            throw .configurationInvalid("\"\(text)\" is no name of an authenticator")
        }
        return try await alone(id) { () throws(CountersignError) -> String? in
            let beginning = try await begin(authority, id)
            let stored = beginning.stored
            let authorizer = try await self.authorizer(pin, beginning)
            var customData: [UInt8]?
            if let data { customData = try await seal(custom: data, signedBy: beginning.primary, for: stored) }
            let change = AuthenticatorChange(
                beginning.header, name: name, customDataHash: customData.map { Array(SHA256.hash(data: $0)) })
            let request = try await self.request(change.text, authorizer, beginning, customData: customData)
            return try await untilReplied { () throws(CountersignError) -> String? in
                let response = try await send(
                    "POST", "/v1/enrollments/self/methods", body: request.json, for: stored)
                return response.body.isEmpty ? nil : try response.json()["payload"]?.string
            }
        }
    }

    /// A change signed with the primary key and with that of the PIN.
    private func request(
        _ text: String, _ authorizer: SigningKeyPair?, _ beginning: Beginning, customData: [UInt8]? = nil
    ) async throws(CountersignError) -> MethodChangeRequest {
        var authorization: [UInt8]?
        if let authorizer { authorization = try await seal(text, signedBy: authorizer, for: beginning.stored) }
        return MethodChangeRequest(
            message: try await seal(text, signedBy: beginning.primary, for: beginning.stored),
            authorization: authorization, customData: customData, ticket: beginning.ticket)
    }

    private func binding(
        _ key: SigningKeyPair, _ method: AnswerMethod, to certificate: Certificate, _ beginning: Beginning,
        at now: UnixSeconds
    ) async throws(CountersignError) -> Certificate {
        let notations = [method.notation(of: beginning.stored.issuer)]
        return try await vaulted {
            try await certificate.adding(.signing(key, notations: notations), by: beginning.primary, at: now)
        }
    }

    private func superseding(
        _ old: Fingerprint?, in certificate: Certificate, _ beginning: Beginning, at now: UnixSeconds
    ) async throws(CountersignError) -> Certificate {
        guard let old else { return certificate }
        // The revocation begins in the next second, so that a signature made in this second stays valid.
        let end = now + 1
        return try await vaulted {
            try await certificate.revoking(old, because: .superseded, by: beginning.primary, at: end)
        }
    }

    /// Signs a change with the primary key and with that of the PIN, stores it and sends it.
    private func change(
        _ method: AnswerMethod, from old: Fingerprint?, to new: Fingerprint?, _ certificate: Certificate,
        authorizer: SigningKeyPair?, _ beginning: Beginning, _ result: KeptChange.Result
    ) async throws(CountersignError) {
        let stored = beginning.stored
        let text = MethodChange(
            beginning.header, method: method, old: old, new: new, certificate: certificate.encoded
        ).text
        let kept = KeptChange(result, request: try await request(text, authorizer, beginning))
        try await vaulted { [vault] in try await vault.write(kept.encoded, as: KeptChange.record, of: stored.id) }
        try await deliver(kept, of: stored)
    }

    /// Repeats a change whose reply was lost, so that the device knows which of its keys count.
    private func settleChange(of stored: StoredEnrollment) async throws(CountersignError) {
        let record = try await vaulted { [vault] in try await vault.record(KeptChange.record, of: stored.id) }
        guard let record else { return }
        guard let change = KeptChange(record) else { throw .vault("the record of a change is damaged") }
        do throws(CountersignError) {
            try await deliver(change, of: stored)
        } catch {
            // The refusal, or the wrong PIN, belongs to an earlier call.
            guard error.settlesChange else { throw error }
        }
    }

    private func deliver(_ change: KeptChange, of stored: StoredEnrollment) async throws(CountersignError) {
        do throws(CountersignError) {
            try await untilReplied { () throws(CountersignError) in
                _ = try await send("POST", "/v1/enrollments/self/methods", body: change.request.json, for: stored)
                try await conclude(change, isMade: true, of: stored)
            }
        } catch {
            if error.settlesChange { try await conclude(change, isMade: false, of: stored) }
            if case .server(let problem) = error, problem.knownCode == .changeInvalid {
                // The change may have been sealed to a key that the server no longer has; the next change uses the
                // current key.
                _ = try? await refreshedServerCertificate(of: stored)
            }
            throw error
        }
    }

    /// Stores the keys and records that count from now on, and deletes the others.
    private func conclude(
        _ change: KeptChange, isMade: Bool, of stored: StoredEnrollment
    ) async throws(CountersignError) {
        switch change.result {
        case .pin(let next): try await conclude(next, isMade: isMade, of: stored)
        case .certificate(let certificate):
            if isMade {
                let updated = try await update(stored.id) { $0.certificate = certificate }
                // Until now it could have been the current key.
                if updated?.biometricSubkey == nil {
                    try await vaulted { [vault] in try await vault.removeKey(.biometric, of: stored.id) }
                }
            }
        }
        try await vaulted { [vault] in try await vault.remove(KeptChange.record, of: stored.id) }
    }

    private func conclude(
        _ next: StoredPIN?, isMade: Bool, of stored: StoredEnrollment
    ) async throws(CountersignError) {
        let known = try await storedPIN(of: stored)
        let current = isMade ? next : known
        let superseded = isMade ? known : next
        try await vaulted { [vault] in
            // The key is removed before the record changes: afterwards nothing would name it.
            if let superseded, superseded.role != current?.role {
                try await vault.removeKey(superseded.role, of: stored.id)
            }
            if isMade, let next {
                try await vault.write(next.json.encoded, as: StoredPIN.record, of: stored.id)
            } else if isMade {
                try await vault.remove(StoredPIN.record, of: stored.id)
            }
        }
    }
}

extension StoredEnrollment {
    /// The subkey for the user's biometrics; nil if none is valid.
    fileprivate var biometricSubkey: CertifiedKey? {
        certificate.subkeys.last {
            $0.notations == [AnswerMethod.biometric.notation(of: issuer)] && $0.revokedAt == nil
        }
    }
}

extension CountersignError {
    /// Whether the server will never make the change after this error.
    fileprivate var settlesChange: Bool {
        switch self {
        case .pinIncorrect, .pinLocked, .pinRequired, .authorityNeeded, .customRetry, .customFailed,
            .customNotRegistered, .customUnavailable:
            true
        case .server(let problem): problem.knownCode == .changeInvalid || problem.knownCode == .certificateFull
        default: false
        }
    }
}
