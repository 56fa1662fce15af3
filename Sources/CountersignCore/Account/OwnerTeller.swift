import CountersignWire

/// What messages to a user's addresses, about what was done on the account page, say besides that.
struct OwnerTeller: Sendable {
    /// The client through which people sign in to the page; the operator's own where there is no page.
    let client: Client
    /// From where it was done.
    let place: ContextLine?
    /// The language of the page.
    let language: LanguageTag?
    /// The transports that the operator has set up.
    let transports: Transports
}

extension UnitOfWork {
    /// Tells all addresses of a user that can be reached what an operator has done, as where the user does it on the
    /// account page; without a link, and by mail alone, where there is no such page.
    func tell(
        _ change: PersonalMessage.AccountChange, of user: UserID, doneByOperatorWith transports: Transports
    ) throws {
        guard let client = try accountClient() ?? clients.operatorClient() else { return }
        let teller = OwnerTeller(client: client, place: nil, language: nil, transports: transports)
        try tell(change, of: user, at: now, teller)
    }

    /// Tells all addresses of a user that can be reached what was done on the account page, or will be at a time.
    func tell(
        _ change: PersonalMessage.AccountChange, of user: UserID, at time: Timestamp, _ teller: OwnerTeller
    ) throws {
        // Nobody knows the operator's client by its name.
        let isOperator = teller.client.isOperator
        let message = PersonalMessage.changed(
            change, by: isOperator ? issuer.host : teller.client.name.text, at: time, from: teller.place,
            page: isOperator ? nil : issuer.accountPage, in: teller.language)
        let verified = try identifiers.verified(of: user).map(\.address)
        for address in try reachable(verified, for: teller.client.id, by: teller.transports) {
            // What is undone and done again and again would have a text message sent each time.
            if address.kind == .phone, try count(.noticeTexts(to: user)).isExceeded { continue }
            try send(message, to: address, for: teller.client.id)
        }
    }
}
