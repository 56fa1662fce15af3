import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The page on which people see what belongs to them, and end it.
///
/// Spec: docs/decisions/0077-account-page.md.
extension SignInDoor {
    func addAccount(to table: inout RouteTable) {
        table.add(.get, AccountPage.path, query: ["ui_locales", "before"]) { [self] request, context in
            let visit = Visit(try await Incoming(request, context), cookies, ports)
            let query = try FormFields(query: visit.incoming)
            return try await accountPage(visit, languages: query["ui_locales"], eventsAfter: query["before"])
        }
        table.add(.get, "\(AccountPage.path)/devices/:id/remove", query: ["ui_locales"]) { [self] request, context in
            let visit = Visit(try await Incoming(request, context), cookies, ports)
            let languages = try FormFields(query: visit.incoming)["ui_locales"]
            return try await withAccount(visit, languages) { account in
                guard let page = account.removal(of: visit.incoming.parameter("id") ?? "", at: ports.time.now) else {
                    return Self.redirect(to: AccountPage.path)
                }
                return try await accountReply(account, visit, languages, path: Self.path(of: visit.incoming)) { _ in
                    page
                }
            }
        }
        addPasskeys(to: &table)
        addAddresses(to: &table)
        addUserCode(to: &table)
        for act in ActOnOwnDevice.Act.allCases {
            table.add(.post, "\(AccountPage.path)/devices/:id/\(act.rawValue)") { [self] request, context in
                let (carried, visit) = try accountForm(try await Incoming(request, context))
                let id = visit.incoming.parameter("id").flatMap { EnrollmentID($0) }
                guard let id else { return Self.redirect(to: AccountPage.path) }
                return try await self.act(act, on: id, carried, visit)
            }
        }
        table.add(.post, "\(AccountPage.path)/devices/:id/methods/:method/undo") { [self] request, context in
            let (carried, visit) = try accountForm(try await Incoming(request, context))
            guard let id = visit.incoming.parameter("id").flatMap({ EnrollmentID($0) }),
                let method = visit.incoming.parameter("method").flatMap({ AnswerMethod(rawValue: $0) })
            else { return Self.redirect(to: AccountPage.path) }
            let outcome = try await ActOnOwnDevice.undo(
                method, of: id, by: visit.session, shownTo: carried.user, ports: ports)
            return try await reply(to: outcome, carried, visit) { .methodUndone($0) }
        }
        let ends: [(path: String, extent: @Sendable (Incoming) -> EndOwnAccess.Extent?)] = [
            ("sessions/:id/end", { $0.parameter("id").flatMap { Self.session(named: $0) } }),
            ("sessions/end-others", { _ in .otherSessions }),
            ("access/:id/end", { $0.parameter("id").flatMap { ClientID($0) }.map { .client($0) } }),
        ]
        for (path, extent) in ends {
            table.add(.post, "\(AccountPage.path)/\(path)") { [self] request, context in
                let (carried, visit) = try accountForm(try await Incoming(request, context))
                guard let extent = extent(visit.incoming) else { return Self.redirect(to: AccountPage.path) }
                return try await end(extent, carried, visit)
            }
        }
    }

    /// What a row among the sessions stands for: a session, or what a device got.
    private static func session(named id: String) -> EndOwnAccess.Extent? {
        if let session = SessionID(id) { return .session(session) }
        return TokenFamilyID(id).map { .family($0) }
    }

    /// A form of the account page, and what it carries.
    private func accountForm(_ incoming: Incoming) throws -> (SealedAccount, Visit) {
        let (carried, _, visit) = try accountFields(incoming)
        return (carried, visit)
    }

    func accountFields(_ incoming: Incoming) throws -> (SealedAccount, FormFields, Visit) {
        let form = try FormFields(form: incoming)
        let visit = Visit(incoming, cookies, ports)
        guard let sealed = form["request"], !visit.isNew,
            let carried = SealedAccount(opening: sealed, in: visit.browser, ports: ports)
        else { throw PageError.tooOld }
        return (carried, form, visit)
    }

