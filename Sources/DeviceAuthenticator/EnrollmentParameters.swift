public import Foundation

#if canImport(Security)
    public import Security
#else
    public import SecurityStandIn
#endif

/// How a device enrolls.
public struct EnrollmentParameters: Sendable {
    /// Where pushes are sent.
    let deviceToken: DeviceToken
    /// Whether the user's biometrics are registered at once.
    private(set) var enablesUserVerification: Bool

    /// Parameters with the token that the system handed out, and whether the user's biometrics are registered at once.
    public init(deviceToken: Data, enableUserVerification: Bool = false) {
        self.init(deviceToken: .tokenData(deviceToken), enableUserVerification: enableUserVerification)
    }

    /// Parameters with a push token, or without one: then the device is told nothing, and asks for its challenges.
    public init(deviceToken: DeviceToken, enableUserVerification: Bool = false) {
        self.deviceToken = deviceToken
        enablesUserVerification = enableUserVerification
    }

    /// Has the user's biometrics registered at once, or not.
    ///
    /// - Parameters:
    ///   - enable: whether they are.
    ///   - userVerificationSettings: not used: whether the key dies with a change of the biometrics is the vault's.
    public mutating func enableUserVerification(
        enable: Bool, userVerificationSettings: BiometricEnrollmentSettings = .default
    ) {
        enablesUserVerification = enable
    }

    /// Changes nothing, whatever `enable` is: whether a client may ask by CIBA is in its registration at the server.
    public mutating func enableCIBATransactions(enable: Bool) {}
}

/// A push token.
public enum DeviceToken: Sendable {
    /// None.
    case empty
    /// The token as the system handed it out.
    case tokenData(Data)
    /// The token in hexadecimal digits.
    case tokenString(String)
}

/// What the vendor's SDK asks of the key that the user's biometrics unlock.
///
/// It is taken, so that an app compiles, and not used: whether the key dies with a change of the biometrics is the
/// vault's.
public struct BiometricEnrollmentSettings: Sendable {
    /// The conditions, which nothing looks at.
    public let accessControlFlags: SecAccessControlCreateFlags

    /// Settings with these conditions.
    public init(accessControlFlags: SecAccessControlCreateFlags) {
        self.accessControlFlags = accessControlFlags
    }

    /// The vendor's usual condition: the key shall die when a finger or a face is added or removed.
    public static var `default`: BiometricEnrollmentSettings {
        BiometricEnrollmentSettings(accessControlFlags: .biometryCurrentSet)
    }
}
