// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/02.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// Having pushes sent.
package enum S004x02 {
    /// Enrolls this device for pushes.
    package static func run(_ userClient: UserClient, _ deviceToken: Data) {
userClient.enrollPushMobileAuth(with: deviceToken) { error in
guard let error = error else {
// proceed without error
return
}
// proceed with error
}
    }
}
