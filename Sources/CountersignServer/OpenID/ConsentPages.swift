import CountersignCore
import CountersignPages
import CountersignWire
import HTTPTypes
import Hummingbird

/// The pages on which a person says what a client may have.
///
/// Spec: OpenID Connect Core 1.0 §3.1.2.4.
extension SignInDoor {
    private static let goOnPath = "/signin/go-on"
    private static let allowPath = "/signin/consent"

    func addConsent(to table: inout RouteTable) {
        // The person has signed in just now.
        addForm("/signin/:id/consent", to: &table) { [self] carried, form, visit in
            let id = try signIn(carried, visit)
            guard let user = carried.user else { throw PageError.gone }
            switch Decision(form) {
            case .none: return try await finish(id, visit, in: carried.wanted.languages)
            case .allow: return try await finish(id, visit, .allows(user))
            case .refuse:
                guard try await CancelSignIn.cancel(id, in: visit.browser, ports: ports) else { throw PageError.gone }
                return try await refused(carried, visit)
            }
        }
        // The browser is signed in since before.
        addForm(Self.allowPath, to: &table) { [self] carried, form, visit in
            switch Decision(form) {
            case .none: return try await goOn(carried, visit, .none)
            case .allow: return try await goOn(carried, visit, carried.user.map(ConsentAnswer.allows) ?? .none)
            case .refuse:
                await endAsk(of: carried, visit)
                return try await refused(carried, visit)
            }
        }
        addForm(Self.goOnPath, to: &table) { [self] carried, form, visit in
            let isAnswer = form["ui_locales"] == nil
            return try await goOn(carried, visit, isAnswer ? carried.user.map(ConsentAnswer.goesOn) ?? .none : .none)
        }
    }

    /// What a form of the page says.
    private enum Decision {
        case none, allow, refuse

        init(_ form: FormFields) {
            switch form[ConsentPage.field] {
            case "allow": self = .allow
            case "refuse": self = .refuse
            default: self = .none
            }
        }
    }

    private func refused(_ carried: CarriedSignIn, _ visit: Visit) async throws -> Response {
        let error = OAuthError(.accessDenied, "the person does not allow what the client wants")
        return try await result(.error(error), of: carried, visit)
    }

    private func goOn(
        _ carried: CarriedSignIn, _ visit: Visit, _ answer: ConsentAnswer
    ) async throws -> Response {
        switch try await goOn(carried.wanted, visit, asksAlways: true, answer) {
        case .finished(let finished):
            await endAsk(of: carried, visit)
            return try await result(of: finished, visit)
        case .asks(let question):
            if let page = try await consentPage(question, for: nil, insteadOf: carried.signIn, visit) { return page }
        case .tooMany(let seconds): throw PageError.tooMany(retryAfter: seconds, at: ports.time.now)
        case nil: break
        }
        // The session has ended meanwhile, or is not what the client wants. Where the page has asked before, it goes on.
        if let open = carried.signIn { return Self.redirect(to: "/signin/\(open)") }
        return try await identifierPage(CarriedSignIn(wanted: carried.wanted), visit, typed: nil)
    }

    /// Ends what a page has asked which this question has taken the place of: nobody need answer it any more.
    ///
    /// It ends by itself if this fails, and the person has what they want.
    private func endAsk(of carried: CarriedSignIn, _ visit: Visit) async {
        guard let id = carried.signIn else { return }
        _ = try? await CancelSignIn.cancel(id, in: visit.browser, ports: ports)
    }

    /// The page that offers to go on as who has signed in since in another tab; nil where nobody has.
    func offerPage(insteadOf open: Authorization, _ visit: Visit) async throws -> Response? {
        guard let question = try await offer(insteadOf: open, visit) else { return nil }
        return try await consentPage(question, for: nil, insteadOf: open.id, visit)
    }

    /// The question whether somebody goes on as who has signed in since in another tab; nil where nobody has.
    func offer(insteadOf open: Authorization, _ visit: Visit) async throws -> ConsentQuestion? {
        guard let session = visit.session else { return nil }
        return try await FinishSignIn.offer(insteadOf: open, in: session, browser: visit.browser, ports: ports)
    }

    /// The page with a question; nil where it would name nobody, and the person signs in instead.
    ///
    /// - Parameters:
    ///   - question: the question.
    ///   - id: the sign-in that is to be finished; nil in a session.
    ///   - open: the sign-in that asks somebody in vain if the person goes on in a session; nil for none.
    ///   - visit: the browser's visit.
    ///   - client: the client, where it was read before; nil to read it.
    ///   - languages: the languages that the person has chosen on the page; nil for none.
    func consentPage(
        _ question: ConsentQuestion, for id: AuthorizationID?, insteadOf open: AuthorizationID? = nil, _ visit: Visit,
        of client: Client? = nil, in languages: String? = nil
    ) async throws -> Response? {
        var carried = CarriedSignIn(wanted: question.wanted, signIn: id ?? open, user: question.user)
        if let languages { carried.wanted.languages = languages }
        // Who is asked is who has signed in, whatever the client or the person has typed before.
        let name = question.addresses[.email] ?? question.addresses[.phone]
        carried.wanted.identifier = (name?.address).map(SignInName.address)
        if question.isGiven {
            guard let name else { return nil }
            let page = SignedInElsewherePage(
                address: name.address.description, action: Self.goOnPath, anotherAddressAction: Self.startPath)
            return try await self.page(page, carried, visit, of: client, languagePath: Self.goOnPath)
        }
        let path = id.map { "/signin/\($0)/consent" } ?? Self.allowPath
        let page = ConsentPage(
            action: path, items: question.items, accountPath: question.hasAccountPage ? AccountPage.path : nil)
        return try await self.page(page, carried, visit, of: client, languagePath: path)
    }
}

extension ConsentQuestion {
    /// The rows of the page, one for each scope that gives the client something, and for each line of what is authorized
    /// in detail.
    var items: [ConsentPage.Item] {
        let access = apis.map { api in
            ConsentPage.Item.other(title: api.name, detail: api.scopes.joined(separator: ", "))
        }
        let lines = (wanted.details?.lines ?? []).map { line in
            ConsentPage.Item.other(title: line.label.text, detail: line.value.text)
        }
        return ownItems + access + lines
    }

    private var ownItems: [ConsentPage.Item] {
        wanted.scopes.compactMap { scope in
            switch scope {
            case TokenFamily.openID: .identity
            case TokenFamily.offlineAccess: .staySignedIn(days: Int(TokenLifetimes.refreshIdle.value / 86400))
            case Ticket.scope: .addDevice
            case PersonalAddress.Kind.email.rawValue:
                .email(addresses[.email]?.address.description, isVerified: addresses[.email]?.isVerified ?? false)
            case PersonalAddress.Kind.phone.rawValue:
                .phone(
                    addresses[.phone].map { Self.withoutMiddle($0.address) },
                    isVerified: addresses[.phone]?.isVerified ?? false)
            default: nil
            }
        }
    }

    private static func withoutMiddle(_ phone: PersonalAddress) -> String {
        let digits = phone.description
        return "\(digits.prefix(3)) … \(digits.suffix(2))"
    }
}
