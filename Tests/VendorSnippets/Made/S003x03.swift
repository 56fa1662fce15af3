// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/003/03.txt: do not edit.
import DeviceAuthenticator
import Foundation

/// An app that is given a push token.
package final class S003x03: OktaApp, @unchecked Sendable {
func updateEnrollments(with notificationToken: Data) {
    guard let userCredential = Credential.default, // patch: no "?" after a value that is bound
          let authenticatorClient = self.authenticatorClient // patch: likewise
    else {
        // There's no valid authenticator client. Handle the error.
        return // patch: a guard must leave
    }

    let userToken = AuthToken.bearer(userCredential.token.accessToken)

    authenticatorClient.allEnrollments().forEach({ enrollment in
        getAccessToken { accessToken in
            enrollment.updateDeviceToken(notificationToken, // patch: "data" is nothing's name
                                         authenticationToken: userToken)
            { error in
                // Handle success or failure.
            }
        }
    })
}

    /// Takes the token.
    package func update(_ token: Data) { updateEnrollments(with: token) }
}
