import Countersign
public import Foundation

/// What went wrong.
public enum CotterError: Error, Hashable, Sendable {
    /// Keys or tokens could not be kept or read.
    case keychainError(String)
    /// A biometric could not be set up; nothing here does so.
    case biometricEnrollment
    /// A biometric proved nothing.
    case biometricVerification
    /// The person has given up.
    case verificationCancelled
    /// Nobody was signed in, or nobody is any more.
    case auth(String)
    /// The page for signing in could not be shown, or did not come back.
    case passwordless(String)
    /// This device is not trusted, or is so already, or a question could not be shown or was not approved.
    case trustedDevice(String)
    /// Something could not be encoded; nothing here says so.
    case encoding
    /// Something could not be decoded; nothing here says so.
    case decoding
    /// The server did not answer as it should; the code is the HTTP status.
    case status(code: Int)
    /// The server refused.
    case server(message: String)
    /// The network failed.
    case network
    /// Something else, such as a wrong setting, or a clock that is wrong.
    case general(message: String)

    /// The error behind an error of the SDK.
    init(_ error: CountersignError) {
        let text = error.description
        self =
            switch error {
            case .network: .network
            case .serverUnreachable(let status): .status(code: status)
            case .server: .server(message: text)
            case .cancelled: .verificationCancelled
            case .biometric: .biometricVerification
            case .vault: .keychainError(text)
            case .browserFailed: .passwordless(text)
            case .signInRefused, .signInResponse, .idTokenRefused, .signInEnded, .notSignedIn: .auth(text)
            case .configurationInvalid, .providerInvalid, .clockSkew: .general(message: text)
            default: .trustedDevice(text)
            }
    }

    /// The error behind any other one.
    init(cause error: any Error) {
        self =
            switch error {
            case let error as CotterError: error
            case let error as CountersignError: CotterError(error)
            case is CancellationError: .verificationCancelled
            default: .general(message: "\(error)")
            }
    }
}

extension CotterError: LocalizedError {
    /// What happened, in one sentence for a developer.
    public var errorDescription: String? {
        switch self {
        case .keychainError(let text), .auth(let text), .passwordless(let text), .trustedDevice(let text),
            .server(let text), .general(let text):
            text
        case .biometricEnrollment: "The biometric could not be set up."
        case .biometricVerification: "The biometric proved nothing."
        case .verificationCancelled: "The person has given up."
        case .encoding: "It could not be encoded."
        case .decoding: "It could not be decoded."
        case .status(let code): "The server did not answer as it should (status \(code))."
        case .network: "The network failed."
        }
    }
}
