// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/003/04.txt: do not edit.
import DeviceAuthenticator
import Foundation

/// An app that unenrolls its device.
package final class S003x04: OktaApp, @unchecked Sendable {
func unenrollDevice(_ device: AuthenticatorEnrollmentProtocol, localOnly: Bool) {
    guard let userCredential = Credential.default, // patch: no "?" after a value that is bound
          let authenticatorClient = self.authenticatorClient // patch: likewise
    else {
        // There's no valid user sessions or authenticator client, handle the error.
        return // patch: a guard must leave
    }

    let userToken = AuthToken.bearer(userCredential.token.accessToken)

    if localOnly {
        do {
            try device.deleteFromDevice() // patch: what throws needs "try"
        } catch {
            // Handle a problem with a local unenrollment.
        }
    } else {
        authenticatorClient.delete(enrollment: device, authenticationToken: userToken)
        { [weak self] error in
            if let error = error {
                // Handle the error which may be `DeviceAuthenticatorError.serverAPIError`.
            } else {
                // Handle success.
            }
        }
    }
}

    /// Unenrolls it.
    package func unenroll(_ device: any AuthenticatorEnrollmentProtocol, isLocal: Bool) {
        unenrollDevice(device, localOnly: isLocal)
    }
}
