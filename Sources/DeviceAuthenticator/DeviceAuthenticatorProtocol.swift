public import Countersign
public import Foundation

#if canImport(UserNotifications)
    public import UserNotifications
#else
    public import UserNotificationsStandIn
#endif

/// What enrolls a device, and parses the pushes that reach it.
///
/// Completions are called once, on any thread.
public protocol DeviceAuthenticatorProtocol: Sendable {
    /// Tells what the server wants of enrollments.
    ///
    /// Nothing is fetched: whether a question needs a biometric is the challenge type's to say, each time.
    ///
    /// - Parameters:
    ///   - authenticationToken: not used.
    ///   - authenticatorConfig: not used.
    ///   - completion: gets a policy that prefers biometrics, always.
    func downloadPolicy(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig,
        completion: @escaping @Sendable (Result<any AuthenticatorPolicyProtocol, DeviceAuthenticatorError>) -> Void
    )

    /// Enrolls this device for the user of an access token.
    ///
    /// The token has the scope `enroll`, and its user has signed in less than ten minutes ago; it enrolls one device. If
    /// the user has a device already, that device must approve this one: see ``AwaitingEnrollment``.
    ///
    /// - Parameters:
    ///   - authenticationToken: the access token.
    ///   - authenticatorConfig: the server, and the app's client there.
    ///   - enrollmentParameters: the push token, and whether to register the user's biometrics.
    ///   - completion: gets the enrollment, or why there is none: ``DeviceAuthenticatorError/serverAPIError(_:_:)`` for
    ///     a token that the server does not take, ``DeviceAuthenticatorError/securityError(_:)`` if biometrics were
    ///     wanted and fail, ``DeviceAuthenticatorError/internalError(_:)`` for a wrong configuration. An
    ///     enrollment whose biometrics fail is removed again, if the server can be reached.
    func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig,
        enrollmentParameters: EnrollmentParameters,
        completion: @escaping @Sendable (Result<any AuthenticatorEnrollmentProtocol, DeviceAuthenticatorError>) -> Void
    )

    /// The enrollments on this device, by servers and oldest first; the calling thread waits while they are read.
    func allEnrollments() -> [any AuthenticatorEnrollmentProtocol]

    /// Removes an enrollment on the server and on this device.
    ///
    /// - Parameters:
    ///   - enrollment: the enrollment.
    ///   - authenticationToken: not used: the device's own key signs.
    ///   - completion: gets nil if it is gone, also if the server knew none; an error, and then it stays on this
    ///     device, if the server cannot be asked.
    func delete(
        enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    )

    /// Verifies a push, and reads its announcement.
    ///
    /// The calling thread waits, for keys of the server for ten seconds at most.
    ///
    /// - Parameters:
    ///   - notification: the notification, as the system handed it over.
    ///   - allowedClockSkewInSeconds: by how many seconds the device's clock may differ from the server's.
    /// - Throws: ``DeviceAuthenticatorError/pushNotRecognized`` for somebody else's push, and for one that only
    ///   withdraws a notification, ``DeviceAuthenticatorError/accountNotFoundForChallenge(_:)`` for one that is for
    ///   none of this device's enrollments, ``DeviceAuthenticatorError/securityError(_:)`` for one that is forged,
    ///   altered or out of date, ``DeviceAuthenticatorError/networkError(_:)`` if a key of the server was needed and
    ///   did not come in time.
    func parsePushNotification(
        _ notification: UNNotification, allowedClockSkewInSeconds: Int
    ) throws -> any PushChallengeProtocol

    /// Verifies a push, and reads its announcement and what the user chose on its notification.
    ///
    /// Nothing is sent before ``ChallengeProtocol/resolve(onRemediation:onCompletion:)``, which sends the choice.
    ///
    /// - Parameters:
    ///   - response: the response, as the system handed it over; a tap on the notification itself chooses nothing.
    ///   - allowedClockSkewInSeconds: as in ``parsePushNotification(_:allowedClockSkewInSeconds:)``.
    /// - Throws: the errors of ``parsePushNotification(_:allowedClockSkewInSeconds:)``.
    func parsePushNotificationResponse(
        _ response: UNNotificationResponse, allowedClockSkewInSeconds: Int
    ) throws -> any PushChallengeProtocol
}

extension DeviceAuthenticatorProtocol {
    /// Verifies a push, whose time may differ by five minutes.
    public func parsePushNotification(_ notification: UNNotification) throws -> any PushChallengeProtocol {
        try parsePushNotification(notification, allowedClockSkewInSeconds: 300)
    }

    /// Verifies a push, whose time may differ by five minutes.
    public func parsePushNotificationResponse(
        _ response: UNNotificationResponse
    ) throws -> any PushChallengeProtocol {
        try parsePushNotificationResponse(response, allowedClockSkewInSeconds: 300)
    }
}

/// What entitles the app to act for a user.
public enum AuthToken: Sendable {
    /// An access token from any library.
    case bearer(String)
    /// An access token from `OpenIDClient`, which may be bound to a key.
    case accessToken(AccessToken)

    /// The token for the SDK.
    func opened() throws(DeviceAuthenticatorError) -> AccessToken {
        switch self {
        case .accessToken(let token): return token
        case .bearer(let text):
            guard let token = AccessToken(bearer: text) else {
                throw .internalError("The access token has characters that none may have.")
            }
            return token
        }
    }
}

/// The server, and the app's client there.
public struct DeviceAuthenticatorConfig: Sendable {
    /// The server's URL, such as `https://login.example.com`, without a path.
    public let orgURL: URL
    /// The kind of authenticator: always `custom_app`.
    public let authenticatorKey = "custom_app"
    /// The id of the app's client, such as `cli_…`.
    public let oidcClientId: String

    /// A configuration of these parts; of the URL, scheme, host and port are kept.
    ///
    /// The scheme must be `https`, or `http` on a loopback host; with another one, enrolling is an error.
    public init(orgURL: URL, oidcClientId: String) {
        var parts = URLComponents()
        parts.scheme = orgURL.scheme
        parts.host = orgURL.host()?.lowercased()
        parts.port = orgURL.port
        self.orgURL = parts.url ?? orgURL
        self.oidcClientId = oidcClientId
    }
}

/// The configuration under the name that the vendor's documents give it.
public typealias AuthenticatorConfig = DeviceAuthenticatorConfig

/// What the server wants of enrollments.
public protocol AuthenticatorPolicyProtocol: Sendable {
    /// Whether an enrollment should register the user's biometrics.
    var userVerificationSetting: UserVerificationPolicySetting { get }
}

/// Whether an enrollment should register the user's biometrics.
public enum UserVerificationPolicySetting: Equatable, Codable, Sendable {
    /// It may, and should where it can.
    case preferred
    /// It must.
    case required
    /// Something else.
    case unknown(String)

    /// Reads a setting, in upper or lower case.
    public init(raw: String) {
        switch raw.uppercased() {
        case "PREFERRED": self = .preferred
        case "REQUIRED": self = .required
        default: self = .unknown(raw)
        }
    }

    /// The setting as a text.
    public var rawValue: String {
        switch self {
        case .preferred: "PREFERRED"
        case .required: "REQUIRED"
        case .unknown(let text): text
        }
    }
}

/// What these calls say of themselves.
public enum DeviceAuthenticatorConstants {
    /// The vendor's version whose calls these are.
    public static let version = "1.1.0"
    /// The name of the module.
    public static let name = "DeviceAuthenticator"
}
