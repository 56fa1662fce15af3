public import Foundation

/// Everything about the users of this device.
///
/// It may be called from any thread; the app is called back on the main thread, and exactly once for each call that
/// takes a closure. An error is an `NSError` of one of ``ErrorDomains``: that of the call or, for what concerns the
/// network, the server, the device or an authenticator, ``ErrorDomains/generic`` or ``ErrorDomains/authentication``. A
/// closure's error is nil for a success.
public protocol UserClient: AnyObject, Sendable {
    /// The ways to register.
    var identityProviders: [any IdentityProvider] { get }
    /// All users of this device.
    var userProfiles: [any UserProfile] { get }
    /// Who is logged in; nil for nobody, and when the access token is over, unless a refresh token can renew it.
    ///
    /// A login by this device brings no refresh token: the user authenticates again.
    var authenticatedUserProfile: (any UserProfile)? { get }
    /// Who is authenticated implicitly; nil for nobody, and when the access token is over.
    var implicitlyAuthenticatedUserProfile: (any UserProfile)? { get }
    /// The access token of whoever is logged in; nil when it is over, also if it can be refreshed.
    var accessToken: String? { get }
    /// Whether the user was registered statelessly: never here.
    var isStateless: Bool { get }
    /// The authenticator by which the logged-in user is authenticated unless the app names another.
    var preferredAuthenticator: Authenticator? { get }

    /// Registers a user: by a sign-in at the issuer or by a ticket, and with a PIN.
    ///
    /// - Parameters:
    ///   - identityProvider: one of ``identityProviders``; nil for the first, the browser.
    ///   - scopes: what the access token is for, also those of later logins; `openid` is added, and nil is `openid`
    ///     alone.
    ///   - delegate: is called back, and kept until the registration has ended.
    func registerUserWith(
        identityProvider: (any IdentityProvider)?, scopes: [String]?, delegate: any RegistrationDelegate)
    /// Fails with ``RegistrationError/statelessDisabled``.
    func registerStatelessUserWith(
        identityProvider: (any IdentityProvider)?, scopes: [String]?, delegate: any RegistrationDelegate)
    /// Logs a user in.
    ///
    /// - Parameters:
    ///   - profile: who.
    ///   - authenticator: by what; nil for the preferred one.
    ///   - delegate: is called back, and kept until the authentication has ended.
    func authenticateUserWith(
        profile: any UserProfile, authenticator: Authenticator?, delegate: any AuthenticationDelegate)
    /// Signs a user in by the device alone, beside whoever is logged in.
    ///
    /// - Parameters:
    ///   - user: who.
    ///   - scopes: what the access token is for; `openid` is added.
    ///   - completion: gets nil, or why it failed: ``GenericError/deviceDeregistered`` for a device that was removed.
    func implicitlyAuthenticate(
        user: any UserProfile, with scopes: [String]?, completion: @escaping @MainActor ((any Error)?) -> Void)
    /// Logs out whoever is logged in.
    ///
    /// - Parameter completion: gets who it was, nil if nobody was logged in; and ``LogoutError/localLogout`` if the
    ///   server could not be told.
    func logoutUser(_ completion: @escaping @MainActor ((any UserProfile)?, (any Error)?) -> Void)
    /// Removes a user from this device, here and at the server.
    ///
    /// - Parameters:
    ///   - user: who.
    ///   - completion: gets nil; ``DeregistrationError/localDeregistration`` if the server could not be told, and the
    ///     user is gone here all the same; ``GenericError/unknown`` for a user whom this device does not have.
    func deregister(user: any UserProfile, completion: @escaping @MainActor ((any Error)?) -> Void)

    /// Changes the PIN of whoever is logged in.
    ///
    /// The old PIN is judged together with the new one: if it was wrong, the person is asked for both again.
    func changePin(delegate: any ChangePinDelegate)
    /// Compares a PIN that is to be set with the server's rules for the newest user of this device.
    ///
    /// - Parameters:
    ///   - pin: the digits.
    ///   - completion: gets nil if it may be set, and a ``PinValidationError`` if not;
    ///     ``GenericError/configurationInvalid`` if there is no user yet, and errors of the network.
    func validatePolicyCompliance(for pin: String, completion: @escaping @MainActor ((any Error)?) -> Void)
    /// A user's authenticators, as far as this device knows; none for a user whom it does not have.
    func authenticators(_ type: AuthenticatorsType, for userProfile: any UserProfile) -> [Authenticator]
    /// Registers an authenticator for whoever is logged in; the system's prompt for biometrics says "Biometrics".
    func register(authenticator: Authenticator, delegate: any AuthenticatorRegistrationDelegate)
    /// Deregisters an authenticator of whoever is logged in.
    func deregister(authenticator: Authenticator, delegate: any AuthenticatorDeregistrationDelegate)
    /// Makes an authenticator the preferred one of whoever is logged in, if it is registered.
    ///
    /// It is so a moment after the call returns, and nobody is told if it cannot be kept.
    func setPreferredAuthenticator(_ authenticator: Authenticator)

