import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// Client-initiated backchannel authentication: how a client's server names a person, whose devices are asked.
///
/// Spec: CIBA Core 1.0; docs/decisions/0092-ciba.md.
extension OAuthDoor {
    static let backchannelPath = "/oauth2/bc-authorize"
    static let backchannelGrantType = "urn:openid:params:grant-type:ciba"
    /// The parameters that a request may have; others are ignored.
    private static let backchannelParameters = [
        "scope", "client_notification_token", "acr_values", "login_hint_token", "id_token_hint", "login_hint",
        "binding_message", "user_code", "requested_expiry", "request_context", AuthorizationDetails.parameter,
        FormFields.repeatable,
    ]
    /// How many bytes of JSON may say where the person is.
    private static let longestContext = 4096
    /// How long after its end an ID token still says whom a client means.
    ///
    /// Spec: CIBA Core 1.0 §14.
    private static let hintLifetime = Seconds.days(90)

    /// What the provider's metadata say of it.
    ///
    /// Spec: CIBA Core 1.0 §4.
    static func backchannelMetadata(of issuer: Issuer) -> JSONObject {
        let algorithms = RelyingParty.RequestAlgorithm.allCases.map { JSONValue.string($0.rawValue) }
        return [
            "backchannel_authentication_endpoint": .string("\(issuer)\(backchannelPath)"),
            "backchannel_token_delivery_modes_supported": ["poll", "ping", "push"],
            "backchannel_authentication_request_signing_alg_values_supported": .array(algorithms),
            "backchannel_user_code_parameter_supported": true,
        ]
    }

