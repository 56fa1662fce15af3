import Foundation

/// Page: uikit/uiapplication iOS 2.0
@MainActor
open class UIApplication: NSObject {
    /// Page: uikit/uiapplication/registerforremotenotifications() iOS 8.0
    open func registerForRemoteNotifications() {}
}

/// Page: uikit/uiwindow iOS 2.0
@MainActor
open class UIWindow: NSObject {}

/// Page: uikit/uibackgroundfetchresult iOS 7.0
public enum UIBackgroundFetchResult: UInt, Sendable {
    /// Page: uikit/uibackgroundfetchresult/newdata iOS 7.0
    case newData
    /// Page: uikit/uibackgroundfetchresult/nodata iOS 7.0
    case noData
    /// Page: uikit/uibackgroundfetchresult/failed iOS 7.0
    case failed
}
