import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import Foundation
import HTTPTypes
import Hummingbird

/// The pages between a client's request and its result.
///
/// Each form carries the client's request, sealed for this browser. The request becomes a row when devices are asked;
/// from then on the page's path names the row.
extension SignInDoor {
    func addSignIn(to table: inout RouteTable) {
        addForm(Self.startPath, to: &table) { [self] carried, _, visit in
            try await identifierPage(carried, visit, typed: carried.wanted.identifier?.address?.description)
        }
        addForm(Self.choosePath, to: &table) { [self] carried, form, visit in
            var carried = carried
            if let typed = form[IdentifierPage.field] {
                guard let address = PersonalAddress(typed: typed), carried.wanted.takes(address) else {
                    return try await identifierPage(carried, visit, typed: typed, hasError: true)
                }
                carried.wanted.identifier = .address(address)
            }
            guard carried.wanted.identifier != nil else {
                return try await identifierPage(carried, visit, typed: nil, hasError: true)
            }
            return try await choosePage(carried, visit)
        }
        addForm("/signin/ask", to: &table) { [self] carried, form, visit in
            let way = form[ChooseWayPage.field].flatMap { SignInWay(rawValue: $0) } ?? .device
            return try await ask(carried, by: way, form, visit)
        }
        // What a page shows is asked for once more.
        for way in SignInWay.allCases where way != .passkey {
            addForm(Self.path(toAskBy: way), to: &table) { [self] carried, form, visit in
                try await ask(carried, by: way, form, visit)
            }
        }
        addForm(Self.passkeyPath, to: &table) { [self] carried, form, visit in
            try await enterPasskey(carried, form, visit)
        }
        addForm("/signin/cancel", to: &table) { [self] carried, _, visit in
            if let id = carried.signIn, try await !CancelSignIn.cancel(id, in: visit.browser, ports: ports) {
                throw PageError(.tooOld, why: nil, status: 409)
            }
            let error = OAuthError(.accessDenied, "the person cancelled the sign-in")
            return try await result(.error(error), of: carried, visit)
        }
        addForm("/signin/:id/language", to: &table) { [self] carried, form, visit in
            let id = try signIn(carried, visit)
            if form["ui_locales"] != nil, let languages = carried.wanted.languages,
                let seconds = try await ChangePageLanguage.change(id, to: languages, in: visit.browser, ports: ports)
            {
                throw PageError.tooMany(retryAfter: seconds, at: ports.time.now)
            }
            return Self.redirect(to: "/signin/\(id)")
        }
        addWaiting(to: &table)
        addCodes(to: &table)
        addConsent(to: &table)
        addPasskeyOffer(to: &table)
    }

    static let startPath = "/signin/start"
    static let choosePath = "/signin/choose"
    private static let passkeyPath = "/signin/passkey"

    static func path(toAskBy way: SignInWay) -> String { "/signin/ask/\(way.rawValue)" }

    /// The sign-in that a path names, in a browser that is known.
    func signIn(_ incoming: Incoming) throws -> (Visit, AuthorizationID) {
        let visit = Visit(incoming, cookies, ports)
        guard !visit.isNew, let id = incoming.parameter("id").flatMap({ AuthorizationID($0) }) else {
            throw PageError.gone
        }
        return (visit, id)
    }

    /// The sign-in that a form's path names: the one that its page was shown for.
    func signIn(_ carried: CarriedSignIn, _ visit: Visit) throws -> AuthorizationID {
        guard let id = carried.signIn, "\(id)" == visit.incoming.parameter("id") else { throw PageError.gone }
        return id
    }

    /// Adds a form of ours, which carries the client's request; an error page names the client, in the page's language.
    func addForm(
        _ path: String, to table: inout RouteTable,
        _ body: @escaping @Sendable (CarriedSignIn, FormFields, Visit) async throws -> Response
    ) {
        table.add(.post, path) { [self] request, context in
            let (carried, form, visit) = try await opened(try await Incoming(request, context))
            do {
                return try await body(carried, form, visit)
            } catch let error as PageError {
                throw await named(error, of: carried.wanted, visit)
            }
        }
    }

    /// An error page that names the client, in the page's language.
    func named(_ error: PageError, of wanted: Wanted, _ visit: Visit) async -> PageError {
        var error = error.said(in: language(wanted.languages, visit.incoming))
        // Whoever has no client to name is still told what is wrong.
        if case .shown(let client, _) = try? await ShowRelyingParty.show(wanted.client, ports: ports) {
            error.client = try? await shown(client, host: wanted.returnHost)
            error.site = RedirectURI(wanted.redirectURI)?.site
        }
        return error
    }

