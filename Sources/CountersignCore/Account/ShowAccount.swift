package import CountersignWire
package import Encodings

/// Shows a person what belongs to them: addresses, devices, sessions, what they allowed, and what happened last.
package enum ShowAccount {
    /// How many events are shown.
    fileprivate static let eventCount = 20

    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The account.
        case shown(Account)
        /// The person must sign in, through this client.
        case signIn(Client)
        /// There is no account page, because no client is set up for it.
        case off
    }

    /// Shows the account of whoever has signed in.
    ///
    /// - Parameters:
    ///   - secret: what the browser's cookie holds; nil for none.
    ///   - cursor: where the events of the page before ended; nil, or one of somebody else's, for the latest.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func show(
        _ secret: Secret<String>?, eventsAfter cursor: String? = nil, ports: Ports
    ) async throws -> Outcome {
        try await ports.read(at: ports.time.now, as: .system) { work in
            guard let client = try work.accountClient() else { return .off }
            guard let visit = try work.accountVisit(secret, by: client) else { return .signIn(client) }
            return .shown(try work.account(of: visit, eventsAfter: cursor))
        }
    }

    /// Whether there is an account page.
    ///
    /// - Throws: ``StoreError``.
    package static func isOpen(ports: Ports) async throws -> Bool {
        try await ports.store.read { try $0.relyingParties.account() != nil }
    }
}

/// What a person sees on their account page.
package struct Account: Sendable {
    /// A device, and the client that enrolled it.
    package struct Device: Sendable {
        /// The enrollment.
        package let enrollment: Enrollment
        /// The name of the client that enrolled it.
        package let client: ClientName?
        /// When it approved last; nil where that is long ago, or never was.
        package let lastApprovedAt: Timestamp?
        /// Whether the person may resume it, if it is suspended.
        package let mayBeResumed: Bool
    }

    /// A session, and the device by which it was opened.
    package struct OpenSession: Sendable {
        /// The session.
        package let session: Session
        /// The name of the device that approved, or of the passkey; nil where an address did.
        package let by: DisplayLine?
    }

    /// What a client may have.
    package struct Access: Sendable {
        /// The client.
        package let client: ClientID
        /// Its name.
        package let name: ClientName
        /// The scopes.
        package let scopes: Set<String>
        /// The names for people of the APIs among them.
        package let apis: [String]
        /// Since when.
        package let since: Timestamp
    }

    /// An event, with the names of what it concerns.
    package struct Event: Sendable {
        /// The event.
        package let event: AuditEvent
        /// The name of the client; nil for none.
        package let client: ClientName?
        /// The name of the device; nil for none.
        package let device: DisplayLine?
        /// The name of the passkey; nil for none.
        package let passkey: DisplayLine?
    }

    /// Whether the person may register a passkey.
    package enum PasskeyOffer: Hashable, Sendable {
        /// They may, and it counts so.
        case open(PasskeyBinding)
        /// They have as many as one may have.
        case full
        /// Not by the way in which they have signed in.
        case tooWeak
        /// Nobody signs in to the page by a passkey, or browsers have none there.
        case off
    }

    /// Who is at the page.
    package let visit: AccountVisit
    /// By which ways people sign in to the page.
    package let ways: Set<SignInWay>
    /// How the person may confirm a device.
    package let confirmation: AccountConfirmation
    /// The addresses that are verified at all clients, oldest first.
    package let addresses: [VerifiedIdentifier]
    /// Whether the person may remove each of them.
    package let addressRemovals: [IdentifierID: AddressRemoval]
    /// Which kinds of addresses the page sends codes to, so that they can be added.
    package let addressKinds: Set<PersonalAddress.Kind>
    /// Whether the person may add some.
    package let mayAddAddresses: Bool
    /// What clients say of further addresses, with the name of each client.
    package let claims: [(claim: ClaimedIdentifier, client: ClientName?)]
    /// The devices that are not removed, oldest first.
    package let devices: [Device]
    /// The passkeys that are not removed, oldest first.
    package let passkeys: [RegisteredPasskey]
    /// Whether the person may register one.
    package let passkeyOffer: PasskeyOffer
    /// Whether the person has a code without which no client's server has them asked; nil where they have none, and no
    /// client that knows them brings codes.
    package let hasUserCode: Bool?
    /// Whether the person may set or remove it.
    package let mayChangeUserCode: Bool
    /// The sessions that have not ended, oldest first.
    package let sessions: [OpenSession]
    /// What clients got in no session and still have, by the device grant or by their servers' questions, oldest first.
    package let withoutSession: [(family: TokenFamily, client: ClientName)]
    /// What clients may have.
    package let access: [Access]
    /// What happened, newest first.
    package let events: [Event]
    /// Where these events end; nil if there are no earlier ones.
    package let cursor: String?
    /// The reports of sign-ins by which only the person's own browsers have them asked now.
    package let reports: [Report]
}

