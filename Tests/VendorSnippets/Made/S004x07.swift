// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/07.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// An app that asks for biometrics.
@MainActor
package enum S004x07 {
    private final class App: SampleDelegate {
        private(set) var ends: [String] = []

func userClient(_ userClient: UserClient,
didReceiveBiometricChallenge challenge: BiometricChallenge,
for request: MobileAuthRequest) {
// Code to display the mobile authentication view here..
// Continue Mobile Authentication using Fingerprint with custom prompt
challenge.sender.respond(with: "Confirm money transfer", to: challenge)
// Fallback to pin if needed
challenge.sender.respondWithPinFallback(to: challenge)
// Or cancel challenge
challenge.sender.cancel(challenge)
}

        func userClient(
            _ userClient: UserClient, didHandleRequest request: MobileAuthRequest, authenticator: Authenticator?,
            info customAuthenticatorInfo: CustomInfo?
        ) {
            ends.append("handled by \(authenticator?.identifier ?? "nothing")")
        }

        func userClient(
            _ userClient: UserClient, didFailToHandleRequest request: MobileAuthRequest,
            authenticator: Authenticator?, error: Error
        ) {
            ends.append("\(error.code)")
        }
    }

    /// The app.
    package static func app() -> any SampleDelegate { App() }
}
