import CountersignWire
import Encodings
import JOSE
import OpenPGP

extension Authenticator {
    /// How often a request is sent whose reply may have been lost.
    private static let attempts = 4

    /// Enrolls this device.
    ///
    /// Makes the device's keys, and removes them again when the server refuses. If there is no reply, the server may have
    /// enrolled the device all the same: the keys are kept. So call it again with the same authority when the network is
    /// back. If the user has a device already, that device must approve this one: see ``Enrollment/approval``.
    ///
    /// - Parameter authority: what entitles the device to enroll.
    /// - Returns: the enrollment.
    public func enroll(with authority: EnrollmentAuthority) async throws(CountersignError) -> Enrollment {
        let mark = EnrollmentAttempt.Mark(authority)
        if let enrollment = try await settleAttempts(repeating: mark) { return enrollment }
        return try await enroll(try await invitation(for: authority), by: mark)
    }

    /// Settles the attempts whose replies are missing.
    ///
    /// The one that is being repeated is sent again. Of the others, which nobody asks for any more, only what the server
    /// has made is kept.
    ///
    /// - Parameter mark: tells the attempt that is being repeated; failures of the others hinder nothing.
    /// - Returns: the enrollment of that attempt; nil if there is none.
    private func settleAttempts(
        repeating mark: EnrollmentAttempt.Mark
    ) async throws(CountersignError) -> Enrollment? {
        var repeated: Enrollment?
        for id in try await vaulted({ [vault] in try await vault.enrollments(with: EnrollmentAttempt.record) }) {
            guard let attempt = await attempt(at: id), attempt.stored.issuer == connection.issuer else { continue }
            let isRepeated = attempt.authority == mark
            do throws(CountersignError) {
                let enrollment = try await alone(id) { () throws(CountersignError) in
                    try await settle(attempt, isRepeated: isRepeated)
                }
                if isRepeated { repeated = enrollment }
            } catch {
                guard !isRepeated else { throw error }
            }
        }
        return repeated
    }

    /// An attempt; nil if there is none, or none that can be read: a newer version of the app may have made it.
    private func attempt(at id: EnrollmentID) async -> EnrollmentAttempt? {
        guard let record = try? await vault.record(EnrollmentAttempt.record, of: id) else { return nil }
        return try? EnrollmentAttempt(record)
    }

    private func settle(
        _ attempt: EnrollmentAttempt, isRepeated: Bool
    ) async throws(CountersignError) -> Enrollment? {
        let id = attempt.stored.id
        if let stored = await roster[id] {
            // The app ended after it had stored the enrollment, or another call was faster.
            try await vaulted { [vault] in try await vault.remove(EnrollmentAttempt.record, of: id) }
            return Enrollment(id: id, authenticator: self, stored: stored)
        }
        if isRepeated { return try await finish(attempt, isRepeat: true) }
        if try await isMade(attempt) { return try await keep(attempt) }
        // The request may still be on its way.
        if await connection.now.seconds > Int64(attempt.stored.createdAt) + 60 { await giveUp(attempt) }
        return nil
    }

    /// Whether the server has made the enrollment, which it tells to the enrollment's key alone.
    private func isMade(_ attempt: EnrollmentAttempt) async throws(CountersignError) -> Bool {
        do throws(CountersignError) {
            _ = try await send("GET", "/v1/enrollments/self", for: attempt.stored)
            return true
        } catch {
            switch error {
            case .enrollmentUnknown, .deviceDeregistered, .notEnrolled: return false
            default: throw error
            }
        }
    }

    /// Removes an attempt's record first: without its keys it would be worth nothing.
    private func giveUp(_ attempt: EnrollmentAttempt) async {
        let id = attempt.stored.id
        try? await vault.remove(EnrollmentAttempt.record, of: id)
        try? await vault.removeAll(of: id)
    }

    /// Keeps an enrollment that the server has made.
    ///
    /// - Parameters:
    ///   - attempt: the attempt.
    ///   - pushKeys: the server's keys for push envelopes; without them, they are fetched when one comes.
    ///   - approval: the wait for approval, as the reply told it.
    private func keep(
        _ attempt: EnrollmentAttempt, pushKeys: JWKSet = JWKSet([]), approval: AwaitedApproval? = nil
    ) async throws(CountersignError) -> Enrollment {
        var complete = attempt.stored
        complete.pushKeys = pushKeys
        try await keep(complete)
        await roster.add(complete)
        try await vaulted { [vault, id = complete.id] in try await vault.remove(EnrollmentAttempt.record, of: id) }
        return Enrollment(id: complete.id, authenticator: self, stored: complete, approval: approval)
    }

