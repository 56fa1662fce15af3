import Countersign
import CountersignWire
import DeviceAuthenticator
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Synchronization
import Testing

/// The network between an app and the server, which can be down; a token that it knows stands for a sign-in.
final class OktaTransport: Transport {
    struct Lost: Error {}

    private let base = URLSessionTransport()
    private let state = Mutex(
        (tickets: [String: String](), isDown: false, isForgetful: false, lastPath: String?.none))

    /// Has a token exchanged for a ticket of the test's.
    func know(_ token: String, as ticket: String) {
        state.withLock { $0.tickets["Bearer \(token)"] = ticket }
    }

    func fail(_ isDown: Bool) {
        state.withLock { $0.isDown = isDown }
    }

    /// Loses the network after the reply of a path.
    func fail(after path: String) {
        state.withLock { $0.lastPath = path }
    }

    /// Has the server no longer know any enrollment.
    func forget() {
        state.withLock { $0.isForgetful = true }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if state.withLock({ $0.isForgetful }), let answer = answerOfForgetfulServer(to: request) { return answer }
        let (isDown, ticket) = state.withLock { ($0.isDown, $0.tickets[request.headers["Authorization"] ?? ""]) }
        if isDown { throw Lost() }
        guard request.url.path() == "/v1/enrollment-tickets", let ticket else {
            let response = try await base.send(request)
            state.withLock { if $0.lastPath == request.url.path() { $0.isDown = true } }
            return response
        }
        return TransportResponse(
            status: 201, headers: [:], body: JSONValue.members(["qr": .string(ticket)]).encoded)
    }
}

/// Waits for a completion, which may be called once: a second call ends the program.
func oktaOutcome<Value: Sendable>(_ call: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
    await withCheckedContinuation { continuation in
        call { continuation.resume(returning: $0) }
    }
}

/// An app with the vendor's calls at a fresh server, and a user whom it can enroll for.
struct OktaScene: Sendable {
    static let token = "a-token"
    static let bundleIdentifier = "com.example.bank"

    let server: TestServer
    let shop: Caller
    let user: String
    let vault: any Vault
    let transport: OktaTransport
    let config: AuthenticatorConfig
    let authenticator: any DeviceAuthenticatorProtocol

