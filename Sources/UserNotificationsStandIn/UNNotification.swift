#if !canImport(UserNotifications)
    /// What a notification says.
    open class UNNotificationContent {
        /// The title.
        public let title: String
        /// The text below the title.
        public let body: String
        /// What came with it.
        public let userInfo: [AnyHashable: Any]

        /// A content of these parts.
        public init(title: String = "", body: String = "", userInfo: [AnyHashable: Any] = [:]) {
            self.title = title
            self.body = body
            self.userInfo = userInfo
        }
    }

    /// A notification, as it was asked for.
    open class UNNotificationRequest {
        /// Its id.
        public let identifier: String
        /// What it says.
        public let content: UNNotificationContent

        /// A request of these parts.
        public init(identifier: String, content: UNNotificationContent) {
            self.identifier = identifier
            self.content = content
        }
    }

    /// A notification that was delivered.
    open class UNNotification {
        /// What was asked for.
        public let request: UNNotificationRequest

        /// The notification of a request.
        public init(request: UNNotificationRequest) {
            self.request = request
        }
    }

    /// What a person chose on a notification.
    open class UNNotificationResponse {
        /// The notification.
        public let notification: UNNotification
        /// The id of the action.
        public let actionIdentifier: String

        /// The choice of an action.
        public init(notification: UNNotification, actionIdentifier: String) {
            self.notification = notification
            self.actionIdentifier = actionIdentifier
        }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The id of the action by which a person opens a notification.
    public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The id of the action by which a person dismisses a notification.
    public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"
#endif
