// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/10.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// An app that is told of a failure.
@MainActor
package enum S004x10 {
    private final class App: MobileAuthRequestDelegate {
        private let confirms: Bool

        init(confirms: Bool) {
            self.confirms = confirms
        }

func userClient(_ userClient: UserClient,
didFailToHandle request: MobileAuthRequest,
authenticator: Authenticator?,
error: Error) {
switch error.code {
case ONGGenericError.deviceDeregistered.rawValue:
// The device registration was removed. All locally stored data
// is removed from the device and the user needs to register again.
break
case ONGGenericError.userDeregistered.rawValue:
// The user account is deregistered from the device. The user supplied the wrong PIN
// for too many times. All local data associated with the user profile has been removed.
break
case ONGGenericError.actionCancelled.rawValue:
// Requested action was cancelled.
break
case ONGGenericError.networkConnectivityFailure.rawValue:
fallthrough
case ONGGenericError.serverNotReachable.rawValue:
// Networking issues.
break
case ONGMobileAuthRequestError.notFound.rawValue:
// Mobile request was not found on the TS. We can either notify user or ignore it.
break
case ONGMobileAuthRequestError.notHandleable.rawValue:
// Mobile request cannot be handled by the SDK.
break
case ONGMobileAuthRequestError.userDisenrolled.rawValue:
// User that he was disenrolled for security reasons.
break
case ONGMobileAuthRequestError.notEnrolled.rawValue:
// The user is not enrolled for mobile authentication.
break
default:
// Other errors
break
}
}

        func userClient(
            _ userClient: UserClient, didReceiveConfirmation confirmation: @escaping (Bool) -> Void,
            for request: MobileAuthRequest
        ) {
            confirmation(confirms)
        }
    }

    /// The app, which confirms requests or denies them.
    package static func app(confirms: Bool) -> any MobileAuthRequestDelegate { App(confirms: confirms) }
}