    /// A form of ours; a language that the person has chosen on its page is the client's wish from now on.
    func opened(
        _ incoming: Incoming
    ) async throws -> (carried: CarriedSignIn, form: FormFields, visit: Visit) {
        let form = try FormFields(form: incoming)
        let visit = Visit(incoming, cookies, ports)
        guard let sealed = form["request"], !visit.isNew,
            let carried = SealedSignIn.open(sealed, in: visit.browser, ports: ports)
        else {
            throw PageError.tooOld
        }
        let languages = form["ui_locales"].map(AuthorizationChecks.languages)
        var said = languages.map { carried.inLanguages($0) } ?? carried
        if form[PasskeyOffer.keepingField] != nil { said.wanted.keepsPasskeys = true }
        return (said, form, visit)
    }

    private func ask(
        _ carried: CarriedSignIn, by way: SignInWay, _ form: FormFields, _ visit: Visit
    ) async throws -> Response {
        let request = AskSignIn.Request(
            carried, by: way, browser: visit.browser, place: visit.place,
            language: tag(carried.wanted.languages, visit),
            network: visit.incoming.context.network, nonce: form[WorkPage.field].flatMap { UInt32($0) })
        switch try await AskSignIn.ask(request, ports: ports) {
        case .asked(let asked):
            var response = Self.redirect(to: "/signin/\(asked.id)")
            response.headers[values: .setCookie].append(cookies.setting(way))
            return response
        case .clientGone: throw PageError.unknownClient
        case .tooLate:
            // The phone may have approved in the last moment, after the page had told that nobody did.
            guard let id = carried.signIn,
                case .shown(_, .authenticated) = try await WatchAuthorization.show(id, in: visit.browser, ports: ports)
            else { throw PageError.gone }
            return Self.redirect(to: "/signin/\(id)")
        case .tooEarly(let open, let seconds):
            return try await codePage(of: open, .tooEarly(seconds: Int(seconds.value)), typed: nil, visit)
        case .tooMany(let seconds):
            note(.tooMany, by: way, at: carried.wanted.client, for: carried.signIn, visit)
            throw PageError.tooMany(retryAfter: seconds, at: ports.time.now)
        case .needsWork(let work, let problem): return try await workPage(work, problem, carried, visit)
        }
    }

    /// The page that gives a browser work before its choice is followed.
    private func workPage(
        _ work: SignInWork, _ problem: SignInWork.Problem?, _ carried: CarriedSignIn, _ visit: Visit
    ) async throws -> Response {
        let action = Self.path(toAskBy: work.way)
        let frame = try await frame(carried, giving: work, visit, languagePath: action)
        let page = WorkPage(
            action: action,
            puzzle: WorkPage.Puzzle(
                seed: Hex.encode(SignInWork.seed(of: frame.request ?? "")), bits: work.bits),
            seconds: Int(work.wait(at: ports.time.now).value),
            exits: PageExits(
                anotherWayAction: carried.wanted.identifier == nil ? Self.startPath : Self.choosePath,
                cancelAction: "/signin/cancel"),
            problem: problem.map { $0 == .wrong ? WorkPage.Problem.wrong : .early })
        return reply(page, in: frame, carried, visit)
    }

    /// Takes the answer of a passkey to the page that the form names.
    private func enterPasskey(_ carried: CarriedSignIn, _ form: FormFields, _ visit: Visit) async throws -> Response {
        let problem: IdentifierPage.PasskeyProblem
        let reason: RefusedSignIns.Reason
        switch try await passkeyOutcome(carried, form, visit) {
        case .authenticated(let id):
            var response = try await finish(id, visit)
            response.headers[values: .setCookie].append(cookies.setting(.passkey))
            // This browser has one.
            pauseOffers(with: &response, visit)
            return response
        case .clientGone: throw PageError.unknownClient
        case .tooLate: throw PageError.gone
        case .tooMany(let seconds):
            note(.tooMany, by: .passkey, at: carried.wanted.client, for: carried.signIn, visit)
            throw PageError.tooMany(retryAfter: seconds, at: ports.time.now)
        case .refused, nil: (problem, reason) = (.refused, .passkeyRefused)
        case .waiting(let time): (problem, reason) = (.waiting(until: Int(time.seconds)), .passkeyWaiting)
        }
        note(reason, by: .passkey, at: carried.wanted.client, for: carried.signIn, visit)
        return try await identifierPage(
            carried, visit, typed: carried.wanted.identifier?.address?.description, passkeyProblem: problem)
    }

