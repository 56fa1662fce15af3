// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/003/05.txt: do not edit.
import DeviceAuthenticator
import Foundation

/// The start of an app with actions on its notifications.
package final class S003x05: OktaApp, @unchecked Sendable {
func initOktaDeviceAuthenticator() {
    do {
        let applicationConfig = ApplicationConfig(applicationName: "Your-app-name",
                                                  applicationVersion: "Your-app-version",
                                                  applicationGroupId: "com.your.group.id",
                                                  )
        applicationConfig.approveActionTitle = "Approve" // patch: the value was missing
        applicationConfig.denyActionTitle = "Deny" // patch: likewise
        applicationConfig.userVerificationActionTitle = "Review" // patch: likewise
        self.authenticatorClient = try DeviceAuthenticatorBuilder(applicationConfig: applicationConfig).create() // patch: in the place of "..."
    } catch { // patch: from line 42
    } // patch: from line 42
} // patch: from line 42

    /// Starts it.
    package func start() { initOktaDeviceAuthenticator() }
}
