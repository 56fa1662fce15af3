import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The authorization endpoint: where a client sends a browser to have its user signed in.
///
/// Spec: RFC 6749 §3.1, OpenID Connect Core 1.0 §3.1.2.
extension SignInDoor {
    /// How long a request may be that comes by a form, in bytes.
    private static let longestQuery = 8192

    func addAuthorize(to table: inout RouteTable) {
        table.add(.get, "/oauth2/authorize") { [self] request, context in
            let incoming = try await Incoming(request, context)
            return try await authorize(try FormFields(query: incoming), incoming)
        }
        table.add(.post, "/oauth2/authorize") { request, context in
            try await Self.asLink(to: "/oauth2/authorize", with: AuthorizationChecks.parameters, request, context)
        }
    }

    /// Answers a form with a link to the same request: another site's form brings no cookie along, and a link does.
    static func asLink(
        to path: String, with parameters: [String], _ request: Request, _ context: ServerContext
    ) async throws -> Response {
        let query = try FormFields(form: try await Incoming(request, context)).query(of: parameters)
        // check: AuthorizeTests.lengths
        guard query.utf8.count <= longestQuery else {
            throw PageError(.notUnderstood, why: "the request is too long", status: 400)
        }
        return redirect(to: "\(path)?\(query)")
    }

    /// Answers an authorization request.
    ///
    /// - Parameters:
    ///   - form: its parameters.
    ///   - incoming: the request.
    ///   - cotter: what an app that was written for Cotter wants besides; nil for an authorization request of our own.
    func authorize(
        _ form: FormFields, _ incoming: Incoming, for cotter: CotterPageRequest? = nil
    ) async throws -> Response {
        var checked: AuthorizationChecks.Checked
        do {
            checked = try await AuthorizationChecks.check(form, ports: ports)
            cotter?.add(to: &checked.wanted)
        } catch let error as AuthorizationChecks.ClientError {
            var wanted = error.wanted
            cotter?.add(to: &wanted)
            return try result(.error(error.error), of: wanted, incoming)
        } catch let error as AuthorizationChecks.Over {
            // Never a redirect: the client may have its result, and the person may have come back by their history.
            throw await named(.tooOld, of: error.wanted, Visit(incoming, cookies, ports))
        } catch let error as PageError {
            throw error.said(in: language(form["ui_locales"], incoming))
        }
        let visit = Visit(incoming, cookies, ports)
        let isApp = checked.redirectURI.kind != .https && !checked.party.profile.isConfidential
        switch try await goOn(checked.wanted, visit, asksAlways: isApp) {
        case .finished(let finished): return try result(.code(finished.code), of: finished.wanted, incoming)
        case .asks(let question):
            if checked.isSilent {
                return try result(.error(Self.silentError(question)), of: checked.wanted, incoming)
            }
            if let page = try await consentPage(question, for: nil, visit, of: checked.client) { return page }
        case .tooMany(let seconds):
            // check: AuthorizeTests.tooMany
            guard checked.isSilent else { throw PageError.tooMany(retryAfter: seconds, at: ports.time.now) }
            // Spec: RFC 6749 §4.1.2.1.
            let error = OAuthError(.temporarilyUnavailable, "the browser has got too many codes in a minute")
            return try result(.error(error), of: checked.wanted, incoming)
        case nil: break
        }
        // check: AuthorizeTests.errors
        guard !checked.isSilent else {
            let error = OAuthError(.loginRequired, "the person must sign in")
            return try result(.error(error), of: checked.wanted, incoming)
        }
        let canReach = try await OfferWays.canReach(checked.wanted, at: checked.party, ports: ports)
        // check: AuthorizeTests.unreachable
        guard canReach else {
            let error = OAuthError(
                .unmetAuthenticationRequirements, "nobody signs in to the client as strongly as acr must be")
            return try result(.error(error), of: checked.wanted, incoming)
        }
        let carried = CarriedSignIn(wanted: checked.wanted)
        // The client's own name for the person is nothing that they could type.
        var isNamed = cotter?.skipsName == true && checked.wanted.identifier != nil
        if case .externalID = checked.wanted.identifier { isNamed = true }
        if isNamed {
            return try await choosePage(carried, visit, of: checked.client)
        }
        return try await identifierPage(
            carried, visit, typed: checked.wanted.identifier?.address?.description, of: checked.client)
    }

    /// What comes of a browser's session.
    enum WentOn {
        /// The client gets a code.
        case finished(FinishSignIn.Finished)
        /// The person must be asked first.
        case asks(ConsentQuestion)
        /// The browser has got too many codes; try again after some seconds.
        case tooMany(retryAfter: Seconds)
    }

