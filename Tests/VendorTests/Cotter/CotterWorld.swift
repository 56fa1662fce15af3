import Cotter
import Countersign
import CountersignPrompts
import CountersignServer
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Synchronization
import TestSupport
import Testing
import UIKitStandIn

/// A server with a shop, the shop's app, and a person; and the app on devices of theirs.
struct CotterWorld: Sendable {
    static let address = "hello@example.com"
    /// What an app has as its secret key.
    static let secret = "588d6f67-0981-4718-899b-bcd512de1aca"

    let server: TestServer
    let shop: Caller
    let user: String
    private let port: Int

    /// Runs something in a fresh world.
    ///
    /// - Parameters:
    ///   - issuer: the server's public address, where it is not that of this machine.
    ///   - body: what to run.
    @MainActor
    static func with(
        issuer: String? = nil, _ body: @escaping @MainActor @Sendable (CotterWorld) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let port = FreePort.next()
        try await TestServer.with(
            dataFolder: folder.path("data"), port: port,
            settings: { if let issuer { $0.issuer = Issuer(issuer) } }
        ) { server in
            let shop = try await server.makeClient("ACME Shop")
            let settings: JSONValue = [
                "profile": "native", "redirect_uris": ["http://127.0.0.1/callback"], "asked_browsers": "all",
                "device_grant": true, "device_login_hint": true,
            ]
            let path = "/v1/admin/clients/\(shop.clientID)/openid"
            _ = try await server.administrator.call(.PUT, path, settings).success()
            let user = try await shop.makeUser("customer-1")
            _ = try await shop.call(.PATCH, "/v1/users/\(user)", ["email": .string(address)]).success()
            try await body(CotterWorld(server: server, shop: shop, user: user, port: port))
        }
    }

    /// The settings of the app on a new device, which enrolls by the shop's tickets.
    @MainActor
    private var settings: CotterSettings {
        var settings = CotterSettings()
        settings.clientID = shop.clientID
        settings.redirectURI = URL(string: "http://127.0.0.1:50123/callback")
        settings.app = AppDescription(name: "Acme", version: "3.1", deviceName: "Test phone")
        settings.vault = MemoryVault()
        settings.transport = transport()
        settings.clock = ServerTime(clock: server.clock)
        settings.ticket = { [shop, user] _ in try await shop.makeTicket(for: user) }
        return settings
    }

    /// What brings the app's requests to where the server listens.
    func transport() -> CotterTransport { CotterTransport(from: "\(server.issuer)", to: "http://127.0.0.1:\(port)") }

    /// The app on a new device, of this person or of another user of the app.
    @MainActor
    func device(
        _ userID: String = CotterWorld.address, _ change: (inout CotterSettings) -> Void = { _ in }
    ) -> CotterDevice {
        var settings = settings
        change(&settings)
        return CotterDevice(userID, settings, at: "\(server.issuer)/api/v0")
    }

    /// The app on a new device, which is trusted.
    @MainActor
    func trustedDevice(_ change: (inout CotterSettings) -> Void = { _ in }) async throws -> CotterDevice {
        let device = device(Self.address, change)
        let told = Told()
        device.cotter.registerNewDevice(vc: device.screen, cb: told.callback)
        try #require(try await told.once().error == nil)
        return device
    }

    /// Whether the app that was configured last is on a trusted device of a user of the app.
    @MainActor
    func isTrusted(_ userID: String = CotterWorld.address) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            CotterAPIService.shared.getTrustedDeviceStatus(clientUserID: userID) { result in
                continuation.resume(with: result.map(\.enrolled).mapError { $0 as any Error })
            }
        }
    }

    /// A trusted phone of the person's, with an app of its own.
    func phone() async throws -> Authenticator {
        let phone = try await Authenticator(
            issuer: try #require(URL(string: "\(server.issuer)")),
            app: AppDescription(name: "Acme", version: "3.1", deviceName: "Phone"), vault: MemoryVault(),
            transport: transport(), clock: ServerTime(clock: server.clock))
        _ = try await phone.enroll(with: .ticket(try await shop.makeTicket(for: user)))
        return phone
    }
}

extension Authenticator {
    /// What this phone is asked, as soon as the server has put it there.
    func asked() async throws -> OpenedChallenge {
        while true {
            if let pending = try await pendingChallenges().first { return try await pending.open() }
            try await Task.sleep(for: .milliseconds(25))
        }
    }
}

