import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import Hummingbird

/// The pages of the account on which people register passkeys, rename them and remove them.
///
/// Spec: docs/decisions/0078-passkeys-on-pages.md.
extension SignInDoor {
    static let newPasskeyPath = "\(AccountPage.path)/new-passkey"
    private static let passkeysPath = "\(AccountPage.path)/passkeys"
    /// What a passkey is called whose browser does not say what it is.
    static let plainName: DisplayLine = {
        guard let line = try? DisplayLine("Passkey") else { preconditionFailure("a line") }
        return line
    }()

    func addPasskeys(to table: inout RouteTable) {
        table.add(.get, Self.newPasskeyPath, query: ["ui_locales"]) { [self] request, context in
            let visit = Visit(try await Incoming(request, context), cookies, ports)
            return try await newPasskeyPage(visit, try FormFields(query: visit.incoming)["ui_locales"])
        }
        table.add(.post, Self.passkeysPath) { [self] request, context in
            let (carried, form, visit) = try accountFields(try await Incoming(request, context))
            return try await register(carried, form, visit)
        }
        table.add(.get, "\(Self.passkeysPath)/:id", query: ["ui_locales"]) { [self] request, context in
            let visit = Visit(try await Incoming(request, context), cookies, ports)
            return try await passkeyPage(visit, try FormFields(query: visit.incoming)["ui_locales"])
        }
        table.add(.post, "\(Self.passkeysPath)/:id/rename") { [self] request, context in
            let (carried, form, visit) = try accountFields(try await Incoming(request, context))
            let typed = form[PasskeyPage.field] ?? ""
            guard let name = try? DisplayLine(typed, atMost: RegisteredPasskey.longestName), !name.text.isEmpty else {
                return try await passkeyPage(visit, carried.languages, hasNameError: true)
            }
            return try await act(.rename(name), carried, visit)
        }
        table.add(.post, "\(Self.passkeysPath)/:id/remove") { [self] request, context in
            let (carried, _, visit) = try accountFields(try await Incoming(request, context))
            return try await act(.remove, carried, visit)
        }
    }

    /// The page from which the browser registers a passkey.
    ///
    /// Whatever would refuse it afterwards refuses it before: a browser keeps what it has made.
    private func newPasskeyPage(_ visit: Visit, _ languages: String?) async throws -> Response {
        try await withAccount(visit, languages) { account in
            switch account.passkeyOffer {
            case .off: return Self.redirect(to: AccountPage.path)
            case .full: return try await accountPage(visit, .passkeysFull, languages: languages)
            case .open, .tooWeak: break
            }
            if let page = try await confirmation(of: account, languages, visit) { return page }
            guard account.passkeyOffer != .tooWeak else {
                return try await accountPage(visit, .signInTooWeak, languages: languages)
            }
            return try await accountReply(account, visit, languages, path: Self.newPasskeyPath) { frame in
                let ceremony = frame.request.flatMap { PasskeyCeremony(of: $0, ports: ports) }
                let options = ceremony?.creationOptions(
                    for: account.visit.user, named: account.personName ?? ports.issuer.host,
                    excluding: account.passkeys)
                return CreatePasskeyPage(offer: PasskeyOffer(options: options?.text ?? "", action: Self.passkeysPath))
            }
        }
    }

    /// What a passkey has answered, and the ceremony of the page that it answers; nil if it is no answer.
    func passkeyAnswer(_ form: FormFields) -> (PasskeyCeremony, JSONValue)? {
        guard let ceremony = form["request"].flatMap({ PasskeyCeremony(of: $0, ports: ports) }),
            let response = form[PasskeyOffer.field].flatMap({ try? JSONValue(parsing: Array($0.utf8)) })
        else { return nil }
        return (ceremony, response)
    }

