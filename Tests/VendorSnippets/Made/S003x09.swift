// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/003/09.txt: do not edit.
import DeviceAuthenticator
import Foundation

/// An app that comes to the foreground.
package final class S003x09: OktaApp, @unchecked Sendable {
func retrievePushChallenges(accessToken: String) {
    guard let authenticatorClient = self.authenticatorClient // patch: no "?" after a value that is bound
    else {
        // There's no valid authenticator client. Handle the error.
        return // patch: a guard must leave
    }

    let authToken = AuthToken.bearer(accessToken)

    authenticatorClient.allEnrollments().forEach { enrollment in
        enrollment.retrievePushChallenges(authenticationToken: authToken)
        { [weak self] result in
            switch result {
                case .success(let notifications):
                    // Process the notifications.
                    notifications.forEach { self?.note($0.transactionId) } // patch: a case must do something
                case .failure(let error):
                    // Handle the error.
                    self?.note("\(error.errorCode)") // patch: a case must do something
            }
        }
    }
}

    /// Fetches what waits.
    package func retrieve(_ token: String) { retrievePushChallenges(accessToken: token) }
}
