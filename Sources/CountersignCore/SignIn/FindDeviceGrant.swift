package import CountersignWire
package import Encodings

/// Finds what a device has asked for by the code that it shows.
///
/// Spec: RFC 8628 §3.3, §5.1; docs/decisions/0087-device-grant.md.
package enum FindDeviceGrant {
    /// What somebody has typed, and where.
    package struct Request: Sendable {
        /// What was typed.
        package let typed: String
        /// What the browser's cookie holds.
        package let browser: BrowserID
        /// The session that the browser has; nil for none.
        package let session: Secret<String>?
        /// The caller's network.
        package let network: [UInt8]?

        /// A request of these parts.
        package init(typed: String, browser: BrowserID, session: Secret<String>?, network: [UInt8]?) {
            self.typed = typed
            self.browser = browser
            self.session = session
            self.network = network
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// Whoever has signed in is asked whether they have started this, and what they allow.
        case asks(Authorization, ConsentQuestion)
        /// The person must sign in at this client first.
        case signIn(ClientID, UserCode)
        /// There is no such code, or no more, or another browser has taken it up.
        case unknown
        /// There were too many wrong codes; try again after some seconds.
        case tooMany(retryAfter: Seconds)
    }

    /// Finds.
    ///
    /// All codes that are open are targets of whoever guesses. Wrong ones are counted for the browser, the network, the
    /// user, and for all together.
    ///
    /// - Throws: ``StoreError``.
    package static func find(_ request: Request, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: .system) { work in
            let session = try request.session.flatMap { try work.sessions.find(SecretHash(of: $0), at: now) }
            var budgets = [AttemptLimit.wrongUserCodesIn(work.hasher.mark(of: request.browser))]
            if let network = request.network { budgets.append(.wrongUserCodesFrom(network)) }
            // Whoever has signed in has a few tries of their own, and no stranger uses these up.
            budgets.append(session.map { .wrongUserCodes(of: $0.user) } ?? .allWrongUserCodes)
            for budget in budgets {
                let wrong = try work.counted(budget)
                // check: DeviceGrantTests.guesses
                guard !wrong.isUsedUp else { return .tooMany(retryAfter: wrong.retryAfter(at: now)) }
            }
            guard let (found, client) = try work.open(byTyped: request.typed, in: request.browser),
                let device = found.wanted.device
            else {
                for budget in budgets { _ = try work.count(budget) }
                return .unknown
            }
            guard let session, try work.mayAgree(session, to: found) else {
                return .signIn(client, device.userCode)
            }
            return .asks(found, try work.question(to: session.user, about: found, at: client))
        }
    }

    /// What a page asks again, as in another language.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - user: whom the page was shown to.
    ///   - browser: what the browser's cookie holds.
    ///   - secret: the session that the browser has; nil for none.
    ///   - ports: the external dependencies.
    /// - Returns: nil if there is nothing to ask any more, or nobody.
    /// - Throws: ``StoreError``.
    package static func question(
        about id: AuthorizationID, to user: UserID, in browser: BrowserID, session secret: Secret<String>?, ports: Ports
    ) async throws -> (Authorization, ConsentQuestion)? {
        let now = ports.time.now
        return try await ports.commit(at: now, as: .system) { work in
            guard let secret, let session = try work.sessions.find(SecretHash(of: secret), at: now),
                session.user == user, let (found, client) = try work.open(id, toDeviceIn: browser),
                try work.mayAgree(session, to: found)
            else { return nil }
            return (found, try work.question(to: user, about: found, at: client))
        }
    }
}

extension KeyedHasher {
    /// A stand-in for a browser in limits, whatever it visits.
    func mark(of browser: BrowserID) -> String { Hex.encode(code(of: "browser \(browser.text.reveal())")) }
}

extension UnitOfWork {
    fileprivate func open(byTyped text: String, in browser: BrowserID) throws -> (Authorization, ClientID)? {
        guard let code = UserCode(typed: text), let id = try authorizations.find(userCode: hasher.hash(of: code)) else {
            return nil
        }
        return try open(id, toDeviceIn: browser)
    }

    /// What a device has asked for, as long as this browser may take it up.
    func open(_ id: AuthorizationID, toDeviceIn browser: BrowserID) throws -> (Authorization, ClientID)? {
        guard let found = try authorizations.find(id), found.wanted.device != nil, found.state == .open,
            now < found.expiresAt
        else { return nil }
        // check: DeviceConfirmTests.otherBrowser
        guard found.isFree(for: hasher.hash(of: browser, client: found.client), hasher) else { return nil }
        guard let (client, party) = try clients.lockWithParty(found.client), client.disabledAt == nil,
            party.deviceGrant != .off
        else { return nil }
        return (found, client.id)
    }

    /// Whether whoever has signed in in a session may say yes to what a device of a client has asked for: the client takes
    /// the person and their way to sign in, which is not too long ago for it.
    func mayAgree(_ session: Session, to found: Authorization) throws -> Bool {
        let authentication = session.authentication
        // check: DeviceConfirmTests.tooOld
        guard !found.wanted.isTooOld(authentication, at: now) else { return false }
        return try admits(authentication, to: found.client)
            && isGood(authentication.evidence, session.user, at: found.client)
            && isWelcome(session.user, at: found.client)
    }

    fileprivate func question(
        to user: UserID, about found: Authorization, at client: ClientID
    ) throws -> ConsentQuestion {
        let isGiven = try clients.find(client).map { try !needsConsent(of: user, to: found.wanted, by: $0) } ?? false
        return try question(to: user, about: found.wanted, isGiven: isGiven)
    }
}
