import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import JOSE

/// The checks of an authorization request, in their order.
///
/// Until the client and its redirect URI are known, an error is shown on a page of ours: a redirect to a place that
/// nobody registered would make an open redirector. Every later error goes to the client.
///
/// Spec: RFC 6749 §4.1.1, §4.1.2.1; RFC 7636 §4.4.1; RFC 9700 §2.1; OpenID Connect Core 1.0 §3.1.2.
struct AuthorizationChecks {
    /// The oldest authentication by which a device is enrolled; half of what the ticket lives stays for enrolling.
    private static let oldestForEnrolling = Seconds.minutes(5)

    /// The parameters that a request may have; others are ignored.
    static let parameters = [
        "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "prompt", "max_age", "id_token_hint", "login_hint", "ui_locales", "request",
        "acr_values",
        "claims",
        "request_uri", "resource", "dpop_jkt", AuthorizationDetails.parameter,
    ]

    /// What passed the checks.
    struct Checked {
        var wanted: Wanted
        let client: Client
        let party: RelyingParty
        /// The registered URI that the request names.
        let redirectURI: RedirectURI
        /// Whether no page may be shown.
        let isSilent: Bool
    }

    /// An error that the client gets, and where.
    struct ClientError: Error {
        let error: OAuthError
        let wanted: Wanted
    }

    /// A pushed request whose time is over, or which has given its client a result.
    struct Over: Error {
        /// The client, and where the browser would have returned to.
        let wanted: Wanted
    }

    /// How a request comes.
    private enum Entrance {
        /// A browser brings the parameters themselves.
        case browser
        /// A browser brings what was pushed.
        case pushed(PushedRequest)
        /// A client pushes it.
        case client
    }

    private let form: FormFields
    private let entrance: Entrance
    /// Whether the client has signed the parameters.
    private let isSigned: Bool
    private let ports: Ports

    private init(_ form: FormFields, _ entrance: Entrance, isSigned: Bool = false, ports: Ports) {
        self.form = form
        self.entrance = entrance
        self.isSigned = isSigned
        self.ports = ports
    }

    /// The checks of a request whose parameters are those of its request object alone, where it has one.
    ///
    /// A client without keys is refused by the checks, and learns it.
    ///
    /// Spec: RFC 9101 §5, §6.
    ///
    /// - Throws: ``OAuthError``, or `StoreError`.
    private static func reading(
        _ form: FormFields, _ entrance: Entrance, ports: Ports
    ) async throws -> AuthorizationChecks {
        guard let text = form["request"], form["request_uri"] == nil,
            let client = form["client_id"].flatMap({ ClientID($0) })
        else {
            return AuthorizationChecks(form, entrance, ports: ports)
        }
        switch try await RequestObject.read(text, of: client, ports: ports) {
        case .good(let claims):
            do throws(FormFields.Malformed) {
                let signed = try FormFields(requestObject: claims, named: parameters)
                return AuthorizationChecks(signed, entrance, isSigned: true, ports: ports)
            } catch {
                throw OAuthError(.invalidRequestObject, error.description)
            }
        case .noKeys: return AuthorizationChecks(form, entrance, ports: ports)
        case .refused(let why): throw OAuthError(.invalidRequestObject, why)
        }
    }

    /// Checks a request that a browser brings, or names by the `request_uri` of what was pushed.
    ///
    /// What was pushed is checked again: the client's settings may have changed. Parameters beside it do not count.
    ///
    /// Spec: RFC 9126 §4, §7.4.
    ///
    /// - Throws: ``PageError``, ``ClientError``, ``Over``, or `StoreError`.
    static func check(_ form: FormFields, ports: Ports) async throws -> Checked {
        guard let uri = form["request_uri"], uri.hasPrefix(PushedRequest.prefix) else {
            do {
                return try await reading(form, .browser, ports: ports).check()
            } catch let error as OAuthError {
                // Where to send the browser back to, the request object would have said.
                throw PageError(.notUnderstood, why: "request: \(error.description)", status: 400)
            }
        }
        guard let client = form["client_id"].flatMap({ ClientID($0) }) else { throw PageError.unknownClient }
        switch try await PushedRequest.open(uri, of: client, ports: ports) {
        case .good(let request):
            let pushed = try FormFields(request.parameters[...])
            return try await AuthorizationChecks(pushed, .pushed(request), ports: ports).check()
        case .over(let request):
            let pushed = try FormFields(request.parameters[...])
            throw try await AuthorizationChecks(pushed, .browser, ports: ports).over()
        case .unknown:
            _ = try await AuthorizationChecks(form, .browser, ports: ports).client()
            throw PageError(.notUnderstood, why: "request_uri is unknown, or another client's", status: 400)
        }
    }

