#if !canImport(UserNotifications)
    // The names are those of Apple's module. Here is what public signatures of ours name, and what a test needs to make it.

    /// A notification, as the system hands it to an app.
    public final class UNNotification {
        /// The request that it was shown for.
        public let request: UNNotificationRequest

        /// A notification for a request.
        public init(request: UNNotificationRequest) {
            self.request = request
        }
    }

    /// What the user chose on a notification.
    public final class UNNotificationResponse {
        /// The notification.
        public let notification: UNNotification
        /// The identifier of the chosen action.
        public let actionIdentifier: String

        /// The choice of an action on a notification.
        public init(notification: UNNotification, actionIdentifier: String) {
            self.notification = notification
            self.actionIdentifier = actionIdentifier
        }
    }

    /// A request to show a notification.
    public final class UNNotificationRequest {
        /// The request's identifier.
        public let identifier: String
        /// What it shows.
        public let content: UNNotificationContent

        /// A request of these parts.
        public init(identifier: String, content: UNNotificationContent) {
            self.identifier = identifier
            self.content = content
        }
    }

    /// What a notification holds.
    public final class UNNotificationContent {
        /// The payload of the push.
        public let userInfo: [AnyHashable: Any]

        /// The content of a push.
        public init(userInfo: [AnyHashable: Any]) {
            self.userInfo = userInfo
        }
    }
#endif
