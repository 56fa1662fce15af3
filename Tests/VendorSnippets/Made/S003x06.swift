// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/003/06.txt: do not edit.
import DeviceAuthenticator
import Foundation
import UserNotificationsStandIn

/// An app that is open when a notification comes.
package final class S003x06: OktaApp, @unchecked Sendable {
func userNotificationCenter(_ center: UNUserNotificationCenter,
                            willPresentNotification notification: UNNotification,
                            withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void) {
    // Check if it's a Devices SDK notification.
    if let pushChallenge = try? authenticatorClient?.parsePushNotification(notification) { // patch: the property is optional, and "response" is nothing's name
        // Handle the Devices SDK notification.
    } else {
        // Handle you're own notifications, if any.
    }

    completionHandler([]) // patch: the argument was missing
}

    /// Is given the notification.
    package func present(_ notification: UNNotification) {
        userNotificationCenter(UNUserNotificationCenter(), willPresentNotification: notification) { _ in
            self.note("completed")
        }
    }
}
