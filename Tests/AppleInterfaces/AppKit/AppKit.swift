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

/// Page: appkit/nsviewcontroller macOS 10.5
@MainActor
open class NSViewController: NSObject {
    /// Page: appkit/nsviewcontroller/presentassheet(_:) macOS 10.10
    open func presentAsSheet(_ viewController: NSViewController) {}

    /// Page: appkit/nsviewcontroller/dismiss(_:)-91my5 macOS 10.10
    open func dismiss(_ viewController: NSViewController) {}
}

/// Page: appkit/nsview macOS 10.0
@MainActor
open class NSView: NSObject {
    /// Page: appkit/nsview/layer macOS 10.5
    open var layer: CALayer?

    /// Page: appkit/nsview/wantslayer macOS 10.5
    open var wantsLayer = false
}
