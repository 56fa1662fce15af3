import Countersign

/// A software device that answers by itself, which no person's device may.
struct Approver: Sendable {
    /// What the suite wants.
    enum Action: String {
        case allow
        case deny
    }

    /// What came of it.
    enum Outcome {
        /// The challenge of this id is answered.
        case answered(String)
        /// Nothing waited for an answer.
        case nothingWaits
        /// The challenge could not be answered so.
        case failed(String)
    }

    /// How long a question takes at most to reach the device after the client's server has its reply.
    private static let patience = Duration.seconds(10)
    /// What waits at first may be from an earlier request.
    private static let pause = Duration.seconds(1)

    let authenticator: Authenticator

    /// Answers the newest challenge that waits.
    ///
    /// A device knows no `auth_req_id`, so that the suite must have one request at a time.
    func answer(_ action: Action) async throws -> Outcome {
        let end = ContinuousClock.now + Self.patience
        try await Task.sleep(for: Self.pause)
        repeat {
            do throws(CountersignError) {
                if let pending = try await authenticator.pendingChallenges().first {
                    let opened = try await pending.open()
                    switch action {
                    case .allow: try await opened.approve(with: .confirmation)
                    case .deny: try await opened.deny()
                    }
                    return .answered("\(opened.id)")
                }
            } catch {
                return .failed("\(error) \(error.suggestion)")
            }
            try await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < end
        return .nothingWaits
    }
}
