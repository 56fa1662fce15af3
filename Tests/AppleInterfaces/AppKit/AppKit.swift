import Foundation
import QuartzCore

/// Page: appkit/nsapplication macOS 10.0
@MainActor
open class NSApplication: NSObject {
    /// Page: appkit/nsapplication/registerforremotenotifications() macOS 10.14
    open func registerForRemoteNotifications() {}
}

/// Page: appkit/nswindow macOS 10.0
@MainActor
open class NSWindow: NSObject {}

/// Page: appkit/nsview macOS 10.0
@MainActor
open class NSView: NSObject {
    /// Page: appkit/nsview/layer macOS 10.5
    open var layer: CALayer?

    /// Page: appkit/nsview/wantslayer macOS 10.5
    open var wantsLayer = false
}
