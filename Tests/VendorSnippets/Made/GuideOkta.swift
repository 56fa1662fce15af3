// swift-format-ignore-file
// Made by scripts/seed-snippets of docs/guides/migrate-from-okta.md: do not edit.
import Countersign
import DeviceAuthenticator
import Foundation

/// What an app of Okta's SDK has, with what is new.
struct DeviceClient {
    let authenticator: any DeviceAuthenticatorProtocol

    init(vault: (any Vault)? = nil) throws {
        let config = ApplicationConfig(
            applicationName: "Acme", applicationVersion: "3.1", applicationGroupId: "group.com.acme")
        config.pushSettings.apsEnvironment = .production
        config.pushSettings.approveActionTitle = "Approve"
        config.pushSettings.denyActionTitle = "Deny"
        config.countersign.vault = vault
        config.countersign.bundleIdentifier = "com.acme.app"
        config.countersign.deviceName = "Anna's phone"
        config.countersign.biometricPrompt = "Confirm that it is you"
        authenticator = try DeviceAuthenticatorBuilder(applicationConfig: config).create()
    }

    func enroll(token: String, server: URL, client: String, pushToken: Data) {
        authenticator.enroll(
            authenticationToken: .bearer(token),
            authenticatorConfig: AuthenticatorConfig(orgURL: server, oidcClientId: client),
            enrollmentParameters: EnrollmentParameters(deviceToken: pushToken)
        ) { result in
            switch result {
            case .success(let enrollment):
                print("Enrolled \(enrollment.enrollmentId)")
                // New: the user has a device already, which lets this one in.
                if let number = (enrollment as? any AwaitingEnrollment)?.approvalNumber {
                    print("Type \(number) on the device that you have.")
                }
            case .failure(let error): print("\(error.errorCode): \(error.localizedDescription)")
            }
        }
    }

    func answer(_ challenge: any PushChallengeProtocol, isYes: Bool, number: String) {
        challenge.resolve { step in
            switch step {
            case let consent as RemediationStepUserConsent:
                let text = (consent.challenge as? any CIBAChallengeProtocol)?.cibaBindingMessage
                print(consent.challenge.appInstanceName ?? "", "asks:", text ?? "")
                consent.provide(isYes ? .approved : .denied)
            // New: the number that is shown where the person started this.
            case let entry as RemediationStepNumberEntry: entry.provide(number)
            case let message as RemediationStepMessage: print(message.message ?? "")
            default: step.defaultProcess()
            }
        } onCompletion: { error in
            print(error.map { "\($0.errorCode): \($0.localizedDescription)" } ?? "answered")
        }
    }
}
