// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/06.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// An app that answers with something that is no PIN.
@MainActor
package enum S004x06 {
    private final class App: SampleDelegate {
        private(set) var ends: [String] = []

func userClient(_ userClient: UserClient,
didReceivePinChallenge challenge: PinChallenge,
for request: MobileAuthRequest) {
// Code to display the PIN view here..
// Once the user has entered the PIN call the delegate
challenge.sender.respond(with: "pin", to: challenge)
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
