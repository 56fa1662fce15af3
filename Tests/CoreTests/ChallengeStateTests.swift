import CountersignWire
import Testing

@testable import CountersignCore

@Suite("The states of a challenge")
struct ChallengeStateTests {
    static let device = EnrollmentID(at: Timestamp(seconds: 1), random: [UInt8](repeating: 1, count: 10))
    static let outcomes: [ChallengeOutcome] = [
        .approved(.confirm, by: device), .denied(by: device), .reported(by: device), .failed(.wrongNumber),
        .failed(.deviceRemoved), .cancelled, .expired, .entered, .failed(.deviceSuspended),
    ]
    static let expiresAt = Timestamp(milliseconds: 1_000_000)

    @Test(
        "Pending × every event: only expiry from the very millisecond of expiry on, everything but expiry before it",
        arguments: outcomes, [-100_000, -1, 0, 1, 100_000] as [Int64])
    func pending(_ event: ChallengeOutcome, _ offset: Int64) throws {
        let now = Timestamp(milliseconds: Self.expiresAt.milliseconds + offset)
        let isAllowed: Bool
        switch event {
        case .expired: isAllowed = offset >= 0
        case .approved, .entered, .denied, .reported, .failed, .cancelled: isAllowed = offset < 0
        }
        if isAllowed {
            let state = try ChallengeState.pending.applying(event, at: now, expiresAt: Self.expiresAt)
            #expect(state == .ended(event, at: now))
        } else {
            #expect(throws: ChallengeState.IllegalTransition(state: .pending)) {
                try ChallengeState.pending.applying(event, at: now, expiresAt: Self.expiresAt)
            }
        }
    }

    @Test(
        "Approved by a link × every event: that very approval, a cancellation, the device removed or suspended, the end of time",
        arguments: outcomes + [.approved(.pin, by: device)], [-1, 0] as [Int64])
    func returning(_ event: ChallengeOutcome, _ offset: Int64) throws {
        let now = Timestamp(milliseconds: Self.expiresAt.milliseconds + offset)
        let state = ChallengeState.returning(.confirm, by: Self.device)
        let allowed: [ChallengeOutcome] =
            offset < 0
            ? [
                .approved(.confirm, by: Self.device), .cancelled, .failed(.deviceRemoved), .failed(.deviceSuspended),
            ] : [.expired]
        if allowed.contains(event) {
            #expect(
                try state.applying(event, at: now, expiresAt: Self.expiresAt) == .ended(event, at: now))
        } else {
            #expect(throws: ChallengeState.IllegalTransition(state: state)) {
                try state.applying(event, at: now, expiresAt: Self.expiresAt)
            }
        }
        #expect(state.status == ChallengeState.pending.status && !state.isEnded)
    }

    @Test("Ended × every event: nothing changes an end, at any time", arguments: outcomes, outcomes)
    func ended(_ outcome: ChallengeOutcome, _ event: ChallengeOutcome) {
        let state = ChallengeState.ended(outcome, at: Timestamp(milliseconds: 500_000))
        for time: Int64 in [0, 500_000, 999_999, 1_000_000, 2_000_000] {
            #expect(throws: ChallengeState.IllegalTransition(state: state)) {
                try state.applying(event, at: Timestamp(milliseconds: time), expiresAt: Self.expiresAt)
            }
        }
    }

    @Test("Every outcome has its own words, method and decider")
    func words() {
        let expected: [(String, String?, String?, EnrollmentID?)] = [
            ("approved", nil, "confirm", Self.device), ("denied", "declined", nil, Self.device),
            ("denied", "reported", nil, Self.device), ("failed", "wrong_number", nil, nil),
            ("failed", "device_removed", nil, nil), ("cancelled", nil, nil, nil), ("expired", nil, nil, nil),
            ("approved", nil, "text_code", nil), ("failed", "device_suspended", nil, nil),
        ]
        #expect(expected.count == Self.outcomes.count)
        for (outcome, words) in zip(Self.outcomes, expected) {
            #expect(outcome.state == words.0)
            #expect(outcome.reason == words.1)
            #expect(outcome.method == words.2)
            #expect(outcome.decidedBy == words.3)
            #expect(
                ChallengeState.ended(outcome, at: Self.expiresAt).status
                    == ChallengeStatus(state: words.0, reason: words.1))
        }
        #expect(ChallengeState.pending.status == ChallengeStatus(state: "pending", reason: nil))
        #expect(
            Set(Self.outcomes.map(\.auditKind)).count == Self.outcomes.count - 3, "failures share one, and approvals")
    }
}
