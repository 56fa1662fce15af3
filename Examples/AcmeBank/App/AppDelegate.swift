#if canImport(SwiftUI) && canImport(UIKit)
    import Countersign
    import CountersignApple
    import Foundation
    import UIKit
    import UserNotifications

    /// What the system tells the app of pushes and notifications.
    @MainActor
    final class AppDelegate: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {
        let model = AppModel()

        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
        ) -> Bool {
            UNUserNotificationCenter.current().delegate = self
            Notifications.registerCategories(
                NotificationTitles(approve: "Approve", deny: "Deny", report: "This was not me"))
            return true
        }

        func application(
            _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
        ) {
            Task { await model.registered(deviceToken) }
        }

        /// A push wakes the app in the background.
        func application(
            _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
        ) async -> UIBackgroundFetchResult {
            await model.woken(by: PushNotification(userInfo: userInfo))
        }

        /// The person has chosen something on a notification.
        nonisolated func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping @Sendable () -> Void
        ) {
            let choice = NotificationChoice(response)
            // The handler is called at once, since an answer without a network may take longer than the system waits for it.
            let time = BackgroundTime(for: "What was chosen on a notification")
            Task { @MainActor in
                await model.carryOut(choice)
                time.end()
            }
            completionHandler()
        }

        /// A push has come while the app is open: its question appears in the list, and needs no banner.
        nonisolated func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
        ) {
            let push = PushNotification(userInfo: notification.request.content.userInfo)
            Task { @MainActor in _ = await model.woken(by: push) }
            completionHandler([])
        }
    }
#endif
