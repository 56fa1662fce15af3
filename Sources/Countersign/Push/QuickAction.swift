public import CountersignWire

/// An action that a person can choose on a notification, without opening the app.
///
/// The raw values are the action identifiers of the notification's categories; see `PushCategory`. Spec:
/// docs/protocol/pushes.md, *Categories and actions*.
public enum QuickAction: String, Sendable, CaseIterable {
    /// Approve.
    case approve = "COUNTERSIGN_APPROVE"
    /// Deny.
    case deny = "COUNTERSIGN_DENY"
    /// Deny, and report that somebody else started this.
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

/// The result of an action that was chosen on a notification.
public enum QuickActionResult: Sendable {
    /// The action was carried out.
    case done
    /// The notification did not show all of the challenge: show it to the person, and take the answer there.
    case needsReview(OpenedChallenge)
}

extension PendingChallenge {
    /// Carries out the action that was chosen on a notification.
    ///
    /// The SDK first fetches and verifies the challenge. It then denies or reports. It approves only if the
    /// notification showed all of the challenge, whatever category the push named. Spec: docs/protocol/pushes.md,
    /// *Categories and actions*.
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
