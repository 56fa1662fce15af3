public import Countersign

/// Why something did not work, as far as it matters to the person.
public enum PromptFailure: Hashable, Sendable {
    /// There is no network.
    case network
    /// The server did not answer as it should, or has too much to do.
    case service
    /// The device's date and time are wrong.
    case clock
    /// Keys or records could not be read or kept.
    case storage
    /// This device is no longer enrolled.
    case removed
    /// This device is suspended.
    case suspended
    /// This device waits to be approved by another one.
    case waiting
    /// The user has a PIN or a biometric, and this device signs by none.
    case methodNeeded
    /// Something else; the value is the stable code of the error.
    case other(code: String)

    /// The failure behind an error of the SDK.
    public init(_ error: CountersignError) {
        switch error {
        case .network, .cancelled: self = .network
        case .clockSkew: self = .clock
        case .vault: self = .storage
        case .deviceDeregistered, .notEnrolled, .enrollmentUnknown: self = .removed
        case .enrollmentSuspended: self = .suspended
        case .enrollmentWaiting: self = .waiting
        case .methodNeeded: self = .methodNeeded
        default: self = error.retryHelps ? .service : .other(code: error.code)
        }
    }

    /// Whether the same can work later, so that a person is offered to try again.
    public var retryHelps: Bool {
        switch self {
        case .network, .service, .clock, .storage: true
        case .removed, .suspended, .waiting, .methodNeeded, .other: false
        }
    }

    /// The sentence for the person.
    var word: PromptWord {
        switch self {
        case .network: .failedNetwork
        case .service: .failedService
        case .clock: .failedClock
        case .storage: .failedStorage
        case .removed: .failedRemoved
        case .suspended: .failedSuspended
        case .waiting: .failedWaiting
        case .methodNeeded: .failedMethodNeeded
        case .other: .failedOther
        }
    }

    /// What stands in the sentence.
    var values: [String: String] {
        if case .other(let code) = self { ["code": code] } else { [:] }
    }
}
