import CountersignWire
import Foundation

/// What the user chose on a notification.
public enum NotificationChoice: Sendable {
    /// One of its actions.
    case action(QuickAction, PushNotification)
    /// The notification itself: the app opens.
    case opened(PushNotification)
    /// To put it away, which answers nothing.
    case dismissed
    /// The notification is not one of Countersign, or its action is the app's own.
    case notOurs

    /// Reads what the system hands over.
    ///
    /// - Parameters:
    ///   - actionIdentifier: the identifier of the chosen action.
    ///   - userInfo: the notification's payload.
    public init(actionIdentifier: String, userInfo: [AnyHashable: Any]) {
        guard let push = PushNotification(userInfo: userInfo) else {
            self = .notOurs
            return
        }
        switch actionIdentifier {
        case "com.apple.UNNotificationDefaultActionIdentifier": self = .opened(push)
        case "com.apple.UNNotificationDismissActionIdentifier": self = .dismissed
        default: self = QuickAction(rawValue: actionIdentifier).map { .action($0, push) } ?? .notOurs
        }
    }
}

/// What came of the user's choice on a notification.
public enum NotificationOutcome: Sendable {
    /// The challenge was answered.
    case answered(QuickAction)
    /// Show the challenge, and take the answer there.
    case review(OpenedChallenge)
    /// There is nothing to do.
    case nothing
}

extension Authenticator {
    /// Carries out what the user chose on a notification.
    ///
    /// - Parameter choice: the choice.
    /// - Returns: what came of it.
    /// - Throws: ``CountersignError/pushRefused(_:)`` for a forged push, ``CountersignError/alreadyAnswered`` and the like
    ///   when the challenge has ended, and the errors of an answer.
    public func carryOut(_ choice: NotificationChoice) async throws(CountersignError) -> NotificationOutcome {
        switch choice {
        case .dismissed, .notOurs: return .nothing
        case .opened(let push):
            guard let pending = try await receive(push) else { return .nothing }
            return .review(try await pending.open())
        case .action(let action, let push):
            guard let pending = try await receive(push) else { return .nothing }
            switch try await pending.perform(action) {
            case .done: return .answered(action)
            case .needsReview(let question): return .review(question)
            }
        }
    }
}