/// The server's clock as a device's.
private struct ServerTime: DeviceClock {
    let clock: TestClock

    var millisecondsSince1970: Int64 { clock.now.milliseconds }
}

/// Brings requests from the server's public address to where it listens, and notes what is sent.
final class CotterTransport: Transport {
    private struct Lost: Error {}

    private let base = URLSessionTransport()
    private let issuer: String
    private let place: String
    private let sent = Mutex<[TransportRequest]>([])
    private let isDown = Mutex(false)

    init(from issuer: String, to place: String) {
        self.issuer = issuer
        self.place = place
    }

    /// What was sent, in order.
    var requests: [TransportRequest] { sent.withLock { $0 } }
    /// How many forms were sent for tokens; one that needs a nonce is sent twice.
    var tokenForms: Int { Set(requests.filter { $0.url.path.hasSuffix("/token") }.compactMap(\.body)).count }

    /// Has every request fail from now on, or none any more.
    func fail(_ fails: Bool = true) { isDown.withLock { $0 = fails } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        sent.withLock { $0.append(request) }
        if isDown.withLock({ $0 }) { throw Lost() }
        var request = request
        let path = request.url.absoluteString.dropFirst(issuer.count)
        request.url = try #require(URL(string: "\(place)\(path)"))
        return try await base.send(request)
    }
}

/// The app on a device.
@MainActor
struct CotterDevice {
    let cotter: Cotter
    let settings: CotterSettings
    let screen = UIViewController()

    init(_ userID: String, _ settings: CotterSettings, at url: String) {
        self.settings = settings
        Cotter.settings = settings
        cotter = Cotter(
            apiSecretKey: CotterWorld.secret, apiKeyID: "w4FK6Zz0XIhtGY3o5biI", cotterURL: url, userID: userID,
            configuration: [:])
        Stage.root = screen
    }

    /// The prompt on the screen; nil for none.
    var shown: PromptController? { screen.presentedViewController as? PromptController }

    /// What a test waited for does not come.
    struct NotShown: Error {}

    /// The prompt on the screen, as soon as there is one.
    func prompt() async throws -> PromptController { try await within { self.shown } }

    /// The prompt of the waiting device, as soon as it shows its number, and the number.
    func number() async throws -> (prompt: PromptController, number: String) {
        try await within {
            guard let shown = self.shown, let code = shown.screen.code else { return nil }
            return (shown, code.written.filter(\.isNumber))
        }
    }

    /// What is there within a minute, which a slow machine needs seldom.
    private func within<Value>(_ look: () -> Value?) async throws -> Value {
        for _ in 0..<6000 {
            if let value = look() { return value }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw NotShown()
    }

    /// The question that a call shows, as soon as there is one to be shown.
    func question(
        _ call: (@escaping FinalAuthCallback) -> Void
    ) async throws -> (prompt: PromptController, model: ApprovePromptModel, told: Told) {
        while true {
            let told = Told()
            call(told.callback)
            while told.calls.isEmpty {
                if let shown, let model = shown.model as? ApprovePromptModel, model.question != nil {
                    // A question takes no answer in its first moment.
                    try await Task.sleep(for: ApprovePromptModel.readingTime + .milliseconds(50))
                    return (shown, model, told)
                }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}

extension CotterError {
    /// What a callback is told of an error of the SDK about this device.
    static func device(_ error: CountersignError) -> CotterError { .trustedDevice("\(error)") }
    /// What a callback is told of an error of the SDK about a sign-in.
    static func signIn(_ error: CountersignError) -> CotterError { .auth("\(error)") }
}

/// What a callback was told.
@MainActor
final class Told {
    private(set) var calls: [(token: String, error: CotterError?)] = []

    var callback: FinalAuthCallback {
        { token, error in self.calls.append((token, error as? CotterError)) }
    }

    /// What it was told, which happens once.
    func once() async throws -> (token: String, error: CotterError?) {
        while calls.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        // A second call would come soon.
        try await Task.sleep(for: .milliseconds(100))
        #expect(calls.count == 1)
        return try #require(calls.first)
    }
}

/// A clock by which waiting takes no time.
final class QuickClock: PromptClock {
    private let time = Mutex(Duration.zero)
    private let asked = Mutex<[Duration]>([])

    var now: Duration { time.withLock { $0 } }
    /// For how long somebody wanted to wait, in order.
    var waits: [Duration] { asked.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        asked.withLock { $0.append(duration) }
        time.withLock { $0 += duration }
        await Task.yield()
    }
}
