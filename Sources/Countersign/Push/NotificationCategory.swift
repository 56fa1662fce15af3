import CountersignWire

/// The titles of a notification's actions, in the user's language.
public struct NotificationTitles: Hashable, Sendable {
    /// For ``QuickAction/approve``.
    public let approve: String
    /// For ``QuickAction/deny``.
    public let deny: String
    /// For ``QuickAction/report``: that the user has not started this.
    public let report: String

    /// These titles.
    public init(approve: String, deny: String, report: String) {
        self.approve = approve
        self.deny = deny
        self.report = report
    }

    private func title(of action: QuickAction) -> String {
        switch action {
        case .approve: approve
        case .deny: deny
        case .report: report
        }
    }

    /// The categories that the app registers with the system.
    ///
    /// Every action needs the device to be unlocked: each signs an answer, by a key that a locked device does not use.
    /// Spec: docs/protocol/pushes.md, *Categories and actions*.
    public var categories: [NotificationCategory] {
        PushCategory.allCases.map { category in
            NotificationCategory(
                id: category.rawValue,
                actions: category.actions.map { action in
                    NotificationAction(
                        id: action.rawValue, title: title(of: action), isDestructive: action != .approve)
                })
        }
    }
}

/// A category of notifications, as a system registers it.
public struct NotificationCategory: Hashable, Sendable {
    /// The category's identifier, as pushes name it.
    public let id: String
    /// What the user can choose on the notification, in this order.
    public let actions: [NotificationAction]
}

/// An action of a category of notifications.
public struct NotificationAction: Hashable, Sendable {
    /// The action's identifier: the raw value of a ``QuickAction``.
    public let id: String
    /// What the button says.
    public let title: String
    /// Whether it says no.
    public let isDestructive: Bool
}
