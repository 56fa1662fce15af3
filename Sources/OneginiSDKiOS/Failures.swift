import Countersign
import CountersignWire
import Foundation

/// A refusal by one of the original's numbers.
struct Refused: Error {
    let domain: String
    let code: Int

    init(_ domain: String, _ code: Int) {
        self.domain = domain
        self.code = code
    }

    /// Whether the person, or the app, has cancelled it.
    var isCancellation: Bool { domain == ErrorDomains.generic && code == GenericError.actionCancelled.rawValue }

    static let cancelled = Refused(ErrorDomains.generic, GenericError.actionCancelled.rawValue)
    static let underWay = Refused(ErrorDomains.generic, GenericError.actionAlreadyInProgress.rawValue)
    static let notStarted = Refused(ErrorDomains.generic, GenericError.configurationInvalid.rawValue)

    static func request(_ error: MobileAuthRequestError) -> Refused {
        Refused(ErrorDomains.mobileAuthRequest, error.rawValue)
    }

    static func authentication(_ error: AuthenticationError) -> Refused {
        Refused(ErrorDomains.authentication, error.rawValue)
    }

    /// Nobody is logged in, which has the same number in every domain.
    static func notAuthenticated(in domain: String) -> Refused {
        Refused(domain, MobileAuthRequestError.userNotAuthenticated.rawValue)
    }
}

/// The error as the app gets it: an `NSError` of one of ``ErrorDomains``, with the SDK's own error below.
///
/// - Parameters:
///   - error: the error.
///   - domain: the domain of the call that failed.
///   - info: what a custom authenticator has said.
///   - rules: the rules that a PIN has broken.
func translated(
    _ error: any Error, in domain: String, _ info: (any CustomInfo)? = nil, rules: PINPolicy? = nil
) -> any Error {
    var userInfo: [String: Any] = [:]
    let refused: Refused
    switch error {
    case let error as Refused: refused = error
    case let error as CountersignError:
        refused = error.refused(in: domain)
        userInfo[NSLocalizedDescriptionKey] = "\(error)"
        userInfo[NSLocalizedRecoverySuggestionErrorKey] = error.suggestion
        userInfo[NSUnderlyingErrorKey] = error
        if let rules, case .pinPolicy(let violation) = error {
            switch violation {
            case .repeats: userInfo[maxSimilarDigitsKey] = rules.maximumRepeats
            case .length: userInfo[requiredPinLengthKey] = rules.minimumLength
            case .sequence, .blocked: break
            }
        }
    default:
        refused = Refused(ErrorDomains.generic, GenericError.unknown.rawValue)
        userInfo[NSUnderlyingErrorKey] = error
    }
    if let info { userInfo[CustomAuthInfoKey] = info }
    return NSError(domain: refused.domain, code: refused.code, userInfo: userInfo)
}

extension CountersignError {
    /// What a custom authenticator has said, if it has.
    var customInfo: (any CustomInfo)? {
        switch self {
        case .customRetry(_, let payload): TranslatedInfo(.retry, payload)
        case .customFailed(let payload): TranslatedInfo(.refused, payload)
        default: nil
        }
    }

    /// The original's number for the error, in a call of this domain.
    fileprivate func refused(in domain: String) -> Refused {
        let isRequest = domain == ErrorDomains.mobileAuthRequest
        switch self {
        case .network: return .init(generic: .networkConnectivityFailure)
        case .serverUnreachable, .signInRefused(.unavailable): return .init(generic: .serverNotReachable)
        case .server: return .init(generic: retryHelps ? .serverNotReachable : .unknown)
        case .clockSkew: return .init(generic: .invalidDateTime)
        case .vault: return .init(generic: .dataStorageNotAvailable)
        case .configurationInvalid, .providerInvalid: return .init(generic: .configurationInvalid)
        case .cancelled, .signInRefused(.declined), .biometric(.cancelled): return .cancelled
        case .signInResponse, .idTokenRefused: return .init(generic: .requestInvalid)
        case .deviceDeregistered(let removal): return .init(removal, isRequest: isRequest)
        case .notEnrolled: return isRequest ? .request(.notEnrolled) : .init(generic: .unknown)
        case .enrollmentUnknown: return isRequest ? .request(.notEnrolled) : .init(generic: .deviceDeregistered)
        case .notSignedIn, .signInEnded: return .notAuthenticated(in: domain)
        case .challengeNotFound, .challengeExpired, .alreadyAnswered, .challengeEnded, .codeRefused(.invalid),
            .codeRefused(.expired):
            return .request(.notFound)
        case .codeRefused(.alreadyClaimed): return .request(.alreadyHandled)
        case .notHandleable, .numberRequired, .codeRefused(.malformed), .serverChanged, .pushRefused:
            return isRequest ? .request(.notHandleable) : .init(generic: .unknown)
        case .methodMissing, .pinNotSet, .biometric(.notRegistered), .customNotRegistered:
            return .authentication(.authenticatorNotRegistered)
        case .pinIncorrect: return .authentication(.invalidPin)
        case .pinLocked: return .authentication(.authenticatorDeregistered)
        case .biometric: return .authentication(.biometricAuthenticatorFailure)
        case .customRetry, .customFailed, .customUnavailable: return .authentication(.customAuthenticatorFailure)
        case .pinPolicy(let violation): return .init(violation)
        case .pushTokenInUse:
            return Refused(ErrorDomains.mobileAuthEnrollment, MobileAuthEnrollmentError.deviceAlreadyEnrolled.rawValue)
        case .ticketRefused:
            return Refused(ErrorDomains.registration, RegistrationError.customRegistrationExpired.rawValue)
        case .invitationRefused:
            return Refused(ErrorDomains.registration, RegistrationError.customRegistrationFailure.rawValue)
        case .signInRefused where domain == ErrorDomains.registration:
            return Refused(ErrorDomains.registration, RegistrationError.externalIdentityProviderFailure.rawValue)
        default: return .init(generic: .unknown)
        }
    }
}

extension Refused {
    fileprivate init(generic error: GenericError) {
        self.init(ErrorDomains.generic, error.rawValue)
    }

    fileprivate init(_ removal: Removal, isRequest: Bool) {
        switch removal.kind {
        case .deviceDeregistered: self.init(generic: .deviceDeregistered)
        case .userDeregistered: self.init(generic: .userDeregistered)
        case .userDisenrolled where isRequest: self = .request(.userDisenrolled)
        case .userDisenrolled: self.init(generic: .deviceDeregistered)
        }
    }

    fileprivate init(_ violation: PINViolation) {
        let error: PinValidationError =
            switch violation {
            case .length: .wrongPinLength
            case .repeats: .pinShouldNotUseSimilarDigits
            case .sequence: .pinShouldNotBeASequence
            case .blocked: .pinBlackListed
            }
        self.init(ErrorDomains.pinValidation, error.rawValue)
    }
}
