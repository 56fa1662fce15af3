package import CountersignWire
package import Encodings

/// Begins a sign-in for which a client's server names the person, and asks the person's devices.
///
/// Nobody is looked up here: the same rows are written whoever is named, and who takes the message from the outbox
/// finds the person or drops it. So the reply is the same for somebody whom nobody knows, who never answers.
///
/// Spec: CIBA Core 1.0 §7; docs/decisions/0092-ciba.md.
package enum BeginBackchannel {
    /// The longest that a request can be decided about.
    package static let longest = Seconds.minutes(10)
    /// How many characters a binding message may have.
    ///
    /// Spec: CIBA Core 1.0 §7.1.
    package static let longestMessage = 200
    /// The scopes that it does not give: a client's server makes tickets by itself.
    static let neverGiven: Set<String> = [Ticket.scope]

    /// Whom a client's server names.
    package enum Hint: Sendable {
        /// Somebody by an address, or by the client's own name for them.
        case name(String)
        /// The user of an ID token of ours.
        case user(UserID)
    }

    /// What a client's server asks for.
    package struct Request: Sendable {
        /// The client, which has proved who it is.
        package let client: ClientID
        /// Whom it names.
        package let hint: Hint
        /// The scopes that it wants.
        package var scopes: [String] = []
        /// The APIs that it wants tokens for.
        package var resources: [String] = []
        /// What the person reads on both devices; nil for the text of the challenge type.
        package var message: DisplayMessage?
        /// Where the person is, as the client says; nil where it does not.
        package var context: ContextLine?
        /// How long the request shall be good; nil for as long as the challenge type has it.
        package var lifetime: Seconds?
        /// How strong the authentication shall be; nil for any strength.
        package var strength: Authentication.Strength?
        /// By what the client knows that we tell it something.
        package var notificationToken: NotificationToken?
        /// The code by which the person lets the client ask; nil for none.
        package var userCode: BackchannelUserCode?
        /// The key that the client has proved to have, to which its tokens will be bound; nil for none.
        package var key: ProvedKey?
        /// What is spent with a request that the client has signed; nil where it has not.
        package var once: ReplayGuard?

        /// A request of a client.
        package init(by client: ClientID, for hint: Hint) {
            self.client = client
            self.hint = hint
        }
    }

    /// What the client's server gets.
    package struct Begun: Sendable {
        /// The id of the request.
        package let authRequestID: Secret<String>
        /// The number that the client shows, to be typed on a device of the person; nil where it shows none.
        package let number: EntryNumber?
        /// How long the request can be decided about.
        package let expiresIn: Seconds
        /// How long the client pauses between two polls; nil where it does not poll.
        package let interval: Seconds?
    }

    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The person's devices are asked, if there is such a person.
        case begun(Begun)
        /// The client is not registered for it.
        case off
        /// The client is told of decisions, and has not sent by what it knows us.
        case notificationTokenMissing
        /// The client is strict and shows no number, and has not said by what a person knows the request.
        case messageMissing
        /// The client is registered for the person's code, and has brought none.
        case userCodeMissing
        /// The client is not registered for the person's code, and has brought one.
        case userCodeNotTaken
        /// Of what the client wants, nothing is given, or not so.
        case notGiven(WantedAccess)
        /// The client does not want to know who signs in.
        case openIDMissing
        /// The client must prove a key, or its proof came before.
        case unproved(KeyProofRefusal)
        /// The request that the client has signed came before.
        case replayed
        /// There were too many; try again after some seconds.
        case tooMany(retryAfter: Seconds)
        /// The client is disabled, or uses the provider no more.
        case clientGone
    }

    /// Begins.
    ///
    /// - Throws: ``StoreError``.
    package static func begin(_ request: Request, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let made = Made(
            id: ports.random.id(at: now), challenge: ports.random.id(at: now), message: ports.random.id(at: now),
            number: EntryNumber(value: ports.random.number(below: 1_000_000)))
        let maximum = ports.limits.codeAsks
        return try await ports.commit(at: now, as: .client(request.client)) { work in
            guard let (client, party) = try work.clients.lockWithParty(request.client), client.disabledAt == nil
            else { return .clientGone }
            guard let backchannel = party.backchannel else { return .off }
            let count = try work.count(.backchannelRequests(of: client.id, maximum: maximum))
            if count.isExceeded { return .tooMany(retryAfter: count.retryAfter(at: now)) }
            let delivery = backchannel.delivery
            // Spec: CIBA Core 1.0 §7.1.
            // check: BackchannelTests.notificationTokens
            guard delivery.receiver == nil || request.notificationToken != nil else { return .notificationTokenMissing }
            // Nothing else tells this request from another one. Spec: FAPI-CIBA §5.2.2.
            // check: BackchannelTests.strict
            guard party.profile != .strict || backchannel.showsNumber || request.message != nil else {
                return .messageMissing
            }
            // Whoever is named: only the outbox finds the person. Spec: CIBA Core 1.0 §7.1, §13.
            // check: UserCodeTests.missing
            guard !backchannel.bringsUserCode || request.userCode != nil else { return .userCodeMissing }
            // It would be right, and nobody would be asked.
            // check: UserCodeTests.missing
            guard backchannel.bringsUserCode || request.userCode == nil else { return .userCodeNotTaken }
            // There is no later request in which the key could be proved. Spec: CIBA Core 1.0 §5.
            // check: TellBackchannelTests.bound
            guard !delivery.isPush || request.key != nil || !party.bindsTokens else { return .unproved(.missing) }
            let access = try work.stores.access(
                request.scopes, at: request.resources, for: party, issuer: work.issuer)
            guard case .scopes(let named, let apis) = access else { return .notGiven(access) }
            let scopes = named.filter { !neverGiven.contains($0) }
            // Spec: CIBA Core 1.0 §7.1.
            // check: BackchannelTests.scopes
            guard scopes.contains(TokenFamily.openID) else { return .openIDMissing }
            // What is told has one access token.
            // check: TellBackchannelTests.severalResources
            guard !delivery.isPush || apis.count <= 1 else { return .notGiven(.unknownResource) }
            // check: BackchannelTests.replayed
            guard try work.spend(request.key) else { return .unproved(.replayed) }
            // check: SignedBackchannelTests.once
            guard try request.once.map({ try work.spend($0) == nil }) ?? true else { return .replayed }
            var wanted = Wanted(client: client.id, redirectURI: "", scopes: scopes)
            wanted.door = .backchannel(
                AskingServer(
                    message: request.message, context: request.context,
                    notificationToken: delivery.receiver == nil ? nil : request.notificationToken,
                    userCode: request.userCode.map { work.hasher.hash(brought: $0) },
                    showsNumber: backchannel.showsNumber, isPush: delivery.isPush))
            wanted.isStrict = party.profile == .strict
            wanted.resources = apis
            wanted.strength = request.strength
            // Who fetches its tokens authenticates then, and may have another certificate by then.
            // Spec: RFC 8705 §6.1.
            if delivery.isPush || request.key?.isProved == true { wanted.keyThumbprint = request.key?.thumbprint }
            switch request.hint {
            case .name(let name): wanted.identifier = SignInName(name)
            case .user(let user): wanted.hint = .id(user)
            }
            return .begun(try work.begin(wanted, made, for: request.lifetime, at: party, backchannel))
        }
    }

    /// The random values of a request, which are drawn whether they are needed or not.
    fileprivate struct Made: Sendable {
        let id: AuthorizationID
        let challenge: ChallengeID
        let message: EventID
        let number: EntryNumber
    }
}

