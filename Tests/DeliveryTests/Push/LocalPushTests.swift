import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@Suite("Pushes to a program on the server's own machine")
struct LocalPushTests {
    private static let path = String(repeating: "0badc0de", count: 4)

    /// Runs something with a program that answers so.
    private func with(
        _ statuses: [Int], _ body: (PushScene, Receiver) async throws -> Void
    ) async throws {
        try await Receiver.with {
            .status(statuses[min($0, statuses.count - 1)])
        } _: { receiver, base in
            let port = base.split(separator: ":").last ?? ""
            let token = "\(port):\(Self.path)"
            try await PushScene.with(
                authorities: nil, token: token,
                pushes: { client, _ in PushSender(local: LocalPushSender(client: client)) }
            ) { scene in
                try await scene.device.register(.local, token: token)
                try await body(scene, receiver)
            }
        }
    }

    @Test("It gets what Apple's devices get")
    func announces() async throws {
        try await with([200]) { scene, receiver in
            let challenge = try await scene.ask()
            try await scene.deliver()
            let call = try #require(receiver.calls.first)
            #expect(call.line == "POST /\(Self.path) HTTP/1.1")
            let envelope = try PushEnvelope(
                verifying: try JSONValue(parsing: call.body), issuer: scene.world.ports.issuer,
                enrollment: scene.device.enrollment, keys: try scene.world.issuerKeys.pushKeys,
                now: scene.world.time.now, skew: 0)
            #expect(envelope.challenge == challenge.id)
            #expect(try await scene.status(of: challenge) == .accepted)
        }
    }

    @Test("One that fails is tried again; one that is another program by now is given up")
    func fails() async throws {
        try await with([500, 200, 404]) { scene, _ in
            let challenge = try await scene.ask()
            try await scene.deliver()
            #expect(try await scene.status(of: challenge) == .queued(lastFailure: "the program answered 500"))
            scene.world.time.advance(seconds: 5)
            try await scene.deliver()
            #expect(try await scene.status(of: challenge) == .accepted)
            let other = try await scene.ask()
            try await scene.deliver()
            #expect(try await scene.status(of: other) == .failed(reason: "the program answered 404"))
            #expect(try await !scene.isRegistered)
        }
    }

    @Test("Where there is more than this machine nothing is sent there")
    func notSetUp() async throws {
        let token = "8080:\(Self.path)"
        try await PushScene.with(authorities: nil, token: token, pushes: { _, _ in PushSender() }) { scene in
            try await scene.device.register(.local, token: token)
            let challenge = try await scene.ask()
            try await scene.deliver()
            let reason = "pushes on the server's own machine are for development alone"
            #expect(try await scene.status(of: challenge) == .failed(reason: reason))
        }
    }
}
