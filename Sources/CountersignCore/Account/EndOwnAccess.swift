package import CountersignWire
package import Encodings

/// Ends sessions, and what clients may have, by their user on the account page.
///
/// It needs no fresh authentication: whoever ends something gains nothing.
package enum EndOwnAccess {
    /// What ends.
    package enum Extent: Hashable, Sendable {
        /// A session, with all tokens that were given in it.
        case session(SessionID)
        /// What a client got in no session: by the device grant, or by its server's question.
        case family(TokenFamilyID)
        /// All sessions but that of this browser, what clients got in another or in none, and what was approved and not
        /// fetched.
        case otherSessions
        /// What a client may have, with all its tokens.
        case client(ClientID)
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It has ended, now or before; the name is that of the client.
        case done(ClientName?)
        /// The person must sign in through the account page's client.
        case signIn
    }

    /// Ends something of whoever has signed in.
    ///
    /// - Parameters:
    ///   - extent: what ends.
    ///   - secret: what the browser's cookie holds; nil for none.
    ///   - user: whom the page was shown to.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func end(
        _ extent: Extent, by secret: Secret<String>?, shownTo user: UserID, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: .user(user)) { work in
            // Nothing is given meanwhile that would stay.
            try work.users.lock(user)
            guard let client = try work.accountClient(), let visit = try work.accountVisit(secret, by: client) else {
                return .signIn
            }
            // check: AccountTests.othersSession
            guard visit.user == user else { return .signIn }
            switch extent {
            case .session(let id):
                guard let session = try work.sessions.lasting(id, at: now) else { return .done(nil) }
                // check: AccountTests.othersSession
                guard session.user == user else { return .done(nil) }
                try work.endWhole(session)
            case .family(let id):
                guard let family = try work.families.find(id), family.origin != .usual else { return .done(nil) }
                // check: DeviceConfirmTests.account
                guard family.user == user else { return .done(nil) }
                try work.endFamilies(.family(id, of: user, at: family.client), because: .accessEnded)
            case .otherSessions:
                for session in try work.sessions.lasting(of: user, at: now) where session.id != visit.session.id {
                    try work.endWhole(session)
                }
                // What outlives its session is left where somebody has signed out of that before.
                for family in try work.families.families(of: user)
                where family.session != visit.session.id && family.isActive(at: now) {
                    try work.endFamilies(.family(family.id, of: user, at: family.client), because: .accessEnded)
                }
                // Whoever has it approved may wait with fetching it until all the rest has ended.
                for approved in try work.authorizations.approved(of: user) { _ = try work.refuse(approved) }
            case .client(let id):
                try work.endAccess(of: id, to: user)
                return .done(try work.clients.find(id)?.name)
            }
            return .done(nil)
        }
    }
}

extension UnitOfWork {
    /// Ends the sessions and tokens that something gave which is being removed.
    func endAccess(of user: UserID, by isThat: (Authentication.Evidence) -> Bool) throws {
        for session in try sessions.lasting(of: user, at: now) where isThat(session.authentication.evidence) {
            try endSession(session)
        }
        try tellLogout(of: user, by: isThat)
        // These outlive their sessions, or began in one that something else has renewed since.
        for family in try families.families(of: user)
        where isThat(family.authentication.evidence) && family.isActive(at: now) {
            try endFamilies(.family(family.id, of: family.user, at: family.client), because: .sessionEnded)
        }
    }

    /// Ends what a client may have, also what it has not fetched yet.
    fileprivate func endAccess(of client: ClientID, to user: UserID) throws {
        let had = try grants.find(user, for: client) != nil
        try grants.deleteGrant(of: user, for: client)
        let ended = try families.end(.user(user, client), because: .accessEnded, at: now)
        try tellLogout(of: user, to: client)
        // A yes on a phone that is asked now would give nothing.
        for open in try challenges.open(of: user) where open.question.client == client {
            guard let signIn = open.purpose.authorization else { continue }
            if let found = try authorizations.find(signIn) { try refuseWaiting(found) }
            try endChallenge(open, as: .cancelled)
        }
        for approved in try authorizations.approved(of: user) where approved.client == client {
            try refuseWaiting(approved)
        }
        try authorizations.deleteUnrefused(of: user, at: client)
        if ended > 0 { try raise(.tokensEnded(.user(user, client), .accessEnded, count: ended)) }
        if had || ended > 0 { try raise(.accessEnded(user, client)) }
    }

    /// Refuses what a device or a client's server waits for, and tells it.
    private func refuseWaiting(_ found: Authorization) throws {
        guard found.wanted.door != .browser, try refuse(found) else { return }
        try tellBackchannel(of: found)
    }
}
