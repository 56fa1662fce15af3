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
            withCompletionHandler completionHandler: @escaping () -> Void
        ) {
            let choice = NotificationChoice(response)
            Task { @MainActor in
                // The handler may not go to a task, so the system is asked for the time that an answer takes.
                let time = UIApplication.shared.beginBackgroundTask()
                await model.carryOut(choice)
                UIApplication.shared.endBackgroundTask(time)
            }
            completionHandler()
        }
    }
#endif
