// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/003/07.txt: do not edit.
import DeviceAuthenticator
import Foundation

/// An app that resolves a challenge.
package final class S003x07: S003x08, @unchecked Sendable {
func resolvePushChallenge(_ challenge: PushChallengeProtocol) {
    // Handle each remediation step in order.
    challenge.resolve { remediationStep in
        switch remediationStep {
            case let consentStep as RemediationStepUserConsent:
                // Handle checking for user consent.
                self.handleUserConsent(consentStep, challenge: challenge) // patch: "self." and the label were missing
            case let messageStep as RemediationStepMessage:
                // Handle a non-fatal error that occurs during the verification.
                self.note("\(messageStep.reasonType)") // patch: a case must do something
            default:
                // Let the SDK handle the unknown step.
                remediationStep.defaultProcess()
        }
    }
}

    /// Resolves it.
    package func resolve(_ challenge: any PushChallengeProtocol) { resolvePushChallenge(challenge) }
}