    /// What comes of a passkey's answer; nil if it is none.
    private func passkeyOutcome(
        _ carried: CarriedSignIn, _ form: FormFields, _ visit: Visit
    ) async throws -> EnterPasskey.Outcome? {
        guard let (ceremony, response) = passkeyAnswer(form) else { return nil }
        let request = EnterPasskey.Request(
            response, in: ceremony, carried, browser: visit.browser, place: visit.place,
            language: tag(carried.wanted.languages, visit),
            network: visit.incoming.context.network)
        return try await EnterPasskey.enter(request, ports: ports)
    }

    func finish(
        _ id: AuthorizationID, _ visit: Visit, _ answer: ConsentAnswer = .none, in languages: String? = nil
    ) async throws -> Response {
        let outcome = try await FinishSignIn.finish(
            id, in: visit.browser, former: visit.session, answer: answer, ports: ports)
        switch outcome {
        case .asks(let question):
            guard let page = try await consentPage(question, for: id, visit, in: languages) else {
                throw PageError.gone
            }
            return page
        case .finished(let finished):
            if let offer = await passkeyOffer(after: id, finished, visit) { return offer }
            return try await result(of: finished, visit)
        case .otherPerson(let wanted):
            note(.otherPerson, at: wanted.client, for: id, visit)
            let error = OAuthError(.loginRequired, "somebody else has signed in than the client expects")
            return try await result(.error(error), of: CarriedSignIn(wanted: wanted), visit)
        case .tooWeak(let wanted):
            note(.tooWeak, at: wanted.client, for: id, visit)
            let error = OAuthError(.unmetAuthenticationRequirements, "the person has signed in by a weaker way")
            return try await result(.error(error), of: CarriedSignIn(wanted: wanted), visit)
        case .notReady, .tooMany: return try await finishAgain(id, visit)
        case .spent(let wanted): throw await named(.tooOld, of: wanted, visit)
        case .clientGone: throw PageError.unknownClient
        }
    }

    /// The result once more, for a browser whose first reply was lost or that came back to the page.
    func finishAgain(_ id: AuthorizationID, _ visit: Visit) async throws -> Response {
        guard
            case .shown(let found, .finished) = try await WatchAuthorization.show(
                id, in: visit.browser, ports: ports),
            case .granted(let granted) = found.state, let session = visit.session
        else { throw PageError.gone }
        var wanted = found.wanted
        // Somebody else may have signed in in this browser since.
        wanted.hint = .id(granted.user)
        (wanted.isFresh, wanted.maximumAge, wanted.asksConsent) = (false, nil, false)
        // This sign-in has spent it itself.
        wanted.pushed = nil
        guard
            case .finished(let finished) = try await FinishSignIn.goOn(
                wanted, in: session, browser: visit.browser, ports: ports)
        else { throw PageError.gone }
        return try await result(of: finished, visit)
    }

    /// What the client gets, after a form of ours.
    func result(_ result: Result, of carried: CarriedSignIn, _ visit: Visit) async throws -> Response {
        if case .error = result { try await PushedRequest.end(carried.wanted, ports: ports) }
        return try self.result(
            result, of: carried.wanted, visit.incoming, isAfterForm: true, frame: try await frame(carried, visit))
    }

    func result(of finished: FinishSignIn.Finished, _ visit: Visit) async throws -> Response {
        var response = try await result(.code(finished.code), of: CarriedSignIn(wanted: finished.wanted), visit)
        if let session = finished.session {
            response.headers[values: .setCookie].append(cookies.setting(session, at: ports.time.now))
        }
        return response
    }

    // MARK: Frames

    /// The page that asks who is signing in.
    func identifierPage(
        _ carried: CarriedSignIn, _ visit: Visit, typed: String?, hasError: Bool = false,
        passkeyProblem: IdentifierPage.PasskeyProblem? = nil, of client: Client? = nil
    ) async throws -> Response {
        var nobody = carried.wanted
        nobody.identifier = nil
        let ways = try await ways(for: nobody, visit)
        let frame = try await frame(carried, visit, of: client)
        let page = IdentifierPage(
            action: Self.choosePath, qrAction: ways.contains(.qr) ? "/signin/ask" : nil, typed: typed,
            hasError: hasError, passkey: passkey(ways, in: frame), passkeyProblem: passkeyProblem)
        return reply(page, in: frame, carried, visit)
    }

    /// The page that asks by which way.
    func choosePage(_ carried: CarriedSignIn, _ visit: Visit, of client: Client? = nil) async throws -> Response {
        var ways = try await ways(for: carried.wanted, visit)
        // What the browser says decides which way comes first, and never which ways there are.
        if let last = cookies.way(of: visit.incoming.headers), let index = ways.firstIndex(of: last) {
            ways.insert(ways.remove(at: index), at: 0)
        }
        let address = carried.wanted.identifier?.address?.description ?? ""
        let rows = ways.map { way -> ChooseWayPage.Way in
            switch way {
            case .passkey: .passkey
            case .device: .device
            case .qr: .qr
            case .email: .email(address)
            case .text: .text(address)
            }
        }
        let frame = try await frame(carried, visit, of: client, languagePath: Self.choosePath)
        let page = ChooseWayPage(
            action: "/signin/ask", ways: rows, isConfirmation: isConfirmation(carried.wanted),
            passkey: passkey(ways, in: frame))
        return reply(page, in: frame, carried, visit)
    }

