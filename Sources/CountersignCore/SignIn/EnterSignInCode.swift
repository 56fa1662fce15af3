package import CountersignWire
package import Encodings

/// Takes what was sent to an address, where a sign-in was begun: the code, or the secret of the link.
package enum EnterSignInCode {
    /// What the person brings.
    package enum Proof: Sendable {
        /// The code, typed.
        case code(EntryNumber)
        /// The secret of the link, opened in the browser that asked.
        case link(Secret<String>)
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The person is authenticated, and the browser can go on.
        case authenticated
        /// It is not what was sent last; it can be typed some more times.
        case wrong(Authorization, triesLeft: Int)
        /// What was sent is no longer good, or nothing was sent.
        case over(Authorization)
        /// There is no such sign-in in this browser, or it is not open.
        case notFound
    }

    /// Takes a proof.
    ///
    /// A wrong code costs the same work whether the address is anybody's or not.
    ///
    /// - Parameters:
    ///   - proof: what the person brings.
    ///   - id: the sign-in.
    ///   - browser: what the browser's cookie holds.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func enter(
        _ proof: Proof, for id: AuthorizationID, in browser: BrowserID, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: .system) { work in
            guard let found = try work.authorizations.find(id), found.state == .open, now < found.expiresAt else {
                return .notFound
            }
            // check: SignInCodeTests.elsewhere
            guard found.browser == work.hasher.hash(of: browser, client: found.client) else { return .notFound }
            guard let ask = found.ask, let sent = ask.verification else { return .over(found) }
            // check: SignInCodeTests.elsewhere
            guard now < ask.until else { return .over(found) }
            let typed = try work.count(.typedSignInCodes(sent.id))
            // What is typed beyond the tries must not count against the address: one form could lock it.
            // check: SignInCodeTests.tries
            guard !typed.isExceeded else { return .over(found) }
            let refused: Outcome = typed.isUsedUp ? .over(found) : .wrong(found, triesLeft: typed.left)
            // check: SignInCodeTests.wrongInARow
            guard try work.mayTake(proof, of: sent, for: found) else { return refused }
            // check: SignInCodeTests.tries
            guard proof.isOf(sent, work.hasher) else { return refused }
            guard let identifier = try work.identifier(proving: sent.address, at: found.client) else { return refused }
            // The right code was counted as well, before it was looked at; the secret of a link was not.
            var wrongInARow = proof.isCode ? -1 : 0
            for isOwn in [false, true] {
                let wrong = AttemptLimit.wrongSignInCodes(
                    for: work.hasher.exactName(of: sent.address), inOwnBrowser: isOwn)
                wrongInARow += try work.counted(wrong).number
                try work.forget(wrong)
            }
            // As many as there are tries for one message: somebody may have guessed, and be right now.
            if wrongInARow >= Verification.maximumTries {
                try work.tellOfWrongCodes(before: found, to: sent.address, of: identifier.user, by: ports.transports)
            }
            let state = AuthorizationState.authenticated(Authentication(by: identifier, at: now))
            // Another step was faster: nothing of this one stays, and it looks again.
            guard try work.authorizations.advance(id, to: state, by: sent.id, at: now) else {
                throw StoreError.serializationFailure
            }
            work.notify(.authorization(id))
            return .authenticated
        }
    }
}

extension EnterSignInCode.Proof {
    fileprivate var isCode: Bool { if case .code = self { true } else { false } }

    func isOf(_ sent: Verification, _ hasher: KeyedHasher) -> Bool {
        switch self {
        case .code(let code): constantTimeEqual(Array(code.digits.utf8), Array(hasher.code(of: sent).digits.utf8))
        case .link(let secret): hasher.link(of: sent).isSame(as: secret)
        }
    }
}