    private func act(
        _ act: ActOnOwnDevice.Act, on id: EnrollmentID, _ carried: SealedAccount, _ visit: Visit
    ) async throws -> Response {
        let outcome = try await ActOnOwnDevice.act(
            act, on: id, by: visit.session, shownTo: carried.user, from: visit.place,
            in: tag(carried.languages, visit), ports: ports)
        return try await reply(to: outcome, carried, visit) { name in
            switch act {
            case .confirm: .confirmed(name)
            case .suspend: .suspended(name)
            case .resume: .resumed(name)
            case .remove: .removed(name)
            }
        }
    }

    /// The page after an act, with what was done in words that take the name of the device.
    private func reply(
        to outcome: ActOnOwnDevice.Outcome, _ carried: SealedAccount, _ visit: Visit,
        saying done: (String) -> AccountPage.Announcement
    ) async throws -> Response {
        let announcement: AccountPage.Announcement
        switch outcome {
        case .done(let name): announcement = done(name.text)
        case .later(let name, let time): announcement = .confirmedLater(name.text, from: Int(time.seconds))
        case .tooWeak: announcement = .signInTooWeak
        case .notFound: announcement = .gone
        case .signIn: return try await confirmPerson(carried, visit)
        }
        return try await accountPage(visit, announcement, languages: carried.languages)
    }

    private func end(
        _ extent: EndOwnAccess.Extent, _ carried: SealedAccount, _ visit: Visit
    ) async throws -> Response {
        switch try await EndOwnAccess.end(extent, by: visit.session, shownTo: carried.user, ports: ports) {
        case .signIn: return try await confirmPerson(carried, visit)
        case .done(let client):
            let announcement: AccountPage.Announcement? =
                switch extent {
                case .session, .family: .sessionEnded
                case .otherSessions: .othersEnded
                case .client: client.map { .accessEnded($0.text) }
                }
            return try await accountPage(visit, announcement, languages: carried.languages)
        }
    }

    func accountPage(
        _ visit: Visit, _ announcement: AccountPage.Announcement? = nil, languages: String?,
        eventsAfter cursor: String? = nil
    ) async throws -> Response {
        try await withAccount(visit, languages, eventsAfter: cursor) { account in
            let page = account.page(
                announcement, languages: languages, in: tag(languages, visit),
                at: ports.time.now, ports.places)
            return try await accountReply(account, visit, languages, path: AccountPage.path) { _ in page }
        }
    }

    /// Answers whoever has signed in; others get the pages on which they do.
    func withAccount(
        _ visit: Visit, _ languages: String?, eventsAfter cursor: String? = nil,
        _ reply: (Account) async throws -> Response
    ) async throws -> Response {
        switch try await ShowAccount.show(visit.session, eventsAfter: cursor, ports: ports) {
        case .off: throw noAccount
        case .signIn(let client):
            let carried = CarriedSignIn(wanted: wanted(by: client, languages))
            return try await identifierPage(carried, visit, typed: nil, of: client)
        case .shown(let account): return try await reply(account)
        }
    }

    private var noAccount: PageError {
        PageError(.notUnderstood, why: "no client has the redirect URI \(ports.issuer.accountPage)", status: 404)
    }

    /// The pages on which the person to whom the page was shown authenticates anew, before an act.
    func confirmPerson(_ carried: SealedAccount, _ visit: Visit) async throws -> Response {
        try await withAccount(visit, carried.languages) { account in
            let client = account.visit.client
            var wanted = wanted(by: client, carried.languages)
            wanted.hint = .id(account.visit.user)
            guard let address = account.addresses.first?.address else {
                return try await identifierPage(CarriedSignIn(wanted: wanted), visit, typed: nil, of: client)
            }
            wanted.identifier = .address(address)
            return try await choosePage(CarriedSignIn(wanted: wanted), visit, of: client)
        }
    }

