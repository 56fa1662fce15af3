import AsyncHTTPClient
import Countersign
import Crypto
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

/// The real program while the services that receive its messages hang: they neither answer nor refuse.
@Suite("A push service, a mail server and a receiver of callbacks that hang lose nothing and slow no approval")
struct OutageTests {
    private static let app = "com.example.bank"
    /// How many pushes and mails must wait: more than the server sends concurrently.
    private static let pushes = 80
    private static let mails = 40
    /// The number of approvals that are timed before the outage, and the minimum during it.
    private static let timed = 40

    /// How long the services hang, in seconds.
    private static var seconds: Double {
        ProcessInfo.processInfo.environment["COUNTERSIGN_OUTAGE_SECONDS"].flatMap { Double($0) } ?? 20
    }

    @Test(
        "Issue 5: approvals take as long as before, and afterwards every callback, push and mail arrives",
        .enabled(if: SMTPPeerProcess.isPresent, "\(SMTPPeerProcess.absence)"),
        .timeLimit(.minutes(15)))
    func hang() async throws {
        let folder = try TemporaryFolder()
        let key = P256.Signing.PrivateKey()
        let peer = try await PushPeerProcess(
            "apns", key: Array(key.publicKey.pemRepresentation.utf8), ["TEAM123456", "KEY1234567", Self.app])
        try await peer.beQuiet()
        let mail = try await SMTPPeerProcess()
        let keyFile = try folder.write("AuthKey_KEY1234567.p8", Array(key.pemRepresentation.utf8))
        let keeper = try ServerKeeper(
            folder: folder, port: FreePort.next(),
            arguments: [
                "--apns-team", "TEAM123456", "--apns-key-id", "KEY1234567", "--apns-key-file", keyFile, "--apns-apps",
                Self.app, "--apns-url", peer.url, "--apns-authorities", peer.authorities, "--smtp-host", "localhost",
                "--smtp-port", "\(mail.port)", "--smtp-security", "none", "--smtp-from", "login@example.com",
            ])
        let http = PersistentCaller.makeClient()
        let receiver = CallbackReceiver(random: SeededGenerator(seed: 1))
        let result = await Result {
            try await receiver.listening { port in
                try await keeper.start()
                let scene = try await Scene(
                    keeper: keeper, data: keeper.data, http: http, receiver: receiver, port: port, folder: folder)
                try await run(scene, receiver, peer, mail, token: try Self.token(in: keeper.data))
                #expect(try await keeper.leaks.map(\.description) == [])
            }
        }
        if case .failure = result { print("the server's last words: \(await keeper.lastWords)") }
        try? await keeper.stop()
        try await http.shutdown()
        // A suspended process does not notice that its input ends.
        peer.resume()
        mail.resume()
        try await peer.end()
        try await mail.end()
        try result.get()
    }

    private static func token(in data: String) throws -> String {
        try String(contentsOfFile: "\(data)/bootstrap.token", encoding: .utf8).trimmingCharacters(
            in: .whitespacesAndNewlines)
    }

