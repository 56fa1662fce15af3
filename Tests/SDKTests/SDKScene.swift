import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

/// An app with the SDK, enrolled for a user of a client at a fresh server.
struct SDKScene: Sendable {
    let server: TestServer
    let shop: Caller
    let user: String
    let vault: any Vault
    let transport: FaultyTransport
    let clock: SkewedClock
    let authenticator: Authenticator
    let enrollment: Enrollment

    /// Runs something in a fresh scene.
    ///
    /// - Parameters:
    ///   - vault: where the app keeps its keys.
    ///   - seconds: how far the device's clock is ahead.
    ///   - pinPolicy: the rules for PINs, besides the least cost, which saves the tests' time.
    ///   - body: what to run.
    static func with(
        vault: any Vault = MemoryVault(), clockAheadBy seconds: Int64 = 0, pinPolicy: JSONObject = JSONObject(),
        _ body: @escaping @Sendable (SDKScene) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            let policy: JSONValue = ["max_pending": 1000, "max_asks": 1000, "denial_pause": 0]
            _ = try await server.administrator.call(.PUT, "/v1/admin/types/payment", policy).success()
            var pins = pinPolicy
            pins["cost"] = 15
            let shop = try await server.makeClient(
                "ACME Shop", ["waive_enrollment_approval": true, "pin_policy": .object(pins)])
            let typed: JSONValue = [
                "methods": ["pin"], "max_pending": 1000, "max_asks": 1000, "denial_pause": 0, "number_entry": false,
            ]
            _ = try await server.administrator.call(.PUT, "/v1/admin/types/typed", typed).success()
            let user = try await shop.makeUser("customer-1")
            let transport = FaultyTransport()
            let clock = SkewedClock(of: server.clock, aheadBy: seconds)
            let authenticator = try await authenticator(server, vault, transport, clock)
            let enrollment = try await authenticator.enroll(with: .ticket(try await shop.makeTicket(for: user)))
            try await body(
                SDKScene(
                    server: server, shop: shop, user: user, vault: vault, transport: transport, clock: clock,
                    authenticator: authenticator, enrollment: enrollment))
        }
    }

    static func authenticator(
        _ server: TestServer, _ vault: any Vault, _ transport: any Transport, _ clock: any DeviceClock,
        returnSchemes: Set<String> = [], app: AppDescription? = nil
    ) async throws -> Authenticator {
        let app =
            app ?? AppDescription(name: "Acme", version: "3.1", deviceName: "Test phone", model: "M", system: "Linux")
        return try await Authenticator(
            issuer: try #require(URL(string: "\(server.issuer)")), app: app, vault: vault,
            transport: WatchedTransport(base: transport, watch: server.watch), clock: clock,
            returnSchemes: returnSchemes)
    }

    /// The app after it was ended and started again.
    func relaunched(
        vault: (any Vault)? = nil, returnSchemes: Set<String> = [], app: AppDescription? = nil
    ) async throws -> Authenticator {
        try await Self.authenticator(
            server, vault ?? self.vault, transport, clock, returnSchemes: returnSchemes, app: app)
    }

    /// A challenge as the shop knows it.
    struct Asked: Sendable {
        let id: ChallengeID
        let number: String
        var path: String { "/v1/challenges/\(id)" }
        var wrongNumber: String { EntryNumber(value: ((UInt32(number) ?? 0) + 1) % 1_000_000).digits }
    }

    /// Asks the user something with a number to type.
    func ask(_ members: JSONObject = JSONObject(), user: String? = nil) async throws -> Asked {
        let asked = try await shop.ask(user ?? self.user, members)
        return Asked(
            id: try #require(asked["id"]?.string.flatMap { ChallengeID($0) }),
            number: asked["number"]?.string ?? "")
    }

    /// The challenge, opened by the app.
    func open(_ asked: Asked) async throws -> OpenedChallenge {
        try await authenticator.open(asked.id, for: enrollment.id)
    }

    /// Denies while every answer gets lost, until it is cancelled: what is left is an answer that nobody has got.
    func denyInVain(_ question: OpenedChallenge) async {
        await answerInVain { try await question.deny() }
        transport.happen(nil)
    }

    /// Answers while every answer gets lost, until it is cancelled; they get lost from then on.
    func answerInVain(_ answer: @escaping @Sendable () async throws -> Void) async {
        transport.loseRequests(.max, to: "/answer")
        let task = Task { await code { try await answer() } }
        while transport.requests(to: "/answer").isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.value == "cancelled")
    }

    /// How a challenge stands, as the shop sees it, once it has ended or after some seconds.
    func status(of asked: Asked, waiting seconds: Int = 0) async throws -> ChallengeStatus {
        try ChallengeStatus(try await shop.call(.GET, "\(asked.path)?wait=\(seconds)").success())
    }

    /// Removes the app's enrollment at the server.
    func removeAtServer() async throws {
        let reply = try await shop.call(.DELETE, "/v1/users/\(user)/enrollments/\(enrollment.id)")
        #expect(reply.status == 204, "\(reply)")
    }

    /// Whether the vault holds all keys of the enrollment.
    func holdsKeys() async throws -> Bool {
        let keys: [Any?] = [
            try await vault.signingKey(.primary, of: enrollment.id),
            try await vault.signingKey(.authentication, of: enrollment.id),
            try await vault.agreementKey(.encryption, of: enrollment.id),
        ]
        return keys.allSatisfy { $0 != nil }
    }
}

/// The code of the error that something throws; "" when it throws none.
func code(_ body: @Sendable () async throws -> Void) async -> String {
    do {
        try await body()
        return ""
    } catch let error as CountersignError {
        return error.code
    } catch {
        return "not ours: \(error)"
    }
}