    /// Checks a request that a client pushes, as one that a browser brings.
    ///
    /// Spec: RFC 9126 §2.1, §3.
    ///
    /// - Returns: what passed, and the parameters: those of the request object, where there is one.
    /// - Throws: ``OAuthError``, or `StoreError`.
    static func check(pushed form: FormFields, ports: Ports) async throws -> (Checked, FormFields) {
        do {
            let checks = try await reading(form, .client, ports: ports)
            return (try await checks.check(), checks.form)
        } catch let error as ClientError {
            throw error.error
        } catch let error as PageError {
            // Spec: RFC 9126 §2.3: it has no page.
            throw error.problem == .unknownClient
                ? OAuthError(.unauthorizedClient, "the client does not use the provider")
                : OAuthError(.invalidRequest, "redirect_uri is missing, or is not registered")
        }
    }

    private func over() async throws -> Over {
        let (client, party) = try await client()
        var wanted = Wanted(client: client.id, redirectURI: try redirectURI(of: party).0, scopes: [])
        wanted.languages = form["ui_locales"].map(Self.languages)
        return Over(wanted: wanted)
    }

    private func check() async throws -> Checked {
        let (client, party) = try await client()
        let (uri, registered) = try redirectURI(of: party)
        let named = VendorScopes.translated(form.words("scope") ?? [], for: client)
        let access = try await WantedAccess.of(named, at: form.resources, for: party, ports: ports)
        var wanted = Wanted(client: client.id, redirectURI: uri, scopes: [])
        do throws(OAuthError) {
            wanted.clientState = try value("state", ofAtMost: 2048)
            wanted.responseMode = try responseMode()
            try refuseRequestObjects()
            wanted.pushed = try use(by: party)
            wanted.isStrict = party.profile == .strict
            try checkResponseType()
            (wanted.scopes, wanted.resources) = try scopes(access, of: client)
            wanted.details = try details(for: party)
            wanted.nonce = try value("nonce", ofAtMost: 512)
            wanted.codeChallenge = try codeChallenge(for: party)
            wanted.keyThumbprint = try keyThumbprint(for: party).map { .key($0) }
            let prompts = try prompts()
            wanted.isFresh = prompts.contains("login") || prompts.contains("select_account")
            wanted.asksConsent = prompts.contains("consent")
            wanted.maximumAge = try maximumAge() ?? party.defaultMaximumAge
            if wanted.scopes.contains(Ticket.scope) {
                wanted.maximumAge = min(wanted.maximumAge ?? Self.oldestForEnrolling, Self.oldestForEnrolling)
            }
            (wanted.strength, wanted.isStrengthEssential) = try strength()
            switch try expected(by: client.id) {
            case .anybody: break
            case .user(let user): wanted.hint = .id(user)
            case .unknown: wanted.isFresh = true
            }
            wanted.identifier = form["login_hint"].flatMap { SignInName($0) }
            wanted.languages = form["ui_locales"].map(Self.languages)
            return Checked(
                wanted: wanted, client: client, party: party, redirectURI: registered,
                isSilent: prompts.contains("none"))
        } catch {
            throw ClientError(error: error, wanted: wanted)
        }
    }

    private func client() async throws -> (Client, RelyingParty) {
        guard let id = form["client_id"].flatMap({ ClientID($0) }),
            case .shown(let client, let party) = try await ShowRelyingParty.show(id, ports: ports)
        else { throw PageError.unknownClient }
        // check: AuthorizeTests.clientEnds
        guard client.disabledAt == nil else { throw PageError.unknownClient }
        return (client, party)
    }

    private func redirectURI(of party: RelyingParty) throws(PageError) -> (String, RedirectURI) {
        guard let named = form["redirect_uri"], let registered = party.redirectURI(named: named) else {
            throw PageError(.unknownReturnAddress, why: "redirect_uri", status: 400)
        }
        return (named, registered)
    }

    /// A value that a row will hold.
    private func value(_ name: String, ofAtMost length: Int) throws(OAuthError) -> String? {
        guard let value = form[name] else { return nil }
        // check: AuthorizeTests.lengths
        guard value.utf8.count <= length else {
            throw OAuthError(.invalidRequest, "\(name) has more than \(length) bytes")
        }
        return value
    }

