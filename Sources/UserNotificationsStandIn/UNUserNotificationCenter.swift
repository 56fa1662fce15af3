#if !canImport(UserNotifications)
    /// Where an app meets its notifications.
    open class UNUserNotificationCenter {
        /// A center.
        public init() {}
    }

    /// How a notification is shown while the app is in the foreground.
    public struct UNNotificationPresentationOptions: OptionSet, Hashable, Sendable {
        /// The options as a number.
        public let rawValue: UInt

        /// The options of a number.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// With a number on the app's icon.
        public static let badge = Self(rawValue: 1 << 0)
        /// With a sound.
        public static let sound = Self(rawValue: 1 << 1)
        /// In the list of notifications.
        public static let list = Self(rawValue: 1 << 3)
        /// As a banner.
        public static let banner = Self(rawValue: 1 << 4)
    }
#endif
