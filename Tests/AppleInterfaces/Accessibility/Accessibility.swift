import Foundation

/// Page: accessibility/accessibilitynotification iOS 17.0 macOS 14.0
public enum AccessibilityNotification {
    /// Page: accessibility/accessibilitynotification/announcement iOS 17.0 macOS 14.0
    public struct Announcement {
        /// Page: accessibility/accessibilitynotification/announcement/init(_:) iOS 17.0 macOS 14.0
        public init(_ announcement: String) {}

        /// Page: accessibility/accessibilitynotification/announcement/post() iOS 17.0 macOS 14.0
        public func post() {}
    }
}