    /// The pages on which the person authenticates anew, before a page for an act; nil where they did a moment ago.
    func confirmation(of account: Account, _ languages: String?, _ visit: Visit) async throws -> Response? {
        guard !account.visit.isFresh(at: ports.time.now) else { return nil }
        let carried = SealedAccount(
            user: account.visit.user, languages: languages.map(AuthorizationChecks.languages))
        return try await confirmPerson(carried, visit)
    }

    private func wanted(by client: Client, _ languages: String?) -> Wanted {
        var wanted = Wanted(client: client.id, redirectURI: ports.issuer.accountPage, scopes: [TokenFamily.openID])
        wanted.languages = languages.map(AuthorizationChecks.languages)
        return wanted
    }

    func accountReply(
        _ account: Account, _ visit: Visit, _ languages: String?, path: String, verification: Verification? = nil,
        _ page: (PageFrame) -> some HostedPage
    ) async throws -> Response {
        let sealed = SealedAccount(
            user: account.visit.user, languages: languages.map(AuthorizationChecks.languages),
            verification: verification)
        var frame = frame(
            in: language(languages, visit.incoming),
            of: try await shown(account.visit.client, host: ports.issuer.host))
        frame.ledger = PageFrame.Ledger(identifier: account.personName)
        frame.request = try sealed.sealed(for: visit.browser, ports: ports)
        frame.languageSwitch = .link(path)
        var response = PageResponse(page(frame), in: frame).response()
        response.headers[.cacheControl] = "no-store"
        if visit.isNew { response.headers[values: .setCookie].append(cookies.setting(visit.browser)) }
        return response
    }
}

extension Account {
    /// Who has signed in, as the person knows it; nil where they have no address.
    var personName: String? { addresses.first?.address.description }

    fileprivate func page(
        _ announcement: AccountPage.Announcement?, languages: String?, in language: LanguageTag?, at now: Timestamp,
        _ places: any Places
    ) -> AccountPage {
        let query = [("before", cursor), ("ui_locales", languages)].compactMap { name, value in
            value.map { (name, $0) }
        }
        return AccountPage(
            announcement: announcement, identifiers: identifiers,
            addPath: addressKinds.isEmpty ? nil : SignInDoor.newAddressPath,
            devices: devices.map { page(of: $0, at: now) },
            confirming: confirmation == .refused ? .afterSignIn(with: confirmedDevice(at: now)) : .here,
            passkeys: passkeys.map { $0.row(at: now) },
            createPasskeyPath: passkeyOffer == .off ? nil : SignInDoor.newPasskeyPath, hasUserCode: hasUserCode,
            sessions: sessions.map { page(of: $0, in: language, places) } + deviceRows,
            access: access.map(\.page), activity: events.compactMap(\.activity),
            earlierPath: cursor.map { _ in "\(AccountPage.path)?\(FormText.encoded(query))#activity" },
            reports: reports.map(\.page))
    }

    private var identifiers: [AccountPage.Identifier] {
        addresses.map {
            .init(
                text: $0.address.description, standing: .verified(at: Int($0.verifiedAt.seconds)),
                path: "\(SignInDoor.addressesPath)/\($0.id)")
        }
            + claims.map {
                .init(
                    text: $0.claim.address.description, standing: .claimed(by: $0.client?.text),
                    path: addressKinds.contains($0.claim.address.kind)
                        ? "\(SignInDoor.newAddressPath)?\(SignInDoor.claimField)=\($0.claim.id)" : nil)
            }
    }

    /// What clients got in no session, which is listed with the sessions.
    private var deviceRows: [AccountPage.Session] {
        withoutSession.map { grant in
            AccountPage.Session(
                id: "\(grant.family.id)", browser: nil, place: nil, since: Int(grant.family.createdAt.seconds),
                way: grant.family.isDeviceGrant
                    ? .deviceCode(client: grant.client.text) : .server(client: grant.client.text))
        }
    }

