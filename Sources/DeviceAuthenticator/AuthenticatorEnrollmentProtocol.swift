public import Countersign
public import Foundation

/// One user on this device.
///
/// Completions are called once, on any thread. Unless a call says otherwise, its `authenticationToken` is not used, and
/// may be expired or empty: the device's own keys sign. Of every call the error is
/// ``DeviceAuthenticatorError/networkError(_:)`` without a network, ``DeviceAuthenticatorError/serverAPIError(_:_:)``
/// if the server refuses, such as for an enrollment that it has removed, and
/// ``DeviceAuthenticatorError/storageError(_:)`` if the device's storage fails.
public protocol AuthenticatorEnrollmentProtocol: Sendable {
    /// The enrollment's id.
    var enrollmentId: String { get }
    /// The server.
    var organization: Organization { get }
    /// The user.
    var user: User { get }
    /// Whether the user's biometrics are registered, as far as the device knows.
    var userVerificationEnabled: Bool { get }
    /// Whether clients may ask by CIBA: always true, since it is in the client's registration at the server.
    var isCIBAEnabled: Bool { get }

    /// Registers the user's biometrics, or removes them; the system asks the user.
    ///
    /// Registering makes a new key each time. Biometrics that are registered later than ten minutes after enrolling may
    /// have to wait at the server before they count.
    ///
    /// - Parameters:
    ///   - authenticationToken: a token with the scope `enroll`, as for enrolling, if the enrollment is older than ten
    ///     minutes and has no biometrics; otherwise it is not used.
    ///   - enable: whether to register or to remove.
    ///   - completion: gets nil if it is done; ``DeviceAuthenticatorError/securityError(_:)`` if the user closes the
    ///     system's prompt, or the device has no biometrics.
    func setUserVerification(
        authenticationToken: AuthToken, enable: Bool,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    )

    /// Allows clients to ask by CIBA, which they may anyhow; forbidding it is an error.
    ///
    /// - Parameters:
    ///   - authenticationToken: not used.
    ///   - enable: `true` succeeds, and changes nothing.
    ///   - completion: gets nil, or ``DeviceAuthenticatorError/genericError(_:)`` for `false`.
    func enableCIBATransactions(
        authenticationToken: AuthToken, enable: Bool,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    )

    /// Tells the server the app's push token, for all enrollments at this server.
    ///
    /// A server that cannot be reached is told with the next request for challenges, and that is no error.
    ///
    /// - Parameters:
    ///   - token: the token, as the system has handed it out.
    ///   - authenticationToken: not used.
    ///   - completion: gets nil if it is done, or will be; ``DeviceAuthenticatorError/internalError(_:)`` without a
    ///     bundle identifier.
    func updateDeviceToken(
        _ token: Data, authenticationToken: AuthToken,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    )

    /// Fetches the challenges that wait for this enrollment; those that cannot be shown are left out.
    ///
    /// - Parameters:
    ///   - authenticationToken: not used.
    ///   - allowedClockSkewInSeconds: not used: the server says which time it is.
    ///   - completion: gets the challenges, newest first.
    func retrievePushChallenges(
        authenticationToken: AuthToken, allowedClockSkewInSeconds: Int,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void
    )

    /// Deletes the enrollment from this device alone; the calling thread waits.
    ///
    /// - Throws: ``DeviceAuthenticatorError``.
    func deleteFromDevice() throws

    /// Fetches an access token that shows possession of this device, without asking the user.
    ///
    /// - Parameters:
    ///   - scopes: the scopes, such as `openid`; those of the vendor's names (`okta.…`) are left out, since a device
    ///     needs none for its own calls.
    ///   - completion: gets the token, which is good for ten minutes at most; an error while the device waits to be let
    ///     in.
    func retrieveMaintenanceToken(
        scopes: [String], completion: @escaping @Sendable (Result<Oauth2Credential, DeviceAuthenticatorError>) -> Void
    )
}

extension AuthenticatorEnrollmentProtocol {
    /// Fetches the challenges that wait for this enrollment.
    public func retrievePushChallenges(
        authenticationToken: AuthToken,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void
    ) {
        retrievePushChallenges(
            authenticationToken: authenticationToken, allowedClockSkewInSeconds: 300, completion: completion)
    }

    /// Fetches an access token that shows possession of this device, without asking the user.
    public func retrieveMaintenanceToken(
        completion: @escaping @Sendable (Result<Oauth2Credential, DeviceAuthenticatorError>) -> Void
    ) {
        retrieveMaintenanceToken(scopes: [], completion: completion)
    }
}

/// An enrollment that another device of the user must approve first, which no call of the vendor's can say.
public protocol AwaitingEnrollment: AuthenticatorEnrollmentProtocol {
    /// The digits to type on the other device; nil if there is nothing to wait for, or no device that could type them.
    ///
    /// Show them when enrolling has succeeded: the server tells them once.
    var approvalNumber: String? { get }
    /// When the enrollment becomes active, unless somebody refuses it before; nil if there is nothing to wait for.
    var activeAt: Date? { get }
}

/// The server.
public struct Organization: Sendable {
    /// The server's base URL.
    public let id: String
    /// The server's base URL.
    public let url: URL
}

/// A user.
public struct User: Sendable {
    /// The user's id at the server.
    public let id: String
    /// The user's name: always nil, since a device knows none.
    public let name: String?
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// An access token, as the token endpoint gives it.
public struct Oauth2Credential: Codable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case access_token, token_type, expires_in, refresh_token, scope
    }

    /// The token.
    public let access_token: String
    /// `DPoP` for a token that is bound to a key, `Bearer` for another one.
    public let token_type: String
    /// For how long it is good, in seconds from when it was fetched.
    public let expires_in: Int?
    /// Always nil: the device can fetch another token at any time.
    public let refresh_token: String?
    /// The scopes, separated by spaces.
    public let scope: String?
    /// The token with the key to which it is bound; it makes the header fields of a request.
    ///
    /// It is not encoded.
    public private(set) var token: AccessToken?
}
