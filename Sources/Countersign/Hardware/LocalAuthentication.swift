extension BiometricFailure {
    /// The failure that an error of Apple's LocalAuthentication means.
    ///
    /// - Parameter code: the error's code. One that is not known yet is a failure.
    public init(localAuthenticationCode code: Int) {
        switch code {
        // authenticationFailed, invalidDimensions
        case -1, -14: self = .failed
        // userCancel, systemCancel, appCancel, invalidContext
        case -2, -4, -9, -10: self = .cancelled
        // userFallback
        case -3: self = .fallback
        // passcodeNotSet, biometryNotAvailable, biometryNotEnrolled, companionNotAvailable, biometryNotPaired,
        // biometryDisconnected; notInteractive: a prompt cannot be shown now
        case -5, -6, -7, -11, -12, -13, -1004: self = .unavailable
        // biometryLockout
        case -8: self = .lockout
        default: self = .failed
        }
    }
}
