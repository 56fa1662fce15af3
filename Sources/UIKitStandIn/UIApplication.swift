#if !canImport(UIKit)
    /// An app, as far as a signature names it.
    @MainActor
    public final class UIApplication {
        /// Why an app was launched.
        public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
            /// The name.
            public let rawValue: String

            /// The reason of a name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// By a push that the person has tapped.
            public static let remoteNotification = LaunchOptionsKey(
                rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
        }
    }
#endif