extension AuditEventKind {
    /// The kinds of events that a person sees on their account page.
    package static let ofAccount: [AuditEventKind] = [
        .signedIn, .sessionEnded, .consentGiven, .accessEnded, .identifierVerified, .identifierRemoved,
        .userCodeSet, .userCodeRemoved, .passkeyCreated, .passkeyRemoved, .enrollmentCreated,
        .enrollmentConfirming, .enrollmentConfirmed, .enrollmentSuspended, .enrollmentResumed, .enrollmentRemoved,
        .methodChanged, .challengeApproved, .challengeDenied, .challengeReported,
    ]
}

extension UnitOfWork {
    fileprivate func account(of visit: AccountVisit, eventsAfter cursor: String?) throws -> Account {
        let user = visit.user
        let (events, next) = try events(of: user, after: cursor)
        let approvals = try audit.latest(
            of: user, [.challengeApproved], before: .max, limit: ShowAccount.eventCount)
        var clientsByID: [ClientID: Client] = [:]
        func knownClient(_ id: ClientID) throws -> Client? {
            if clientsByID[id] == nil { clientsByID[id] = try clients.find(id) }
            return clientsByID[id]
        }
        func name(_ id: ClientID) throws -> ClientName? { try knownClient(id)?.name }
        let all = try enrollments.all(of: user)
        let devices = Dictionary(all.map { ($0.id, $0.device.name) }) { first, _ in first }
        let (verified, claims) = try identifiers.identifiers(of: user)
        let known = Set(verified.map { hasher.identifier($0.address) })
        let party = try relyingParties.find(visit.client.id)
        let passkeys = try passkeys.passkeys(of: user)
        let hasUserCode = try users.userCode(of: user) != nil
        let allFamilies = try families.families(of: user)
        let passkeyNames = Dictionary(passkeys.map { ($0.id, $0.name) }) { first, _ in first }
        return Account(
            visit: visit, ways: party?.ways ?? [],
            confirmation: try confirmation(by: visit, among: passkeys), addresses: verified,
            addressRemovals: try removals(of: verified, by: visit, among: passkeys),
            addressKinds: Set(
                PersonalAddress.Kind.allCases.filter { party?.ways.contains($0 == .email ? .email : .text) == true }),
            mayAddAddresses: try mayAddAddresses(by: visit, among: passkeys),
            claims: try claims.filter { !known.contains(hasher.identifier($0.address)) }
                .map { ($0, try name($0.client)) },
            devices: try all.filter(\.isPresent).map { device in
                .init(
                    enrollment: device, client: try name(device.client),
                    lastApprovedAt: approvals.first { $0.event.enrollment == device.id }?.event.at,
                    mayBeResumed: try mayResume(device, by: visit, among: passkeys))
            },
            passkeys: passkeys.filter(\.isPresent),
            passkeyOffer: try passkeyOffer(by: visit, at: party, among: passkeys),
            hasUserCode: try hasUserCode ? true : bringsUserCodes(for: user) ? false : nil,
            mayChangeUserCode: try mayChangeUserCode(by: visit, among: passkeys),
            sessions: try sessions.sessions(of: user, at: now).map { session in
                let name: DisplayLine? =
                    switch session.authentication.evidence {
                    case .approval(_, let device): devices[device]
                    case .passkey(let id): passkeyNames[id]
                    case .code: nil
                    }
                return .init(session: session, by: name)
            },
            withoutSession: try allFamilies.filter { $0.origin != .usual && $0.isActive(at: now) }
                .compactMap { family in
                    try name(family.client).map { (family: family, client: $0) }
                },
            access: try access(of: user, by: allFamilies).compactMap { client, scopes, since in
                try name(client).map { name in
                    .init(client: client, name: name, scopes: scopes, apis: try apis(in: scopes), since: since)
                }
            },
            events: try events.map { event in
                .init(
                    event: event, client: try event.client.flatMap(name),
                    device: event.enrollment.flatMap { devices[$0] },
                    passkey: event.detail["passkey"]?.string.flatMap { PasskeyID($0) }.flatMap { passkeyNames[$0] })
            }, cursor: next, reports: try lockingReports(of: user, among: events, on: devices, client: knownClient))
    }