    /// The invitation that an authority gives.
    func invitation(for authority: EnrollmentAuthority) async throws(CountersignError) -> EnrollmentInvitation {
        let text: String
        switch authority {
        case .ticket(let scanned): text = scanned
        case .accessToken(let token): text = try await ticket(for: token)
        }
        guard let invitation = EnrollmentInvitation(text) else { throw .invitationRefused(.malformed) }
        guard invitation.issuer == connection.issuer else { throw .invitationRefused(.otherIssuer) }
        return invitation
    }

    /// The text of the ticket for which the server exchanges an access token; it gives the same one again.
    private func ticket(for token: AccessToken) async throws(CountersignError) -> String {
        try await untilReplied { () throws(CountersignError) in
            do throws(CountersignError) {
                let response = try await connection.send("POST", "/v1/enrollment-tickets", bearer: token)
                guard let text = try response.json()["qr"]?.string else {
                    throw .serverUnreachable(status: response.status)
                }
                return text
            } catch .server(let problem) where !(problem.knownCode?.meaning.retryHelps ?? false) {
                throw problem.knownCode == .unauthorized ? .signInEnded : Self.refusal(problem)
            }
        }
    }

    private func enroll(
        _ invitation: EnrollmentInvitation, by mark: EnrollmentAttempt.Mark
    ) async throws(CountersignError) -> Enrollment {
        let id = invitation.enrollment
        let serverCertificate = try await pinnedCertificate(invitation.fingerprint)
        return try await alone(id) { () throws(CountersignError) in
            guard await roster[id] == nil else { throw .ticketRefused(code: "ticket_used") }
            // A call with the same ticket has begun and failed meanwhile: its keys may be enrolled.
            if let begun = await attempt(at: id) { return try await finish(begun, isRepeat: true) }
            // A description that cannot be shown is refused before there are keys.
            _ = try appRecord()
            let attempt: EnrollmentAttempt
            do throws(CountersignError) {
                let stored = try await makeKeys(for: invitation, serverCertificate)
                attempt = EnrollmentAttempt(stored, ticket: invitation.ticket, by: mark)
                try await vaulted { [vault] in
                    try await vault.write(attempt.encoded, as: EnrollmentAttempt.record, of: id)
                }
            } catch {
                try? await vault.removeAll(of: id)
                throw error
            }
            return try await finish(attempt, isRepeat: false)
        }
    }

    /// Asks for an enrollment, and keeps it when the reply comes.
    private func finish(_ attempt: EnrollmentAttempt, isRepeat: Bool) async throws(CountersignError) -> Enrollment {
        let app = try appRecord()
        var push = await roster.push
        let reply: EnrollmentReply
        do throws(CountersignError) {
            do throws(CountersignError) {
                reply = try await send(attempt, app, push)
            } catch {
                guard case .pushTokenInUse = error else { throw error }
                // An earlier enrollment of this user on this device still has the token: this one polls instead.
                push = nil
                reply = try await send(attempt, app, push)
            }
        } catch {
            guard error.refusesEnrollment else { throw error }
            // The server forgets a ticket after a day, but not what it made by it.
            if isRepeat, try await isMade(attempt) { return try await keep(attempt) }
            await giveUp(attempt)
            throw error
        }
        guard reply.enrollment == attempt.stored.id, reply.user == attempt.stored.user,
            reply.serverCertificate.fingerprint == attempt.stored.serverCertificate.fingerprint
        else {
            await giveUp(attempt)
            throw .notHandleable(reason: "the server enrolled something else than was asked for")
        }
        let enrollment = try await keep(
            attempt, pushKeys: reply.pushKeys, approval: reply.approval.map(AwaitedApproval.init))
        // What the server made of an earlier request has the description of that time; this one is told with the next
        // look, and so is a push registration that could not be noted.
        if !isRepeat { await keep(app, of: enrollment.id) }
        if let push {
            try? await keep(PushRecord(registration: push, toldAt: connection.now), of: enrollment.stored)
        }
        return enrollment
    }

    /// The issuer's certificate, which must be the one that the invitation names.
    ///
    /// The request also corrects the device's clock: keys must not be made with a time in the future.
    private func pinnedCertificate(_ fingerprint: Fingerprint) async throws(CountersignError) -> Certificate {
        let response = try await connection.send("GET", "/v1/server-certificate")
        guard let certificate = try? Certificate(armored: String(decoding: response.body, as: UTF8.self)) else {
            throw .serverUnreachable(status: response.status)
        }
        guard certificate.fingerprint == fingerprint else { throw .invitationRefused(.wrongFingerprint) }
        if let date = response.date, abs(date.seconds - (await connection.now).seconds) > 2 {
            try await connection.adopt(date)
        }
        return certificate
    }