    /// As many of the languages as count.
    static func languages(_ text: String) -> String { String(decoding: text.utf8.prefix(100), as: UTF8.self) }

    private func responseMode() throws(OAuthError) -> Wanted.ResponseMode {
        guard let text = form["response_mode"] else { return .query }
        guard let mode = Wanted.ResponseMode(rawValue: text) else {
            throw OAuthError(.invalidRequest, "response_mode must be query or form_post")
        }
        return mode
    }

    /// Spec: OpenID Connect Core 1.0 §6.1, §6.2; RFC 9101 §5.
    private func refuseRequestObjects() throws(OAuthError) {
        // check: RequestObjectTests.together
        guard form["request"] == nil || form["request_uri"] == nil else {
            throw OAuthError(.invalidRequest, "request and request_uri must not come together")
        }
        if form["request"] != nil { throw OAuthError(.requestNotSupported, "the client has no keys for request") }
        if form["request_uri"] != nil { throw OAuthError(.requestURINotSupported, "request_uri is not supported") }
    }

    /// The use of what was pushed; nil where the client need not push.
    ///
    /// Spec: RFC 9126 §4, §6; RFC 9101 §10.5.
    private func use(by party: RelyingParty) throws(OAuthError) -> PushedRequest.Use? {
        if case .pushed(let request) = entrance {
            // Nobody would get tokens for it.
            // check: StrictProfileTests.before
            guard party.takes(begunStrict: request.isStrict) else {
                throw OAuthError(.invalidRequest, "the request was pushed before the client was strict")
            }
            return request.use
        }
        if case .browser = entrance {
            // check: PushedRequestTests.required
            guard !party.requiresPushedRequests else {
                throw OAuthError(.invalidRequest, "the client must push its requests")
            }
        }
        // What was pushed was held to it then.
        // check: RequestObjectTests.required
        guard isSigned || !party.requiresSignedRequests else {
            throw OAuthError(.invalidRequest, "the client must sign its requests")
        }
        return nil
    }

    private func checkResponseType() throws(OAuthError) {
        guard let type = form["response_type"] else { throw OAuthError(.invalidRequest, "response_type is missing") }
        // check: AuthorizeTests.errors
        guard type == "code" else { throw OAuthError(.unsupportedResponseType, "response_type must be code") }
    }

    /// The scopes of ours, and those of APIs.
    private func scopes(
        _ access: WantedAccess, of client: Client
    ) throws(OAuthError) -> ([String], [ResourceAccess]) {
        // Spec: RFC 9396 §3.
        let hasDetails = form[AuthorizationDetails.parameter] != nil
        guard form["scope"] != nil || hasDetails else { throw OAuthError(.invalidScope, "scope is missing") }
        guard case .scopes(let scopes, let apis) = access else { throw OAuthError(access) }
        let given = scopes.filter { $0 != Ticket.scope || client.rights.contains(.enrollments) }
        // check: AuthorizeTests.errors
        guard !given.isEmpty || !apis.isEmpty || hasDetails else { throw OAuthError(access) }
        return (given, apis)
    }

    /// What the person shall authorize in detail.
    ///
    /// Spec: RFC 9396 §5.
    private func details(for party: RelyingParty) throws(OAuthError) -> AuthorizationDetails? {
        guard let text = form[AuthorizationDetails.parameter] else { return nil }
        do throws(AuthorizationDetails.Refusal) {
            return try AuthorizationDetails(text, of: party.detailTypes)
        } catch {
            throw OAuthError(.invalidAuthorizationDetails, error.rawValue)
        }
    }

    /// Without PKCE, a nonce at least tells the client that the ID token belongs to its request.
    ///
    /// Spec: RFC 9700 §2.1.1.
    private func codeChallenge(for party: RelyingParty) throws(OAuthError) -> String? {
        guard let challenge = form["code_challenge"] else {
            // A nonce protects by the ID token that repeats it; without one, whoever injects a code is not noticed.
            let hasNonce = form["nonce"] != nil && form.words("scope")?.contains(TokenFamily.openID) == true
            let isOptional = party.isPKCEOptional || party.profile == .web && hasNonce
            // check: AuthorizeTests.errors
            guard isOptional, form["code_challenge_method"] == nil else {
                throw OAuthError(.invalidRequest, "code_challenge is missing")
            }
            return nil
        }
        // check: AuthorizeTests.errors
        guard form["code_challenge_method"] == "S256" else {
            throw OAuthError(.invalidRequest, "code_challenge_method must be S256")
        }
        // check: AuthorizeTests.errors
        guard Base64URL.decode(challenge)?.count == 32 else {
            throw OAuthError(.invalidRequest, "code_challenge must be a SHA-256 in base64url")
        }
        return challenge
    }

