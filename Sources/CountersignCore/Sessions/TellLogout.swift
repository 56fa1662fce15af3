package import CountersignWire
package import Encodings
import JOSE

/// Tells clients that a session has ended in which they have signed its user in.
///
/// What is to be told is queued by the transaction that ends the session, and the token is made each time it is sent: it is
/// good for minutes, and the outbox tries for a day.
///
/// Spec: OpenID Connect Back-Channel Logout 1.0 §2.5; docs/decisions/0072-signing-in.md.
package enum TellLogout {
    /// The name of the event that a logout token tells.
    ///
    /// Spec: OpenID Connect Back-Channel Logout 1.0 §2.4.
    package static let event = "http://schemas.openid.net/event/backchannel-logout"
    /// The type of a logout token, by which no other token passes for one.
    package static let type = "logout+jwt"
    /// How long a logout token is good.
    ///
    /// Spec: OpenID Connect Back-Channel Logout 1.0 §4.
    package static let lifetime = Seconds.minutes(2)

    /// What becomes of a message now.
    package enum Outcome: Sendable {
        /// This token is posted to the client.
        case posted(Secret<String>, to: CallbackURI)
        /// The client is disabled; it may be enabled again in time.
        case disabled
        /// The client is not told any more: it is deleted, or is told of no sessions, or signs nobody in.
        case unwanted
    }

    /// Makes a logout token, by the settings that the client has now.
    ///
    /// Each has another `jti`, and none a nonce: no logout token passes for an ID token. Spec: OpenID Connect Back-Channel
    /// Logout 1.0 §2.4.
    ///
    /// - Parameters:
    ///   - sid: the name that the ended session had for the client.
    ///   - user: the session's user.
    ///   - client: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of signing.
    package static func token(
        of sid: String, _ user: UserID, for client: ClientID, ports: Ports
    ) async throws -> Outcome {
        let (known, party) = try await ports.store.read { reader in
            (try reader.clients.find(client), try reader.relyingParties.find(client))
        }
        guard let known, let party, let receiver = party.logoutReceiver else { return .unwanted }
        // check: TellLogoutTests.later
        guard known.disabledAt == nil else { return .disabled }
        guard let key = try ports.keys.current().tokens.key(party.idTokenAlgorithm) else {
            throw StoreError.unavailable
        }
        let now = ports.time.now
        let claims: JSONValue = [
            "iss": .string("\(ports.issuer)"), "sub": .string("\(user)"), "aud": .string("\(client)"),
            "iat": .integer(now.seconds), "exp": .integer(now.adding(lifetime).seconds),
            "jti": .string(Base64URL.encode(ports.random.bytes(16))), "sid": .string(sid),
            "events": .members([event: .members([:])]),
        ]
        let token = try await JWS.sign(claims.encoded, type: type, by: key, keyID: key.keyID)
        return .posted(Secret(token), to: receiver.uri)
    }
}

extension UnitOfWork {
    /// Tells the clients of a session that it has ended, each once.
    ///
    /// The caller has locked the user: no client comes in meanwhile.
    func tellLogout(of session: Session) throws {
        for name in try sessions.takeNames(of: session.id) { try tellLogout(name, of: session.user) }
    }

    /// Tells clients that got tokens by something of a user's which is being removed that their session has ended, also
    /// where something else has renewed ours since.
    func tellLogout(of user: UserID, by isThat: (Authentication.Evidence) -> Bool) throws {
        for family in try families.families(of: user) where isThat(family.authentication.evidence) {
            guard let session = family.session, let sid = family.sid,
                // In the meantime the client may have lost its access, and know the session by another name.
                try sessions.take(sid, of: session, for: family.client)
            else { continue }
            try tellLogout(SessionName(client: family.client, sid: sid), of: user)
        }
    }

    /// Tells a client that a user is signed out of it in all sessions, since it has lost its access to the user.
    ///
    /// The sessions go on. Each gets another name if the user signs in to the client again, so that a message that comes
    /// late ends nothing newer.
    func tellLogout(of user: UserID, to client: ClientID) throws {
        guard try relyingParties.find(client)?.logoutReceiver != nil else { return }
        for name in try sessions.takeNames(of: user, for: client, at: now) { try tellLogout(name, of: user) }
    }

    private func tellLogout(_ name: SessionName, of user: UserID) throws {
        guard let receiver = try relyingParties.find(name.client)?.logoutReceiver else { return }
        try outbox.enqueue(
            OutboxMessage(
                id: nextID(), content: .logout(receiver.uri, client: name.client, sid: name.sid, of: user), dueAt: now,
                expiresAt: now.adding(OutboxMessage.lifetime)))
    }
}
