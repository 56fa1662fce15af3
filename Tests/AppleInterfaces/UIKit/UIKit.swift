import Foundation
import QuartzCore

/// Page: uikit/uiapplication iOS 2.0
@MainActor
open class UIApplication: NSObject {
    /// Page: uikit/uiapplication/registerforremotenotifications() iOS 8.0
    open func registerForRemoteNotifications() {}

    /// Page: uikit/uiapplication/shared iOS 2.0
    open class var shared: UIApplication { UIApplication() }

    /// Page: uikit/uiapplication/opensettingsurlstring iOS 8.0
    public nonisolated static let openSettingsURLString = ""

    /// Page: uikit/uiapplication/connectedscenes iOS 13.0
    open var connectedScenes: Set<UIScene> { [] }

    /// Page: uikit/uiapplication/launchoptionskey iOS 3.0
    public struct LaunchOptionsKey: Hashable, Sendable {
        /// Page: uikit/uiapplication/launchoptionskey/remotenotification iOS 3.0
        public static let remoteNotification = LaunchOptionsKey()
    }
}

/// Page: uikit/uiscene iOS 13.0
@MainActor
open class UIScene: NSObject {}

/// Page: uikit/uiwindowscene iOS 13.0
@MainActor
open class UIWindowScene: UIScene {
    /// Page: uikit/uiwindowscene/keywindow iOS 15.0
    open var keyWindow: UIWindow? { nil }

    /// Page: uikit/uiwindowscene/effectivegeometry iOS 16.0
    open var effectiveGeometry: Geometry { Geometry() }

    /// Page: uikit/uiwindowscene/geometry iOS 16.0
    open class Geometry: NSObject {
        /// Page: uikit/uiwindowscene/geometry/interfaceorientation iOS 16.0
        open var interfaceOrientation: UIInterfaceOrientation { .landscapeLeft }
    }
}

/// Page: uikit/uiinterfaceorientation iOS 2.0
public enum UIInterfaceOrientation: Int, Sendable {
    /// Page: uikit/uiinterfaceorientation/portraitupsidedown iOS 2.0
    case portraitUpsideDown = 2
    /// Page: uikit/uiinterfaceorientation/landscaperight iOS 2.0
    case landscapeRight = 3
    /// Page: uikit/uiinterfaceorientation/landscapeleft iOS 2.0
    case landscapeLeft = 4
}

/// Page: uikit/uiapplicationdelegate iOS 2.0
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    /// Page: uikit/uiapplicationdelegate/application(_:didfinishlaunchingwithoptions:) iOS 3.0
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// Page: uikit/uiapplicationdelegate/application(_:didregisterforremotenotificationswithdevicetoken:) iOS 3.0
    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    )

    /// Page: uikit/uiapplicationdelegate/application(_:didreceiveremotenotification:fetchcompletionhandler:) iOS 7.0
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult
}

/// Page: uikit/uiwindow iOS 2.0
@MainActor
open class UIWindow: NSObject {
    /// Page: uikit/uiwindow/rootviewcontroller iOS 4.0
    open var rootViewController: UIViewController? { nil }

    /// Page: uikit/uiwindow/windowscene iOS 13.0
    open weak var windowScene: UIWindowScene?
}

/// Page: uikit/uibackgroundfetchresult iOS 7.0
public enum UIBackgroundFetchResult: UInt, Sendable {
    /// Page: uikit/uibackgroundfetchresult/newdata iOS 7.0
    case newData
    /// Page: uikit/uibackgroundfetchresult/nodata iOS 7.0
    case noData
    /// Page: uikit/uibackgroundfetchresult/failed iOS 7.0
    case failed
}

/// Page: uikit/uiview iOS 2.0
@MainActor
open class UIView: NSObject {
    /// Page: uikit/uiview/layerclass iOS 2.0
    open class var layerClass: AnyClass { CALayer.self }

    /// Page: uikit/uiview/layer iOS 2.0
    open var layer: CALayer { CALayer() }

    /// Page: uikit/uiview/window iOS 2.0
    open var window: UIWindow? { nil }

    /// Page: uikit/uiview/setneedslayout() iOS 2.0
    open func setNeedsLayout() {}

    /// Page: uikit/uiview/layoutsubviews() iOS 2.0
    open func layoutSubviews() {}
}

/// Page: uikit/uiviewcontroller iOS 2.0
@MainActor
open class UIViewController: NSObject {
    /// Page: uikit/uiviewcontroller/presentedviewcontroller iOS 5.0
    open var presentedViewController: UIViewController? { nil }

    /// Page: uikit/uiviewcontroller/presentingviewcontroller iOS 5.0
    open var presentingViewController: UIViewController? { nil }

    /// Page: uikit/uiviewcontroller/viewifloaded iOS 9.0
    open var viewIfLoaded: UIView? { nil }

    /// Page: uikit/uiviewcontroller/isbeingdismissed iOS 5.0
    open var isBeingDismissed: Bool { false }

    /// Page: uikit/uiviewcontroller/present(_:animated:completion:) iOS 5.0
    open func present(
        _ viewControllerToPresent: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil
    ) {}

    /// Page: uikit/uiviewcontroller/dismiss(animated:completion:) iOS 5.0
    open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {}

    /// Page: uikit/uiviewcontroller/viewdiddisappear(_:) iOS 2.0
    open func viewDidDisappear(_ animated: Bool) {}
}

/// Page: uikit/uikeyboardtype iOS 2.0
public enum UIKeyboardType: Int, Sendable {
    /// Page: uikit/uikeyboardtype/numberpad iOS 2.0
    case numberPad
}

/// Page: uikit/uicolor iOS 2.0
open class UIColor: NSObject, @unchecked Sendable {
    /// Page: uikit/uicolor/init(red:green:blue:alpha:) iOS 2.0
    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {}
}

/// Page: uikit/uitextcontenttype iOS 10.0
public struct UITextContentType: Hashable, Sendable {
    /// Page: uikit/uitextcontenttype/onetimecode iOS 12.0
    public static let oneTimeCode = UITextContentType()
}

extension ProcessInfo {
    /// Page: foundation/processinfo/performexpiringactivity(withreason:using:) iOS 8.2
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}
