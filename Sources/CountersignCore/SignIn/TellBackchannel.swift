package import CountersignWire
package import Encodings

/// Tells a client's server that somebody has decided about its request, or brings it the tokens.
///
/// What is to be told is queued by the transaction that decides, and the content is made each time it is sent: no token
/// lies in a row, and none is older than its first try.
///
/// Spec: CIBA Core 1.0 §10.2, §10.3, §12; docs/decisions/0092-ciba.md.
package enum TellBackchannel {
    /// For how long tokens are brought to a client whose server does not take them; they live twice as long.
    static let pushLifetime = Seconds.minutes(5)

    /// What is posted to a client's server.
    package struct Notification: Sendable {
        /// Where the client listens.
        package let uri: CallbackURI
        /// By what it knows us.
        package let token: NotificationToken
        /// The content, as JSON, which may have tokens.
        package let body: Secret<[UInt8]>
    }

    /// What becomes of a message now.
    package enum Outcome: Sendable {
        /// This is posted to the client.
        case posted(Notification)
        /// The client is disabled; it may be enabled again in time.
        case disabled
        /// The client is told of nothing any more: it is deleted, or fetches its tokens by itself.
        case unwanted
        /// There is nothing to tell any more.
        case nothing
        /// It is not so before this time: the person may still say yes.
        case early(until: Timestamp)
    }

    /// Makes what is told, by the settings that the client has now.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - event: what is told.
    ///   - client: the client.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of signing.
    package static func notification(
        of id: AuthorizationID, _ event: BackchannelEvent, to client: ClientID, ports: Ports
    ) async throws -> Outcome {
        let (known, party, found) = try await ports.store.read { reader in
            (
                try reader.clients.find(client), try reader.relyingParties.find(client),
                try reader.authorizations.find(id)
            )
        }
        guard let known, let delivery = party?.backchannel?.delivery, let uri = delivery.receiver else {
            return .unwanted
        }
        // check: TellBackchannelTests.disabled
        guard known.disabledAt == nil else { return .disabled }
        // The user may have been deleted, and the request with them.
        guard let found, let token = found.wanted.backchannel?.notificationToken else { return .nothing }
        // A process that has just started, or an operator, looks at what waits before its time.
        // check: TellBackchannelTests.early
        guard event != .expired || found.state != .open || found.expiresAt <= ports.time.now else {
            return .early(until: found.expiresAt)
        }
        let content: Content
        switch (delivery, event) {
        case (.push, .expired): content = found.state == .open ? .failed(.expiredToken) : .nothing
        case (.push, .decided): content = try await pushed(id, to: client, ports: ports)
        case (.ping, .decided): content = .members([:])
        case (.ping, .expired), (.poll, _): content = .nothing
        }
        let request = ports.hasher.authRequestID(of: id).reveal()
        switch content {
        case .members(let told):
            var members = told
            members["auth_req_id"] = .string(request)
            return .posted(Notification(uri: uri, token: token, body: Secret(JSONValue.object(members).encoded)))
        case .unwanted: return .unwanted
        case .nothing: return .nothing
        }
    }

    /// What is told besides the id of the request.
    private enum Content {
        case members(JSONObject)
        case unwanted
        case nothing

        /// Spec: CIBA Core 1.0 §12.
        static func failed(_ failure: Failure) -> Content {
            .members([
                "error": .string(failure.rawValue), "error_description": .string(failure.description),
            ])
        }
    }

    /// Why a client gets no tokens.
    ///
    /// Spec: CIBA Core 1.0 §12.
    private enum Failure: String {
        case accessDenied = "access_denied"
        case expiredToken = "expired_token"
        case transactionFailed = "transaction_failed"

        var description: String {
            switch self {
            case .accessDenied: "the person has declined, or the request was taken back"
            case .expiredToken: "nobody has agreed in time"
            case .transactionFailed: "what the person has agreed by is no longer good"
            }
        }
    }

    /// The tokens, or why there are none.
    private static func pushed(_ id: AuthorizationID, to client: ClientID, ports: Ports) async throws -> Content {
        switch try await RedeemDecision.push(id, to: client, ports: ports) {
        case .redeemed(let given):
            let tokens = try await SignTokens.sign(given, ports: ports)
            // Spec: CIBA Core 1.0 §10.3.1.
            return .members(tokens.members)
        case .denied: return .failed(.accessDenied)
        case .expired: return .failed(.expiredToken)
        case .invalid, .unknownResource, .unproved: return .failed(.transactionFailed)
        case .clientGone: return .unwanted
        // Nobody has decided, after all.
        case .pending, .slowDown: return .nothing
        }
    }
}

extension SignedTokens {
    /// The tokens, as a client gets them.
    ///
    /// Spec: RFC 6749 §5.1, OpenID Connect Core 1.0 §3.1.3.3, RFC 9449 §5.
    package var members: JSONObject {
        let json = JSONValue.members([
            "access_token": .string(access.reveal()), "token_type": isBound ? "DPoP" : "Bearer",
            "expires_in": .integer(expiresIn.value), "scope": .string(scopes.joined(separator: " ")),
            "refresh_token": refresh.map { .string($0.reveal()) },
            "id_token": identity.map { .string($0.reveal()) },
            // Spec: RFC 9396 §7.
            AuthorizationDetails.parameter: details,
        ])
        return json.object ?? JSONObject()
    }
}

extension UnitOfWork {
    /// Tells the client's server that somebody has decided about its request, if it is told of that.
    func tellBackchannel(of found: Authorization) throws {
        guard found.wanted.backchannel?.notificationToken != nil,
            let delivery = try relyingParties.find(found.client)?.backchannel?.delivery, let uri = delivery.receiver
        else { return }
        try outbox.enqueue(
            OutboxMessage(
                id: nextID(), content: .backchannel(uri, client: found.client, of: found.id, .decided), dueAt: now,
                // A poll gets nothing after the end.
                expiresAt: delivery.isPush ? now.adding(TellBackchannel.pushLifetime) : found.expiresAt))
    }

    /// Ends the tokens that a client's server has not taken, when they are brought no more: nobody has them.
    ///
    /// Spec: CIBA Core 1.0 §10.3.1.
    func endUndelivered(_ id: AuthorizationID, at client: ClientID) throws {
        guard let found = try authorizations.find(id), case .redeemed(let who, let family) = found.state else { return }
        // A client that was pinged may have fetched its tokens all the same, whatever it has become since.
        // check: TellBackchannelTests.pingGivenUp
        guard found.wanted.backchannel?.isPush == true else { return }
        try endFamilies(.family(family, of: who.user, at: client), because: .notDelivered)
    }
}
