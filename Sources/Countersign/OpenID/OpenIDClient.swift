import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE

/// Who is signed in to the app.
public struct SignedIn: Sendable {
    /// The person.
    public let identity: Identity
    /// The scopes that the issuer gave, which may be fewer than the app asked for.
    public let scopes: [String]
    /// Whether the sign-in outlives its access token, because there is a refresh token.
    public let isLasting: Bool

    init(_ record: TokenRecord) {
        identity = record.identity
        scopes = record.scopes
        isLasting = record.refresh != nil
    }
}

/// How a sign-in ended.
public enum SignOut: Sendable {
    /// The issuer has taken the tokens back, and the device has forgotten them.
    case complete
    /// The device has forgotten the tokens; the issuer could not be told, for this reason.
    ///
    /// They end by themselves: access tokens within minutes, the refresh token when nobody has used it for long.
    case onlyOnThisDevice(CountersignError)
    /// Nobody was signed in.
    case nobody
}

/// Signs people in to an app by OpenID Connect, and keeps its tokens in the vault.
///
/// Make one for each registration, and keep it: callers that need an access token at once share one refresh. No
/// enrollment is needed. It is safe to use from any task or thread.
///
/// Where the issuer can, the tokens of each sign-in are bound to a key, which is kept with them: whoever
/// copies a token alone has nothing. ``AccessToken/headerFields(for:_:nonce:)`` makes a request to an API of yours.
///
/// Spec: docs/guides/login.md.
public actor OpenIDClient {
    /// An access token that is good for less than this many seconds is refreshed first.
    private static let reserve: Int64 = 30

    let registration: CheckedRegistration
    private let vault: any Vault
    let connection: ProviderConnection
    private let clock: any DeviceClock
    private let proofs = ProofMemory()
    private(set) var metadata: ProviderMetadata?
    private(set) var keys: JWKSet?
    /// The refresh under way, and the API for whose token it is; nil for the issuer's own.
    private var refreshing: (api: String?, task: Task<Refreshed, Never>)?
    /// The tokens for APIs, which are in memory alone: the vault's refresh token brings new ones.
    ///
    /// Each is kept with the claims of the sign-in that brought it: another process may sign somebody else in.
    private var apiTokens: [String: (token: AccessToken, claims: JSONObject)] = [:]
    /// A record that the vault has failed to store: the tokens in it have replaced those in the vault.
    private var unsaved: TokenRecord?
    /// Counts what replaces or ends the sign-in, so that a refresh under way brings nothing back.
    private var generation = 0

    private typealias Refreshed = Result<AccessToken, CountersignError>

    /// A client with a registration.
    ///
    /// - Parameters:
    ///   - registration: the app's registration.
    ///   - vault: stores the tokens as a record of the app, by issuer and client.
    ///   - transport: sends requests.
    ///   - clock: the device's clock, by which tokens expire, give or take a minute.
    ///   - timeout: how long one request may take.
    /// - Throws: ``CountersignError/configurationInvalid(_:)`` if a part of the registration has a wrong form.
    public init(
        _ registration: OpenIDRegistration, vault: any Vault, transport: any Transport = URLSessionTransport(),
        clock: any DeviceClock = SystemClock(), timeout: Duration = .seconds(15)
    ) throws(CountersignError) {
        self.registration = try CheckedRegistration(registration)
        self.vault = vault
        self.clock = clock
        connection = ProviderConnection(transport: transport, timeout: timeout)
    }

    /// Who is signed in, as far as the device knows; nil for nobody.
    ///
    /// - Throws: ``CountersignError/vault(_:)``.
    public func signedIn() async throws(CountersignError) -> SignedIn? {
        try await record().map { SignedIn($0) }
    }

    /// Signs a person in through a browser, in the place of whoever was signed in.
    ///
    /// - Parameters:
    ///   - browser: shows the issuer's pages.
    ///   - request: what the app asks of the sign-in.
    /// - Returns: who signed in, after the ID token was verified and the tokens were stored.
    /// - Throws: ``CountersignError/signInRefused(_:)`` if the person declined or the issuer refused,
    ///   ``CountersignError/signInResponse(_:)`` and ``CountersignError/idTokenRefused(_:)`` if something was forged,
    ///   ``CountersignError/browserFailed(_:)``, and the errors of the network and the vault.
    public func authorize(
        in browser: any BrowserSession, _ request: SignInRequest = SignInRequest()
    ) async throws(CountersignError) -> SignedIn {
        let metadata = try await currentMetadata()
        let key = newKey(at: metadata)
        let asked = AuthorizationRequest(
            registration: registration, wanted: request, keyThumbprint: key?.thumbprint)
        let code = try asked.code(in: try await answer(to: asked, in: browser, metadata))
        // A code is good once: a request whose reply is lost is not sent again. Spec: RFC 6749 §4.1.2.
        let reply = try await reply(
            to: [
                ("grant_type", "authorization_code"), ("code", code.reveal()),
                ("redirect_uri", registration.redirectURI.description), ("client_id", registration.clientID),
                ("code_verifier", asked.verifier.reveal()),
            ] + registration.resource(nil), isRepeatable: false, provedBy: key)
        return try await signedIn(by: reply, .signIn(asked), key)
    }

    /// Signs the user of an enrollment in without a browser, in the place of whoever was signed in.
    ///
    /// By ``Proof/confirmation`` the device signs, and the person is asked nothing: this shows possession of the device
    /// alone (`acr` `urn:countersign:acr:device`, `amr` `hwk` or `swk`). A PIN or a biometric, for which the app asks, is
    /// proved in the same call, by the answer to a challenge for this device alone (`urn:countersign:acr:device2`).
    ///
    /// There is no refresh token, because the device can sign anew at any time, and no enrolling of other devices. The
    /// tokens of an earlier sign-in are taken back, its refresh token too.
    ///
    /// - Parameters:
    ///   - enrollment: an enrollment of this device at the registration's issuer.
    ///   - proof: what the person shows besides; not ``Proof/custom(_:data:)``.
    /// - Returns: who signed in, after the ID token was verified and the tokens were stored.
    /// - Throws: ``CountersignError/signInRefused(_:)`` with the code `invalid_grant` if the client does not believe the
    ///   device or does not know its user, with `invalid_scope` if the person must allow the client this on a page first;
    ///   ``CountersignError/enrollmentWaiting``, ``CountersignError/enrollmentSuspended``,
    ///   ``CountersignError/methodMissing(_:)``, ``CountersignError/pinIncorrect(attemptsLeft:)`` and the other errors of
    ///   an approval, ``CountersignError/configurationInvalid(_:)`` for an enrollment at another issuer, and the errors of
    ///   the network and the vault.
    public func signIn(
        by enrollment: Enrollment, with proof: Proof = .confirmation
    ) async throws(CountersignError) -> SignedIn {
        try await signIn(by: enrollment, with: proof, since: nil)
    }

    /// Signs the user of an enrollment in anew, whose sign-in by a device does not outlive its access token.
    ///
    /// Unlike ``signIn(by:with:)`` it takes nobody's place: whoever has signed in or out meanwhile has decided.
    ///
    /// - Parameter enrollment: an enrollment of this device at the registration's issuer.
    /// - Returns: who is signed in, as before.
    /// - Throws: ``CountersignError/notSignedIn`` if this user is not signed in so, or if somebody signs in or out
    ///   meanwhile, and the errors of ``signIn(by:with:)``.
    public func signInAnew(by enrollment: Enrollment) async throws(CountersignError) -> SignedIn {
        let begun = generation
        guard let record = try await record(), record.refresh == nil,
            record.identity.subject.hasSameBytes(as: "\(enrollment.user)")
        else { throw .notSignedIn }
        return try await signIn(by: enrollment, with: .confirmation, since: begun)
    }

    private func signIn(
        by enrollment: Enrollment, with proof: Proof, since begun: Int?
    ) async throws(CountersignError) -> SignedIn {
        guard enrollment.stored.issuer == registration.issuer else {
            throw .configurationInvalid("the enrollment is one at another issuer")
        }
        let challenge = try await enrollment.approved(for: registration.clientID, by: proof)
        let correction = await enrollment.authenticator.connection.correction
        do throws(CountersignError) {
            return try await signIn(by: enrollment, challenge, since: begun)
        } catch .signInEnded {
            if let refusal = try await enrollment.refusalByState() { throw refusal }
            // The server takes no assertion of another time, and has just said which time it is.
            guard await enrollment.authenticator.connection.correction != correction else {
                throw .signInRefused(.other(code: "invalid_grant"))
            }
        }
        do throws(CountersignError) {
            return try await signIn(by: enrollment, challenge, since: begun)
        } catch .signInEnded {
            throw .signInRefused(.other(code: "invalid_grant"))
        }
    }

    private func signIn(
        by enrollment: Enrollment, _ challenge: ChallengeID?, since begun: Int?
    ) async throws(CountersignError) -> SignedIn {
        let key = newKey(at: try await currentMetadata())
        // An assertion is good once. Spec: RFC 7523 §3.
        let reply = try await reply(
            to: [
                ("grant_type", DeviceAssertion.grantType),
                ("assertion", try await enrollment.assertion(for: registration.clientID, by: challenge)),
                ("client_id", registration.clientID), ("scope", registration.scopes.joined(separator: " ")),
            ], isRepeatable: false, provedBy: key)
        return try await signedIn(by: reply, .device(of: "\(enrollment.user)"), key, since: begun)
    }

    /// Whoever a reply signs in, after the ID token was verified and the tokens were stored.
    ///
    /// - Parameters:
    ///   - reply: the reply.
    ///   - occasion: what was asked.
    ///   - key: the key to which the tokens are bound; nil for none.
    ///   - begun: the generation that it goes on with; nil if it takes the place of any.
    func signedIn(
        by reply: TokenReply, _ occasion: IDTokenChecks.Occasion, _ key: TokenKey?, since begun: Int? = nil
    ) async throws(CountersignError) -> SignedIn {
        guard let token = reply.identity else { throw .idTokenRefused(.malformed) }
        let identity = try await identity(in: token, with: reply.access, occasion)
        let record = TokenRecord(
            access: reply.access, accessExpiresAt: now.adding(seconds: reply.expiresIn), refresh: reply.refresh,
            identity: identity, scopes: reply.scopes ?? registration.scopes, key: key?.key)
        let earlier = try? await self.record()
        try await replace(by: record, since: begun)
        // What nobody needs any more is taken back; if that fails, it ends by itself.
        if let earlier { _ = try? await revoke(earlier) }
        return SignedIn(record)
    }

    /// An access token that is good for some time yet, refreshed if need be.
    ///
    /// Callers at the same time share one refresh. The refresh token that comes along is stored before any of them
    /// gets the access token.
    ///
    /// - Throws: ``CountersignError/notSignedIn`` if nobody is signed in or the token is over and there is no refresh
    ///   token; ``CountersignError/signInEnded`` if the issuer has ended the sign-in, which is then forgotten; and the
    ///   errors of the network and the vault.
    public func accessToken() async throws(CountersignError) -> AccessToken {
        guard let record = try await record() else { throw .notSignedIn }
        if now.adding(seconds: Self.reserve) < record.accessExpiresAt { return accessToken(of: record) }
        return try await refreshed()
    }

    /// An access token for an API of the registration that is good for some time yet, fetched if need be.
    ///
    /// It is good at this API alone. Callers at the same time share one request.
    ///
    /// - Parameter api: the API's identifier.
    /// - Throws: ``CountersignError/configurationInvalid(_:)`` for another API than the registration's;
    ///   ``CountersignError/notSignedIn`` if nobody is signed in, or by the device alone, which gives no refresh token;
    ///   ``CountersignError/signInRefused(_:)`` with the code `invalid_target` or `invalid_scope` if the app may have no
    ///   token for it, or the person signed in before the app asked for it; and the errors of ``accessToken()``.
    public func accessToken(for api: String) async throws(CountersignError) -> AccessToken {
        guard registration.apis.contains(where: { $0.identifier.hasSameBytes(as: api) }) else {
            throw .configurationInvalid("the registration has no such API")
        }
        guard let record = try await record() else { throw .notSignedIn }
        if let (token, claims) = apiTokens[api], claims == record.identity.claims,
            now.adding(seconds: Self.reserve).milliseconds < token.expiresAt
        {
            return token
        }
        return try await refreshed(for: api)
    }

    /// What the issuer tells of the person now.
    ///
    /// - Returns: the claims, which are about the same person as the ID token's.
    /// - Throws: ``CountersignError/idTokenRefused(_:)`` with ``IDTokenFault/subject`` if they are about another one,
    ///   and the errors of ``accessToken()``.
    public func userInfo() async throws(CountersignError) -> Identity {
        guard let endpoint = try await currentMetadata().userinfoEndpoint else {
            throw .providerInvalid("it names no userinfo endpoint")
        }
        var response = try await connection.get(endpoint, showing: try await accessToken())
        if response.status == 401 {
            // The token may be over by the issuer's clock alone.
            response = try await connection.get(endpoint, showing: try await refreshed())
        }
        switch response.status {
        case 200: break
        case 401: throw .signInEnded
        default: throw .serverUnreachable(status: response.status)
        }
        guard let claims = (try? JSONValue(parsing: response.body))?.object, let told = Identity(claims) else {
            throw .providerInvalid("its userinfo endpoint gives no claims")
        }
        // Spec: OpenID Connect Core 1.0 §5.3.2.
        guard let record = try await record() else { throw .notSignedIn }
        guard told.subject.hasSameBytes(as: record.identity.subject) else { throw .idTokenRefused(.subject) }
        return told
    }

    /// Ends the sign-in: has the issuer take the tokens back, and forgets them, whatever the issuer says.
    ///
    /// - Throws: ``CountersignError/vault(_:)`` if the tokens could not be deleted from the device.
    public func signOut() async throws(CountersignError) -> SignOut {
        // What a refresh under way brings is what must be taken back.
        _ = await refreshing?.task.value
        let begun = generation
        let record: TokenRecord?
        do throws(CountersignError) { record = try await self.record() } catch {
            // A damaged record can be deleted all the same.
            try await forget()
            return .onlyOnThisDevice(error)
        }
        guard let record else { return .nobody }
        let failure = await failureOfRevoking(record)
        // It may have taken long: whoever has signed in meanwhile stays signed in.
        if begun == generation { try await forget() }
        return failure.map { .onlyOnThisDevice($0) } ?? .complete
    }
}