    /// The name of the only confirmed device; nil for none, or several.
    private func confirmedDevice(at now: Timestamp) -> String? {
        let confirmed = devices.filter { $0.enrollment.isConfirmed && $0.enrollment.isLetIn(at: now) }
        return confirmed.count == 1 ? confirmed[0].enrollment.device.name.text : nil
    }

    private func page(of device: Device, at now: Timestamp) -> AccountPage.Device {
        let enrollment = device.enrollment
        var methods: Set<AccountPage.Device.Method> = []
        if enrollment.methods.contains(.pin) { methods.insert(.pin) }
        if enrollment.methods.contains(.biometric) { methods.insert(.biometric) }
        let state: AccountPage.Device.State =
            if case .suspended = enrollment.state {
                .suspended
            } else if enrollment.counts(at: now) {
                .active
            } else {
                .waiting(until: Int(enrollment.countsFrom.seconds))
            }
        return AccountPage.Device(
            id: "\(enrollment.id)", name: enrollment.device.name.text, methods: methods,
            enrolledAt: Int(enrollment.createdAt.seconds), client: device.client?.text ?? "",
            lastApprovedAt: device.lastApprovedAt.map { Int($0.seconds) }, state: state,
            canBeResumed: device.mayBeResumed,
            waitingMethods: enrollment.counts(at: now)
                ? enrollment.waiting(at: now).map { method, until in
                    .init(
                        AccountPage.Device.WaitingMethod.Kind(method), name: method.rawValue, until: Int(until.seconds))
                } : [],
            reach: enrollment.isConfirmed ? .everywhere : enrollment.isByThirdParty ? .clientAlone : .operatorsSites,
            confirmingFrom: enrollment.confirmingFrom.map { Int($0.seconds) })
    }

    private func page(
        of open: OpenSession, in language: LanguageTag?, _ places: any Places
    ) -> AccountPage.Session {
        let session = open.session
        let from = session.place?.placed(by: places, in: language)
        let way: AccountPage.Session.Way? =
            switch session.authentication.evidence {
            case .approval: open.by.map { .device($0.text) }
            case .passkey: .passkey(open.by?.text)
            case .code(_, .email): .email
            case .code(_, .phone): .text
            }
        return AccountPage.Session(
            id: "\(session.id)",
            browser: from?.userAgent.flatMap { ContextLine(address: nil, userAgent: $0)?.line.text },
            place: from?.shownPlace(in: language), since: Int(session.createdAt.seconds),
            lastSeen: session.usedAt > session.createdAt ? Int(session.usedAt.seconds) : nil, way: way,
            isThisOne: session.id == visit.session.id)
    }

    /// The page that asks whether to remove a device; nil if the person has no such device.
    fileprivate func removal(of id: String, at now: Timestamp) -> RemoveDevicePage? {
        guard let device = devices.first(where: { "\($0.enrollment.id)".hasSameBytes(as: id) }) else { return nil }
        let enrollment = device.enrollment
        let others = devices.filter { $0.enrollment.id != enrollment.id }
        let isLast = enrollment.isLetIn(at: now) && !others.contains { $0.enrollment.isLetIn(at: now) }
        let next = others.filter { $0.enrollment.state == .active }.min {
            $0.enrollment.countsFrom < $1.enrollment.countsFrom
        }
        let kinds = Set(addresses.map(\.address.kind))
        let way: RemoveDevicePage.Remaining.Way =
            if ways.contains(.passkey), passkeys.contains(where: { $0.counts(at: now) }) {
                .passkey
            } else if kinds.contains(.email), ways.contains(.email) {
                .email
            } else if kinds.contains(.phone), ways.contains(.text) {
                .text
            } else {
                .none
            }
        let state: RemoveDevicePage.State =
            switch page(of: device, at: now).state {
            case .active: .active
            case .waiting: .waiting
            case .suspended: .suspended
            }
        return RemoveDevicePage(
            id: id, name: enrollment.device.name.text, enrolledAt: Int(enrollment.createdAt.seconds),
            client: device.client?.text ?? "", lastUsedAt: device.lastApprovedAt.map { Int($0.seconds) }, state: state,
            endsThisSession: visit.session.authentication.evidence.enrollment == enrollment.id,
            remaining: isLast
                ? .init(nextDevice: next?.enrollment.device.name.text, way: way) : nil,
            showsPasskeys: showsPasskeys)
    }
}

