package import CountersignWire

/// Ends a sign-in because the person wants no more of it.
package enum CancelSignIn {
    /// Ends a sign-in of this browser that has given its client nothing.
    ///
    /// - Returns: false if there is none, or if the client has a code.
    /// - Throws: ``StoreError``.
    package static func cancel(_ id: AuthorizationID, in browser: BrowserID, ports: Ports) async throws -> Bool {
        let now = ports.time.now
        return try await ports.commit(at: now, as: .system) { work in
            guard let found = try work.authorizations.find(id) else { return false }
            // check: SignInTests.otherBrowser
            guard found.browser == work.hasher.hash(of: browser, client: found.client) else { return false }
            return try work.refuse(found)
        }
    }
}

extension UnitOfWork {
    /// Refuses a sign-in that has given its client nothing, and ends what it asks.
    ///
    /// - Returns: false if its client has something, or if it is over.
    func refuse(_ found: Authorization) throws -> Bool {
        // Before the sign-in, as whoever finishes it does.
        if case .authenticated(let authentication) = found.state { try users.lock(authentication.user) }
        // check: SignInTests.cancelledLate
        guard try authorizations.advance(found.id, to: .refused, at: now) else { return false }
        // Another node may have put it to somebody's phone since, given it to another browser, or taken the code of
        // somebody whom nobody knew: then all is looked at again.
        let latest = try authorizations.find(found.id)
        guard latest?.browser == found.browser, latest?.ask?.challenge == found.ask?.challenge,
            latest?.user == found.user
        else { throw StoreError.serializationFailure }
        if let challenge = try found.ask?.challenge.flatMap({ try challenges.find($0) }) {
            try endChallenge(challenge, as: .cancelled)
        }
        // Somebody who was made for this sign-in, and has proved an address and then allows nothing, is known to nobody.
        // Who is known to the account page alone was there before, and whoever refuses has not asked for their end.
        if case .authenticated(let authentication) = found.state, try !links.isLinked(authentication.user) {
            try deleteIfUnknown(authentication.user, asked: found.client)
        }
        notify(.authorization(found.id))
        return true
    }
}
