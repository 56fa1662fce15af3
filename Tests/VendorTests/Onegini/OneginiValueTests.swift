import OneginiSDKiOS
import Testing

@Suite("OneWelcome's calls: the numbers of errors")
struct OneginiValueTests {
    private func expect<Problem: RawRepresentable<Int>>(
        _ problems: [Problem], _ numbers: [Int], location: SourceLocation = #_sourceLocation
    ) {
        #expect(problems.map(\.rawValue) == numbers, sourceLocation: location)
    }

    @Test("Each error of a domain has the original's number")
    func numbers() {
        expect(
            [
                GenericError.networkConnectivityFailure, .serverNotReachable, .deviceDeregistered, .userDeregistered,
                .outdatedApplication, .outdatedOS, .actionCancelled, .actionAlreadyInProgress,
                .deviceRegistrationFailure, .protectedDataStorageNotAvailable, .dataStorageNotAvailable,
                .unrecoverableDataState, .invalidDateTime, .unknown, .configurationInvalid, .requestInvalid,
                .appIntegrityFailure,
            ],
            [9000, 9001, 9002, 9003, 9004, 9005, 9006, 9007, 9008, 9023, 9024, 9025, 9031, 10000, 10001, 10015, 10024])
        expect(
            [
                MobileAuthEnrollmentError.userNotAuthenticated, .deviceAlreadyEnrolled, .enrollmentNotAvailable,
                .userAlreadyEnrolled, .notEnrolled, .statelessUser,
            ],
            [9010, 9016, 9017, 9018, 9021, 9033])
        expect(
            [
                MobileAuthRequestError.userNotAuthenticated, .userDisenrolled, .notEnrolled, .alreadyHandled,
                .notFound, .notHandleable,
            ],
            [9010, 9020, 9021, 9029, 10013, 10018])
        expect(
            [
                AuthenticationError.invalidPin, .authenticatorInvalid, .authenticatorDeregistered,
                .customAuthenticatorFailure, .biometricAuthenticatorFailure, .authenticatorNotRegistered,
                .customAuthenticationDisabled,
            ],
            [9009, 9015, 9022, 9027, 9030, 10007, 10017])
        expect([ImplicitAuthenticationError.userNotAuthenticatedImplicitly], [9026])
        expect(
            [
                AuthenticatorRegistrationError.userNotAuthenticated, .authenticatorInvalid,
                .customAuthenticatorFailure, .authenticatorAlreadyRegistered, .authenticatorNotSupported,
                .customAuthenticationDisabled,
            ],
            [9010, 9015, 9027, 10004, 10006, 10020])
        expect(
            [
                AuthenticatorDeregistrationError.userNotAuthenticated, .authenticatorDeregisteredLocally,
                .authenticatorNotSupported, .authenticatorPinDeregistrationNotPossible, .customAuthenticationDisabled,
            ],
            [9010, 9028, 10006, 10008, 10020])
        expect(
            [
                RegistrationError.deviceRegistrationFailure, .statelessDisabled, .invalidState,
                .invalidIdentityProvider, .customRegistrationExpired, .customRegistrationFailure,
                .externalIdentityProviderFailure,
            ],
            [9008, 9034, 10002, 10020, 10021, 10022, 10024])
        expect(
            [
                PinValidationError.pinBlackListed, .pinShouldNotBeASequence, .pinShouldNotUseSimilarDigits,
                .wrongPinLength,
            ],
            [9011, 9012, 9013, 9014])
        expect([ChangePinError.userNotAuthenticated, .statelessUser], [9010, 9033])
        expect([DeregistrationError.localDeregistration], [10003])
        expect([LogoutError.localLogout], [10009])
        expect([AppToWebSingleSignOnError.userNotAuthenticated, .disabled], [9010, 10023])
    }

    @Test("A number says something with its domain alone: each domain has a name of its own")
    func domains() {
        let domains: Set<String> = [
            ErrorDomains.generic, ErrorDomains.registration, ErrorDomains.authentication,
            ErrorDomains.implicitAuthentication, ErrorDomains.authenticatorRegistration,
            ErrorDomains.authenticatorDeregistration, ErrorDomains.mobileAuthEnrollment, ErrorDomains.mobileAuthRequest,
            ErrorDomains.pinValidation, ErrorDomains.changePin, ErrorDomains.deregistration, ErrorDomains.logout,
            ErrorDomains.appToWebSingleSignOn,
        ]
        #expect(domains.count == 13)
    }
}
