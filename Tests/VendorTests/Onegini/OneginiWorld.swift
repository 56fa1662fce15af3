import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OneginiSDKiOS
import ServerTestSupport
import Synchronization
import Testing

/// A server with a shop, a person, and the shop's app on a device, by OneWelcome's calls.
struct OneginiWorld: Sendable {
    static let pin = "83517"
    static let wrongPIN = "71538"

    let server: TestServer
    let shop: Caller
    let user: String
    let network: OneginiNetwork
    /// What keeps the app's keys and records.
    let vault: any Vault

    /// Runs something in a fresh world.
    ///
    /// - Parameters:
    ///   - vault: what keeps the app's keys and records.
    ///   - pins: the rules for PINs, besides the least cost, which saves the tests' time.
    ///   - hook: where a custom authenticator named `phrase` is asked; nil for none.
    ///   - body: what to run.
    @MainActor
    static func with(
        vault: any Vault = MemoryVault(), pins: JSONObject = JSONObject(), hook: String? = nil,
        _ body: @escaping @MainActor @Sendable (OneginiWorld) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            var policy = pins
            policy["cost"] = 15
            let shop = try await server.makeClient(
                "ACME Shop", ["waive_enrollment_approval": true, "pin_policy": .object(policy)])
            if let hook {
                let phrase: JSONValue = ["name": "phrase", "hook": .string(hook), "attempts": 3]
                _ = try await server.administrator.call(
                    .PATCH, "/v1/admin/clients/\(shop.clientID)", ["authenticators": [phrase]]
                ).success()
            }
            for (name, methods) in Self.types where hook != nil || name != "spoken" {
                let type: JSONValue = [
                    "methods": .array(methods.map(JSONValue.string)), "number_entry": false, "max_pending": 1000,
                    "max_asks": 1000, "denial_pause": 0,
                ]
                _ = try await server.administrator.call(.PUT, "/v1/admin/types/\(name)", type).success()
            }
            let settings: JSONValue = [
                "profile": "native", "redirect_uris": ["http://127.0.0.1/callback"], "asked_browsers": "all",
            ]
            _ = try await server.administrator.call(.PUT, "/v1/admin/clients/\(shop.clientID)/openid", settings)
                .success()
            let user = try await shop.makeUser("customer-1")
            let email: JSONValue = ["email": "customer-1@example.com"]
            _ = try await shop.call(.PATCH, "/v1/users/\(user)", email).success()
            try await body(
                OneginiWorld(server: server, shop: shop, user: user, network: OneginiNetwork(), vault: vault))
        }
    }

    /// The types of challenges, each with its methods.
    private static let types: [(String, [String])] = [
        ("payment", ["confirm"]), ("typed", ["pin"]), ("touch", ["biometric", "pin"]),
        ("spoken", ["custom:phrase", "pin"]),
    ]

    /// The app's settings.
    func builder(_ vault: (any Vault)? = nil) -> ClientBuilder {
        ClientBuilder()
            .setConfigModel(
                ConfigModel(dictionary: [
                    "ONGAppIdentifier": shop.clientID, "ONGAppVersion": "3.1", "ONGAppBaseURL": "\(server.issuer)",
                    "ONGRedirectURL": "http://127.0.0.1:50999/callback", "ONGAppPlatform": "ios",
                ])
            )
            .setVault(vault ?? self.vault).setTransport(network).setClock(OneginiClock(server: server.clock))
            .setPush(app: "com.example.acme", environment: .development)
    }

    /// The app, started.
    @MainActor
    func launched(_ vault: (any Vault)? = nil) async throws -> any UserClient {
        let client = builder(vault).buildAlone()
        #expect(await OneginiTold.by { client.start(completion: $0) } == "")
        return client.userClient
    }

    /// The app, started, with its user registered by a ticket, and enrolled for mobile authentication.
    @MainActor
    func enrolled() async throws -> any UserClient {
        let app = try await launched()
        try await register(app)
        #expect(await OneginiTold.by { app.enrollMobileAuth($0) } == "")
        return app
    }

    /// Registers the user by a ticket.
    @MainActor
    func register(_ app: any UserClient) async throws {
        let person = OneginiPerson()
        person.ticket = try await shop.makeTicket(for: user)
        app.registerUserWith(identityProvider: app.identityProviders.last, scopes: nil, delegate: person)
        #expect(try await person.end() == "registered by ticket")
    }

    /// Asks the user something by a type, and returns the challenge's id.
    func ask(_ type: String, _ members: JSONObject = JSONObject()) async throws -> String {
        var body = members
        body["type"] = .string(type)
        return try #require(try await shop.ask(user, body)["id"]?.string)
    }

    /// The state of a challenge, as the shop sees it.
    func state(of challenge: String) async throws -> String {
        try await shop.call(.GET, "/v1/challenges/\(challenge)").success()["state"]?.string ?? ""
    }

    /// The number of the user's devices at the server.
    func deviceCount() async throws -> Int {
        let reply = try await shop.call(.GET, "/v1/users/\(user)/enrollments").success()
        return (reply["enrollments"]?.array ?? []).count { $0["removed_at"] == nil }
    }

    /// The only request that waits for the app.
    @MainActor
    func pending(_ app: any UserClient) async throws -> any PendingMobileAuthRequest {
        let requests = try await OneginiTold.pending(app).requests
        #expect(requests.count == 1)
        return try #require(requests.first)
    }

    /// Has a person handle the only request that waits, and returns how that ended.
    @MainActor
    func handle(_ app: any UserClient, _ person: OneginiPerson) async throws -> String {
        app.handlePendingMobileAuthRequest(try await pending(app), delegate: person)
        return try await person.end()
    }
}

