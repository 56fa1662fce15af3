import CountersignWire
import Testing

@testable import CountersignCore

// Spec: docs/protocol/jwk-devices.md, *Events*.
@Suite("A text that a device of an app has signed that was written for Cotter is good once")
struct SignedEventOnceTests {
    @Test("It is remembered for as long as another question of the same second may be open: a day")
    func remembered() throws {
        let device = try #require(EnrollmentID("enr_01m7yfdvpt5prmr79m8dcgymep"))
        let name = try #require(EventName("LOGIN"))
        let asked: Int64 = 1_795_169_702
        func once(isApproved: Bool) -> ReplayGuard {
            SignedEvent(
                user: "1014", client: "cli_01m7yfdqve7kp86cjznhx1qer1", name: name, timestamp: asked,
                isApproved: isApproved
            ).once(by: device)
        }
        #expect(once(isApproved: true).until > Timestamp(seconds: asked).adding(.days(1)))
        #expect(once(isApproved: true).text == once(isApproved: true).text)
        #expect(once(isApproved: true).text != once(isApproved: false).text)
    }
}
