import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The token endpoint.
///
/// Spec: RFC 6749 §3.2, OpenID Connect Core 1.0 §3.1.3.
extension OAuthDoor {
    func addToken(to table: inout RouteTable) {
        addShared(.post, "/oauth2/token", to: &table) { [self] incoming in
            let form = try FormFields(form: incoming)
            let grant = form["grant_type"]
            // Before the client, whose assertion is good once: it need not sign another one for want of a nonce.
            let proved = try provedKey(of: incoming)
            // Spec: RFC 6749 §4.4.
            let (calling, party) = try await caller(of: incoming, form, mayBePublic: grant != "client_credentials")
            let client = calling.id
            let key = try bindingKey(of: incoming, by: party, proving: proved)
            guard let grant else { throw OAuthError(.invalidRequest, "grant_type is missing") }
            // A person authorizes it, and all tokens that come of that have it.
            // check: AuthorizedDetailsTests.elsewhere
            guard form[AuthorizationDetails.parameter] == nil else {
                throw OAuthError(.invalidAuthorizationDetails, "it belongs to the authorization request")
            }
            let response: Response =
                switch grant {
                case "client_credentials": try await giveClientToken(form, to: client, with: key)
                case "authorization_code": try await redeemCode(form, by: client, with: key)
                case "refresh_token": try await refresh(form, by: calling, with: key)
                case DeviceAssertion.grantType: try await signInDevice(form, at: client, with: key)
                case Self.deviceGrantType:
                    try await redeemDecision(named: "device_code", form, incoming, by: calling, party, with: key) {
                        .deviceCode($0)
                    }
                case Self.backchannelGrantType:
                    try await redeemDecision(named: "auth_req_id", form, incoming, by: calling, party, with: key) {
                        .authRequest($0)
                    }
                default: throw OAuthError(.unsupportedGrantType, "the grant_type is not known")
                }
            return (withNonce(response, for: key), client)
        }
    }

    /// The key that the client has proved to have; nil if it has proved none.
    ///
    /// Spec: RFC 9449 §5.
    func provedKey(of incoming: Incoming) throws -> ProvedKey? {
        do throws(KeyProofRefusal) {
            return try incoming.provedKey(ports: ports)
        } catch {
            throw OAuthError(error, ports: ports)
        }
    }

    /// What the client's tokens will be bound to: the certificate of its connection, if its settings say so, and
    /// otherwise the key that it has proved, if any.
    ///
    /// A token has one binding. So a proof beside the certificate is refused, and not ignored. Spec: RFC 8705 §3.
    func bindingKey(
        of incoming: Incoming, by party: RelyingParty?, proving key: ProvedKey?
    ) throws(OAuthError) -> ProvedKey? {
        guard let party, party.bindsToCertificate else { return key }
        // check: CertificateBoundTests.withProof
        guard key == nil else { throw Self.proofBesideCertificate }
        guard let certificate = incoming.certificateKey else {
            throw OAuthError(.invalidRequest, "the tokens are bound to a certificate: authenticate by one in TLS")
        }
        return certificate
    }

    static let proofBesideCertificate = OAuthError(
        .invalidRequest, "the tokens are bound to the certificate: send no DPoP proof")

    /// A reply with the nonce that the next proof of the key must have.
    ///
    /// Spec: RFC 9449 §8.2.
    func withNonce(_ response: Response, for key: ProvedKey?) -> Response {
        guard key?.isProved == true else { return response }
        var response = response
        response.headers[.keyProofNonce] = ProvedKey.nonce(ports: ports)
        return response
    }

    private func redeemCode(
        _ form: FormFields, by client: ClientID, with key: ProvedKey?
    ) async throws -> Response {
        guard let code = form["code"] else { throw OAuthError(.invalidRequest, "code is missing") }
        let request = RedeemCode.Request(
            code: Secret(code), redirectURI: form["redirect_uri"], verifier: form["code_verifier"].map { Secret($0) },
            resources: form.resources, key: key)
        switch try await RedeemCode.redeem(request, by: client, ports: ports) {
        case .redeemed(let redeemed): return Self.reply(try await SignTokens.sign(redeemed, ports: ports))
        // One description for all: it must not tell a thief which part is wrong.
        case .invalid:
            throw OAuthError(.invalidGrant, "the code is over or spent, or does not belong to this request")
        case .unknownResource: throw OAuthError.unknownTarget
        case .unproved(let refusal): throw OAuthError(refusal, ports: ports)
        case .clientGone: throw OAuthError(.unauthorizedClient, "the client does not use the provider")
        }
    }

