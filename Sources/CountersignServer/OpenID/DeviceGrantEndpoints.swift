import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import Foundation
import HTTPTypes
import Hummingbird

/// The device grant: how a device without a browser asks that somebody be signed in, and fetches its tokens.
///
/// Spec: RFC 8628; docs/decisions/0087-device-grant.md.
extension OAuthDoor {
    static let deviceAuthorizationPath = "/oauth2/device_authorization"
    static let deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code"
    /// How long a request for tokens may wait.
    ///
    /// Spec: RFC 7240 §4.3.
    private static let longestWait = Seconds(30)
    /// How many requests may wait at the same time: for one code, and from one network.
    private static let maximumWaits = (code: 1, network: 30)
    /// The parameter by which a client wants the address that has the code in it.
    private static let completeField = "verification_uri_complete"

    func addDeviceGrant(to table: inout RouteTable) {
        table.add(.post, Self.deviceAuthorizationPath) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let form = try FormFields(form: incoming)
            let (client, party) = try await caller(of: incoming, form)
            return try await beginDeviceGrant(
                form, incoming, by: client.id, isAuthenticated: Self.isAuthenticated(incoming, form, party))
        }
    }

    /// Spec: RFC 8628 §3.1, §3.2.
    private func beginDeviceGrant(
        _ form: FormFields, _ incoming: Incoming, by client: ClientID, isAuthenticated: Bool
    ) async throws -> Response {
        // Nothing of it would be shown where the person agrees.
        // check: AuthorizedDetailsTests.elsewhere
        guard form[AuthorizationDetails.parameter] == nil else {
            throw OAuthError(.invalidAuthorizationDetails, "a device cannot have anything authorized in detail")
        }
        var request = BeginDeviceGrant.Request(by: client, isAuthenticated: isAuthenticated)
        if let scopes = form.words("scope") { request.scopes = scopes }
        request.resources = form.resources
        request.hint = form["login_hint"]
        request.lifetime = try Self.requestedExpiry(form)
        request.network = incoming.context.network
        // As at the authorization endpoint. Spec: OpenID Connect Core 1.0 §3.1.2.1.
        request.strength = AuthorizationChecks.weakest(of: form.words("acr_values") ?? [])
        request.languages = form["ui_locales"].map(AuthorizationChecks.languages)
        request.language = request.languages.flatMap { LanguageTag(PageLanguage.chosen(locales: $0).rawValue) }
        // A client's server says nothing of where the device is.
        if !isAuthenticated {
            request.place = ContextLine(
                address: incoming.context.caller?.description, userAgent: incoming.headers[.userAgent])?
                .placed(by: ports.places, in: request.language)
        }
        switch try await BeginDeviceGrant.begin(request, ports: ports) {
        case .begun(let begun):
            let code = "\(begun.userCode)"
            let complete = "\(ports.issuer.devicePage)?\(FormText.encoded([(DeviceCodePage.field, code)]))"
            return Response(
                json: .members([
                    "device_code": .string(begun.deviceCode.reveal()), "user_code": .string(code),
                    "verification_uri": .string(ports.issuer.devicePage),
                    "verification_uri_complete": form[Self.completeField] == "true" ? .string(complete) : nil,
                    "expires_in": .integer(begun.expiresIn.value), "interval": .integer(begun.interval.value),
                    "number": begun.number.map { .string($0.digits) },
                ]))
        case .off: throw OAuthError(.unauthorizedClient, "the client signs nobody in on devices")
        case .hintNotAllowed: throw OAuthError(.unauthorizedClient, "the client may not send login_hint")
        case .notGiven(let access): throw OAuthError(access)
        case .tooMany(let seconds):
            throw OAuthError(
                .temporarilyUnavailable, "too many sign-ins on devices", status: 429, retryAfter: seconds.value)
        case .clientGone: throw OAuthError(.unauthorizedClient, "the client does not use the provider")
        }
    }

    static func requestedExpiry(_ form: FormFields) throws(OAuthError) -> Seconds? {
        guard let text = form["requested_expiry"] else { return nil }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let seconds = Int32(text), seconds > 0
        else { throw OAuthError(.invalidRequest, "requested_expiry must be a number of seconds") }
        return Seconds(Int64(seconds))
    }

    /// Whether the client that was found has proved who it is.
    private static func isAuthenticated(_ incoming: Incoming, _ form: FormFields, _ party: RelyingParty?) -> Bool {
        incoming.headers[.authorization] != nil || form["client_secret"] != nil || form["client_assertion"] != nil
            || party?.certificate != nil
    }

    /// Gives a device or a client's server its tokens or, if the request wants to wait, has it wait for them.
    ///
    /// Spec: RFC 8628 §3.4, §3.5; CIBA Core 1.0 §10.1, §11; RFC 7240 §4.3.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter by which the request names what was asked.
    ///   - form: the form of the request.
    ///   - incoming: the request.
    ///   - client: the client.
    ///   - party: its settings, if it uses the provider.
    ///   - key: the key that the client has proved to have; nil for none.
    ///   - way: makes of the parameter by what there are tokens.
    func redeemDecision(
        named name: String, _ form: FormFields, _ incoming: Incoming, by client: Client, _ party: RelyingParty?,
        with key: ProvedKey?, _ way: (Secret<String>) -> RedeemDecision.Way
    ) async throws -> Response {
        guard let code = form[name] else { throw OAuthError(.invalidRequest, "\(name) is missing") }
        let request = RedeemDecision.Request(
            way(Secret(code)), resources: form.resources, by: client, party, with: key)
        guard let length = incoming.preferredWait else {
            return try await decisionReply(to: try await RedeemDecision.redeem(request, ports: ports), named: name)
        }
        let wait: RedeemDecision.Wait
        switch try await RedeemDecision.redeem(
            request, changes: try resources.changes(for: incoming.context), ports: ports)
        {
        case .ended(let outcome): return try await decisionReply(to: outcome, named: name)
        case .waiting(let open): wait = open
        }
        let id = client.id
        let place = waitingPlace(
            for: code, of: id, isAuthenticated: Self.isAuthenticated(incoming, form, party), incoming)
        guard let place else { return try await decisionReply(to: .pending(interval: wait.interval), named: name) }
        let deadline = ports.time.now.adding(min(length, Self.longestWait))
        return incoming.context.later.answer { [self] in
            defer { withExtendedLifetime(place) {} }
            return try await shared(incoming) {
                let waited = try await outcome(of: wait, until: deadline)
                return (withNonce(try await decisionReply(to: waited, named: name), for: key), id)
            }
        }
    }

    /// The place that a waiting request takes; nil if there is none left, so that it gets its answer at once.
    private func waitingPlace(
        for code: String, of client: ClientID, isAuthenticated: Bool, _ incoming: Incoming
    ) -> Waits.Place? {
        let caller =
            isAuthenticated
            ? (name: "device codes of \(client)", limit: DoorResources.maximumClientWaits)
            : (
                name: "device codes from \(Hex.encode(incoming.context.network ?? []))",
                limit: Self.maximumWaits.network
            )
        return try? resources.waits.place(as: [(name: "device code \(code)", limit: Self.maximumWaits.code), caller])
    }

    /// What came of a wait; what was before it where the server is about to stop.
    private func outcome(
        of wait: RedeemDecision.Wait, until deadline: Timestamp
    ) async throws -> RedeemDecision.Outcome {
        do {
            return try await wait.outcome(until: deadline, ports: ports)
        } catch is CancellationError where resources.shutdown.isOver {
            return .pending(interval: wait.interval)
        }
    }

    private func decisionReply(to outcome: RedeemDecision.Outcome, named name: String) async throws -> Response {
        switch outcome {
        case .redeemed(let given): return Self.reply(try await SignTokens.sign(given, ports: ports))
        case .pending(let interval):
            // Nothing is refused, so that no line of the log says so.
            let error = OAuthError(.authorizationPending, "nobody has decided yet")
            var response = Response(json: error.json, status: error.code.status)
            response.headers[.retryAfter] = "\(interval)"
            return response
        case .slowDown(let interval):
            throw OAuthError(.slowDown, "the client polls too fast", retryAfter: interval.value)
        case .expired: throw OAuthError(.expiredToken, "nobody has agreed in time")
        case .denied:
            throw OAuthError(.accessDenied, "the person has declined, or the request was taken back", status: 400)
        case .invalid:
            throw OAuthError(.invalidGrant, "the \(name) is unknown, spent or another client's, or good no more")
        case .unknownResource: throw OAuthError.unknownTarget
        case .unproved(let refusal): throw OAuthError(refusal, ports: ports)
        case .clientGone: throw OAuthError(.unauthorizedClient, "the client gets no tokens in this way")
        }
    }

    /// The reply to a client that gives up what a device or its server has asked for; nil if the token is neither.
    func cancelDeviceGrant(_ token: Secret<String>, by client: ClientID) async throws -> Response? {
        switch try await CancelDeviceGrant.cancel(token, by: client, ports: ports) {
        case .cancelled: return Response(status: .ok)
        case .notYours: throw OAuthError(.invalidGrant, "the token was given to another client")
        case .notFound: return nil
        }
    }
}

extension Incoming {
    /// For how long the caller would wait for a better answer; nil for not at all.
    ///
    /// Spec: RFC 7240 §2, §4.3.
    var preferredWait: Seconds? {
        for preference in headers[values: .prefer].flatMap({ $0.split(separator: ",") }) {
            let pair = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard pair.count == 2, pair[0].lowercased() == "wait", let seconds = Int32(pair[1]), seconds > 0 else {
                continue
            }
            return Seconds(Int64(seconds))
        }
        return nil
    }
}
