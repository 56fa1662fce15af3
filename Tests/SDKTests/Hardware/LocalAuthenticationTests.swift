import Countersign
import Testing

@Suite("What an error of LocalAuthentication means")
struct LocalAuthenticationTests {
    /// Every code of `LAError`, by its name there.
    private static let codes: [(name: String, code: Int, means: BiometricFailure)] = [
        ("authenticationFailed", -1, .failed), ("userCancel", -2, .cancelled), ("userFallback", -3, .fallback),
        ("systemCancel", -4, .cancelled), ("passcodeNotSet", -5, .unavailable),
        ("biometryNotAvailable", -6, .unavailable), ("biometryNotEnrolled", -7, .unavailable),
        ("biometryLockout", -8, .lockout), ("appCancel", -9, .cancelled), ("invalidContext", -10, .cancelled),
        ("companionNotAvailable", -11, .unavailable), ("biometryNotPaired", -12, .unavailable),
        ("biometryDisconnected", -13, .unavailable), ("invalidDimensions", -14, .failed),
        ("notInteractive", -1004, .unavailable),
    ]

    @Test("Each code is one failure", arguments: codes.indices)
    func each(_ index: Int) {
        let known = Self.codes[index]
        #expect(BiometricFailure(localAuthenticationCode: known.code) == known.means, "\(known.name)")
    }

    @Test("An unknown code is a failure", arguments: [0, 1, -15, -1000, .min, .max])
    func unknown(_ code: Int) {
        #expect(BiometricFailure(localAuthenticationCode: code) == .failed)
    }

    @Test(
        "All that LocalAuthentication can say is said by a code; a changed biometric and a missing one are the vault's")
    func all() {
        #expect(
            Set(Self.codes.map(\.means)) == Set(BiometricFailure.allCases).subtracting([.changed, .notRegistered]))
    }
}