    func addBackchannel(to table: inout RouteTable) {
        table.add(.post, Self.backchannelPath) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let form = try FormFields(form: incoming)
            let proved = try provedKey(of: incoming)
            let (client, party) = try await caller(of: incoming, form, mayBePublic: false)
            let key = try bindingKey(of: incoming, by: party, proving: proved)
            return withNonce(try await beginBackchannel(form, by: client, party, with: key), for: key)
        }
    }

    /// Spec: CIBA Core 1.0 §7.1, §7.2, §7.3.
    private func beginBackchannel(
        _ form: FormFields, by client: Client, _ party: RelyingParty?, with key: ProvedKey?
    ) async throws -> Response {
        guard let party, let backchannel = party.backchannel else {
            throw OAuthError(.unauthorizedClient, "the client is not registered to ask by the backchannel")
        }
        let (fields, once) = try await parameters(of: form, by: client, party, signing: backchannel.algorithm)
        // check: BackchannelEndpointTests.details
        guard fields[AuthorizationDetails.parameter] == nil else {
            throw OAuthError(.invalidAuthorizationDetails, "a server cannot have anything authorized in detail")
        }
        guard let scopes = fields.words("scope") else { throw OAuthError(.invalidRequest, "scope is missing") }
        var request = BeginBackchannel.Request(by: client.id, for: try hint(in: fields, of: client.id))
        request.scopes = scopes
        request.resources = fields.resources
        request.message = try Self.bindingMessage(fields)
        request.context = try requestContext(fields)
        request.lifetime = try Self.requestedExpiry(fields)
        request.strength = AuthorizationChecks.weakest(of: fields.words("acr_values") ?? [])
        request.notificationToken = try Self.notificationToken(fields)
        request.userCode = try Self.userCode(fields)
        request.key = key
        request.once = once
        switch try await BeginBackchannel.begin(request, ports: ports) {
        case .begun(let begun):
            return Response(
                json: .members([
                    "auth_req_id": .string(begun.authRequestID.reveal()),
                    "expires_in": .integer(begun.expiresIn.value),
                    "interval": begun.interval.map { .integer($0.value) },
                    "number": begun.number.map { .string($0.digits) },
                ]))
        case .off, .clientGone:
            throw OAuthError(.unauthorizedClient, "the client is not registered to ask by the backchannel")
        case .notificationTokenMissing: throw OAuthError(.invalidRequest, "client_notification_token is missing")
        case .messageMissing: throw OAuthError(.invalidRequest, "binding_message is missing")
        case .userCodeMissing: throw OAuthError(.missingUserCode, "user_code is missing")
        case .userCodeNotTaken:
            throw OAuthError(.invalidRequest, "the client is not registered for user_code")
        case .notGiven(let access): throw OAuthError(access)
        case .openIDMissing: throw OAuthError(.invalidScope, "scope must have openid")
        case .unproved(let refusal): throw OAuthError(refusal, ports: ports)
        case .replayed: throw OAuthError(.invalidRequest, "request: its jti came before")
        case .tooMany(let seconds):
            throw OAuthError(
                .temporarilyUnavailable, "too many requests", status: 429, retryAfter: seconds.value)
        }
    }

    /// The parameters of a request: those that the client has signed, and no others, where it signs.
    ///
    /// Spec: CIBA Core 1.0 §7.1.1.
    private func parameters(
        of form: FormFields, by client: Client, _ party: RelyingParty, signing algorithm: RelyingParty.RequestAlgorithm?
    ) async throws -> (FormFields, ReplayGuard?) {
        guard let text = form["request"] else {
            // check: SignedBackchannelTests.unsigned
            guard algorithm == nil else { throw OAuthError(.invalidRequest, "the client must sign its requests") }
            return (form, nil)
        }
        guard let algorithm else {
            throw OAuthError(.invalidRequest, "the client is not registered to sign its requests")
        }
        let isAlone = form.resources.isEmpty && Self.backchannelParameters.allSatisfy { form[$0] == nil }
        // check: SignedBackchannelTests.outside
        guard isAlone else { throw OAuthError(.invalidRequest, "no parameter may stand beside request") }
        switch try await RequestObject.readOnce(text, of: client, party, by: algorithm, ports: ports) {
        case .good(let claims, let once):
            do throws(FormFields.Malformed) {
                return (try FormFields(requestObject: claims, named: Self.backchannelParameters), once)
            } catch {
                throw OAuthError(.invalidRequest, "request: \(error.description)")
            }
        case .noKeys: throw OAuthError(.invalidRequest, "the client has no keys for request")
        case .refused(let why): throw OAuthError(.invalidRequest, "request: \(why)")
        }
    }

    /// Whom the client means, by one hint.
    ///
    /// Spec: CIBA Core 1.0 §7.1, §14.
    private func hint(in fields: FormFields, of client: ClientID) throws(OAuthError) -> BeginBackchannel.Hint {
        let named = ["login_hint", "id_token_hint", "login_hint_token"].filter { fields[$0] != nil }
        // check: BackchannelEndpointTests.hints
        guard named.count == 1 else {
            throw OAuthError(.invalidRequest, "one of login_hint and id_token_hint must be there, and no more")
        }
        if let name = fields["login_hint"] { return .name(name) }
        guard let text = fields["id_token_hint"] else {
            throw OAuthError(.invalidRequest, "login_hint_token is not supported")
        }
        let error = OAuthError(
            .invalidRequest, "id_token_hint is no ID token of this issuer for this client, or too old")
        guard let hint = IDTokenHint(text, ports), let end = hint.expiresAt else { throw error }
        // check: BackchannelEndpointTests.hints
        guard hint.client == client else { throw error }
        // check: BackchannelEndpointTests.oldHint
        guard ports.time.now < end.adding(Self.hintLifetime) else { throw error }
        return .user(hint.user)
    }

    /// Spec: CIBA Core 1.0 §7.1, §13.
    private static func bindingMessage(_ fields: FormFields) throws(OAuthError) -> DisplayMessage? {
        guard let text = fields["binding_message"] else { return nil }
        let error = OAuthError(
            .invalidBindingMessage,
            "binding_message must be one line of plain text, of \(BeginBackchannel.longestMessage) characters at most")
        // On a phone a second line could look like one of ours.
        // check: BackchannelEndpointTests.bindingMessages
        guard !text.contains(where: \.isNewline), !hasGap(text) else { throw error }
        guard let message = try? DisplayMessage(text, atMost: BeginBackchannel.longestMessage) else { throw error }
        return message
    }

    /// Whether blanks follow each other: what stands behind a wide gap may get a line of its own.
    private static func hasGap(_ text: String) -> Bool {
        let blanks = text.unicodeScalars.map { $0.properties.isWhitespace || $0 == "\u{2800}" }
        return zip(blanks, blanks.dropFirst()).contains { $0 && $1 }
    }

    /// Where the person is, as the client says; what else it says of the circumstances is left out.
    ///
    /// The profile defines no members, so these are those that our own API has for the same.
    /// Spec: FAPI-CIBA §5.2.2 (`request_context`).
    private func requestContext(_ fields: FormFields) throws(OAuthError) -> ContextLine? {
        guard let text = fields["request_context"] else { return nil }
        let error = OAuthError(
            .invalidRequest,
            "request_context must be a JSON object of \(Self.longestContext) bytes at most, in which ip is an address "
                + "and user_agent a text, if they are there")
        // check: BackchannelEndpointTests.contexts
        guard text.utf8.count <= Self.longestContext else { throw error }
        guard let json = try? JSONValue(parsing: Array(text.utf8)), json.object != nil else { throw error }
        let said = [json["ip"], json["user_agent"]].compactMap(\.self)
        // check: BackchannelEndpointTests.contexts
        guard said.allSatisfy({ $0.string != nil }) else { throw error }
        if said.isEmpty { return nil }
        guard let line = ContextLine(address: json["ip"]?.string, userAgent: json["user_agent"]?.string) else {
            throw error
        }
        return line.placed(by: ports.places, in: nil)
    }

    /// The person's code; what can be nobody's is refused whoever is named, and a wrong one is not.
    ///
    /// Spec: CIBA Core 1.0 §7.1, §13.
    private static func userCode(_ fields: FormFields) throws(OAuthError) -> BackchannelUserCode? {
        guard let text = fields["user_code"] else { return nil }
        guard let code = BackchannelUserCode(text) else {
            let lengths = BackchannelUserCode.lengths
            throw OAuthError(
                .invalidUserCode,
                "user_code must have \(lengths.lowerBound) to \(lengths.upperBound) letters and digits, and be no row")
        }
        return code
    }

    /// Spec: CIBA Core 1.0 §7.1.
    private static func notificationToken(_ fields: FormFields) throws(OAuthError) -> NotificationToken? {
        guard let text = fields["client_notification_token"] else { return nil }
        guard let token = NotificationToken(text) else {
            throw OAuthError(
                .invalidRequest, "client_notification_token must be a bearer token of 1024 characters at most")
        }
        return token
    }
}
