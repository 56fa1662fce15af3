import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import Foundation
import HTTPTypes
import Hummingbird

/// The logout endpoint: where a client sends a browser to have its user signed out.
///
/// Nobody is asked where an ID token of ours names this very session; then the client had it from a sign-in in this
/// browser. Otherwise any page on the web could sign people out.
///
/// Spec: OpenID Connect RP-Initiated Logout 1.0 §2.
extension SignInDoor {
    static let logoutPath = "/oauth2/logout"
    private static let answerPath = "\(logoutPath)/answer"
    private static let parameters = [
        "id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales",
    ]

    func addLogout(to table: inout RouteTable) {
        table.add(.get, Self.logoutPath) { [self] request, context in
            let incoming = try await Incoming(request, context)
            return try await logOut(try FormFields(query: incoming), incoming)
        }
        table.add(.post, Self.logoutPath) { request, context in
            try await Self.asLink(to: Self.logoutPath, with: Self.parameters, request, context)
        }
        table.add(.post, Self.answerPath) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let form = try FormFields(form: incoming)
            let visit = Visit(incoming, cookies, ports)
            guard let sealed = form["request"], !visit.isNew,
                let wanted = WantedSignOut(opening: sealed, in: visit.browser, ports: ports)
            else { throw PageError.tooOld }
            switch form[SignOutPage.field] {
            case "out"?, "all"?:
                if let session = visit.session {
                    let extent: SignOut.Extent = form[SignOutPage.field] == "all" ? .everything : .session
                    try await SignOut.signOut(session, extent, ports: ports)
                }
                return try await signedOut(wanted, form["ui_locales"], incoming, isAfterForm: true)
            case "stay"?:
                guard wanted.returnURI != nil else { return try await ask(wanted, form["ui_locales"], visit) }
                return try await back(wanted, form["ui_locales"], incoming)
            default: return try await ask(wanted, form["ui_locales"], visit)
            }
        }
    }

    private func logOut(_ form: FormFields, _ incoming: Incoming) async throws -> Response {
        let hint = form["id_token_hint"].flatMap { IDTokenHint($0, ports) }
        let named = form["client_id"].flatMap { ClientID($0) }
        // check: LogoutTests.others
        guard hint == nil || named == nil || hint?.client == named else {
            throw PageError(.notUnderstood, why: "client_id is not that of id_token_hint", status: 400)
                .said(in: language(form["ui_locales"], incoming))
        }
        let wanted = try await wanted(form, by: hint?.client ?? named)
        let visit = Visit(incoming, cookies, ports)
        let isOver = try await isOver(visit.session, by: hint)
        // check: LogoutTests.asks
        guard isOver else { return try await ask(wanted, form["ui_locales"], visit) }
        return try await signedOut(wanted, form["ui_locales"], incoming)
    }

    /// What a client wants: its address to return to counts only if it is registered, and its state with that alone.
    private func wanted(_ form: FormFields, by client: ClientID?) async throws -> WantedSignOut {
        var wanted = WantedSignOut(client: client)
        guard let client, let uri = form["post_logout_redirect_uri"],
            case .shown(_, let party) = try await ShowRelyingParty.show(client, ports: ports)
        else { return wanted }
        // check: LogoutTests.badURI
        guard party.signedOutURI(named: uri) != nil else { return wanted }
        wanted.returnURI = uri
        wanted.clientState = form["state"].flatMap { $0.utf8.count <= 2048 ? $0 : nil }
        return wanted
    }

    /// Whether nobody is signed in any more: this very session was named by an ID token of ours, or there was none.
    private func isOver(_ session: Secret<String>?, by hint: IDTokenHint?) async throws -> Bool {
        guard let session else { return true }
        if let hint, let sid = hint.sid,
            try await SignOut.signOut(session, named: sid, by: hint.client, ports: ports)
        {
            return true
        }
        return try await !SignOut.isSignedIn(session, ports: ports)
    }

    /// The page that asks the person.
    private func ask(_ wanted: WantedSignOut, _ languages: String?, _ visit: Visit) async throws -> Response {
        var (frame, _) = try await frame(of: wanted, languages, visit.incoming)
        frame.request = try wanted.sealed(for: visit.browser, ports: ports)
        frame.languageSwitch = .post(Self.answerPath)
        let hasAccount = try await ShowAccount.isOpen(ports: ports)
        let page = SignOutPage(
            action: Self.answerPath, isStayOffered: wanted.returnURI != nil,
            accountPath: hasAccount ? AccountPage.path : nil)
        var response = PageResponse(
            page, in: frame,
            leadingTo: wanted.returnURI.flatMap { RedirectURI($0) }
        ).response()
        if visit.isNew { response.headers[values: .setCookie].append(cookies.setting(visit.browser)) }
        return response
    }

    /// What a browser gets that is signed out: its way back to the client, or a page of ours.
    private func signedOut(
        _ wanted: WantedSignOut, _ languages: String?, _ incoming: Incoming, isAfterForm: Bool = false
    ) async throws -> Response {
        var response: Response
        if wanted.returnURI != nil {
            response = try await back(wanted, languages, incoming, isAfterForm: isAfterForm)
        } else {
            let (frame, site) = try await frame(of: wanted, languages, incoming)
            response = PageResponse(SignedOutPage(clientURL: site), in: frame).response()
        }
        response.headers[values: .setCookie].append(cookies.endingSession)
        return response
    }

    private func back(
        _ wanted: WantedSignOut, _ languages: String?, _ incoming: Incoming, isAfterForm: Bool = true
    ) async throws -> Response {
        let uri = Self.location(
            wanted.returnURI ?? "", wanted.clientState.map { [("state", $0)] } ?? [])
        guard isAfterForm, let page = OnwardPage(url: uri) else { return Self.redirect(to: uri) }
        return PageResponse(page, in: try await frame(of: wanted, languages, incoming).frame).response()
    }

    /// What the pages show, and the site of the client, as far as it is known.
    private func frame(
        of wanted: WantedSignOut, _ languages: String?, _ incoming: Incoming
    ) async throws -> (frame: PageFrame, site: String?) {
        var (client, site): (PageFrame.Client?, String?)
        if let id = wanted.client, case .shown(let found, let party) = try await ShowRelyingParty.show(id, ports: ports)
        {
            let home = wanted.returnURI ?? party.redirectURIs.first?.description
            client = try await shown(found, host: home.flatMap { URLComponents(string: $0) }?.host ?? "")
            site = home.flatMap { RedirectURI($0) }?.site
        }
        return (frame(in: language(languages, incoming), of: client), site)
    }
}
