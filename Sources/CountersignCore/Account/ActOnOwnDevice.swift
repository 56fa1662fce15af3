package import CountersignWire
package import Encodings

/// Confirms, suspends, resumes or removes a device, or undoes a method of it that waits, by its user on the account page.
///
/// Removing, suspending and undoing need any one way to sign in, so that nobody is locked out who has lost a phone; they
/// shorten no wait. What is done with a device is told to the addresses of the user. Spec: NIST SP 800-63B-4 §4.3;
/// docs/decisions/0077-account-page.md.
package enum ActOnOwnDevice {
    /// What is done.
    package enum Act: String, CaseIterable, Sendable {
        /// The user says that the device is theirs.
        case confirm
        /// The device can do nothing until it is resumed.
        case suspend
        /// A suspended device can do what it could before.
        case resume
        /// The device is removed for ever.
        case remove
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is done, now or since before; the name is that of the device.
        case done(DisplayLine)
        /// The device is confirmed from this time on, unless somebody objects.
        case later(DisplayLine, from: Timestamp)
        /// The person must sign in, or sign in anew, through the account page's client.
        case signIn
        /// The way in which the person has signed in does not suffice.
        case tooWeak
        /// The user has no such device, or it waits and cannot be suspended.
        case notFound
    }

    /// Acts on a device of whoever has signed in.
    ///
    /// - Parameters:
    ///   - act: what to do.
    ///   - id: the enrollment.
    ///   - secret: what the browser's cookie holds; nil for none.
    ///   - user: whom the page was shown to.
    ///   - place: from where it is done.
    ///   - language: the language of the page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func act(
        _ act: Act, on id: EnrollmentID, by secret: Secret<String>?, shownTo user: UserID, from place: ContextLine?,
        in language: LanguageTag?, ports: Ports
    ) async throws -> Outcome {
        let transports = ports.transports
        return try await change(id, by: secret, shownTo: user, ports: ports) { work, visit, device in
            let now = work.now
            let name = device.device.name
            let teller = OwnerTeller(client: visit.client, place: place, language: language, transports: transports)
            switch act {
            case .remove:
                _ = try work.removeEnrollment(id, reason: .account, concerning: visit.client.id)
                try work.tell(.device(.removed, name), of: user, at: now, teller)
            case .suspend:
                // check: AccountTests.suspendsNoneThatWaits
                guard device.counts(at: now) else { return .notFound }
                guard device.state == .active else { return .done(name) }
                try work.setSuspended(device, true)
                try work.tell(.device(.suspended, name), of: user, at: now, teller)
            case .resume:
                guard device.state != .active else { return .done(name) }
                let passkeys = try work.passkeys.passkeys(of: user)
                // check: AccountTests.resume
                guard try work.mayResume(device, by: visit, among: passkeys) else { return .tooWeak }
                try work.setSuspended(device, false)
                try work.tell(.device(.resumed, name), of: user, at: now, teller)
            case .confirm:
                guard !device.isConfirmed else { return .done(name) }
                let passkeys = try work.passkeys.passkeys(of: user)
                switch try work.confirmation(by: visit, among: passkeys) {
                case .refused: return .tooWeak
                case .byDevice: try work.confirm(device)
                case .byAddress:
                    let isNew = device.confirmingFrom == nil
                    let earliest = try work.passkeyWait(of: user, among: passkeys)
                    if let time = try work.confirmByAddress(device, notBefore: earliest) {
                        if isNew { try work.tell(.device(.confirming, name), of: user, at: time, teller) }
                        return .later(name, from: time)
                    }
                }
                try work.tell(.device(.confirmed, name), of: user, at: now, teller)
            }
            return .done(name)
        }
    }

    /// Removes a method that waits, as every device of the user that counts can.
    ///
    /// - Parameters:
    ///   - method: the method; any except `confirm`.
    ///   - id: the enrollment that has it.
    ///   - secret: what the browser's cookie holds; nil for none.
    ///   - user: whom the page was shown to.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func undo(
        _ method: AnswerMethod, of id: EnrollmentID, by secret: Secret<String>?, shownTo user: UserID, ports: Ports
    ) async throws -> Outcome {
        try await change(id, by: secret, shownTo: user, ports: ports) { work, _, device in
            // What counts protects the device: it goes with its own signature, or with the device.
            // check: AccountTests.undo
            guard device.methods.contains(method) && device.waits(method, at: work.now) else { return .notFound }
            try work.undo(method, of: device)
            return .done(device.device.name)
        }
    }

    /// Changes a device of whoever has signed in a moment ago.
    private static func change(
        _ id: EnrollmentID, by secret: Secret<String>?, shownTo user: UserID, ports: Ports,
        _ change: @escaping @Sendable (UnitOfWork, AccountVisit, Enrollment) throws -> Outcome
    ) async throws -> Outcome {
        try await ports.commit(at: ports.time.now, as: .user(user)) { work in
            guard let visit = try work.visitToAct(secret, shownTo: user) else { return .signIn }
            guard let device = try work.enrollments.find(id), device.isPresent else { return .notFound }
            // check: AccountTests.others
            guard device.user == user else { return .notFound }
            return try change(work, visit, device)
        }
    }
}
