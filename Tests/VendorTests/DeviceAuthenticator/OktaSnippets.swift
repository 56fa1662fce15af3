// swift-format-ignore-file
import DeviceAuthenticator
import Foundation
import UserNotificationsStandIn

// The Swift snippets of Okta's document (seed 003_c33a6f4bdfe7830a.txt), in its order and as they stand there. Each line that
// no compiler could accept ends in `// patch:` with the reason, and so does each line that was added.

/// The singleton of the document, with its snippets but the second form of the first one.
final class DeviceSDKManager: OktaApp, @unchecked Sendable {
// Seed 003_c33a6f4bdfe7830a.txt, line 42, "Initialize the client".
func initOktaDeviceAuthenticator() {
    do {
        let applicationConfig = ApplicationConfig(applicationName: "Your-app-name",
                                                  applicationVersion: "Your-app-version",
                                                  applicationGroupId: "com.your.group.id")

        #if DEBUG
            applicationConfig.pushSettings.apsEnvironment = .development
        #else
            applicationConfig.pushSettings.apsEnvironment = .production
        #endif

        // Set the property that holds the current Devices SDK client.
        self.authenticatorClient = try DeviceAuthenticatorBuilder(applicationConfig: applicationConfig).create()
    } catch {
        // Client not initialized, handle the error.
    }
}

// Seed 003_c33a6f4bdfe7830a.txt, line 85, "Register the device".
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
                self?.note("enrolled \(authenticator.enrollmentId)") // patch: a case must do something
            case .failure(let error):
                // Handle the error.
                self?.note("\(error.errorCode)") // patch: a case must do something
        }
   }
}

// Seed 003_c33a6f4bdfe7830a.txt, line 123, "Update the push notification token".
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

// Seed 003_c33a6f4bdfe7830a.txt, line 153, "Unenroll the device".
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

// Seed 003_c33a6f4bdfe7830a.txt, line 207, "Check for a challenge".
func userNotificationCenter(_ center: UNUserNotificationCenter,
                            willPresentNotification notification: UNNotification,
                            withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void) {
    // Check if it's a Devices SDK notification.
    if let pushChallenge = try? authenticatorClient?.parsePushNotification(notification) { // patch: the property is optional, and "response" is nothing's name
        // Handle the Devices SDK notification.
        note(pushChallenge.transactionId) // patch: for the test
    } else {
        // Handle you're own notifications, if any.
        note("not ours") // patch: for the test
    }

    completionHandler([]) // patch: the argument was missing
}

// Seed 003_c33a6f4bdfe7830a.txt, line 232, "Handle a challenge".
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

// Seed 003_c33a6f4bdfe7830a.txt, line 252, "Handle a challenge", as it stands.
func handleUserConsent(_ consentStep: RemediationStepUserConsent,
                         challenge: PushChallengeProtocol) {
    var response: UserConsentResponse = .none

    // Check for a quick response if you provide titles for Quick Actions.
    if challenge.userResponse != .userNotResponded {
        response = (challenge.userResponse == .userApproved) ? .approved : .denied
    } else {
        // Present a UI and continue handle the choice.
    }
    consentStep.provide(response)
}

// Seed 003_c33a6f4bdfe7830a.txt, line 271, "Load undelivered challenges".
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
}

/// The singleton of the document with titles for actions.
final class DeviceSDKManagerWithActions: OktaApp, @unchecked Sendable {
// Seed 003_c33a6f4bdfe7830a.txt, line 188, "Process a custom authenticator notification": the document leaves out values, and
// the end, which is that of line 42.
func initOktaDeviceAuthenticator() {
    do {
        let applicationConfig = ApplicationConfig(applicationName: "Your-app-name",
                                                  applicationVersion: "Your-app-version",
                                                  applicationGroupId: "com.your.group.id",
                                                  )
        applicationConfig.approveActionTitle = "Approve" // patch: the value was missing
        applicationConfig.denyActionTitle = "Deny" // patch: likewise
        applicationConfig.userVerificationActionTitle = "Review" // patch: likewise
        self.authenticatorClient = try DeviceAuthenticatorBuilder(applicationConfig: applicationConfig).create() // patch: in the place of "..."
    } catch { // patch: from line 42
    } // patch: from line 42
} // patch: from line 42
}
