/// The domains of the errors: a code means something only together with its domain.
///
/// Compare with these constants; their texts are this library's own.
public enum ErrorDomains {
    /// Errors of every call.
    public static let generic = "com.onegini.generic"
    /// Errors of registering a user.
    public static let registration = "com.onegini.registration"
    /// Errors of authenticating a user.
    public static let authentication = "com.onegini.authentication"
    /// Errors of implicit authentication.
    public static let implicitAuthentication = "com.onegini.implicit-authentication"
    /// Errors of registering an authenticator.
    public static let authenticatorRegistration = "com.onegini.authenticator-registration"
    /// Errors of deregistering an authenticator.
    public static let authenticatorDeregistration = "com.onegini.authenticator-deregistration"
    /// Errors of enrolling for mobile authentication.
    public static let mobileAuthEnrollment = "com.onegini.mobile-auth-enrollment"
    /// Errors of mobile authentication requests.
    public static let mobileAuthRequest = "com.onegini.mobile-auth-request"
    /// Why a PIN cannot be chosen.
    public static let pinValidation = "com.onegini.pin-validation"
    /// Errors of changing the PIN.
    public static let changePin = "com.onegini.change-pin"
    /// Errors of deregistering a user.
    public static let deregistration = "com.onegini.deregistration"
    /// Errors of logging out.
    public static let logout = "com.onegini.logout"
    /// Errors of single sign-on from the app to the web.
    public static let appToWebSingleSignOn = "com.onegini.app-to-web"
}

/// Errors of every call, in the domain ``ErrorDomains/generic``.
///
/// Some numbers are here so that an app compiles, and are never reported, as is said at each.
public enum GenericError: Int, Sendable {
    /// There is no network.
    case networkConnectivityFailure = 9000
    /// The server cannot be reached, or fails.
    case serverNotReachable = 9001
    /// The server has removed the device: its data are deleted.
    case deviceDeregistered = 9002
    /// The user's account is no longer on this device: a wrong PIN was typed too often, or the account was deleted.
    case userDeregistered = 9003
    /// The version of the app is too old; never reported.
    case outdatedApplication = 9004
    /// The version of the system is too old; never reported.
    case outdatedOS = 9005
    /// The person, or the app, has cancelled it.
    case actionCancelled = 9006
    /// The same is under way.
    case actionAlreadyInProgress = 9007
    /// The device could not be registered; never reported.
    case deviceRegistrationFailure = 9008
    /// The device has not been unlocked yet; never reported: it is ``dataStorageNotAvailable``.
    case protectedDataStorageNotAvailable = 9023
    /// Keys or records could not be kept or read.
    case dataStorageNotAvailable = 9024
    /// What is kept cannot be used any more; never reported.
    case unrecoverableDataState = 9025
    /// The device's date or time is wrong.
    case invalidDateTime = 9031
    /// Another error: see the underlying one.
    case unknown = 10000
    /// The configuration is wrong.
    case configurationInvalid = 10001
    /// The request is wrong.
    case requestInvalid = 10015
    /// The app is not the genuine one; never reported.
    case appIntegrityFailure = 10024
}

/// Errors of enrolling for mobile authentication.
public enum MobileAuthEnrollmentError: Int, Sendable {
    /// Nobody is logged in.
    case userNotAuthenticated = 9010
    /// Another enrollment of the user has the push token.
    case deviceAlreadyEnrolled = 9016
    /// The server does not do it; never reported.
    case enrollmentNotAvailable = 9017
    /// The user is enrolled on another device; never reported.
    case userAlreadyEnrolled = 9018
    /// The user is to be enrolled for mobile authentication first.
    case notEnrolled = 9021
    /// The user was registered statelessly; never reported.
    case statelessUser = 9033
}

/// Errors of mobile authentication requests.
public enum MobileAuthRequestError: Int, Sendable {
    /// Nobody is logged in, or somebody else.
    case userNotAuthenticated = 9010
    /// The device was removed from the account for security.
    case userDisenrolled = 9020
    /// The user is not enrolled for mobile authentication.
    case notEnrolled = 9021
    /// The same request is being handled, or another device has taken it.
    case alreadyHandled = 9029
    /// There is no such request any more.
    case notFound = 10013
    /// It is not a request of this SDK, or cannot be answered by these calls.
    case notHandleable = 10018
}

/// Errors of authenticating a user.
public enum AuthenticationError: Int, Sendable {
    /// The PIN is wrong.
    case invalidPin = 9009
    /// The authenticator cannot do this.
    case authenticatorInvalid = 9015
    /// The authenticator is no longer good; of the PIN: a wrong one was typed too often.
    case authenticatorDeregistered = 9022
    /// The custom authenticator has refused, or failed.
    case customAuthenticatorFailure = 9027
    /// The biometric check has failed.
    case biometricAuthenticatorFailure = 9030
    /// The authenticator is not registered.
    case authenticatorNotRegistered = 10007
    /// Custom authenticators do not do this.
    case customAuthenticationDisabled = 10017
}