    /// Whether somebody who has signed in to the account page authenticates anew, before an act.
    private func isConfirmation(_ wanted: Wanted) -> Bool {
        wanted.hint != nil && wanted.redirectURI.hasSameBytes(as: ports.issuer.accountPage)
    }

    private func ways(for wanted: Wanted, _ visit: Visit) async throws -> [SignInWay] {
        switch try await OfferWays.ways(for: wanted, in: visit.browser, ports: ports) {
        case .ways(let ways): return ways
        case .clientGone: throw PageError.unknownClient
        }
    }

    /// What a page asks a passkey for; nil where one cannot sign in by a passkey.
    private func passkey(_ ways: [SignInWay], in frame: PageFrame) -> PasskeyOffer? {
        guard ways.contains(.passkey) else { return nil }
        return frame.request.flatMap { PasskeyCeremony(of: $0, ports: ports) }.map {
            PasskeyOffer(options: $0.requestOptions.text, action: Self.passkeyPath)
        }
    }

    /// A page for a request of a client, with a cookie for a browser that has none.
    ///
    /// - Parameters:
    ///   - page: the page.
    ///   - carried: the client's request.
    ///   - visit: the browser's visit.
    ///   - client: the client, where it was read before; nil to read it.
    ///   - languagePath: where the form posts to that changes the language, and shows the page again.
    func page(
        _ page: some HostedPage, _ carried: CarriedSignIn, _ visit: Visit, of client: Client? = nil,
        languagePath: String
    ) async throws -> Response {
        let frame = try await frame(carried, visit, of: client, languagePath: languagePath)
        return reply(page, in: frame, carried, visit)
    }

    func reply(
        _ page: some HostedPage, in frame: PageFrame, _ carried: CarriedSignIn, _ visit: Visit
    ) -> Response {
        var response = PageResponse(page, in: frame, leadingTo: RedirectURI(carried.wanted.redirectURI)).response()
        if visit.isNew { response.headers[values: .setCookie].append(cookies.setting(visit.browser)) }
        return response
    }

    /// What every page of a sign-in shows.
    func frame(
        _ carried: CarriedSignIn, giving work: SignInWork? = nil, _ visit: Visit, of known: Client? = nil,
        languagePath: String = startPath
    ) async throws -> PageFrame {
        let wanted = carried.wanted
        let client: Client
        if let known {
            client = known
        } else if case .shown(let found, _) = try await ShowRelyingParty.show(wanted.client, ports: ports) {
            client = found
        } else {
            throw PageError.unknownClient
        }
        let language = language(wanted.languages, visit.incoming)
        // The page names what the phone names: from where somebody was asked, wherever the page is looked at since.
        let from = carried.signIn.flatMap { _ in wanted.askedFrom } ?? visit.place
        let ledger = PageFrame.Ledger(
            identifier: wanted.identifier?.address?.description,
            isNamedByClient: wanted.identifier.map { $0.address == nil } ?? false,
            changePath: wanted.identifier.map { _ in Self.startPath },
            browser: ContextLine(address: nil, userAgent: from?.userAgent)?.line.text,
            place: from?.place?.text(in: LanguageTag(language.rawValue)), address: from?.address,
            askedAt: Int(ports.time.now.seconds))
        var frame = frame(in: language, of: try await shown(client, host: wanted.returnHost))
        frame.ledger = ledger
        frame.request = try SealedSignIn.seal(carried, with: work, for: visit.browser, ports: ports)
        frame.languageSwitch = .post(languagePath)
        return frame
    }

    /// The tag of a page's language, for what is told or kept of the visit.
    func tag(_ locales: String?, _ visit: Visit) -> LanguageTag? {
        LanguageTag(language(locales, visit.incoming).rawValue)
    }

    func language(_ locales: String?, _ incoming: Incoming) -> PageLanguage {
        PageLanguage.chosen(locales: locales, accepted: incoming.headers[.acceptLanguage])
    }
}

extension Wanted {
    /// Whether the person may be named by an address: an app that was written for Cotter wants one of a kind.
    fileprivate func takes(_ address: PersonalAddress) -> Bool { cotter == nil || cotter == address.kind }

    /// The host to which the person returns.
    fileprivate var returnHost: String { URLComponents(string: redirectURI)?.host ?? "" }
}
