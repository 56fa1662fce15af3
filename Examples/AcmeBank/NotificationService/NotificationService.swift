#if canImport(SwiftUI) && canImport(UIKit)
    import Countersign
    import CountersignApple
    import UserNotifications

    /// Shows who asks, once a push was verified; a neutral text otherwise.
    final class NotificationService: UNNotificationServiceExtension {
        override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            let neutral = ShownNotification(title: Bank.name, body: "A question waits for you.")
            contentHandler(Notifications.content(for: request, orElse: neutral) { try await Bank.authenticator() })
        }
    }
#endif
