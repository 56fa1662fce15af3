// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/14.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// An app that is told of a failure after a one-time password.
@MainActor
package enum S004x14 {
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
// User is disenrolled for mobile authentication for security reasons. You have to enroll the user again before he can perform mobile
// authentication again
break
case ONGMobileAuthRequestError.notEnrolled.rawValue:
// The user is not enrolled for mobile authentication.
break
case ONGMobileAuthRequestError.userNotAuthenticated.rawValue:
// No user is currently authenticated, possibly due to the fact that the access token
// has expired. A user must be authenticated in order to enroll for mobile
// authentication.
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
