import CountersignCore
import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@Suite("Of many devices that present a code at once, one has it")
struct ClaimRaceTests {
    @Test("Eight at once, and one of them twice", arguments: Engine.allCases)
    func race(_ engine: Engine) async throws {
        let world = try await World(engine)
        try await world.makeType("scan", numberEntry: false, channel: .code)
        let shop = try await world.makeClient(waives: true).client
        var devices: [TestDevice] = []
        for _ in 0..<7 {
            devices.append(try await world.makeDevice(of: try await world.makeUser(of: shop), by: shop))
        }
        devices.append(devices[0])
        let asked = try await world.ask(try world.request(for: nil, type: "scan"), by: shop)
        let code = try #require(asked.code).code
        var calls: [DeviceCall] = []
        for device in devices { calls.append(try await device.call()) }
        let outcomes = try await atOnce(8) { [calls] number in
            switch try await ClaimChallenge.claim(code, by: calls[number], ports: world.ports) {
            case .claimed: true
            case .alreadyClaimed: false
            default: throw World.Broken("claim")
            }
        }
        let targets = try await world.store.read { try $0.targets.all(of: asked.challenge.id) }
        let winner = try #require(targets.first)
        #expect(targets.count == 1)
        #expect(outcomes == devices.map { $0.enrollment == winner }, "the one that has it is told so, each time")
        let claimed = try #require(try await world.store.read { try $0.challenges.find(asked.challenge.id) })
        #expect(claimed.user == devices.first { $0.enrollment == winner }?.invitation.user)
        #expect(try await world.audit().filter { $0.kind == .challengeClaimed }.count == 1)
    }
}