    /// The key that must redeem the code.
    ///
    /// Spec: RFC 9449 §10, RFC 8705 §3.
    private func keyThumbprint(for party: RelyingParty) throws(OAuthError) -> String? {
        guard let thumbprint = form["dpop_jkt"] else { return nil }
        // Nobody could redeem the code: who gets tokens for a certificate may send no proof beside it.
        // check: CertificateBoundTests.thumbprintBeside
        guard !party.bindsToCertificate else {
            throw OAuthError(.invalidRequest, "the tokens are bound to the certificate: send no dpop_jkt")
        }
        // check: KeyProofTests.thumbprint
        guard Base64URL.decode(thumbprint)?.count == 32 else {
            throw OAuthError(.invalidRequest, "dpop_jkt must be a SHA-256 in base64url")
        }
        return thumbprint
    }

    private func prompts() throws(OAuthError) -> Set<String> {
        let prompts = Set(form.words("prompt") ?? [])
        // check: AuthorizeTests.errors
        guard prompts.isSubset(of: ["none", "login", "consent", "select_account"]) else {
            throw OAuthError(.invalidRequest, "prompt has an unknown value")
        }
        // check: AuthorizeTests.errors
        guard !prompts.contains("none") || prompts.count == 1 else {
            throw OAuthError(.invalidRequest, "prompt none must stand alone")
        }
        return prompts
    }

    private func maximumAge() throws(OAuthError) -> Seconds? {
        guard let text = form["max_age"] else { return nil }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let seconds = Int32(text)
        else { throw OAuthError(.invalidRequest, "max_age must be a number of seconds") }
        return Seconds(Int64(seconds))
    }

    /// How strong the authentication shall be, and whether the client needs it so.
    ///
    /// Of several values that the client takes, the weakest counts. Of the parameter `claims` nothing else counts:
    /// `auth_time` is in every ID token. Spec: OpenID Connect Core 1.0 §3.1.2.1, §5.5, §5.5.1.1.
    private func strength() throws(OAuthError) -> (Authentication.Strength?, isEssential: Bool) {
        let acr = try claims()?["id_token"]?["acr"]
        guard acr?["essential"] == true else {
            let liked = form.words("acr_values") ?? []
            let suggested =
                (acr?["values"]?.array?.compactMap(\.string) ?? []) + [acr?["value"]?.string].compactMap(\.self)
            return (Self.weakest(of: liked + suggested), false)
        }
        let values = acr?["values"]?.array?.compactMap(\.string) ?? [acr?["value"]?.string].compactMap(\.self)
        guard !values.isEmpty else { return (nil, true) }
        guard let weakest = Self.weakest(of: values) else {
            throw OAuthError(.unmetAuthenticationRequirements, "none of the values of acr is supported")
        }
        return (weakest, true)
    }

    /// The weakest strength among values of `acr`; nil if we know none of them.
    static func weakest(of values: [String]) -> Authentication.Strength? {
        values.compactMap { Authentication.Strength(rawValue: $0) }.min()
    }

    private func claims() throws(OAuthError) -> JSONValue? {
        guard let text = try value("claims", ofAtMost: 4096) else { return nil }
        guard let json = try? JSONValue(parsing: Array(text.utf8)), json.object != nil else {
            throw OAuthError(.invalidRequest, "claims must be a JSON object")
        }
        return json
    }

    /// Whom the client expects.
    private enum Expected {
        case anybody
        case user(UserID)
        /// Somebody, named by an ID token that can no longer be verified.
        case unknown
    }

    /// Whom the client expects: the user of an ID token of ours, which may be over.
    ///
    /// Nobody knows whether the browser's session is that of an ID token whose key is gone, so the person signs in. A
    /// name in `login_hint`, which the person may change, is no expectation; the page only suggests it.
    private func expected(by client: ClientID) throws(OAuthError) -> Expected {
        guard let text = form["id_token_hint"] else { return .anybody }
        if IDTokenHint.isByForgottenKey(text, ports) { return .unknown }
        let error = OAuthError(.invalidRequest, "id_token_hint is no ID token of this issuer for this client")
        guard let hint = IDTokenHint(text, ports) else { throw error }
        // check: AuthorizeTests.otherClientsHint
        guard hint.client == client else { throw error }
        return .user(hint.user)
    }
}
