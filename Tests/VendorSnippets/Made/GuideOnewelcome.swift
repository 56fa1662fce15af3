// swift-format-ignore-file
// Made by scripts/seed-snippets of docs/guides/migrate-from-onewelcome.md: do not edit.
import Countersign
import Foundation
import OneginiSDKiOS

/// An app that has changed its package.
@MainActor
final class MobileLogin: MobileAuthRequestDelegate {
    private var client: any UserClient { SharedUserClient.instance }

    /// Sets the library up, once, when the app starts.
    func start(vault: any Vault, completion: @escaping @MainActor ((any Error)?) -> Void) {
        let model = ConfigModel(dictionary: [
            "ONGAppIdentifier": "cli_01m7yfdvnpkhd3v12ptm49g5wv", "ONGAppVersion": "3.1",
            "ONGAppBaseURL": "https://login.example.com", "ONGRedirectURL": "com.example.app:/callback",
        ])
        let app = AppDescription(name: "Acme", version: "3.1", deviceName: "Lisa's phone")
        ClientBuilder().setConfigModel(model).setAppDescription(app).setVault(vault)
            .buildAndWaitForProtectedData { client in client.start(completion: completion) }
    }

    /// The user is logged in and wants to confirm logins on this phone.
    func enroll(deviceToken: Data) {
        client.enrollMobileAuth { [client] error in
            guard error == nil else { return }
            client.enrollPushMobileAuth(with: deviceToken) { _ in }
        }
    }

    /// A push was tapped.
    func received(_ userInfo: [AnyHashable: Any]) {
        guard let request = client.pendingMobileAuthRequest(from: userInfo) else { return }
        client.handlePendingMobileAuthRequest(request, delegate: self)
    }

    func userClient(
        _ userClient: any UserClient, didReceiveConfirmation confirmation: @escaping (Bool) -> Void,
        for request: any MobileAuthRequest
    ) {
        print(request.message ?? "")
        confirmation(readLine() == "yes")
    }

    func userClient(
        _ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge,
        for request: any MobileAuthRequest
    ) {
        if challenge.error != nil { print("Wrong; \(challenge.remainingFailureCount) tries are left.") }
        guard let pin = readLine() else { return challenge.sender.cancel(challenge) }
        challenge.sender.respond(with: pin, to: challenge)
    }

    func userClient(
        _ userClient: any UserClient, didFailToHandleRequest request: any MobileAuthRequest,
        authenticator: OneginiSDKiOS.Authenticator?, error: any Error
    ) {
        print(error.localizedDescription)
    }
}