extension Stores {
    /// Which wrong codes in a row count for what is sent in a sign-in.
    ///
    /// Where a sign in a name is no tag, somebody else may have that mailbox: a right code for one address ends nothing of
    /// another. Anybody can type wrong codes for any address. In the browsers of its user they count separately, so that nobody
    /// else keeps the user from codes there.
    func wrongCodes(of sent: Verification, for asked: Authorization, _ hasher: KeyedHasher) throws -> AttemptLimit {
        let isOwn = try browsers.isKnown(asked.browser, named: .address(sent.address), by: asked.client, hasher)
        return .wrongSignInCodes(for: hasher.exactName(of: sent.address), inOwnBrowser: isOwn)
    }
}

extension UnitOfWork {
    /// Counts a typed code, and says whether it may be looked at.
    ///
    /// Nobody guesses the secret of a link, so that it is taken also where too many codes were wrong: otherwise anybody
    /// could keep a person from signing in by mail.
    fileprivate func mayTake(
        _ proof: EnterSignInCode.Proof, of sent: Verification, for asked: Authorization
    ) throws -> Bool {
        switch proof {
        case .code: try !count(stores.wrongCodes(of: sent, for: asked, hasher)).isExceeded
        case .link: true
        }
    }

    /// The identifier of whoever has proved an address at a client; nil if the client does not take them.
    ///
    /// What the client itself says of the address becomes true by the proof. What others say of it does not: a client
    /// could otherwise make a user, with a device, into which the owner of the address is led later.
    fileprivate func identifier(proving address: PersonalAddress, at client: ClientID) throws -> VerifiedIdentifier? {
        guard let party = try relyingParties.find(client) else { return nil }
        let name = hasher.identifier(address)
        if let proved = try identifiers.claim(name, by: client)?.proved {
            return try links.find(.id(proved.user), of: client) == nil ? nil : proved
        }
        if let verified = try identifiers.verified(name) {
            return try isWelcome(verified.user, at: client) ? verified : nil
        }
        // Finding the link locks the user, who may be deleted at the same time; then the claim is read again.
        if let user = try identifiers.claim(name, by: client)?.user, try links.find(.id(user), of: client) != nil,
            let claim = try identifiers.claim(name, by: client), claim.user == user
        {
            // check: AddressTests.synced
            guard try identifiers.removed(name, of: user) == nil else { return nil }
            return try verify(claim)
        }
        // check: SignInCodeTests.unknown
        guard party.registration == .open else { return nil }
        let user: UserID = nextID()
        try users.insert(user, at: now)
        // A third party knows people only once they have allowed it.
        if try clients.find(client)?.isThirdParty == false {
            guard try links.put(user, to: client, externalID: nil) else { throw StoreError.serializationFailure }
        }
        try raise(.userCreated(user))
        return try verify(address, of: user)
    }
}

/// Says what the link in a message leads to.
package enum OpenSignInLink {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The browser that asked: it can sign in.
        case here(Authorization)
        /// Another browser, which can only show the code: whoever asked is not there.
        case elsewhere(Authorization, EntryNumber)
        /// Another browser, where no code is taken for the address any more, so that only the one that asked can sign in.
        case onlyThere
        /// The link is no longer good, or never was.
        case over
    }

    /// What the link leads to; nothing happens by opening it, since programs open what is in a mail.
    ///
    /// - Throws: ``StoreError``.
    package static func open(
        _ id: AuthorizationID, _ secret: Secret<String>, in browser: BrowserID?, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.store.read { reader in
            guard let found = try reader.authorizations.find(id), found.state == .open,
                let ask = found.ask, let sent = ask.verification, now < ask.until
            else { return .over }
            // check: SignInCodeTests.link
            guard ports.hasher.link(of: sent).isSame(as: secret) else { return .over }
            let isHere = browser.map { ports.hasher.hash(of: $0, client: found.client) == found.browser } ?? false
            if isHere { return .here(found) }
            // After too many wrong codes none is taken, so that none is shown.
            let wrong = try reader.counted(reader.wrongCodes(of: sent, for: found, ports.hasher), at: now)
            return wrong.isUsedUp ? .onlyThere : .elsewhere(found, ports.hasher.code(of: sent))
        }
    }
}