extension OpenIDClient {
    private var now: Timestamp { Timestamp(milliseconds: clock.millisecondsSince1970) }

    /// A key for the tokens of a sign-in that begins; nil if the issuer binds no tokens.
    func newKey(at metadata: ProviderMetadata) -> TokenKey? {
        metadata.bindsTokens ? tokenKey(PrivateJWK(P256.Signing.PrivateKey())) : nil
    }

    private func tokenKey(_ key: PrivateJWK?) -> TokenKey? {
        key.map { TokenKey($0, told: proofs, clock: clock) }
    }

    private func accessToken(of record: TokenRecord) -> AccessToken {
        AccessToken(record.access, expiresAt: record.accessExpiresAt, key: tokenKey(record.key))
    }

    /// What the issuer says of itself, fetched once.
    func currentMetadata() async throws(CountersignError) -> ProviderMetadata {
        if let metadata { return metadata }
        let fetched = try await ProviderMetadata.fetched(of: registration.issuer, by: connection)
        metadata = fetched
        return fetched
    }

    /// The issuer's keys, as it publishes them now.
    func fetchedKeys() async throws(CountersignError) -> JWKSet {
        let response = try await connection.get(try await currentMetadata().keysURL)
        guard response.status == 200 else { throw .serverUnreachable(status: response.status) }
        guard let json = try? JSONValue(parsing: response.body), let fetched = try? JWKSet(json) else {
            throw .providerInvalid("its keys cannot be read")
        }
        keys = fetched
        return fetched
    }