extension UnitOfWork {
    fileprivate func begin(
        _ wanted: Wanted, _ made: BeginBackchannel.Made, for asked: Seconds?, at party: RelyingParty,
        _ backchannel: RelyingParty.Backchannel
    ) throws -> BeginBackchannel.Begun {
        // No device is asked for longer than its type has it.
        let ofTypes = try types.forSignIn(wanted, at: party).map(\.type.lifetime).max() ?? AskSignIn.lifetime
        let lifetime = min(asked ?? ofTypes, ofTypes, BeginBackchannel.longest)
        let end = now.adding(lifetime)
        let ask = Authorization.Ask(
            .number(made.number), until: end, challenge: made.challenge, isBrowserKnown: false)
        try authorizations.insert(
            Authorization(
                id: made.id, wanted: wanted, browser: hasher.noBrowser(of: made.id), user: nil, ask: ask, state: .open,
                expiresAt: end))
        let content = OutboxMessage.Content.signIn(made.id, by: made.challenge, client: wanted.client)
        try outbox.enqueue(OutboxMessage(id: made.message, content: content, dueAt: now, expiresAt: end))
        if case .push(let uri) = backchannel.delivery {
            // Whoever is told of everything is told that nobody has answered, also where there is nobody.
            try outbox.enqueue(
                OutboxMessage(
                    id: nextID(), content: .backchannel(uri, client: wanted.client, of: made.id, .expired),
                    dueAt: end, expiresAt: end.adding(TellBackchannel.pushLifetime)))
        }
        return BeginBackchannel.Begun(
            authRequestID: hasher.authRequestID(of: made.id), number: backchannel.showsNumber ? made.number : nil,
            expiresIn: lifetime, interval: backchannel.delivery.isPush ? nil : DevicePollPace.interval)
    }
}