    /// What comes of a passkey that a browser has made for a page of ours.
    ///
    /// - Parameters:
    ///   - form: the form with the browser's answer.
    ///   - user: whom the page was shown to.
    ///   - visit: the browser's visit.
    ///   - languages: the languages of the page; nil for none.
    func registration(
        _ form: FormFields, of user: UserID, _ visit: Visit, in languages: String?
    ) async throws -> RegisterPasskey.Outcome {
        guard let (ceremony, response) = passkeyAnswer(form) else { return .refused }
        let browser = ContextLine(address: nil, userAgent: visit.incoming.headers[.userAgent])?.line.text
        let name = browser.flatMap { try? DisplayLine($0, atMost: RegisteredPasskey.longestName) } ?? Self.plainName
        return try await RegisterPasskey.register(
            response, in: ceremony, named: name, by: visit.session, shownTo: user, from: visit.place,
            in: tag(languages, visit), ports: ports)
    }

    private func register(_ carried: SealedAccount, _ form: FormFields, _ visit: Visit) async throws -> Response {
        let announcement: AccountPage.Announcement
        var hasPasskey = false
        switch try await registration(form, of: carried.user, visit, in: carried.languages) {
        case .done(let passkey):
            hasPasskey = true
            announcement =
                passkey.counts(at: ports.time.now)
                ? .passkeyCreated(passkey.name.text)
                : .passkeyCreatedLater(passkey.name.text, from: Int(passkey.countsFrom.seconds))
        case .signIn: return try await confirmPerson(carried, visit)
        case .tooWeak: announcement = .signInTooWeak
        case .full: announcement = .passkeysFull
        case .refused: announcement = .passkeyNotCreated
        case .tooMany(let seconds):
            throw PageError.tooMany(retryAfter: seconds, at: ports.time.now)
                .said(in: language(carried.languages, visit.incoming))
        }
        var response = try await accountPage(visit, announcement, languages: carried.languages)
        if hasPasskey { pauseOffers(with: &response, visit) }
        return response
    }

    private func act(_ act: ActOnOwnPasskey.Act, _ carried: SealedAccount, _ visit: Visit) async throws -> Response {
        guard let id = visit.incoming.parameter("id").flatMap({ PasskeyID($0) }) else {
            return Self.redirect(to: AccountPage.path)
        }
        let outcome = try await ActOnOwnPasskey.act(
            act, on: id, by: visit.session, shownTo: carried.user, from: visit.place,
            in: tag(carried.languages, visit), ports: ports)
        let announcement: AccountPage.Announcement
        switch (outcome, act) {
        case (.done(let name), .rename): announcement = .passkeyRenamed(name.text)
        case (.done(let name), .remove): announcement = .passkeyRemoved(name.text)
        case (.signIn, _): return try await confirmPerson(carried, visit)
        case (.notFound, _): announcement = .gone
        }
        return try await accountPage(visit, announcement, languages: carried.languages)
    }

    /// The page of one passkey.
    private func passkeyPage(_ visit: Visit, _ languages: String?, hasNameError: Bool = false) async throws -> Response
    {
        let id = visit.incoming.parameter("id").flatMap { PasskeyID($0) }
        return try await withAccount(visit, languages) { account in
            guard let passkey = account.passkeys.first(where: { $0.id == id }) else {
                return Self.redirect(to: AccountPage.path)
            }
            let row = passkey.row(at: ports.time.now)
            let page = PasskeyPage(
                id: row.id, name: row.name, createdAt: row.createdAt, lastUsedAt: row.lastUsedAt,
                isSynced: row.isSynced, waitsUntil: row.waitsUntil,
                endsThisSession: account.visit.session.authentication.evidence == .passkey(passkey.id),
                hasNameError: hasNameError)
            return try await accountReply(account, visit, languages, path: "\(Self.passkeysPath)/\(passkey.id)") { _ in
                page
            }
        }
    }
}

extension RegisteredPasskey {
    /// The passkey as the account page shows it.
    func row(at now: Timestamp) -> AccountPage.Passkey {
        AccountPage.Passkey(
            id: "\(id)", name: name.text, createdAt: Int(createdAt.seconds),
            lastUsedAt: usedAt.map { Int($0.seconds) }, isSynced: isBackedUp,
            waitsUntil: counts(at: now) ? nil : Int(countsFrom.seconds), isConfirmed: isConfirmed)
    }
}