    /// Where the browser came back.
    private func answer(
        to asked: AuthorizationRequest, in browser: any BrowserSession, _ metadata: ProviderMetadata
    ) async throws(CountersignError) -> URL {
        guard let place = URL(string: registration.redirectURI.description) else {
            throw .configurationInvalid("the redirect URI is no URL")
        }
        let url = try asked.url(at: metadata.authorizationEndpoint)
        do {
            return try await browser.open(url, returningTo: place)
        } catch let error as CountersignError {
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw .browserFailed("\(error)")
        }
    }

    private func reply(
        to form: [(String, String)], isRepeatable: Bool, provedBy key: TokenKey?
    ) async throws(CountersignError) -> TokenReply {
        let endpoint = try await currentMetadata().tokenEndpoint
        let response = try await connection.post(form, to: endpoint, isRepeatable: isRepeatable, provedBy: key)
        return try TokenReply(response, isBound: key != nil)
    }

    /// The identity in an ID token, after its verification; keys that are not known are looked for once.
    ///
    /// Spec: OpenID Connect Core 1.0 §10.1.1.
    private func identity(
        in token: String, with access: Secret<String>, _ occasion: IDTokenChecks.Occasion
    ) async throws(CountersignError) -> Identity {
        let checks = IDTokenChecks(
            registration: registration, algorithms: try await currentMetadata().algorithms, now: now)
        let known = keys
        let current = if let known { known } else { try await fetchedKeys() }
        do throws(IDTokenRefusal) {
            return try checks.identity(in: token, with: access, keys: current, occasion)
        } catch {
            guard case .unknownKey = error, known != nil else { throw .idTokenRefused(error.fault) }
        }
        let latest = try await fetchedKeys()
        do throws(IDTokenRefusal) {
            return try checks.identity(in: token, with: access, keys: latest, occasion)
        } catch {
            throw .idTokenRefused(error.fault)
        }
    }
}

