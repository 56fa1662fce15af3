import CountersignWire

/// What messages to a user's addresses, about what was done on the account page, say besides that.
struct OwnerTeller: Sendable {
    /// The client through which people sign in to the page.
    let client: Client
    /// From where it was done.
    let place: ContextLine?
    /// The language of the page.
    let language: LanguageTag?
    /// The transports that the operator has set up.
    let transports: Transports
}

extension UnitOfWork {
    /// Tells all addresses of a user that can be reached what was done on the account page, or will be at a time.
    func tell(
        _ change: PersonalMessage.AccountChange, of user: UserID, at time: Timestamp, _ teller: OwnerTeller
    ) throws {
        let message = PersonalMessage.changed(
            change, by: teller.client.name, at: time, from: teller.place, page: issuer.accountPage,
            in: teller.language)
        let party = try relyingParties.find(teller.client.id)
        for identifier in try identifiers.verified(of: user) where teller.transports.reach(identifier.address) {
            if identifier.address.kind == .phone {
                // Text messages cost, so they go only where the page sends codes as well, and not without end: what is
                // undone and done again and again would have one sent each time.
                guard party?.sends(to: identifier.address) == true, try !count(.noticeTexts(to: user)).isExceeded else {
                    continue
                }
            }
            try outbox.enqueue(
                OutboxMessage(
                    id: nextID(), content: .personal(message, to: identifier.address, client: teller.client.id),
                    dueAt: now, expiresAt: now.adding(OutboxMessage.lifetime)))
            notify(.outbox)
        }
    }
}
