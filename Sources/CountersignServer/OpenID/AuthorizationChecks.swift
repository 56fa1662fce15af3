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
        "request_uri", "resource", "dpop_jkt",
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

    private let form: FormFields
    private let ports: Ports

    /// Checks a request.
    ///
    /// - Throws: ``PageError``, ``ClientError``, or `StoreError`.
    static func check(_ form: FormFields, ports: Ports) async throws -> Checked {
        try await AuthorizationChecks(form: form, ports: ports).check()
    }

    private func check() async throws -> Checked {
        let (client, party) = try await client()
        let (uri, registered) = try redirectURI(of: party)
        let access = try await WantedAccess.of(form.words("scope") ?? [], at: form.resources, for: party, ports: ports)
        var wanted = Wanted(client: client.id, redirectURI: uri, scopes: [])
        do throws(OAuthError) {
            wanted.clientState = try value("state", ofAtMost: 2048)
            wanted.responseMode = try responseMode()
            try refuseRequestObjects()
            try checkResponseType()
            (wanted.scopes, wanted.resources) = try scopes(access, of: client)
            wanted.nonce = try value("nonce", ofAtMost: 512)
            wanted.codeChallenge = try codeChallenge(for: party)
            wanted.keyThumbprint = try keyThumbprint()
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
            case .shown(let client, let party) = try await ShowRelyingParty.show(id, ports: ports),
            client.disabledAt == nil
        else { throw PageError.unknownClient }
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

    /// Spec: OpenID Connect Core 1.0 §6.1, §6.2.
    private func refuseRequestObjects() throws(OAuthError) {
        if form["request"] != nil { throw OAuthError(.requestNotSupported, "request is not supported") }
        if form["request_uri"] != nil { throw OAuthError(.requestURINotSupported, "request_uri is not supported") }
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
        guard form["scope"] != nil else { throw OAuthError(.invalidScope, "scope is missing") }
        guard case .scopes(let scopes, let apis) = access else { throw OAuthError(access) }
        let given = scopes.filter { $0 != Ticket.scope || client.rights.contains(.enrollments) }
        // check: AuthorizeTests.errors
        guard !given.isEmpty || !apis.isEmpty else { throw OAuthError(access) }
        return (given, apis)
    }

    /// Without PKCE, a nonce at least tells the client that the ID token belongs to its request.
    ///
    /// Spec: RFC 9700 §2.1.1.
    private func codeChallenge(for party: RelyingParty) throws(OAuthError) -> String? {
        guard let challenge = form["code_challenge"] else {
            // A nonce protects by the ID token that repeats it; without one, whoever injects a code is not noticed.
            let hasNonce = form["nonce"] != nil && form.words("scope")?.contains(TokenFamily.openID) == true
            let isOptional = party.isPKCEOptional || party.profile.isConfidential && hasNonce
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
    /// Spec: RFC 9449 §10.
    private func keyThumbprint() throws(OAuthError) -> String? {
        guard let thumbprint = form["dpop_jkt"] else { return nil }
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

    private static func weakest(of values: [String]) -> Authentication.Strength? {
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
