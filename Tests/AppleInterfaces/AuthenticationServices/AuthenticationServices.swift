import Foundation

#if canImport(UIKit)
    import UIKit
#elseif canImport(AppKit)
    import AppKit
#endif

#if canImport(UIKit)
    /// Page: authenticationservices/aspresentationanchor iOS 12.0
    public typealias ASPresentationAnchor = UIWindow
#elseif canImport(AppKit)
    /// Page: authenticationservices/aspresentationanchor macOS 10.15
    public typealias ASPresentationAnchor = NSWindow
#endif

/// Page: authenticationservices/aswebauthenticationsession iOS 12.0 macOS 10.15
open class ASWebAuthenticationSession: NSObject {
    /// Page: authenticationservices/aswebauthenticationsession/completionhandler iOS 12.0 macOS 10.15
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    /// Page: authenticationservices/aswebauthenticationsession/init(url:callbackurlscheme:completionhandler:)-7fpox iOS 12.0 macOS 10.15
    public init(url URL: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {}

    /// Page: authenticationservices/aswebauthenticationsession/init(url:callback:completionhandler:)-6nut7 iOS 17.4 macOS 14.4
    public init(url URL: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {}

    /// Page: authenticationservices/aswebauthenticationsession/presentationcontextprovider iOS 13.0 macOS 10.15
    open weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?

    /// Page: authenticationservices/aswebauthenticationsession/prefersephemeralwebbrowsersession iOS 13.0 macOS 10.15
    open var prefersEphemeralWebBrowserSession = false

    /// Page: authenticationservices/aswebauthenticationsession/start() iOS 12.0 macOS 10.15
    open func start() -> Bool { false }

    /// Page: authenticationservices/aswebauthenticationsession/cancel() iOS 12.0 macOS 10.15
    open func cancel() {}

    /// Page: authenticationservices/aswebauthenticationsession/callback iOS 17.4 macOS 14.4
    open class Callback: NSObject {
        /// Page: authenticationservices/aswebauthenticationsession/callback/customscheme(_:) iOS 17.4 macOS 14.4
        open class func customScheme(_ customScheme: String) -> Self { preconditionFailure(customScheme) }

        /// Page: authenticationservices/aswebauthenticationsession/callback/https(host:path:) iOS 17.4 macOS 14.4
        open class func https(host: String, path: String) -> Self { preconditionFailure(host) }
    }
}

/// Page: authenticationservices/aswebauthenticationpresentationcontextproviding iOS 13.0 macOS 10.15
@MainActor
public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    /// Page: authenticationservices/aswebauthenticationpresentationcontextproviding/presentationanchor(for:) iOS 13.0 macOS 10.15
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

/// Page: authenticationservices/aswebauthenticationsessionerror-swift.struct iOS 12.0 macOS 10.15
public struct ASWebAuthenticationSessionError: Error {
    /// Page: authenticationservices/aswebauthenticationsessionerror-swift.struct/code iOS 12.0 macOS 10.15
    public enum Code: Int {
        /// Page: authenticationservices/aswebauthenticationsessionerror-swift.struct/code/canceledlogin iOS 12.0 macOS 10.15
        case canceledLogin = 1
    }

    /// Page: authenticationservices/aswebauthenticationsessionerror-swift.struct/code iOS 12.0 macOS 10.15
    public var code: Code { .canceledLogin }
}
