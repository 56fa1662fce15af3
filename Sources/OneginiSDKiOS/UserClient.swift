public import Foundation

/// Everything about the users of this device.
///
/// It may be called from any thread; the app is called back on the main thread, and exactly once for each call that
/// takes a closure.
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
    /// The access token of whoever is logged in; nil when it is over.
    var accessToken: String? { get }
    /// Whether the user was registered statelessly: never here.
    var isStateless: Bool { get }
    /// The authenticator by which the logged-in user is authenticated unless the app names another.
    var preferredAuthenticator: Authenticator? { get }

    /// Registers a user: by a sign-in at the issuer or by a ticket, and with a PIN.
    ///
    /// - Parameters:
    ///   - identityProvider: one of ``identityProviders``; nil for the first, the browser.
    ///   - scopes: what the access token is for; nil for `openid` alone.
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
    func implicitlyAuthenticate(
        user: any UserProfile, with scopes: [String]?, completion: @escaping @MainActor ((any Error)?) -> Void)
    /// Logs out whoever is logged in.
    func logoutUser(_ completion: @escaping @MainActor ((any UserProfile)?, (any Error)?) -> Void)
    /// Removes a user from this device, here and at the server.
    func deregister(user: any UserProfile, completion: @escaping @MainActor ((any Error)?) -> Void)

    /// Changes the PIN of whoever is logged in.
    func changePin(delegate: any ChangePinDelegate)
    /// Compares a PIN that is to be set with the rules; the error is one of ``PinValidationError``.
    func validatePolicyCompliance(for pin: String, completion: @escaping @MainActor ((any Error)?) -> Void)
    /// A user's authenticators, as far as this device knows.
    func authenticators(_ type: AuthenticatorsType, for userProfile: any UserProfile) -> [Authenticator]
    /// Registers an authenticator for whoever is logged in.
    func register(authenticator: Authenticator, delegate: any AuthenticatorRegistrationDelegate)
    /// Deregisters an authenticator of whoever is logged in.
    func deregister(authenticator: Authenticator, delegate: any AuthenticatorDeregistrationDelegate)
    /// Makes an authenticator the preferred one of whoever is logged in, if it is registered.
    func setPreferredAuthenticator(_ authenticator: Authenticator)

    /// Enrolls whoever is logged in for mobile authentication: from now on its requests surface in this app.
    func enrollMobileAuth(_ completion: @escaping @MainActor ((any Error)?) -> Void)
    /// Whether a user is enrolled for mobile authentication.
    func isMobileAuthEnrolled(for userProfile: any UserProfile) -> Bool
    /// Has pushes sent to this device.
    func enrollPushMobileAuth(
        with deviceToken: Data, completion: @escaping @MainActor ((any Error)?) -> Void)
    /// Whether pushes are sent to this device for a user.
    func isPushMobileAuthEnrolled(for userProfile: any UserProfile) -> Bool
    /// The request that a push announces; nil if the push is not for this library, or its user is not enrolled.
    func pendingMobileAuthRequest(from userInfo: [AnyHashable: Any]) -> (any PendingMobileAuthRequest)?
    /// Fetches what waits for the enrolled users of this device, newest first; nobody needs to be logged in.
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
    /// Handles the request of a one-time password, for whoever is logged in.
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
    /// - Throws: an error of ``ErrorDomains/generic`` or ``ErrorDomains/authentication``.
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
