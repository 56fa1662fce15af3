import Countersign
import CountersignWire
import Foundation
import SecurityStandIn
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Okta's calls: values and errors")
struct OktaValueTests {
    private static let issuer = URL(string: "https://login.example.com")

    @Test("Push settings are found where the documents have them and where the library has them")
    func pushSettings() {
        let config = ApplicationConfig(
            applicationName: "Acme", applicationVersion: "1", applicationGroupId: "group.acme", keychainGroupId: "k",
            applicationInstallationId: "i")
        #expect(config.keychainGroupId == "k" && config.applicationInstallationId == "i")
        #expect(config.apsEnvironment == .production && config.approveActionTitle == nil)
        config.apsEnvironment = .development
        config.approveActionTitle = "Yes"
        config.denyActionTitle = "No"
        config.userVerificationActionTitle = "Look"
        #expect(config.pushSettings.apsEnvironment == .development)
        #expect(config.pushSettings.approveActionTitle == "Yes" && config.pushSettings.denyActionTitle == "No")
        #expect(config.pushSettings.userVerificationActionTitle == "Look")
        config.pushSettings.apsEnvironment = .production
        config.pushSettings.approveActionTitle = "Oui"
        config.pushSettings.denyActionTitle = "Non"
        config.pushSettings.userVerificationActionTitle = nil
        #expect(config.apsEnvironment == .production && config.userVerificationActionTitle == nil)
        #expect(config.approveActionTitle == "Oui" && config.denyActionTitle == "Non")
    }

