#if canImport(UserNotifications)
    public import Countersign
    import Dispatch
    import Foundation
    public import UserNotifications
    import os

    #if canImport(UIKit)
        public import UIKit
    #elseif canImport(AppKit)
        public import AppKit
    #endif

    /// The app's notifications of challenges.
    public enum Notifications {
        /// Registers the categories of Countersign's notifications, beside the app's own.
        ///
        /// - Parameters:
        ///   - titles: the titles of their actions, in the user's language.
        ///   - others: the app's own categories, which the system would forget otherwise.
        public static func registerCategories(
            _ titles: NotificationTitles, besides others: Set<UNNotificationCategory> = []
        ) {
            let ours = titles.categories.map { category in
                UNNotificationCategory(
                    identifier: category.id, actions: category.actions.map(action), intentIdentifiers: [], options: [])
            }
            UNUserNotificationCenter.current().setNotificationCategories(others.union(ours))
        }

        private static func action(_ action: NotificationAction) -> UNNotificationAction {
            UNNotificationAction(
                identifier: action.id, title: action.title,
                options: action.isDestructive ? [.authenticationRequired, .destructive] : .authenticationRequired)
        }

        /// Asks the user whether the app may notify.
        ///
        /// - Returns: the user's answer.
        public static func askPermission() async throws -> Bool {
            try await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .badge, .sound])
        }

        #if canImport(UIKit)
            /// Has the system hand out a push token, which it brings to the app's delegate.
            ///
            /// Hand it on by `Authenticator.registerPush(token:app:environment:)`.
            @MainActor
            public static func registerForPushes(_ application: UIApplication) {
                application.registerForRemoteNotifications()
            }
        #elseif canImport(AppKit)
            /// Has the system hand out a push token, which it brings to the app's delegate.
            ///
            /// Hand it on by `Authenticator.registerPush(token:app:environment:)`.
            @MainActor
            public static func registerForPushes(_ application: NSApplication) {
                application.registerForRemoteNotifications()
            }
        #endif

        /// Shows how many challenges are pending on the app's icon.
        public static func showBadge(after fetch: BackgroundFetch) async throws {
            guard let badge = fetch.badge else { return }
            try await UNUserNotificationCenter.current().setBadgeCount(badge)
        }

        /// Removes the notification of a challenge that has ended elsewhere, if the push withdraws one.
        public static func removeWithdrawn(by push: PushNotification) async {
            if let challenge = push.withdrawnChallenge { await removeShown(of: "\(challenge)") }
        }

        /// Removes the notification of a challenge that is over, such as one that was answered in the app.
        ///
        /// A ``PromptView`` does it for the questions that it shows.
        ///
        /// - Parameter challenge: the challenge's id.
        public static func removeShown(of challenge: String) async {
            let center = UNUserNotificationCenter.current()
            let shown = await center.deliveredNotifications()
            center.removeDeliveredNotifications(
                withIdentifiers: shown.map(\.request)
                    .filter { shown in
                        PushNotification.challenge(named: shown.content.userInfo).map { "\($0)" } == challenge
                    }.map(\.identifier))
        }
    }

    extension NotificationChoice {
        /// What the user chose, as the system hands it to the delegate of the notification center.
        public init(_ response: UNNotificationResponse) {
            self.init(
                actionIdentifier: response.actionIdentifier, userInfo: response.notification.request.content.userInfo)
        }
    }

    extension Notifications {
        /// The content to show for a request, for the app's notification service extension.
        ///
        /// Hand it on to the content handler in `didReceive`. What was pushed is shown only after it was verified. The thread
        /// on which the system has called the extension waits for that, since neither the request nor the content handler
        /// may go to a task; it waits for 20 seconds at most, so there is nothing to do in `serviceExtensionTimeWillExpire`.
        ///
        /// - Parameters:
        ///   - request: what the system would show.
        ///   - unverified: what is shown instead of a push that does not pass, or not in time.
        ///   - authenticator: opens the authenticator with the vault of the same access group. It must not need the main
        ///     thread.
        /// - Returns: the content; that of the request if it is not a push of Countersign.
        public static func content(
            for request: UNNotificationRequest, orElse unverified: ShownNotification,
            by authenticator: @escaping @Sendable () async throws -> Authenticator
        ) -> UNNotificationContent {
            let verified = OSAllocatedUnfairLock(initialState: unverified)
            switch NotificationOrigin(userInfo: request.content.userInfo) {
            case .push(let push):
                let isOver = DispatchSemaphore(value: 0)
                Task {
                    if let found = try? await authenticator().shownNotification(of: push, orElse: unverified) {
                        verified.withLock { $0 = found }
                    }
                    isOver.signal()
                }
                _ = isOver.wait(timeout: .now() + .seconds(20))
            case .unreadable: break
            case .notOurs: return request.content
            }
            guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else {
                return UNMutableNotificationContent()
            }
            let shown = verified.withLock { $0 }
            content.title = shown.title
            content.subtitle = ""
            content.body = shown.body
            content.categoryIdentifier = shown.category ?? ""
            return content
        }
    }
#endif
