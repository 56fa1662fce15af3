import CountersignWire

// Which sign-ins a person is told of, since somebody else may have signed in.
//
// Spec: OWASP ASVS 6.3.5; docs/decisions/0072-signing-in.md.

extension UnitOfWork {
    /// Tells a person that they have signed in from a browser in which they had approved nothing before.
    ///
    /// The address to which a code went is not told: the message with the code has said where somebody signs in, and from
    /// where. As people sign in by codes again and again, and no browser becomes theirs by that, their other addresses get
    /// mails of it, and no text messages.
    ///
    /// Call this before the browser becomes the person's.
    func tellOfNewBrowser(
        _ authorization: Authorization, _ authentication: Authentication, by transports: Transports
    ) throws {
        let user = authentication.user
        // check: SignInNoticeTests.newBrowser
        guard try !browsers.isKnown(authorization.browser, of: user, by: authorization.client) else { return }
        let isCode = authentication.evidence.isCode
        let named = authorization.wanted.identifier?.address.map { hasher.identifier($0) }
        let told = try identifiers.verified(of: user).map(\.address).filter { address in
            !isCode || address.kind == .email && hasher.identifier(address) != named
        }
        try tell(.newBrowser, of: authorization, to: told, of: user, by: transports)
    }

    /// Tells a person that a device has signed in as them by the device grant, which is what phishers use.
    ///
    /// Nobody knows such a device again, so each of these sign-ins is told.
    func tellOfDeviceGrant(
        _ authorization: Authorization, _ authentication: Authentication, by transports: Transports
    ) throws {
        let told = try identifiers.verified(of: authentication.user).map(\.address)
        try tell(.deviceGrant, of: authorization, to: told, of: authentication.user, by: transports)
    }

    /// Tells an address that somebody has signed in by what was sent there, after wrong codes had been typed.
    func tellOfWrongCodes(
        before authorization: Authorization, to address: PersonalAddress, of user: UserID, by transports: Transports
    ) throws {
        try tell(.wrongCodes, of: authorization, to: [address], of: user, by: transports)
    }

    /// Tells some addresses, a few times a day: whoever signs in on and on does not fill somebody's mailbox.
    private func tell(
        _ notice: PersonalMessage.SignInNotice, of authorization: Authorization, to addresses: [PersonalAddress],
        of user: UserID, by transports: Transports
    ) throws {
        let addresses = try reachable(addresses, for: authorization.client, by: transports)
        guard !addresses.isEmpty, let client = try clients.find(authorization.client) else { return }
        // Devices sign in often, and must not use up the notices of browsers.
        let limit: AttemptLimit = notice == .deviceGrant ? .deviceGrantNotices(to: user) : .signInNotices(to: user)
        // check: SignInNoticeTests.limit
        guard try !count(limit).isExceeded else { return }
        let message = PersonalMessage.signedIn(
            notice, at: client.name, at: now, from: authorization.wanted.askedFrom,
            page: try accountClient() == nil ? nil : issuer.accountPage, in: authorization.wanted.askedIn)
        for address in addresses { try send(message, to: address, for: client.id) }
    }

    /// Those of some addresses to which notices of a client go: text messages cost, so they go only where its pages send
    /// codes as well.
    func reachable(
        _ addresses: [PersonalAddress], for client: ClientID, by transports: Transports
    ) throws -> [PersonalAddress] {
        let reached = addresses.filter { transports.reach($0) }
        guard reached.contains(where: { $0.kind == .phone }) else { return reached }
        let party = try relyingParties.find(client)
        return reached.filter { $0.kind == .email || party?.sends(to: $0) == true }
    }

    /// Sends a message to an address in the name of a client.
    func send(_ message: PersonalMessage, to address: PersonalAddress, for client: ClientID) throws {
        try outbox.enqueue(
            OutboxMessage(
                id: nextID(), content: .personal(message, to: address, client: client), dueAt: now,
                expiresAt: now.adding(OutboxMessage.lifetime)))
    }
}