    private func makeKeys(
        for invitation: EnrollmentInvitation, _ serverCertificate: Certificate
    ) async throws(CountersignError) -> StoredEnrollment {
        let id = invitation.enrollment
        let vault = vault
        let now = await connection.now.unixSeconds
        let primary = try await vaulted { try await vault.makeSigningKey(.primary, for: id) }
        let authentication = try await vaulted { try await vault.makeSigningKey(.authentication, for: id) }
        let encryption = try await vaulted { try await vault.makeAgreementKey(.encryption, for: id) }
        let certificate = try await vaulted {
            try await Certificate.make(
                primary: SigningKeyPair(primary, createdAt: now), flags: [.certify, .sign],
                userID: DeviceKeys.userID(of: invitation.user, enrollment: id, issuer: invitation.issuer),
                subkeys: [
                    .authentication(SigningKeyPair(authentication, createdAt: now)),
                    .encryption(DecryptionKeyPair(encryption, createdAt: now).publicKey),
                ], at: now)
        }
        return StoredEnrollment(
            id: id, user: invitation.user, issuer: invitation.issuer, createdAt: now, certificate: certificate,
            serverCertificate: serverCertificate, serverCertificateAt: await connection.now, pushKeys: .init([]))
    }

    /// The description of the app and of the device.
    func labels() throws(CountersignError) -> DeviceLabels {
        func line(_ text: String) throws(CountersignError) -> DisplayLine {
            do {
                try DisplayLimits.check(name: text)
                return try DisplayLine(text, atMost: 100)
            } catch {
                throw .notHandleable(reason: "\"\(text)\" cannot be shown (\(error.rawValue))")
            }
        }
        return DeviceLabels(
            name: try line(app.deviceName), model: try app.model.map(line), system: try app.system.map(line),
            app: try line("\(app.name) \(app.version)"))
    }

    private func send(
        _ attempt: EnrollmentAttempt, _ app: AppRecord, _ push: PushRegistration?
    ) async throws(CountersignError) -> EnrollmentReply {
        let stored = attempt.stored
        guard
            let key = try await vaulted({ [vault] in try await vault.signingKey(.authentication, of: stored.id) })
        else { throw .notEnrolled }
        let request = EnrollmentRequest(
            ticket: attempt.ticket, certificate: stored.certificate.encoded,
            device: DeviceDescription(labels: app.labels, storage: vault.storage), versions: app.versions, push: push)
        let signer = Connection.Signer(keyID: "\(stored.certificate.fingerprint)", key: key)
        // The server answers a repeat of the same certificate and ticket with the same enrollment.
        return try await untilReplied { () throws(CountersignError) in
            do throws(CountersignError) {
                let response = try await connection.send("POST", "/v1/enrollments", body: request.json, signer: signer)
                guard let reply = try? EnrollmentReply(try response.json()) else {
                    throw .serverUnreachable(status: response.status)
                }
                return reply
            } catch .server(let problem) where !(problem.knownCode?.meaning.retryHelps ?? false) {
                throw Self.refusal(problem)
            }
        }
    }

    private static func refusal(_ problem: ProblemDetails) -> CountersignError {
        switch problem.knownCode {
        case .ticketInvalid, .ticketUsed, .ticketExpired, .enrollmentBlocked: .ticketRefused(code: problem.code)
        case .pushTokenInUse: .pushTokenInUse
        default: .server(problem)
        }
    }

    /// Stores the record of an enrollment.
    func keep(_ stored: StoredEnrollment) async throws(CountersignError) {
        try await vaulted { [vault] in
            try await vault.write(stored.json.encoded, as: StoredEnrollment.record, of: stored.id)
        }
    }

    /// Repeats a request until there is a reply; the server answers identical requests with the same reply.
    func untilReplied<Result: Sendable>(
        _ send: () async throws(CountersignError) -> Result
    ) async throws(CountersignError) -> Result {
        var attempt = 1
        while true {
            do throws(CountersignError) {
                return try await send()
            } catch {
                guard error.isSentAgain, attempt < Self.attempts, !Task.isCancelled else { throw error }
                try await pause(attempt)
                attempt += 1
            }
        }
    }

    /// Waits before the next attempt.
    func pause(_ attempt: Int) async throws(CountersignError) {
        try await sleep(for: Backoff(failures: attempt).pause)
    }

    func sleep(for time: Duration) async throws(CountersignError) {
        do { try await Task.sleep(for: time) } catch { throw .cancelled }
    }
}
