import Foundation

/// Page: appkit/nsapplication macOS 10.0
@MainActor
open class NSApplication: NSObject {
    /// Page: appkit/nsapplication/registerforremotenotifications() macOS 10.14
    open func registerForRemoteNotifications() {}
}

/// Page: appkit/nswindow macOS 10.0
@MainActor
open class NSWindow: NSObject {}