/// Errors of implicit authentication.
public enum ImplicitAuthenticationError: Int, Sendable {
    /// The user was not authenticated implicitly; never reported: `implicitlyAuthenticate` tells why it failed.
    case userNotAuthenticatedImplicitly = 9026
}

/// Errors of registering an authenticator.
public enum AuthenticatorRegistrationError: Int, Sendable {
    /// Nobody is logged in.
    case userNotAuthenticated = 9010
    /// The authenticator cannot do this; never reported.
    case authenticatorInvalid = 9015
    /// The custom authenticator has refused, or failed; never reported in this domain.
    ///
    /// It is told as ``AuthenticationError/customAuthenticatorFailure``, in the domain ``ErrorDomains/authentication``.
    case customAuthenticatorFailure = 9027
    /// It is registered already: the PIN always is.
    case authenticatorAlreadyRegistered = 10004
    /// This device has nothing of the kind.
    case authenticatorNotSupported = 10006
    /// There are no custom authenticators; never reported.
    case customAuthenticationDisabled = 10020
}

/// Errors of deregistering an authenticator.
public enum AuthenticatorDeregistrationError: Int, Sendable {
    /// Nobody is logged in.
    case userNotAuthenticated = 9010
    /// It is deregistered on this device alone; never reported.
    case authenticatorDeregisteredLocally = 9028
    /// This device has nothing of the kind; never reported.
    case authenticatorNotSupported = 10006
    /// The PIN cannot be deregistered.
    case authenticatorPinDeregistrationNotPossible = 10008
    /// There are no custom authenticators; never reported.
    case customAuthenticationDisabled = 10020
}

/// Errors of registering a user.
public enum RegistrationError: Int, Sendable {
    /// The device could not be registered; never reported.
    case deviceRegistrationFailure = 9008
    /// Nobody is registered statelessly here.
    case statelessDisabled = 9034
    /// The answer belongs to another registration; never reported.
    case invalidState = 10002
    /// There is no such identity provider.
    case invalidIdentityProvider = 10020
    /// The ticket is used up or too old.
    case customRegistrationExpired = 10021
    /// The ticket is none that this app accepts.
    case customRegistrationFailure = 10022
    /// The issuer has refused.
    case externalIdentityProviderFailure = 10024
}

/// Why a PIN cannot be chosen.
public enum PinValidationError: Int, Sendable {
    /// Too many people choose it.
    case pinBlackListed = 9011
    /// Its digits follow one another.
    case pinShouldNotBeASequence = 9012
    /// One digit occurs in it too often; how often it may is at ``maxSimilarDigitsKey``.
    case pinShouldNotUseSimilarDigits = 9013
    /// It is too short or too long; the least length is at ``requiredPinLengthKey``.
    case wrongPinLength = 9014
}

/// Errors of changing the PIN.
public enum ChangePinError: Int, Sendable {
    /// Nobody is logged in.
    case userNotAuthenticated = 9010
    /// The user was registered statelessly; never reported.
    case statelessUser = 9033
}

/// Errors of deregistering a user.
public enum DeregistrationError: Int, Sendable {
    /// The user is deregistered on this device alone.
    case localDeregistration = 10003
}

/// Errors of logging out.
public enum LogoutError: Int, Sendable {
    /// The tokens are forgotten on this device alone; they end by themselves.
    case localLogout = 10009
}

/// Errors of single sign-on from the app to the web.
public enum AppToWebSingleSignOnError: Int, Sendable {
    /// Nobody is logged in; never reported.
    case userNotAuthenticated = 9010
    /// There is no single sign-on from the app to the web here.
    case disabled = 10023
}

/// The name of ``GenericError`` in the original's documents.
public typealias ONGGenericError = GenericError
/// The name of ``MobileAuthEnrollmentError`` in the original's documents.
public typealias ONGMobileAuthEnrollmentError = MobileAuthEnrollmentError
/// The name of ``MobileAuthRequestError`` in the original's documents.
public typealias ONGMobileAuthRequestError = MobileAuthRequestError
/// The name of ``AuthenticationError`` in the original's documents.
public typealias ONGAuthenticationError = AuthenticationError
/// The name of ``AuthenticatorRegistrationError`` in the original's documents.
public typealias ONGAuthenticatorRegistrationError = AuthenticatorRegistrationError
/// The name of ``AuthenticatorDeregistrationError`` in the original's documents.
public typealias ONGAuthenticatorDeregistrationError = AuthenticatorDeregistrationError
/// The name of ``RegistrationError`` in the original's documents.
public typealias ONGRegistrationError = RegistrationError
/// The name of ``PinValidationError`` in the original's documents.
public typealias ONGPinValidationError = PinValidationError

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Where the user info of an error has what a custom authenticator has said: a ``CustomInfo``.
public let CustomAuthInfoKey = "customAuthInfo"
/// Where the user info of ``PinValidationError/pinShouldNotUseSimilarDigits`` has how often a digit may occur.
public let maxSimilarDigitsKey = "maxSimilarDigits"
/// Where the user info of ``PinValidationError/wrongPinLength`` has the least length.
public let requiredPinLengthKey = "requiredPinLength"