    private func run(
        _ scene: Scene, _ receiver: CallbackReceiver, _ peer: PushPeerProcess, _ mail: SMTPPeerProcess, token: String
    ) async throws {
        for phone in scene.phones {
            let token = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
            try await phone.authenticator.registerPush(token: token, app: Self.app, environment: .production)
        }
        let holders = Task {
            await withDiscardingTaskGroup { group in
                for phone in scene.phones { group.addTask { await phone.work() } }
            }
        }
        defer { holders.cancel() }
        var approved: [String] = []
        // The first approvals are slower, because they open connections.
        _ = try await approvals(in: scene, named: "warm", Self.timed / 2, until: .now, &approved)
        let before = try await approvals(in: scene, named: "before", Self.timed, until: .now, &approved)

        // More pushes hang than the server sends concurrently, but callbacks still leave at once.
        peer.hold()
        // These are asked during the outage, and stay open until after it.
        var open: [String] = []
        for number in 0..<Self.pushes {
            let portal = scene.portals[number % scene.portals.count]
            open.append(try await portal.ask("open-\(number)", planned: .ignore, lifetime: 600).id)
        }
        _ = try await approvals(in: scene, named: "alone", scene.portals.count, until: .now, &approved)
        let begin = ContinuousClock.now
        await receiver.arrival(of: approved).wait()
        let callbacks = ContinuousClock.now - begin
        #expect(callbacks < .seconds(5))

        receiver.hang(true)
        mail.hold()
        for number in 0..<Self.mails {
            let body = JSONValue.members(["email": .string("person-\(number)@example.com")])
            _ = try await scene.caller.call(.POST, "/v1/admin/messages", body.encoded, authorization: "Bearer \(token)")
                .success()
        }
        let end = ContinuousClock.now + .seconds(Self.seconds)
        let meanwhile = try await approvals(in: scene, named: "meanwhile", Self.timed, until: end, &approved)
        let unanswered = Set(approved).subtracting(receiver.callbacks.keys)
        peer.resume()
        mail.resume()
        receiver.hang(false)

        func milliseconds(_ duration: Duration) -> String { "\((duration / .milliseconds(1)).rounded()) ms" }
        print(
            "outage test: \(Self.seconds) s; an approval took \(milliseconds(before.median)) before and "
                + "\(milliseconds(meanwhile.median)) meanwhile, 95 % within \(milliseconds(before.at95)) and "
                + "\(milliseconds(meanwhile.at95)) (\(before.count) and \(meanwhile.count) of them); "
                + "callbacks came within \(milliseconds(callbacks)) while pushes alone hung; "
                + "\(unanswered.count) callbacks, \(open.count) pushes and \(Self.mails) mails had to wait")
        #expect(unanswered.count >= Self.timed, "callbacks had to wait")
        #expect(meanwhile.median <= before.median * 1.5 + .milliseconds(10))
        // All pending attempts time out at the same moment, which takes a debug build a while.
        #expect(meanwhile.at95 <= before.at95 * 2 + .milliseconds(150))

        await receiver.arrival(of: approved).wait()
        #expect(receiver.violations == [])
        #expect(receiver.callbacks.values.allSatisfy { $0.count == 1 }, "each end is told under one id")
        var missing = Set(open)
        while !missing.isEmpty {
            missing.subtract(try await peer.noted().keys)
            try await Task.sleep(for: .milliseconds(100))
        }
        // Each mail arrives at least once.
        var mails: Set<String> = []
        while mails.count < Self.mails { mails.insert(try await mail.arrival()["to"]?.array?.first?.string ?? "") }
        #expect(await scene.ledger.violations == [])
    }

    /// Asks and approves one challenge after the other, and measures each from the request until the portal is
    /// notified.
    private func approvals(
        in scene: Scene, named name: String, _ least: Int, until end: ContinuousClock.Instant,
        _ approved: inout [String]
    ) async throws -> Times {
        var times: [Duration] = []
        while times.count < least || ContinuousClock.now < end {
            let portal = scene.portals[times.count % scene.portals.count]
            let user = portal.users[times.count / scene.portals.count % portal.users.count]
            let begin = ContinuousClock.now
            let asked = try await portal.ask("\(name)-\(times.count)", user: user, planned: .approve)
            let reply = try await scene.caller.call(
                .GET, "/v1/challenges/\(asked.id)?wait=10", authorization: portal.shop.authorization)
            times.append(ContinuousClock.now - begin)
            #expect(reply.json["state"] == "approved", "\(reply)")
            approved.append(asked.id)
        }
        return Times(times)
    }

    private struct Times {
        let count: Int
        let median: Duration
        let at95: Duration

        init(_ times: [Duration]) {
            let sorted = times.sorted()
            count = sorted.count
            median = sorted[sorted.count / 2]
            at95 = sorted[sorted.count * 95 / 100]
        }
    }
}
