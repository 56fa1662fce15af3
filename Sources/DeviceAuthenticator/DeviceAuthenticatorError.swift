public import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of ``DeviceAuthenticatorError``.
public let DeviceAuthenticatorErrorDomain = "DeviceAuthenticator.DeviceAuthenticatorError"

/// Every error that these calls report.
public enum DeviceAuthenticatorError: Error, Sendable {
    /// The server refused.
    case serverAPIError(HTTPURLResult, ServerAPIErrorModel?)
    /// The network failed.
    case networkError(any Error)
    /// A key, a signature or a biometric failed.
    case securityError(SecurityError)
    /// The device's storage failed.
    case storageError(StorageError)
    /// The server sent something unexpected, or an answer could not be given in this way.
    case genericError(String)
    /// The app gave a wrong value.
    case internalError(String)
    /// The push is for no enrollment of this device.
    case accountNotFoundForChallenge(any ChallengeProtocol)
    /// The push is somebody else's.
    case pushNotRecognized
    /// Nothing can be enrolled; these calls never report it.
    case noVerificationMethodsToEnroll
}

extension DeviceAuthenticatorError: CustomNSError {
    /// See ``DeviceAuthenticatorErrorDomain``.
    public static var errorDomain: String { DeviceAuthenticatorErrorDomain }

    /// The number of the case.
    public var errorCode: Int {
        switch self {
        case .serverAPIError: -1
        case .networkError: -2
        case .securityError: -3
        case .storageError: -4
        case .genericError: -5
        case .internalError: -6
        case .accountNotFoundForChallenge: -7
        case .pushNotRecognized: -8
        case .noVerificationMethodsToEnroll: -9
        }
    }

    /// What is known besides.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: errorDescription ?? ""]
        switch self {
        case .serverAPIError(let result, let model):
            info["result"] = result
            if let model { info["json"] = model }
        case .networkError(let error): info[NSUnderlyingErrorKey] = error
        case .securityError(let error): info[NSUnderlyingErrorKey] = error
        case .storageError(let error): info[NSUnderlyingErrorKey] = error
        default: break
        }
        return info
    }
}

extension DeviceAuthenticatorError: LocalizedError {
    /// What happened, in one sentence.
    public var errorDescription: String? {
        switch self {
        case .serverAPIError: "Server call has failed"
        case .networkError(let error): "\(error)"
        case .securityError: "Encryption operation failed"
        case .storageError(let error): error.errorDescription
        case .genericError(let text), .internalError(let text): text
        case .accountNotFoundForChallenge: "Account not found"
        case .pushNotRecognized: "Unrecognized push notification"
        case .noVerificationMethodsToEnroll: "Authenticator policy doesn't have any methods to enroll"
        }
    }
}

extension DeviceAuthenticatorError: Equatable {
    /// Whether two errors are of the same case.
    public static func == (one: DeviceAuthenticatorError, other: DeviceAuthenticatorError) -> Bool {
        one.errorCode == other.errorCode
    }
}

/// Why a key, a signature or a biometric failed.
///
/// `create(with:)` is not here: it took an error of Apple's Core Foundation, which nothing here makes.
public enum SecurityError: Error, Sendable {
    /// Something was not signed; these calls never report it.
    case failedToSignPayload(String)
    /// A key was not made; these calls never report it.
    case keyGenFailed(Int32, String)
    /// The key that biometrics unlock is lost: the device must be enrolled anew.
    case keyCorrupted(any Error)
    /// The user has closed the prompt for biometrics.
    case localAuthenticationCancelled(any Error)
    /// The device has no biometrics that could be used.
    case localAuthenticationPasscodeNotSet(any Error)
    /// The biometric was not recognised.
    case localAuthenticationFailed(any Error)
    /// A key is missing.
    case generalEncryptionError(Int32, (any Error)?, String)
    /// A key could not be read; these calls never report it.
    case jwkError(String)
    /// A signature or its time is refused.
    case jwtError(String)
    /// Something was not encrypted or decrypted; these calls never report it.
    case dataEncryptionDecryptionError((any Error)?)
}

/// Why the device's storage failed.
public enum StorageError: Error, Sendable {
    /// There is no such enrollment on this device.
    case itemNotFound
    /// The app does not have the group of its configuration.
    case missingAppGroupEntitlement
    /// What is stored is of another version; these calls never report it.
    case storageMigrationError(String)
    /// A database failed; these calls never report it.
    case sqliteError(String)
    /// Keys or records could not be read or written.
    case generalStorageError(String)

    /// What happened, in one sentence.
    public var errorDescription: String {
        switch self {
        case .itemNotFound: "There is no such enrollment on this device"
        case .missingAppGroupEntitlement: "The app does not have the app group of its configuration"
        case .storageMigrationError(let text), .sqliteError(let text), .generalStorageError(let text): text
        }
    }
}
