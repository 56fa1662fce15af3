// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/04.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// Fetching what waits.
package enum S004x04 {
    /// Fetches it.
    package static func run() {
SharedUserClient.instance.pendingPushMobileAuthRequests { requests, error in
if error == nil {
// Handle list containing pending mobile authentication requests
} else {
switch error!.code {
case ONGGenericError.deviceDeregistered.rawValue:
// The device registration was removed. All locally stored data
// is removed from the device and the user needs to register again.
break
case ONGGenericError.configurationInvalid.rawValue:
// The provided client credentials are not valid or the client is not a dynamic client.
break
default:
// Other errors
break
}
}
}
    }
}
