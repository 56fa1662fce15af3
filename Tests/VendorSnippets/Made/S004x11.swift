// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/11.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// Handling a one-time password.
package enum S004x11 {
    /// Handles it, if it is one.
    package static func run(_ otpRequest: String, _ delegate: MobileAuthRequestDelegate) {
if SharedUserClient.instance.canHandleOTPMobileAuthRequest(otpRequest) {
SharedUserClient.instance.handleOTPMobileAuthRequest(otpRequest, for: delegate)
}
    }
}
