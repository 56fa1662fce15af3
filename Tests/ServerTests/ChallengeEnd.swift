import CountersignWire
import NIOHTTP1
import ServerTestSupport
import Testing

/// Every way in which a challenge can end.
enum ChallengeEnd: CaseIterable, Sendable {
    case approved, denied, reported, wrongNumber, cancelled, expired, deviceRemoved

    /// Brings a challenge to this end, and returns how it must then stand.
    func bring(
        _ asked: (id: String, number: String), _ scene: Scene
    ) async throws -> (state: String, reason: String?) {
        switch self {
        case .approved:
            #expect(try await scene.approve(asked).status == 200)
            return ("approved", nil)
        case .denied:
            #expect(try await scene.phone.answer(asked.id, .denied).status == 200)
            return ("denied", "declined")
        case .reported:
            #expect(try await scene.phone.answer(asked.id, .reported).status == 200)
            return ("denied", "reported")
        case .wrongNumber:
            let other = asked.number == "000000" ? "000001" : "000000"
            #expect(try await scene.approve((asked.id, other)).status == 200)
            return ("failed", "wrong_number")
        case .cancelled:
            #expect(try await scene.shop.call(.DELETE, "/v1/challenges/\(asked.id)").status == 200)
            return ("cancelled", nil)
        case .expired:
            // As long as a challenge of this type lives, and a second.
            scene.server.clock.advance(seconds: 121)
            return ("expired", nil)
        case .deviceRemoved:
            let device = "/v1/users/\(scene.user)/enrollments/\(scene.phone.enrollment)"
            #expect(try await scene.shop.call(.DELETE, device).status == 204)
            return ("failed", "device_removed")
        }
    }
}
