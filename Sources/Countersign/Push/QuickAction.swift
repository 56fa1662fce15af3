public import CountersignWire

/// What a person can choose on a notification, without opening the app.
///
/// The raw values name the actions of the notification's categories; see `PushCategory`. Spec: design 3.6.
public enum QuickAction: String, Sendable, CaseIterable {
    /// Approve.
    case approve = "COUNTERSIGN_APPROVE"
    /// Say no.
    case deny = "COUNTERSIGN_DENY"
    /// Say no, and that somebody else started this.
    case report = "COUNTERSIGN_REPORT"
}

extension PushCategory {
    /// The actions that a notification of this category offers.
    public var actions: [QuickAction] {
        switch self {
        case .confirm: [.approve, .deny, .report]
        case .review: [.deny, .report]
        }
    }
}

/// What became of an action that was chosen on a notification.
public enum QuickActionResult: Sendable {
    /// It is done.
    case done
    /// There is more to see than the notification showed: let the person review it and answer there.
    case needsReview(OpenedChallenge)
}

extension PendingChallenge {
    /// Carries out what was chosen on a notification.
    ///
    /// The challenge is fetched and verified first. Denying and reporting are then done; approving only if the
    /// notification showed all there is to the challenge, whatever category the push named. Spec: design 3.6.
    public func perform(_ action: QuickAction) async throws(CountersignError) -> QuickActionResult {
        let question = try await open()
        switch action {
        case .approve:
            guard question.category(showing: PushAlert(title: clientName, body: message)) == .confirm else {
                return .needsReview(question)
            }
            try await question.approve(with: .confirmation)
        case .deny: try await question.deny()
        case .report: try await question.report()
        }
        return .done
    }
}
