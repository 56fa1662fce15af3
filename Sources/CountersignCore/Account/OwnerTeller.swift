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
        let addresses = try identifiers.verified(of: user).map(\.address).filter(teller.transports.reach)
        try send(message, to: addresses, of: user, for: teller.client.id)
    }
}
