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
        let addresses = addresses.filter(transports.reach)
        guard !addresses.isEmpty, let client = try clients.find(authorization.client) else { return }
        // check: SignInNoticeTests.limit
        guard try !count(.signInNotices(to: user)).isExceeded else { return }
        let message = PersonalMessage.signedIn(
            notice, at: client.name, at: now, from: authorization.wanted.askedFrom,
            page: try accountClient() == nil ? nil : issuer.accountPage, in: authorization.wanted.askedIn)
        try send(message, to: addresses, of: user, for: client.id)
    }

    /// Sends a message to addresses of a user that can be reached, in the name of a client.
    func send(
        _ message: PersonalMessage, to addresses: [PersonalAddress], of user: UserID, for client: ClientID
    ) throws {
        let party = try relyingParties.find(client)
        for address in addresses {
            if address.kind == .phone {
                // Text messages cost, so they go only where the page sends codes as well, and not without end: what is
                // undone and done again and again would have one sent each time.
                guard party?.sends(to: address) == true, try !count(.noticeTexts(to: user)).isExceeded else { continue }
            }
            try outbox.enqueue(
                OutboxMessage(
                    id: nextID(), content: .personal(message, to: address, client: client), dueAt: now,
                    expiresAt: now.adding(OutboxMessage.lifetime)))
            notify(.outbox)
        }
    }
}