    /// What comes of the browser's session; nil if the person must sign in.
    ///
    /// - Parameters:
    ///   - wanted: what the client wants.
    ///   - visit: the browser's visit.
    ///   - asksAlways: whether the person is asked in any case: any program on their machine can pass for an app that
    ///     returns by a scheme or to a loopback address, so that such an app gets nothing without a page. An https URL
    ///     leads to the app whose it is. Spec: RFC 8252 §8.6.
    ///   - answer: what the person has just answered.
    func goOn(
        _ wanted: Wanted, _ visit: Visit, asksAlways: Bool, _ answer: ConsentAnswer = .none
    ) async throws -> WentOn? {
        guard let session = visit.session else { return nil }
        let outcome = try await FinishSignIn.goOn(
            wanted, in: session, browser: visit.browser, asksAlways: asksAlways, answer: answer, ports: ports)
        switch outcome {
        case .finished(let finished): return .finished(finished)
        case .asks(let question): return .asks(question)
        case .notReady, .otherPerson, .tooWeak: return nil
        case .tooMany(let seconds): return .tooMany(retryAfter: seconds)
        case .spent(let wanted): throw await named(.tooOld, of: wanted, visit)
        case .clientGone: throw PageError.unknownClient
        }
    }

    /// The error where a person would have to be asked, and no page may be shown.
    ///
    /// Spec: OpenID Connect Core 1.0 §3.1.2.6.
    private static func silentError(_ question: ConsentQuestion) -> OAuthError {
        question.isGiven
            ? OAuthError(.interactionRequired, "the person must say that they go on")
            : OAuthError(.consentRequired, "the person must allow what the client wants")
    }

    static func redirect(to location: String) -> Response {
        // Spec: RFC 9700 §4.12 (303, so that no browser repeats a form elsewhere).
        Response(status: .seeOther, headers: [.location: location, .referrerPolicy: "no-referrer"])
    }

    /// What a client gets of a sign-in.
    enum Result {
        case code(Secret<String>)
        case error(OAuthError)
    }

    /// Brings a result to the client.
    ///
    /// - Parameters:
    ///   - result: the result.
    ///   - wanted: what the client wants, whose redirect URI was checked.
    ///   - incoming: the request.
    ///   - isAfterForm: whether the browser came by a form of ours. Then a page of ours goes on, since browsers hold
    ///     every redirect after a form against `form-action`, the client's own included.
    func result(
        _ result: Result, of wanted: Wanted, _ incoming: Incoming, isAfterForm: Bool = false,
        frame: PageFrame? = nil
    ) throws -> Response {
        // Our own page needs no result: the browser has its session.
        if wanted.redirectURI.hasSameBytes(as: ports.issuer.accountPage) { return Self.redirect(to: AccountPage.path) }
        // Nor does the one on which codes of devices are typed; it has the code of its device again.
        if wanted.redirectURI.hasSameBytes(as: ports.issuer.devicePage) {
            let code = wanted.clientState.map { [(DeviceCodePage.field, $0)] } ?? []
            return Self.redirect(to: Self.location(DeviceCodePage.path, code))
        }
        var fields: [(String, String)]
        switch result {
        case .code(let code):
            fields = [("code", code.reveal())]
            if wanted.cotter != nil { fields.append(("challenge_id", "\(CotterChallenge.id(of: code))")) }
        case .error(let error):
            fields = [("error", error.code.rawValue), ("error_description", error.description)]
        }
        if let state = wanted.clientState { fields.append(("state", state)) }
        // Spec: RFC 9207 §2. Apps that were written for Cotter know of no issuers.
        if wanted.cotter == nil { fields.append(("iss", "\(ports.issuer)")) }
        let frame = frame ?? self.frame(in: language(wanted.languages, incoming))
        switch wanted.responseMode {
        case .formPost:
            let page = OnwardPostPage(
                url: wanted.redirectURI, fields: fields.map { OnwardPostPage.Field(name: $0.0, value: $0.1) })
            guard let page else { return Self.redirect(to: Self.location(wanted.redirectURI, fields)) }
            return PageResponse(page, in: frame).response()
        case .query:
            let location = Self.location(wanted.redirectURI, fields)
            guard isAfterForm, let page = OnwardPage(url: location) else { return Self.redirect(to: location) }
            return PageResponse(page, in: frame).response()
        }
    }

    /// A URI of a client with a result in its query.
    ///
    /// Spec: RFC 6749 §3.1.2, §4.1.2.
    static func location(_ uri: String, _ fields: [(String, String)]) -> String {
        guard !fields.isEmpty else { return uri }
        let query = FormText.encoded(fields)
        return uri + (uri.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query
    }
}
