// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/01.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// Enrolling for mobile authentication.
package enum S004x01 {
    /// Enrolls whoever is logged in.
    package static func run() {
SharedUserClient.instance.enrollMobileAuth { error in
}
    }
}