    /// Enrolls whoever is logged in for mobile authentication: from now on its requests surface in this app.
    ///
    /// - Parameter completion: gets nil, or ``MobileAuthEnrollmentError/userNotAuthenticated``.
    func enrollMobileAuth(_ completion: @escaping @MainActor ((any Error)?) -> Void)
    /// Whether a user is enrolled for mobile authentication.
    func isMobileAuthEnrolled(for userProfile: any UserProfile) -> Bool
    /// Has pushes sent to this device, for all its users.
    ///
    /// Whoever is logged in must be enrolled for mobile authentication. A server that cannot be reached is told later,
    /// and that is no error.
    ///
    /// - Parameters:
    ///   - deviceToken: the push token, as the system has handed it out.
    ///   - completion: gets nil; ``MobileAuthEnrollmentError/userNotAuthenticated`` if nobody is logged in,
    ///     ``MobileAuthEnrollmentError/notEnrolled`` if they are not enrolled,
    ///     ``MobileAuthEnrollmentError/deviceAlreadyEnrolled`` if another enrollment has the token.
    func enrollPushMobileAuth(
        with deviceToken: Data, completion: @escaping @MainActor ((any Error)?) -> Void)
    /// Whether the app has called ``enrollPushMobileAuth(with:completion:)`` while this user was logged in.
    func isPushMobileAuthEnrolled(for userProfile: any UserProfile) -> Bool
    /// The request that a push announces; nil if the push is not for this library, or its user is not enrolled.
    ///
    /// - Parameter userInfo: what the push brought, as the system handed it over.
    func pendingMobileAuthRequest(from userInfo: [AnyHashable: Any]) -> (any PendingMobileAuthRequest)?
    /// Fetches what waits for the enrolled users of this device, newest first; nobody needs to be logged in.
    ///
    /// - Parameter completion: gets the requests, or, if every user's list failed, the first error; one of the two is
    ///   nil.
    func pendingPushMobileAuthRequests(
        completion: @escaping @MainActor ([any PendingMobileAuthRequest]?, (any Error)?) -> Void)
    /// Handles a request.
    ///
    /// - Parameters:
    ///   - request: the request; its ids alone count.
    ///   - delegate: is called back, and kept until the request has ended.
    func handlePendingMobileAuthRequest(
        _ request: any PendingMobileAuthRequest, delegate: any MobileAuthRequestDelegate)
    /// Whether a text is the one-time password of a request.
    func canHandleOTPMobileAuthRequest(otp: String) -> Bool
    /// Handles the request of a one-time password, for whoever is logged in and enrolled for mobile authentication.
    ///
    /// - Parameters:
    ///   - otp: the text of the QR code that was scanned.
    ///   - delegate: is called back, and kept until the request has ended.
    func handleOTPMobileAuthRequest(otp: String, delegate: any MobileAuthRequestDelegate)
    /// Fails with ``AppToWebSingleSignOnError/disabled``.
    func appToWebSingleSignOn(
        with targetURL: URL, completion: @escaping @MainActor (URL?, String?, (any Error)?) -> Void)

    /// The fields by which one request to an API shows the access token of whoever is logged in.
    ///
    /// The original has no such call: its own requests did this. A token may be bound to a key, and then
    /// ``accessToken`` alone opens nothing.
    ///
    /// - Parameters:
    ///   - method: the method of the request, in upper case.
    ///   - url: its address.
    /// - Returns: the fields, `Authorization` and, for a token that is bound to a key, `DPoP`; good for this request
    ///   alone.
    /// - Throws: an `NSError` of ``ErrorDomains/generic``, or of ``ErrorDomains/authentication`` with 9010 if nobody is
    ///   logged in any more.
    func headerFields(for method: String, _ url: URL) async throws -> [String: String]
}

/// The names of the original's documents.
extension UserClient {
    /// Another name of ``UserClient/enrollMobileAuth(_:)``.
    public func enrollForMobileAuth(_ completion: @escaping @MainActor ((any Error)?) -> Void) {
        enrollMobileAuth(completion)
    }

    /// Another name of ``UserClient/handlePendingMobileAuthRequest(_:delegate:)``.
    public func handlePendingPushMobileAuthRequest(
        _ request: any PendingMobileAuthRequest, delegate: any MobileAuthRequestDelegate
    ) {
        handlePendingMobileAuthRequest(request, delegate: delegate)
    }

    /// Another name of ``UserClient/canHandleOTPMobileAuthRequest(otp:)``.
    public func canHandleOTPMobileAuthRequest(_ otp: String) -> Bool {
        canHandleOTPMobileAuthRequest(otp: otp)
    }

    /// Another name of ``UserClient/handleOTPMobileAuthRequest(otp:delegate:)``.
    public func handleOTPMobileAuthRequest(_ otp: String, for delegate: any MobileAuthRequestDelegate) {
        handleOTPMobileAuthRequest(otp: otp, delegate: delegate)
    }
}
