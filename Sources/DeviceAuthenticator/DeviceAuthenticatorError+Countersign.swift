import Countersign
import CountersignWire
import Foundation

extension DeviceAuthenticatorError {
    /// An error of the SDK, in the vendor's terms.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - issuer: the server that was asked; nil for none.
    init(_ error: any Error, at issuer: URL? = nil) {
        switch error {
        case let error as DeviceAuthenticatorError: self = error
        case let error as StorageError: self = .storageError(error)
        case let error as CountersignError: self.init(error, from: issuer)
        default: self = .storageError(.generalStorageError("\(error)"))
        }
    }

    private init(_ error: CountersignError, from issuer: URL?) {
        func refusal(_ status: Int, _ code: ServerErrorCode, _ id: String? = nil) -> DeviceAuthenticatorError {
            .serverAPIError(
                HTTPURLResult(statusCode: status, from: issuer),
                ServerAPIErrorModel(
                    errorCode: code, errorSummary: "\(error) \(error.suggestion)", errorLink: nil, errorId: id,
                    status: nil, errorCauses: nil))
        }
        switch error {
        case .network: self = .networkError(error)
        case .serverUnreachable(let status) where !(200..<300).contains(status):
            self = .serverAPIError(HTTPURLResult(statusCode: status, from: issuer), nil)
        case .deviceDeregistered(let removal):
            switch removal.kind {
            case .deviceDeregistered: self = refusal(410, .deviceDeleted)
            case .userDeregistered: self = refusal(410, .userDeleted)
            case .userDisenrolled: self = refusal(410, .enrollmentDeleted)
            }
        case .enrollmentUnknown: self = refusal(404, .enrollmentNotFound)
        case .enrollmentSuspended: self = refusal(423, .enrollmentSuspended)
        case .signInEnded: self = refusal(401, .invalidToken)
        case .server(let problem):
            let code: ServerErrorCode =
                switch problem.knownCode {
                case .unauthorized: .invalidToken
                case .notFound: .resourceNotFound
                default: .unknown(problem.code)
                }
            self = refusal(problem.status, code, problem.requestID)
        case .ticketRefused, .enrollmentWaiting, .authorityNeeded, .methodNeeded, .pinRequired:
            self = refusal(403, .unknown(error.code))
        case .challengeNotFound: self = refusal(404, .unknown(error.code))
        case .challengeExpired, .alreadyAnswered, .challengeEnded, .numberIncorrect, .pushTokenInUse, .methodMissing:
            self = refusal(409, .unknown(error.code))
        case .notEnrolled: self = .storageError(.itemNotFound)
        case .vault(let text): self = .storageError(.generalStorageError(text))
        case .biometric(let failure): self = .securityError(SecurityError(failure))
        case .clockSkew, .pushRefused, .serverChanged, .idTokenRefused: self = .securityError(.jwtError("\(error)"))
        case .configurationInvalid(let text): self = .internalError(text)
        default: self = .genericError("\(error) \(error.suggestion)")
        }
    }
}

extension SecurityError {
    /// Why biometrics failed.
    init(_ failure: BiometricFailure) {
        switch failure {
        case .cancelled, .fallback: self = .localAuthenticationCancelled(failure)
        case .failed, .lockout: self = .localAuthenticationFailed(failure)
        case .unavailable: self = .localAuthenticationPasscodeNotSet(failure)
        case .changed: self = .keyCorrupted(failure)
        // errSecItemNotFound
        case .notRegistered: self = .generalEncryptionError(-25300, failure, "no biometric is registered")
        }
    }
}
