// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/003/08.txt: do not edit.
import DeviceAuthenticator
import Foundation

/// An app without a screen, which takes what was chosen on the notification.
package class S003x08: OktaApp, @unchecked Sendable {
func handleUserConsent(_ consentStep: RemediationStepUserConsent,
                         challenge: PushChallengeProtocol) {
    var response: UserConsentResponse = .none

    // Check for a quick response if you provide titles for Quick Actions.
    if challenge.userResponse != .userNotResponded {
        response = (challenge.userResponse == .userApproved) ? .approved : .denied
    } else {
        // Present a UI and continue handle the choice.
    }
    consentStep.provide(response)
}
}
