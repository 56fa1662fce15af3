import Foundation
import QuartzCore

/// Page: uikit/uiapplication iOS 2.0
@MainActor
open class UIApplication: NSObject {
    /// Page: uikit/uiapplication/registerforremotenotifications() iOS 8.0
    open func registerForRemoteNotifications() {}

    /// Page: uikit/uiapplication/shared iOS 2.0
    open class var shared: UIApplication { UIApplication() }

    /// Page: uikit/uiapplication/connectedscenes iOS 13.0
    open var connectedScenes: Set<UIScene> { [] }

    /// Page: uikit/uiapplication/beginbackgroundtask(expirationhandler:) iOS 4.0
    open func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { UIBackgroundTaskIdentifier() }

    /// Page: uikit/uiapplication/endbackgroundtask(_:) iOS 4.0
    open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}

    /// Page: uikit/uiapplication/launchoptionskey iOS 3.0
    public struct LaunchOptionsKey: Hashable, Sendable {
        /// Page: uikit/uiapplication/launchoptionskey/remotenotification iOS 3.0
        public static let remoteNotification = LaunchOptionsKey()
    }
}

/// Page: uikit/uibackgroundtaskidentifier iOS 4.0
public struct UIBackgroundTaskIdentifier: Hashable, Sendable {}

/// Page: uikit/uiscene iOS 13.0
@MainActor
open class UIScene: NSObject {}

/// Page: uikit/uiwindowscene iOS 13.0
@MainActor
open class UIWindowScene: UIScene {
    /// Page: uikit/uiwindowscene/keywindow iOS 15.0
    open var keyWindow: UIWindow? { nil }
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