    @Test("Of the organization's URL, scheme, host and port are kept")
    func organization() throws {
        for (given, kept) in [
            ("https://Login.Example.com/oauth2/default?a=b#c", "https://login.example.com"),
            ("https://login.example.com:8443/", "https://login.example.com:8443"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ] {
            let config = AuthenticatorConfig(orgURL: try #require(URL(string: given)), oidcClientId: "cli_1")
            #expect(config.orgURL.absoluteString == kept && config.oidcClientId == "cli_1")
            #expect(config.authenticatorKey == "custom_app")
        }
    }

    @Test("Parameters are made in all forms")
    func parameters() {
        func token(_ parameters: EnrollmentParameters) -> String {
            switch parameters.deviceToken {
            case .empty: "empty"
            case .tokenData(let data): "\(Array(data))"
            case .tokenString(let text): text
            }
        }
        #expect(token(EnrollmentParameters(deviceToken: Data([1, 2]))) == "[1, 2]")
        #expect(token(EnrollmentParameters(deviceToken: .tokenString("0102"))) == "0102")
        #expect(token(EnrollmentParameters(deviceToken: .empty)) == "empty")
        #expect(!EnrollmentParameters(deviceToken: Data()).enablesUserVerification)
        #expect(EnrollmentParameters(deviceToken: Data(), enableUserVerification: true).enablesUserVerification)
        var parameters = EnrollmentParameters(deviceToken: .empty)
        parameters.enableUserVerification(
            enable: true, userVerificationSettings: BiometricEnrollmentSettings(accessControlFlags: .biometryAny))
        #expect(parameters.enablesUserVerification)
        parameters.enableUserVerification(enable: false)
        #expect(!parameters.enablesUserVerification)
        #expect(BiometricEnrollmentSettings.default.accessControlFlags == .biometryCurrentSet)
    }

    @Test("Where there is no Secure Enclave, and no vault is named, nothing is made")
    func noVault() {
        let config = ApplicationConfig(applicationName: "Acme", applicationVersion: "1", applicationGroupId: "g")
        #expect(throws: DeviceAuthenticatorError.storageError(.itemNotFound), "compared by the case alone") {
            _ = try DeviceAuthenticatorBuilder(applicationConfig: config).create()
        }
    }

    @Test("A policy is read in upper and lower case")
    func policy() {
        #expect(UserVerificationPolicySetting(raw: "preferred") == .preferred)
        #expect(UserVerificationPolicySetting(raw: "REQUIRED") == .required)
        #expect(UserVerificationPolicySetting(raw: "other") == .unknown("other"))
        for setting in [UserVerificationPolicySetting.preferred, .required, .unknown("x")] {
            #expect(UserVerificationPolicySetting(raw: setting.rawValue) == setting)
        }
    }

    @Test("Server errors have the vendor's numbers")
    func serverCodes() throws {
        let table: [(ServerErrorCode, String, Int, Bool, Bool)] = [
            (.phishingAttemptDetected, "E0000212", 403, false, false),
            (.enrollmentDeleted, "E0000154", 410, true, false),
            (.userDeleted, "E0000156", 410, true, false), (.deviceDeleted, "E0000153", 410, true, false),
            (.enrollmentSuspended, "E0000180", 423, false, true), (.deviceSuspended, "E0000152", 403, false, true),
            (.userSuspended, "E0000155", 423, false, true), (.resourceNotFound, "E0000007", 404, false, false),
            (.enrollmentNotFound, "E0000008", 404, true, false),
            (.biometricKeyEnrollmentComplianceError, "E0000158", 400, false, false),
            (.invalidToken, "E0000011", 400, false, false), (.unknown("ticket_used"), "ticket_used", 400, false, false),
        ]
        for (code, text, status, isDeleted, isSuspended) in table {
            #expect(code.rawValue == text && ServerErrorCode(raw: text) == code && code.httpCode() == status)
            #expect(code.isResourceDeleted == isDeleted && code.isResourceSuspended == isSuspended)
            let read = try JSONDecoder().decode([ServerErrorCode].self, from: try JSONEncoder().encode([code]))
            #expect(read == [code])
        }
    }

    @Test("Errors have the vendor's numbers, and are compared by them")
    func numbers() {
        let result = HTTPURLResult(statusCode: 400, from: Self.issuer)
        let errors: [(DeviceAuthenticatorError, String)] = [
            (.serverAPIError(result, nil), "Server call has failed"),
            (.networkError(CountersignError.cancelled), "\(CountersignError.cancelled)"),
            (.securityError(.jwtError("a")), "Encryption operation failed"),
            (.storageError(.itemNotFound), "There is no such enrollment on this device"), (.genericError("g"), "g"),
            (.internalError("i"), "i"),
            (.accountNotFoundForChallenge(ForeignChallenge(transactionId: "1")), "Account not found"),
            (.pushNotRecognized, "Unrecognized push notification"),
            (.noVerificationMethodsToEnroll, "Authenticator policy doesn't have any methods to enroll"),
        ]
        for (index, (error, text)) in errors.enumerated() {
            #expect(error.errorCode == -1 - index && error.errorDescription == text)
            #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == text)
            #expect(errors.map { $0.0 == error } == errors.indices.map { $0 == index })
        }
        #expect(DeviceAuthenticatorError.errorDomain == "DeviceAuthenticator.DeviceAuthenticatorError")
        #expect(DeviceAuthenticatorErrorDomain == DeviceAuthenticatorError.errorDomain)
        #expect(DeviceAuthenticatorError.genericError("a") == .genericError("b"))
        #expect(errors[0].0.errorUserInfo["result"] as? HTTPURLResult === result)
        #expect(result.request == nil && result.data == nil && result.error == nil)
        #expect(StorageError.generalStorageError("full").errorDescription == "full")
    }

    @Test("Each error of the SDK has its place among the vendor's")
    func translated() {
        func name(_ error: SecurityError) -> Substring { "\(error)".prefix { $0 != "(" } }
        func text(_ error: any Error) -> String {
            switch DeviceAuthenticatorError(error, at: Self.issuer) {
            case .serverAPIError(let result, let model):
                "\(result.statusCode) \(model?.errorCode?.rawValue ?? "-")"
            case .securityError(let error): "security \(name(error))"
            case let error: "\(error.errorCode)"
            }
        }
        func removal(_ reason: String) -> CountersignError {
            .deviceDeregistered(Removal(reason: reason, removedAt: Timestamp(milliseconds: 0)))
        }
        let expected: [(CountersignError, String)] = [
            (.network("x"), "-2"), (.serverUnreachable(status: 502), "502 -"), (.serverUnreachable(status: 200), "-5"),
            (removal(RemovalReason.device.rawValue), "410 E0000153"),
            (removal(RemovalReason.wrongPIN.rawValue), "410 E0000156"),
            (removal(RemovalReason.client.rawValue), "410 E0000154"), (.enrollmentUnknown, "404 E0000008"),
            (.enrollmentSuspended, "423 E0000180"), (.signInEnded, "401 E0000011"),
            (.server(ProblemDetails(.unauthorized)), "401 E0000011"),
            (.server(ProblemDetails(.notFound)), "404 E0000007"),
            (.server(ProblemDetails(.tooManyDevices)), "409 too_many_devices"),
            (.ticketRefused(code: "ticket_used"), "403 ticket_used"), (.enrollmentWaiting, "403 enrollment_waiting"),
            (.challengeNotFound, "404 challenge_not_found"), (.challengeExpired, "409 challenge_expired"),
            (.alreadyAnswered, "409 already_answered"), (.pushTokenInUse, "409 push_token_in_use"),
            (.notEnrolled, "-4"), (.vault("x"), "-4"), (.configurationInvalid("x"), "-6"), (.cancelled, "-5"),
            (.notHandleable(reason: "x"), "-5"), (.pushRefused(.malformed), "security jwtError"),
            (.clockSkew(by: .seconds(1)), "security jwtError"), (.serverChanged, "security jwtError"),
            (.biometric(.cancelled), "security localAuthenticationCancelled"),
            (.biometric(.fallback), "security localAuthenticationCancelled"),
            (.biometric(.failed), "security localAuthenticationFailed"),
            (.biometric(.lockout), "security localAuthenticationFailed"),
            (.biometric(.unavailable), "security localAuthenticationPasscodeNotSet"),
            (.biometric(.changed), "security keyCorrupted"),
            (.biometric(.notRegistered), "security generalEncryptionError"),
        ]
        for (error, place) in expected { #expect(text(error) == place, "\(error.code)") }
        #expect(text(StorageError.itemNotFound) == "-4" && text(CancellationError()) == "-4")
        #expect(text(DeviceAuthenticatorError.pushNotRecognized) == "-8")
    }
}
