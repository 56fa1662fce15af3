import Foundation

/// Page: usernotifications/unusernotificationcenter iOS 10.0 macOS 10.14
open class UNUserNotificationCenter: NSObject {
    /// Page: usernotifications/unusernotificationcenter/current() iOS 10.0 macOS 10.14
    open class func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }

    /// Page: usernotifications/unusernotificationcenter/requestauthorization(options:completionhandler:) iOS 10.0 macOS 10.14
    open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool { false }

    /// Page: usernotifications/unusernotificationcenter/setnotificationcategories(_:) iOS 10.0 macOS 10.14
    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {}

    /// Page: usernotifications/unusernotificationcenter/getdeliverednotifications(completionhandler:) iOS 10.0 macOS 10.14
    open func deliveredNotifications() async -> [UNNotification] { [] }

    /// Page: usernotifications/unusernotificationcenter/removedeliverednotifications(withidentifiers:) iOS 10.0 macOS 10.14
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {}

    /// Page: usernotifications/unusernotificationcenter/setbadgecount(_:withcompletionhandler:) iOS 16.0 macOS 13.0
    open func setBadgeCount(_ newBadgeCount: Int) async throws {}

    /// Page: usernotifications/unusernotificationcenter/delegate iOS 10.0 macOS 10.14
    open weak var delegate: (any UNUserNotificationCenterDelegate)?
}

/// Page: usernotifications/unusernotificationcenterdelegate iOS 10.0 macOS 10.14
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    /// Page: usernotifications/unusernotificationcenterdelegate/usernotificationcenter(_:didreceive:withcompletionhandler:) iOS 10.0 macOS 10.14
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    )

    /// Page: usernotifications/unusernotificationcenterdelegate/usernotificationcenter(_:willpresent:withcompletionhandler:) iOS 10.0 macOS 10.14
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    )
}

/// Page: usernotifications/unnotificationpresentationoptions iOS 10.0 macOS 10.14
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}

/// Page: usernotifications/unnotificationserviceextension iOS 10.0 macOS 10.14
open class UNNotificationServiceExtension: NSObject {
    /// Page: usernotifications/unnotificationserviceextension/didreceive(_:withcontenthandler:) iOS 10.0 macOS 10.14
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
}

/// Page: usernotifications/unauthorizationoptions iOS 10.0 macOS 10.14
public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Page: usernotifications/unauthorizationoptions/badge iOS 10.0 macOS 10.14
    public static var badge: UNAuthorizationOptions { [] }
    /// Page: usernotifications/unauthorizationoptions/sound iOS 10.0 macOS 10.14
    public static var sound: UNAuthorizationOptions { [] }
    /// Page: usernotifications/unauthorizationoptions/alert iOS 10.0 macOS 10.14
    public static var alert: UNAuthorizationOptions { [] }
}

/// Page: usernotifications/unnotificationcategory iOS 10.0 macOS 10.14
open class UNNotificationCategory: NSObject {
    /// Page: usernotifications/unnotificationcategory/init(identifier:actions:intentidentifiers:options:) iOS 10.0 macOS 10.14
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) { self.init() }
}

/// Page: usernotifications/unnotificationcategoryoptions iOS 10.0 macOS 10.14
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}

/// Page: usernotifications/unnotificationaction iOS 10.0 macOS 10.14
open class UNNotificationAction: NSObject {
    /// Page: usernotifications/unnotificationaction/init(identifier:title:options:) iOS 10.0 macOS 10.14
    public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.init()
    }
}

/// Page: usernotifications/unnotificationactionoptions iOS 10.0 macOS 10.14
public struct UNNotificationActionOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Page: usernotifications/unnotificationactionoptions/authenticationrequired iOS 10.0 macOS 10.14
    public static var authenticationRequired: UNNotificationActionOptions { [] }
    /// Page: usernotifications/unnotificationactionoptions/destructive iOS 10.0 macOS 10.14
    public static var destructive: UNNotificationActionOptions { [] }
}

/// Page: usernotifications/unnotificationresponse iOS 10.0 macOS 10.14
open class UNNotificationResponse: NSObject {
    /// Page: usernotifications/unnotificationresponse/actionidentifier iOS 10.0 macOS 10.14
    open var actionIdentifier: String { "" }
    /// Page: usernotifications/unnotificationresponse/notification iOS 10.0 macOS 10.14
    open var notification: UNNotification { UNNotification() }
}

/// Page: usernotifications/unnotification iOS 10.0 macOS 10.14
open class UNNotification: NSObject {
    /// Page: usernotifications/unnotification/request iOS 10.0 macOS 10.14
    open var request: UNNotificationRequest { UNNotificationRequest() }
}

/// Page: usernotifications/unnotificationrequest iOS 10.0 macOS 10.14
open class UNNotificationRequest: NSObject {
    /// Page: usernotifications/unnotificationrequest/identifier iOS 10.0 macOS 10.14
    open var identifier: String { "" }
    /// Page: usernotifications/unnotificationrequest/content iOS 10.0 macOS 10.14
    open var content: UNNotificationContent { UNNotificationContent() }
}

/// Page: usernotifications/unnotificationcontent iOS 10.0 macOS 10.14
open class UNNotificationContent: NSObject {
    /// Page: usernotifications/unnotificationcontent/userinfo iOS 10.0 macOS 10.14
    open var userInfo: [AnyHashable: Any] { [:] }
}

/// Page: usernotifications/unmutablenotificationcontent iOS 10.0 macOS 10.14
open class UNMutableNotificationContent: UNNotificationContent {
    /// Page: usernotifications/unmutablenotificationcontent/title iOS 10.0 macOS 10.14
    open var title: String = ""
    /// Page: usernotifications/unmutablenotificationcontent/subtitle iOS 10.0 macOS 10.14
    open var subtitle: String = ""
    /// Page: usernotifications/unmutablenotificationcontent/body iOS 10.0 macOS 10.14
    open var body: String = ""
    /// Page: usernotifications/unmutablenotificationcontent/categoryidentifier iOS 10.0 macOS 10.14
    open var categoryIdentifier: String = ""
}
