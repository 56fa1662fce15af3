// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/03.txt: do not edit.
import Foundation
import OneginiSDKiOS
import UserNotificationsStandIn

/// A notification that was tapped.
package final class S004x03 {
    /// The pushes that the app was handed, in order.
    package private(set) var handled: [[AnyHashable: Any]] = []

    package init() {}

    private func handlePushMobileAuthenticationRequest(userInfo: [AnyHashable: Any]) { handled.append(userInfo) }

    /// Opens a notification with this payload; true if the system was told that this is done.
    package func open(_ userInfo: [AnyHashable: Any]) -> Bool {
        let content = UNNotificationContent(userInfo: userInfo)
        let request = UNNotificationRequest(identifier: "1", content: content)
        let response = UNNotificationResponse(
            notification: UNNotification(request: request), actionIdentifier: "open")
        var isDone = false
        userNotificationCenter(UNUserNotificationCenter(), didReceive: response) { isDone = true }
        return isDone
    }

func userNotificationCenter(_: UNUserNotificationCenter,
didReceive response: UNNotificationResponse,
withCompletionHandler completionHandler: @escaping () -> Void) {
handlePushMobileAuthenticationRequest(userInfo: response.notification.request.content.userInfo)
completionHandler()
}
}