    /// Spec: RFC 6749 §6, RFC 8707 §2.2.
    private func refresh(_ form: FormFields, by client: Client, with key: ProvedKey?) async throws -> Response {
        guard let token = form["refresh_token"] else {
            throw OAuthError(.invalidRequest, "refresh_token is missing")
        }
        let scopes = form.words("scope").map { VendorScopes.translated($0, for: client) }
        let outcome = try await RefreshTokens.refresh(
            Secret(token), scopes: scopes, at: form.resources, by: client.id, with: key, ports: ports)
        switch outcome {
        case .refreshed(let given): return Self.reply(try await SignTokens.sign(given, ports: ports))
        case .invalid: throw OAuthError(.invalidGrant, "the refresh token is over, replaced or another client's")
        case .scopeExceeded: throw OAuthError(.invalidScope, "scope has more than was given")
        case .nothing(let resource): throw OAuthError(WantedAccess.nothing(at: resource))
        case .unknownResource: throw OAuthError.unknownTarget
        case .unproved(let refusal): throw OAuthError(refusal, ports: ports)
        case .clientGone: throw OAuthError(.unauthorizedClient, "the client does not use the provider")
        }
    }

    /// Spec: RFC 6749 §4.4.
    private func giveClientToken(
        _ form: FormFields, to client: ClientID, with key: ProvedKey?
    ) async throws -> Response {
        let outcome = try await GiveClientToken.give(
            scopes: form.words("scope"), for: form.resources, to: client, with: key, ports: ports)
        switch outcome {
        case .given(let tokens): return Self.reply(tokens)
        case .scopeExceeded:
            throw OAuthError(.invalidScope, "scope has what is no right of the client, or no scope of the resource")
        case .unknownResource: throw OAuthError(WantedAccess.unknownResource)
        case .unproved(let refusal): throw OAuthError(refusal, ports: ports)
        case .thirdParty:
            throw OAuthError(.invalidTarget, "a third party gets no token for an API without a person")
        case .clientGone: throw OAuthError(.unauthorizedClient, "the client does not use the provider")
        }
    }

    /// Spec: RFC 7521 §4.1, RFC 7523 §2.1.
    private func signInDevice(
        _ form: FormFields, at client: ClientID, with key: ProvedKey?
    ) async throws -> Response {
        guard let assertion = form["assertion"] else { throw OAuthError(.invalidRequest, "assertion is missing") }
        let outcome = try await SignInDevice.signIn(
            by: Secret(assertion), scopes: form.words("scope") ?? [TokenFamily.openID], for: form.resources, at: client,
            with: key, ports: ports)
        switch outcome {
        case .signedIn(let given): return Self.reply(try await SignTokens.sign(given, ports: ports))
        // One description for all: it must not tell whether there is such a device.
        case .invalid: throw OAuthError(.invalidGrant, "the assertion is not good, or came before")
        case .scopeMissing:
            throw OAuthError(
                .invalidScope, "a device's sign-in gives none of these scopes, or the resource has none of them")
        case .unknownResource: throw OAuthError(WantedAccess.unknownResource)
        case .scopeOfAnother(let scope): throw OAuthError(WantedAccess.scopeOfAnother(scope))
        case .unproved(let refusal): throw OAuthError(refusal, ports: ports)
        case .notAllowed: throw OAuthError(.invalidScope, "the person has not allowed the client this")
        case .tooMany(let seconds):
            throw OAuthError(
                .temporarilyUnavailable, "too many sign-ins of the device", status: 429, retryAfter: seconds.value)
        case .clientGone: throw OAuthError(.unauthorizedClient, "the client does not use the provider")
        }
    }

    static func reply(_ tokens: SignedTokens) -> Response { Response(json: .object(tokens.members)) }

    /// The client that calls; the parameters are those of ``caller(of:_:mayBePublic:)``.
    func client(of incoming: Incoming, _ form: FormFields, mayBePublic: Bool = true) async throws -> ClientID {
        try await caller(of: incoming, form, mayBePublic: mayBePublic).client.id
    }

    /// The client that calls; see ``DoorResources/caller(of:_:mayBePublic:)``.
    func caller(
        of incoming: Incoming, _ form: FormFields, mayBePublic: Bool = true
    ) async throws -> (client: Client, party: RelyingParty?) {
        try await resources.caller(of: incoming, form, mayBePublic: mayBePublic)
    }
}