extension OpenIDClient {
    /// The record, which the vault gets now if it has failed to store it before.
    private func record() async throws(CountersignError) -> TokenRecord? {
        if let unsaved { try await store(unsaved) }
        let (vault, name) = (vault, registration.recordName)
        guard let bytes = try await vaulted({ try await vault.appRecord(name) }) else { return nil }
        return try TokenRecord(bytes)
    }

    private func store(_ record: TokenRecord) async throws(CountersignError) {
        unsaved = record
        let (vault, name, begun) = (vault, registration.recordName, generation)
        try await vaulted { try await vault.writeAppRecord(record.encoded, as: name) }
        if begun == generation { unsaved = nil }
    }

    private func replace(by record: TokenRecord, since begun: Int?) async throws(CountersignError) {
        _ = await refreshing?.task.value
        if let begun, begun != generation {
            _ = try? await revoke(record)
            throw .notSignedIn
        }
        generation += 1
        apiTokens = [:]
        do throws(CountersignError) {
            try await store(record)
        } catch {
            // The caller is told that nobody was signed in, so nobody may be found signed in later.
            unsaved = nil
            _ = try? await revoke(record)
            throw error
        }
    }

    private func forget() async throws(CountersignError) {
        generation += 1
        apiTokens = [:]
        unsaved = nil
        let (vault, name) = (vault, registration.recordName)
        try await vaulted { try await vault.removeAppRecord(name) }
    }

