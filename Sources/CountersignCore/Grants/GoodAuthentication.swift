import CountersignWire

// What follows from an authentication is good as long as what showed it is: a session, a code, tokens, and a ticket.

extension UnitOfWork {
    /// Whether an authentication is still good: the user is linked to the client, and the device is neither removed nor
    /// suspended, or the address still the user's; and the client believes the one or the other.
    ///
    /// Reading both locks them, so that neither changes before this transaction has committed what it gives.
    func isGood(_ authentication: Authentication, at client: ClientID) throws -> Bool {
        guard try links.find(.id(authentication.user), of: client) != nil else { return false }
        return try isGood(authentication.evidence, authentication.user, at: client)
    }

    /// Whether what showed who somebody is still does, at a client.
    func isGood(_ evidence: Authentication.Evidence, _ user: UserID, at client: ClientID) throws -> Bool {
        switch evidence {
        case .approval(_, let id):
            guard let enrollment = try enrollments.findHeld(id) else { return false }
            // check: SignInTests.suspended
            guard enrollment.state == .active else { return false }
            return try isBelieved(enrollment, at: client)
        case .code(let id, _):
            guard let identifier = try identifiers.verified(id), identifier.user == user else { return false }
            return identifier.isGood(at: client)
        case .passkey(let id):
            guard let passkey = try passkeys.find(id), passkey.user == user, let client = try clients.find(client)
            else { return false }
            return passkey.isBelieved(in: client.trustGroup)
        }
    }
}

extension Stores {
    /// Whether what showed who somebody is is there: the device, neither removed nor suspended, the address of the user,
    /// or the passkey.
    ///
    /// This is what a token that was given is asked for each time it is shown to us: one read, without a lock.
    /// ``UnitOfWork/isGood(_:_:at:)`` asks more, and holds until what rests on it is written.
    func isThere(_ evidence: Authentication.Evidence, of user: UserID) throws -> Bool {
        switch evidence {
        case .approval(_, let id): try enrollments.state(id) == .active
        case .code(let id, _): try identifiers.verified(id)?.user == user
        case .passkey(let id): try passkeys.find(id)?.user == user
        }
    }
}