/// The server's clock as the device's.
private struct OneginiClock: DeviceClock {
    let server: TestClock

    var millisecondsSince1970: Int64 { server.now.milliseconds }
}

/// The network, which can be down, and notes what is sent.
final class OneginiNetwork: Transport {
    private struct Lost: Error {}

    private let base = URLSessionTransport()
    private let state = Mutex((isDown: false, isForgetful: false, sent: [TransportRequest]()))

    func fail(_ isDown: Bool = true) { state.withLock { $0.isDown = isDown } }

    /// Has the server know no enrollment, or those that it knows.
    func forget(_ isForgetful: Bool = true) { state.withLock { $0.isForgetful = isForgetful } }

    /// How many requests went to paths that end like this.
    func count(to suffix: String) -> Int {
        state.withLock { $0.sent }.count { $0.url.path.hasSuffix(suffix) }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let (isDown, isForgetful) = state.withLock { state in
            state.sent.append(request)
            return (state.isDown, state.isForgetful)
        }
        if isDown { throw Lost() }
        if isForgetful, let answer = answerOfForgetfulServer(to: request) { return answer }
        return try await base.send(request)
    }
}

/// What a closure was told.
@MainActor
enum OneginiTold {
    /// The domain and the number of an error; empty for none.
    static func number(_ error: (any Error)?) -> String {
        guard let error else { return "" }
        let any: Any = error
        guard let number = any as? NSError else { return "no NSError: \(error)" }
        return "\(number.domain.split(separator: ".").last ?? "") \(number.code)"
    }

    /// What a call tells its closure, which happens once.
    static func by(_ call: (@escaping @MainActor ((any Error)?) -> Void) -> Void) async -> String {
        let calls = Calls<String>()
        call { calls.note(number($0)) }
        return await calls.once()
    }

    /// What waits for an app.
    static func pending(
        _ app: any UserClient
    ) async throws -> (requests: [any PendingMobileAuthRequest], error: String) {
        let calls = Calls<([any PendingMobileAuthRequest]?, String)>()
        app.pendingPushMobileAuthRequests { calls.note(($0, number($1))) }
        let (requests, error) = await calls.once()
        return (requests ?? [], error)
    }

    /// What a logout tells.
    static func logout(_ app: any UserClient) async -> (profile: String?, error: String) {
        let calls = Calls<(String?, String)>()
        app.logoutUser { calls.note(($0?.profileId, number($1))) }
        let (profile, error) = await calls.once()
        return (profile, error)
    }

    /// Counts calls.
    @MainActor
    final class Calls<Value> {
        private var values: [Value] = []

        func note(_ value: Value) { values.append(value) }