    /// Refreshes, or joins the refresh under way for the same API; one for another spends the refresh token first.
    private func refreshed(for api: String? = nil) async throws(CountersignError) -> AccessToken {
        while let other = refreshing, other.api != api { _ = await other.task.value }
        // The task belongs to all its callers: one that is cancelled must not lose the token of the others.
        let task =
            refreshing?.task
            ?? Task {
                let result: Refreshed
                do throws(CountersignError) { result = .success(try await refresh(for: api)) } catch {
                    result = .failure(error)
                }
                refreshing = nil
                return result
            }
        refreshing = (api, task)
        let result = await task.value
        guard !Task.isCancelled else { throw .cancelled }
        return try result.get()
    }

    private func refresh(for api: String?) async throws(CountersignError) -> AccessToken {
        // Before the vault is read: whoever signs in or out meanwhile has decided.
        let begun = generation
        guard let record = try await record() else { throw .notSignedIn }
        do throws(CountersignError) {
            return try await refresh(record, for: api, since: begun)
        } catch {
            guard case .signInEnded = error else { throw error }
            // Another process with the same vault may have been faster, also by a sign-in that has no refresh token: then
            // its tokens count.
            if let latest = try await self.record(), !latest.revocable.isSame(as: record.revocable) {
                return api == nil && now.adding(seconds: Self.reserve) < latest.accessExpiresAt
                    ? accessToken(of: latest) : try await refresh(latest, for: api, since: begun)
            }
            try await forget()
            throw error
        }
    }

