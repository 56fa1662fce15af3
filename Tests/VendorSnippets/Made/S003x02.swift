// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/003/02.txt: do not edit.
import DeviceAuthenticator
import Foundation

/// An app that enrolls its device.
package final class S003x02: OktaApp, @unchecked Sendable {
func enrollDevice() {
    // Credential is part of the Okta Swift Mobile SDK.
    guard let userCredential = Credential.default, // patch: no "?" after a value that is bound
          let authenticatorClient = self.authenticatorClient, // patch: likewise
          let notificationSessionToken = self.notificationSessionToken // patch: likewise
    else {
        // One or more pieces of required infomration are missing, handle the error.
        return // patch: a guard must leave
    }

    // Create the authenticator configuration.
    let authenticatorConfig = AuthenticatorConfig(orgURL: userCredential.oauth2.baseURL,
                                                  oidcClientId: userCredential.oauth2.configuration.clientId)

    // Create the enrollment details.
    let enrollmentDetails = EnrollmentParameters(deviceToken: notificationSessionToken)

    let userToken = AuthToken.bearer(userCredential.token.accessToken)

    // Enroll the device.
    authenticatorClient.enroll(authenticationToken: userToken,
                               authenticatorConfig: authenticatorConfig,
                               enrollmentParameters: enrollmentDetails)
        { [weak self] result in
            switch result {
            case .success(let authenticator):
                // Handle a successfull enrollment.
                self?.note(authenticator.enrollmentId) // patch: a case must do something
            case .failure(let error):
                // Handle the error.
                self?.note("\(error.errorCode)") // patch: a case must do something
        }
   }
}

    /// Enrolls it.
    package func enroll() { enrollDevice() }
}
