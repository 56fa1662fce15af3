import CountersignWire
import Encodings
import JOSE
import OpenPGP

extension Authenticator {
    /// How often a request is sent whose reply may have been lost.
    private static let attempts = 4

    /// Enrolls this device.
    ///
    /// Makes the device's keys, and removes them again when the server refuses or cannot be reached. If the user has a
    /// device already, that device must approve this one: see ``Enrollment/approval``.
    ///
    /// - Parameter authority: what entitles the device to enroll.
    /// - Returns: the enrollment.
    public func enroll(with authority: EnrollmentAuthority) async throws(CountersignError) -> Enrollment {
        try await enroll(try await invitation(for: authority))
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

    private func enroll(_ invitation: EnrollmentInvitation) async throws(CountersignError) -> Enrollment {
        let serverCertificate = try await pinnedCertificate(invitation.fingerprint)
        guard await roster[invitation.enrollment] == nil else { throw .ticketRefused(code: "ticket_used") }
        do throws(CountersignError) {
            var push = await roster.push
            let (stored, request, signer) = try await prepare(invitation, serverCertificate, push)
            let reply: EnrollmentReply
            do throws(CountersignError) {
                reply = try await send(request, signer: signer)
            } catch {
                guard case .pushTokenInUse = error else { throw error }
                // An earlier enrollment of this user on this device still has the token: this one polls instead.
                push = nil
                reply = try await send(
                    EnrollmentRequest(
                        ticket: request.ticket, certificate: request.certificate, device: request.device,
                        versions: request.versions), signer: signer)
            }
            guard reply.enrollment == invitation.enrollment, reply.user == invitation.user,
                reply.serverCertificate.fingerprint == invitation.fingerprint
            else { throw .notHandleable(reason: "the server enrolled something else than was asked for") }
            var complete = stored
            complete.pushKeys = reply.pushKeys
            try await keep(complete)
            await roster.add(complete)
            await keep(AppRecord(labels: request.device.labels, versions: request.versions), of: complete.id)
            if let push { try await keep(PushRecord(registration: push, toldAt: connection.now), of: complete) }
            return Enrollment(
                id: complete.id, authenticator: self, stored: complete,
                approval: reply.approval.map(AwaitedApproval.init))
        } catch {
            try? await vault.removeAll(of: invitation.enrollment)
            throw error
        }
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

    private func prepare(
        _ invitation: EnrollmentInvitation, _ serverCertificate: Certificate, _ push: PushRegistration?
    ) async throws(CountersignError) -> (StoredEnrollment, EnrollmentRequest, Connection.Signer) {
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
        let stored = StoredEnrollment(
            id: id, user: invitation.user, issuer: invitation.issuer, createdAt: now, certificate: certificate,
            serverCertificate: serverCertificate, serverCertificateAt: await connection.now, pushKeys: .init([]))
        let request = EnrollmentRequest(
            ticket: invitation.ticket, certificate: certificate.encoded,
            device: DeviceDescription(labels: try labels(), storage: vault.storage),
            versions: [ChallengeBody.version], push: push)
        return (stored, request, Connection.Signer(keyID: "\(certificate.fingerprint)", key: authentication))
    }

    /// The description of the app and of the device.
    func labels() throws(CountersignError) -> DeviceLabels {
        func line(_ text: String) throws(CountersignError) -> DisplayLine {
            do { return try DisplayLine(text, atMost: 100) } catch {
                throw .notHandleable(reason: "\"\(text)\" cannot be shown (\(error.rawValue))")
            }
        }
        return DeviceLabels(
            name: try line(app.deviceName), model: try app.model.map(line), system: try app.system.map(line),
            app: try line("\(app.name) \(app.version)"))
    }

    private func send(
        _ request: EnrollmentRequest, signer: Connection.Signer
    ) async throws(CountersignError) -> EnrollmentReply {
        // The reply may be lost although the enrollment was made: a repeat of the same request gets the same
        // enrollment.
        try await untilReplied { () throws(CountersignError) in
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