        /// What was noted, which happens once.
        func once() async -> Value {
            while true {
                if let value = values.first {
                    // A second call would come soon.
                    try? await Task.sleep(for: .milliseconds(50))
                    #expect(values.count == 1)
                    values.removeAll()
                    return value
                }
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
    }
}

/// A person before the app, and everything that the app is asked and told.
@MainActor
final class OneginiPerson: RegistrationDelegate, AuthenticationDelegate, ChangePinDelegate,
    AuthenticatorRegistrationDelegate, AuthenticatorDeregistrationDelegate, MobileAuthRequestDelegate
{
    /// The ticket that is scanned; nil to give up.
    var ticket: String?
    /// The browser that opens the issuer's pages; nil to give up.
    var browser: (@MainActor (URL) async throws -> URL)?
    /// The PINs that are chosen, in order; then the person gives up.
    var chosen = [OneginiWorld.pin]
    /// The PINs that are typed, in order; then the person gives up.
    var typed = [OneginiWorld.pin]
    /// What is said to a confirmation; nil to say nothing and let go of it.
    var confirms: Bool? = true
    /// The text for the system's prompt; nil to want the PIN instead.
    var prompt: String? = "Pay?"
    /// What is said to a custom authenticator, in order; then the person wants the PIN instead.
    var phrases: [String] = []
    /// Is called with the number that is to be typed on another device.
    var approved: (@MainActor (String?) async throws -> Void)?
    /// What the app was asked, in order, with the error that came along.
    private(set) var asked: [String] = []
    /// The last request that the app was asked about.
    private(set) var request: (any MobileAuthRequest)?
    private let ends = OneginiTold.Calls<String>()

    /// How the call ended, which happens once.
    func end() async throws -> String { await ends.once() }

    private func note(_ what: String, _ error: (any Error)? = nil) {
        let number = OneginiTold.number(error)
        asked.append(number.isEmpty ? what : "\(what) after \(number)")
    }

    private func end(_ what: String, _ error: (any Error)? = nil) {
        let number = OneginiTold.number(error)
        ends.note(number.isEmpty ? what : number)
    }

    func userClient(
        _ userClient: any UserClient,
        didReceiveCustomRegistrationFinishChallenge challenge: any CustomRegistrationChallenge
    ) {
        note("ticket")
        if let ticket {
            challenge.sender.respond(with: ticket, to: challenge)
        } else {
            challenge.sender.cancel(challenge)
        }
    }

    func userClient(
        _ userClient: any UserClient,
        didReceiveBrowserRegistrationChallenge challenge: any BrowserRegistrationChallenge
    ) {
        note("browser")
        guard let browser else { return challenge.sender.cancel(challenge) }
        Task {
            do {
                challenge.sender.respond(with: try await browser(challenge.url), to: challenge)
            } catch {
                Issue.record(error)
                challenge.sender.cancel(challenge)
            }
        }
    }

    func userClient(_ userClient: any UserClient, didBeginWaitingForApproval number: String?) {
        note("approval")
        guard let approved else { return }
        Task {
            do { try await approved(number) } catch { Issue.record(error) }
        }
    }

    func userClient(_ userClient: any UserClient, didReceiveCreatePinChallenge challenge: any CreatePinChallenge) {
        note("new PIN of \(challenge.pinLength)", challenge.error)
        guard !chosen.isEmpty else { return challenge.sender.cancel(challenge) }
        challenge.sender.respond(with: chosen.removeFirst(), to: challenge)
    }

    func userClient(_ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge) {
        note("PIN, \(challenge.remainingFailureCount) of \(challenge.maxFailureCount) left", challenge.error)
        #expect(challenge.previousFailureCount + challenge.remainingFailureCount == challenge.maxFailureCount)
        guard !typed.isEmpty else { return challenge.sender.cancel(challenge) }
        challenge.sender.respond(with: typed.removeFirst(), to: challenge)
    }

    func userClient(_ userClient: any UserClient, didReceiveBiometricChallenge challenge: any BiometricChallenge) {
        note("biometric")
        guard let prompt else { return challenge.sender.respondWithPinFallback(to: challenge) }
        challenge.sender.respond(with: prompt, to: challenge)
    }

    func userClient(
        _ userClient: any UserClient,
        didReceiveCustomAuthFinishAuthenticationChallenge challenge: any CustomAuthFinishAuthenticationChallenge
    ) {
        note("custom", challenge.error)
        guard !phrases.isEmpty else { return challenge.sender.respondWithPinFallback(to: challenge) }
        challenge.sender.respond(with: phrases.removeFirst(), to: challenge)
    }

    func userClient(
        _ userClient: any UserClient,
        didReceiveCustomAuthFinishRegistrationChallenge challenge: any CustomAuthFinishRegistrationChallenge
    ) {
        note("custom data")
        guard !phrases.isEmpty else { return challenge.sender.cancel(challenge, underlyingError: nil) }
        challenge.sender.respond(with: phrases.removeFirst(), to: challenge)
    }

    func userClient(
        _ userClient: any UserClient, didReceiveConfirmation confirmation: @escaping (Bool) -> Void,
        for request: any MobileAuthRequest
    ) {
        self.request = request
        note("confirmation")
        guard let confirms else { return }
        confirmation(confirms)
        // Only the first answer counts.
        confirmation(!confirms)
    }

    func userClient(
        _ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge,
        for request: any MobileAuthRequest
    ) {
        self.request = request
        self.userClient(userClient, didReceivePinChallenge: challenge)
    }

    func userClient(
        _ userClient: any UserClient, didReceiveBiometricChallenge challenge: any BiometricChallenge,
        for request: any MobileAuthRequest
    ) {
        self.request = request
        self.userClient(userClient, didReceiveBiometricChallenge: challenge)
    }

    func userClient(
        _ userClient: any UserClient,
        didReceiveCustomAuthFinishAuthenticationChallenge challenge: any CustomAuthFinishAuthenticationChallenge,
        for request: any MobileAuthRequest
    ) {
        self.request = request
        self.userClient(userClient, didReceiveCustomAuthFinishAuthenticationChallenge: challenge)
    }

    func userClient(
        _ userClient: any UserClient, didRegisterUser profile: any UserProfile,
        with identityProvider: any IdentityProvider, info: (any CustomInfo)?
    ) {
        end("registered by \(identityProvider.identifier)")
    }

    func userClient(
        _ userClient: any UserClient, didFailToRegisterUserWith identityProvider: any IdentityProvider,
        error: any Error
    ) {
        end("", error)
    }

    func userClient(
        _ userClient: any UserClient, didAuthenticateUser userProfile: any UserProfile,
        authenticator: OneginiSDKiOS.Authenticator, info customAuthInfo: (any CustomInfo)?
    ) {
        end("authenticated by \(authenticator.identifier)")
    }

    func userClient(
        _ userClient: any UserClient, didFailToAuthenticateUser userProfile: any UserProfile,
        authenticator: OneginiSDKiOS.Authenticator, error: any Error
    ) {
        end("", error)
    }

    func userClient(_ userClient: any UserClient, didChangePinForUser profile: any UserProfile) {
        end("changed")
    }

    func userClient(
        _ userClient: any UserClient, didFailToChangePinForUser profile: any UserProfile, error: any Error
    ) {
        end("", error)
    }

    func userClient(
        _ userClient: any UserClient, didRegister authenticator: OneginiSDKiOS.Authenticator,
        for userProfile: any UserProfile, info customAuthInfo: (any CustomInfo)?
    ) {
        end("registered \(authenticator.identifier) \(customAuthInfo?.data ?? "")")
    }

    func userClient(
        _ userClient: any UserClient, didFailToRegister authenticator: OneginiSDKiOS.Authenticator,
        for userProfile: any UserProfile, error: any Error
    ) {
        end("", error)
    }

    func userClient(
        _ userClient: any UserClient, didDeregister authenticator: OneginiSDKiOS.Authenticator,
        forUser userProfile: any UserProfile
    ) {
        end("deregistered \(authenticator.identifier)")
    }

    func userClient(
        _ userClient: any UserClient, didFailToDeregister authenticator: OneginiSDKiOS.Authenticator,
        forUser userProfile: any UserProfile, error: any Error
    ) {
        end("", error)
    }

    func userClient(
        _ userClient: any UserClient, didHandleRequest request: any MobileAuthRequest,
        authenticator: OneginiSDKiOS.Authenticator?, info customAuthenticatorInfo: (any CustomInfo)?
    ) {
        let info = customAuthenticatorInfo.map { " \($0.status) \($0.data)" } ?? ""
        end("handled by \(authenticator?.identifier ?? "nothing")\(info)")
    }

    func userClient(
        _ userClient: any UserClient, didFailToHandleRequest request: any MobileAuthRequest,
        authenticator: OneginiSDKiOS.Authenticator?, error: any Error
    ) {
        end("", error)
    }

    func userClient(
        _ userClient: any UserClient, didFailToHandleOTPMobileAuthRequest otp: String, error: any Error
    ) {
        ends.note("OTP: \(OneginiTold.number(error))")
    }
}
