package import CountersignWire
package import Encodings

/// Ends a browser's session because the person signs out.
///
/// Spec: OpenID Connect RP-Initiated Logout 1.0 §2.
package enum SignOut {
    /// How much ends.
    package enum Extent: Sendable {
        /// The session, with the tokens that do not outlive it.
        case session
        /// The session, with all tokens that were given in it.
        case everything
    }

    /// Ends the session of a browser if the client has named it, so that the person need not be asked.
    ///
    /// - Parameters:
    ///   - secret: what the browser's cookie holds.
    ///   - sid: the session's name for the client, from an ID token of ours.
    ///   - client: the client that the ID token was for.
    ///   - ports: the external dependencies.
    /// - Returns: false if the browser has another session, or none.
    /// - Throws: ``StoreError``.
    package static func signOut(
        _ secret: Secret<String>, named sid: String, by client: ClientID, ports: Ports
    ) async throws -> Bool {
        // Whoever has a cookie of their own making writes nothing.
        guard try await isSignedIn(secret, ports: ports) else { return false }
        let now = ports.time.now
        return try await ports.commit(at: now, as: .system) { work in
            guard let session = try work.sessions.lasting(SecretHash(of: secret), at: now) else { return false }
            // check: LogoutTests.others
            guard try work.sessions.sid(of: session.id, for: client)?.hasSameBytes(as: sid) == true else {
                return false
            }
            return try work.signOut(session, .session)
        }
    }

    /// Ends the session of a browser, as the person has said.
    ///
    /// - Throws: ``StoreError``.
    package static func signOut(_ secret: Secret<String>, _ extent: Extent, ports: Ports) async throws {
        let now = ports.time.now
        try await ports.commit(at: now, as: .system) { work in
            guard let session = try work.sessions.lasting(SecretHash(of: secret), at: now) else { return }
            _ = try work.signOut(session, extent)
        }
    }

    /// Whether a browser has a session that nobody has ended, also where it was not used for too long.
    ///
    /// - Throws: ``StoreError``.
    package static func isSignedIn(_ secret: Secret<String>, ports: Ports) async throws -> Bool {
        let now = ports.time.now
        return try await ports.store.read { try $0.sessions.lasting(SecretHash(of: secret), at: now) != nil }
    }
}

extension UnitOfWork {
    /// Ends a session with all tokens that were given in it: a thief of a session may have got some that outlive it.
    func endWhole(_ session: Session) throws {
        try endFamilies(.wholeSession(session.id), because: .sessionEnded)
        try endSession(session)
    }

    /// Ends a session, also if it was renewed in this moment, and where it was not used for too long: the person wants to be
    /// signed out at its clients.
    ///
    /// - Returns: false if somebody has ended it before.
    fileprivate func signOut(_ found: Session, _ extent: SignOut.Extent) throws -> Bool {
        // No code of the session is redeemed meanwhile.
        try users.lock(found.user)
        guard let session = try sessions.lasting(found.id, at: now) else { return false }
        switch extent {
        case .session: try endSession(session)
        case .everything: try endWhole(session)
        }
        return true
    }
}

/// What a client wants of a sign-out, as it travels with the page that asks the person.
package struct WantedSignOut: Equatable, Sendable {
    /// The client; nil if none is named.
    package var client: ClientID?
    /// Where the browser returns to, which the client has registered; nil for a page of ours.
    package var returnURI: String?
    /// Returned to the client; nil for nothing.
    package var clientState: String?

    /// A wish of these parts.
    package init(client: ClientID? = nil, returnURI: String? = nil, clientState: String? = nil) {
        self.client = client
        self.returnURI = returnURI
        self.clientState = clientState
    }

    /// The sealed text for a page in this browser.
    package func sealed(for browser: BrowserID, ports: Ports) throws -> String {
        try PageSeal(.signOut, browser, ports).seal(
            .members([
                "client": client.map { .string("\($0)") }, "uri": returnURI.map(JSONValue.string),
                "state": clientState.map(JSONValue.string),
            ]))
    }

    /// What was sealed; nil if it was not sealed in this browser, or too long ago.
    package init?(opening text: String, in browser: BrowserID, ports: Ports) {
        guard let json = PageSeal(.signOut, browser, ports).open(text) else { return nil }
        self.init(
            client: json["client"]?.string.flatMap { ClientID($0) }, returnURI: json["uri"]?.string,
            clientState: json["state"]?.string)
    }
}