    static func with(
        vault: any Vault = MemoryVault(), _ body: @escaping @Sendable (OktaScene) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            let types: [(String, JSONValue)] = [
                ("payment", ["confirm"]), ("preferred", ["biometric", "confirm"]), ("required", ["biometric"]),
                ("typed", ["pin"]),
            ]
            for (name, methods) in types {
                let type: JSONValue = [
                    "methods": methods, "number_entry": false, "max_pending": 1000, "max_asks": 1000, "denial_pause": 0,
                ]
                _ = try await server.administrator.call(.PUT, "/v1/admin/types/\(name)", type).success()
            }
            let numbered: JSONValue = ["number_entry": true, "max_pending": 1000, "max_asks": 1000, "denial_pause": 0]
            _ = try await server.administrator.call(.PUT, "/v1/admin/types/numbered", numbered).success()
            let shop = try await server.makeClient("ACME Shop", ["waive_enrollment_approval": true])
            let transport = OktaTransport()
            let issuer = try #require(URL(string: "\(server.issuer)"))
            try await body(
                OktaScene(
                    server: server, shop: shop, user: try await shop.makeUser("customer-1"), vault: vault,
                    transport: transport, config: AuthenticatorConfig(orgURL: issuer, oidcClientId: shop.clientID),
                    authenticator: try launched(vault, transport)))
        }
    }

    /// The app after a start.
    static func launched(_ vault: any Vault, _ transport: OktaTransport) throws -> any DeviceAuthenticatorProtocol {
        try DeviceAuthenticatorBuilder(applicationConfig: configuration(vault, transport)).create()
    }

    static func configuration(_ vault: any Vault, _ transport: OktaTransport) -> ApplicationConfig {
        let config = ApplicationConfig(
            applicationName: "Acme", applicationVersion: "3.1", applicationGroupId: "group.com.example")
        config.countersign.vault = vault
        config.countersign.transport = transport
        config.countersign.deviceName = "Test phone"
        config.countersign.bundleIdentifier = bundleIdentifier
        config.countersign.biometricPrompt = "It is me"
        return config
    }

    /// Enrolls the device by a token that stands for a sign-in.
    func enroll(
        _ parameters: EnrollmentParameters = EnrollmentParameters(deviceToken: .empty)
    ) async throws -> any AuthenticatorEnrollmentProtocol {
        transport.know(Self.token, as: try await shop.makeTicket(for: user))
        return try await enrolled(by: .bearer(Self.token), parameters).get()
    }

    func enrolled(
        by token: AuthToken, _ parameters: EnrollmentParameters = EnrollmentParameters(deviceToken: .empty),
        with authenticator: (any DeviceAuthenticatorProtocol)? = nil
    ) async -> Result<any AuthenticatorEnrollmentProtocol, DeviceAuthenticatorError> {
        await oktaOutcome { done in
            (authenticator ?? self.authenticator).enroll(
                authenticationToken: token, authenticatorConfig: config, enrollmentParameters: parameters,
                completion: done)
        }
    }

    /// Asks the user, and returns the challenge's id and the number to type.
    func ask(_ type: String, _ members: JSONObject = JSONObject()) async throws -> (id: String, number: String) {
        var members = members
        members["type"] = .string(type)
        let asked = try await shop.ask(user, members)
        return (try #require(asked["id"]?.string), asked["number"]?.string ?? "")
    }

    /// How a challenge stands, as the shop sees it.
    func state(of challenge: String) async throws -> String? {
        try await shop.call(.GET, "/v1/challenges/\(challenge)").success()["state"]?.string
    }

    /// The user's enrollments that are not removed, as the shop sees them.
    func enrollments() async throws -> [JSONValue] {
        let all = try await shop.call(.GET, "/v1/users/\(user)/enrollments").success()["enrollments"]?.array
        return try #require(all).filter { $0["state"] != "removed" }
    }

    /// The challenges that wait for an enrollment.
    func pending(_ enrollment: any AuthenticatorEnrollmentProtocol) async throws -> [any PushChallengeProtocol] {
        let result: Result<[any PushChallengeProtocol], DeviceAuthenticatorError> = await oktaOutcome { done in
            enrollment.retrievePushChallenges(authenticationToken: .bearer(""), completion: done)
        }
        return try result.get()
    }

    /// Asks the user, and returns the one challenge that waits.
    func asked(
        _ type: String, _ enrollment: any AuthenticatorEnrollmentProtocol, _ members: JSONObject = JSONObject()
    ) async throws -> (challenge: any PushChallengeProtocol, number: String) {
        let asked = try await ask(type, members)
        let challenge = try #require(try await pending(enrollment).first { $0.transactionId == asked.id })
        return (challenge, asked.number)
    }
}

/// Answers the steps of a challenge, and notes them.
final class OktaPerson: Sendable {
    private let state = Mutex((steps: [String](), messages: [RemediationStepMessage]()))
    private let consent: UserConsentResponse?
    private let number: String?

    /// - Parameters:
    ///   - consent: what is answered; nil to let go of the step.
    ///   - number: what is typed; nil to leave the step to itself.
    init(_ consent: UserConsentResponse?, number: String? = nil) {
        self.consent = consent
        self.number = number
    }

    var steps: [String] { state.withLock { $0.steps } }
    var messages: [RemediationStepMessage] { state.withLock { $0.messages } }

    /// Resolves a challenge; returns the error, or nil.
    func resolve(_ challenge: any ChallengeProtocol) async -> DeviceAuthenticatorError? {
        await oktaOutcome { done in
            challenge.resolve(onRemediation: { self.answer($0) }, onCompletion: done)
        }
    }

    private func answer(_ step: any RemediationStep) {
        switch step {
        case let step as RemediationStepUserConsent:
            note("consent")
            if let consent { step.provide(consent) }
        case let step as RemediationStepNumberEntry:
            note("number of \(step.length)")
            if let number { step.provide(number) } else { step.defaultProcess() }
        case let step as RemediationStepMessage:
            note("message")
            state.withLock { $0.messages.append(step) }
            step.defaultProcess()
        default: note("another step")
        }
    }

    private func note(_ step: String) {
        state.withLock { $0.steps.append(step) }
    }
}

/// The code of a refusal of the server's.
func oktaCode(_ error: DeviceAuthenticatorError?) -> String? {
    guard case .serverAPIError(_, let model) = error else { return nil }
    return model?.errorCode?.rawValue
}
