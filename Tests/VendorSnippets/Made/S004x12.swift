// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/12.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// An app that confirms.
@MainActor
package enum S004x12 {
    private final class App: SampleDelegate {
        private(set) var ends: [String] = []

func userClient(_ userClient: UserClient,
didReceiveConfirmation confirmation: @escaping (Bool) -> Void,
for request: MobileAuthRequest) {
// Code to display your mobile authentication confirmation view here..
// Once the user has answered the confirmation, call the confirm method specifying whether
// the user confirms or denies the request
confirmation(true);
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