extension AccountPage.Device.WaitingMethod.Kind {
    fileprivate init(_ method: AnswerMethod) {
        switch method {
        case .pin: self = .pin
        case .biometric: self = .biometric
        // `confirm` is the device itself, and waits with it.
        case .confirm, .custom: self = .custom
        }
    }
}

extension Account.Access {
    fileprivate var page: AccountPage.Access {
        let own = scopes.sorted().compactMap { scope -> AccountPage.Access.Scope? in
            switch scope {
            case TokenFamily.openID: .identity
            case TokenFamily.offlineAccess: .staySignedIn
            case Ticket.scope: .addDevice
            case PersonalAddress.Kind.email.rawValue: .email
            case PersonalAddress.Kind.phone.rawValue: .phone
            default: nil
            }
        }
        return AccountPage.Access(
            clientID: "\(client)", client: name.text, scopes: own + apis.map { .other($0) }, since: Int(since.seconds))
    }
}

extension Account.Report {
    fileprivate var page: AccountPage.Report {
        AccountPage.Report(
            at: Int(at.seconds), until: Int(until.seconds), client: client?.text, isOfClientAlone: isOfClientAlone,
            origin: origin?.text, device: device?.text)
    }
}

extension Account.Event {
    /// The event in the words of the page; nil if what it names is gone.
    fileprivate var activity: AccountPage.Activity? {
        let client = client?.text
        let device = device?.text
        let kind: AccountPage.Activity.Kind? =
            switch event.kind {
            case .signedIn: client.map { .signedIn($0) }
            case .challengeApproved: client.map { .approved($0) }
            case .challengeDenied: client.map { .declined($0) }
            case .challengeReported: client.map { .reported($0) }
            case .enrollmentCreated: device.map { .deviceEnrolled($0) }
            case .enrollmentRemoved: device.map { .deviceRemoved($0) }
            case .enrollmentSuspended: device.map { .deviceSuspended($0) }
            case .enrollmentResumed: device.map { .deviceResumed($0) }
            case .enrollmentConfirming: device.map { .deviceConfirming($0) }
            case .passkeyCreated: .passkeyCreated((passkey ?? SignInDoor.plainName).text)
            case .passkeyRemoved: .passkeyRemoved((passkey ?? SignInDoor.plainName).text)
            case .userCodeSet: .userCodeSet
            case .userCodeRemoved: .userCodeRemoved
            case .enrollmentConfirmed: device.map { .deviceConfirmed($0) }
            case .methodChanged: device.map { .methodChanged($0) }
            case .identifierVerified: event.detail["address"]?.string == "phone" ? .phoneVerified : .emailVerified
            case .identifierRemoved: event.detail["address"]?.string == "phone" ? .phoneRemoved : .emailRemoved
            case .consentGiven: client.map { .consentGiven($0) }
            case .accessEnded: client.map { .accessEnded($0) }
            case .sessionEnded: .sessionEnded
            default: nil
            }
        guard let kind else { return nil }
        let isOnDevice =
            switch event.kind {
            case .signedIn, .challengeApproved, .challengeDenied, .challengeReported: true
            default: false
            }
        return AccountPage.Activity(kind, at: Int(event.at.seconds), device: isOnDevice ? device : nil)
    }
}