    /// What happened to a person, and where it ends; nil if nothing happened before.
    private func events(of user: UserID, after cursor: String?) throws -> ([AuditEvent], next: String?) {
        let list = "account \(user)"
        let place = cursor.flatMap { hasher.place(in: $0, of: list) }.flatMap { Int64($0) }
        let found = try audit.latest(
            of: user, AuditEventKind.ofAccount, before: place ?? .max, limit: ShowAccount.eventCount + 1)
        let shown = found.prefix(ShowAccount.eventCount)
        let hasMore = found.count > shown.count
        return (shown.map(\.event), shown.last.flatMap { hasMore ? hasher.cursor("\($0.sequence)", of: list) : nil })
    }

    /// Whether the person may register a passkey; what waits takes no place of what counts.
    ///
    /// - Parameters:
    ///   - visit: who is at the page.
    ///   - party: how people sign in to the page.
    ///   - passkeys: the user's passkeys, also those that were removed lately.
    func passkeyOffer(
        by visit: AccountVisit, at party: RelyingParty?, among passkeys: [RegisteredPasskey]
    ) throws -> Account.PasskeyOffer {
        // check: PasskeyTests.places
        guard party?.takesPasskeys(at: issuer) == true else { return .off }
        guard let binding = try passkeyBinding(by: visit.session.authentication, among: passkeys) else {
            return .tooWeak
        }
        let waits = binding.countsFrom > now
        let alike = passkeys.count { $0.isPresent && $0.counts(at: now) != waits }
        return alike < RegisteredPasskey.maximumCount ? .open(binding) : .full
    }

    /// The names for people of the APIs that a grant names.
    private func apis(in scopes: Set<String>) throws -> [String] {
        try ResourceAccess.owners(in: scopes).map { try stores.name(ofAPI: $0) }
    }

    /// What clients may have: by what the user allowed them, or by tokens that outlive the session.
    private func access(
        of user: UserID, by families: [TokenFamily]
    ) throws -> [(ClientID, Set<String>, since: Timestamp)] {
        var found: [ClientID: (scopes: Set<String>, since: Timestamp)] = [:]
        for grant in try grants.grants(of: user) { found[grant.client] = (grant.scopes, grant.givenAt) }
        for family in families where family.isOffline && family.isActive(at: now) {
            let earlier = found[family.client]
            found[family.client] = (
                (earlier?.scopes ?? []).union(family.grantedNames),
                min(earlier?.since ?? family.createdAt, family.createdAt)
            )
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value.scopes, $0.value.since) }
    }
}
