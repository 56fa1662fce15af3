// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/004/09.txt: do not edit.
import Foundation
import OneginiSDKiOS

/// An app that is told the end under the name of the documents.
@MainActor
package enum S004x09 {
    private final class App: MobileAuthRequestDelegate {
        private let confirms: Bool

        init(confirms: Bool) {
            self.confirms = confirms
        }

func userClient(_ userClient: UserClient,
didHandle request: MobileAuthRequest,
authenticator: Authenticator?,
info customAuthenticatorInfo: CustomInfo?) {
// Hide the view, update application data, etc
}

        func userClient(
            _ userClient: UserClient, didReceiveConfirmation confirmation: @escaping (Bool) -> Void,
            for request: MobileAuthRequest
        ) {
            confirmation(confirms)
        }
    }

    /// The app, which confirms requests or denies them.
    package static func app(confirms: Bool) -> any MobileAuthRequestDelegate { App(confirms: confirms) }
}
