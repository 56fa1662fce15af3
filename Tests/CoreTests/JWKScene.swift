import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A user with a phone of ours and a device of another vendor, whose client may ask both.
struct JWKScene: Sendable {
    let world: World
    let shop: Client
    let user: UserID
    let phone: TestDevice
    let device: TestJWKDevice

    init(_ engine: Engine = .chosen, _ kind: TestJWKDevice.Kind = .p256, seed: UInt64 = 1) async throws {
        world = try await World(engine, seed: seed)
        shop = try await world.makeClient(waives: true).client
        user = try await world.makeUser(of: shop)
        phone = try await world.makeDevice(of: user, by: shop)
        device = try await world.makeJWKDevice(of: user, by: shop, kind, verifies: true)
        try await world.makeWeakType()
    }

    func ask(
        _ type: String = "tap", _ change: (inout AskChallenge.Request) throws -> Void = { _ in }
    ) async throws -> AskedChallenge {
        var request = try world.request(for: user, type: type)
        try change(&request)
        return try await world.ask(request, by: shop)
    }

    /// The same question, put to the device as well, as only a fault of ours could.
    func force(_ asked: AskedChallenge) async throws {
        try await world.sql(
            """
            INSERT INTO challenge_targets (challenge_id, enrollment_id)
            VALUES ('\(asked.challenge.id)', '\(device.enrollment)')
            """)
    }

    /// The device's enrollment as it is now.
    func enrollment() async throws -> Enrollment {
        let id = device.enrollment
        return try #require(try await world.store.read { try $0.enrollments.find(id) })
    }

    func state(_ asked: AskedChallenge) async throws -> String {
        try await world.challenge(asked).state.status.state
    }

    /// What was refused, by the audit.
    func refusals() async throws -> [String?] {
        try await world.audit().filter { $0.kind == .answerRefused }.map { $0.detail["reason"]?.string }
    }

    /// A call of the device, as a door makes it that authenticates such devices in another way.
    func call() -> DeviceCall {
        let text = "\(world.newID() as EventID)"
        return DeviceCall(
            enrollment: device.enrollment, of: user,
            replayGuard: ReplayGuard(text, of: "door", until: world.time.now.adding(60)))
    }
}