    /// Spec: RFC 6749 §6, OpenID Connect Core 1.0 §12.
    private func refresh(
        _ record: TokenRecord, for api: String?, since begun: Int
    ) async throws(CountersignError) -> AccessToken {
        guard let token = record.refresh, begun == generation else { throw .notSignedIn }
        // A sign-in from before there were keys goes on without one, until it ends.
        let key = tokenKey(record.key)
        // The issuer gives the same successor again for half a minute, so that a lost reply can be fetched anew.
        let reply = try await reply(
            to: [
                ("grant_type", "refresh_token"), ("refresh_token", token.reveal()),
                ("client_id", registration.clientID),
            ] + registration.resource(api), isRepeatable: true, provedBy: key)
        let given = AccessToken(reply.access, expiresAt: now.adding(seconds: reply.expiresIn), key: key)
        let refusal = await refusal(of: reply, after: record)
        var renewed = record
        renewed.refresh = reply.refresh ?? token
        if api == nil {
            renewed.access = reply.access
            // Nobody gets the access token of a refusal.
            renewed.accessExpiresAt = Timestamp(milliseconds: refusal == nil ? given.expiresAt : 0)
            renewed.scopes = reply.scopes ?? record.scopes
        }
        // Last, since keys may have been fetched for the ID token: nobody is brought back who has signed out meanwhile.
        let latest = await latestRecord(orElse: record)
        guard begun == generation, let latest else { throw .notSignedIn }
        // Another process with the same vault has signed somebody in meanwhile: then its tokens count.
        guard [record, renewed].contains(where: { $0.revocable.isSame(as: latest.revocable) }) else {
            throw .signInEnded
        }
        // Whatever comes of it, the old refresh token is spent.
        try await store(renewed)
        if let refusal { throw refusal }
        guard begun == generation else { throw .notSignedIn }
        if let api { apiTokens[api] = (given, record.identity.claims) }
        return given
    }

    /// The record as it is now, or one that was read before if the vault cannot say it: what a refresh has brought must not
    /// be lost for that.
    private func latestRecord(orElse record: TokenRecord) async -> TokenRecord? {
        do throws(CountersignError) { return try await self.record() } catch { return record }
    }

    /// Why the ID token of a refresh is refused; nil if it is not, or there is none.
    private func refusal(of reply: TokenReply, after record: TokenRecord) async -> CountersignError? {
        guard let token = reply.identity else { return nil }
        do throws(CountersignError) {
            _ = try await identity(in: token, with: reply.access, .refresh(of: record.identity))
            return nil
        } catch {
            return error
        }
    }

    /// Spec: RFC 7009 §2.1.
    private func revoke(_ record: TokenRecord) async throws(CountersignError) {
        guard let endpoint = try await currentMetadata().revocationEndpoint else {
            throw .providerInvalid("it names no revocation endpoint")
        }
        let response = try await connection.post(
            [
                ("token", record.revocable.reveal()),
                ("token_type_hint", record.refresh == nil ? "access_token" : "refresh_token"),
                ("client_id", registration.clientID),
            ], to: endpoint, isRepeatable: true)
        guard response.status == 200 else { throw .serverUnreachable(status: response.status) }
    }

    private func failureOfRevoking(_ record: TokenRecord) async -> CountersignError? {
        do throws(CountersignError) {
            try await revoke(record)
            return nil
        } catch {
            return error
        }
    }
}
