public import CountersignWire
import Encodings
import OpenPGP

/// How the methods of an enrollment stand, as the server sees it.
public struct EnrolledMethods: Sendable {
    /// How the PIN stands.
    public let pin: MethodsReply.PINState
    /// How many wrong PINs are left.
    public let attemptsLeft: Int
    /// The rules for PINs, for the screen where one is chosen.
    public let pinPolicy: PINPolicy
    /// Whether a biometric is registered.
    public let hasBiometric: Bool
    /// The names of the custom authenticators there are, and whether each is registered.
    public let custom: [String: Bool]
    /// The methods that are set and do not count yet, each with the time from which it does.
    public let waiting: [AnswerMethod: Timestamp]
    /// How often PIN or biometric can still be changed.
    ///
    /// The certificate that receipts are verified with keeps every key there was. Have the user enroll the device anew
    /// before none is left; ``tellsToEnrollAnew`` says when.
    public let changesLeft: Int

    /// Whether the user should be told to enroll the device anew before long.
    public var tellsToEnrollAnew: Bool { changesLeft <= 5 }
}

extension Enrollment {
    /// Asks the server how the methods stand.
    public func methods() async throws(CountersignError) -> EnrolledMethods {
        let reply = try await authenticator.methods(of: stored)
        return EnrolledMethods(
            pin: reply.pin, attemptsLeft: reply.attemptsLeft, pinPolicy: reply.policy, hasBiometric: reply.hasBiometric,
            custom: Dictionary(uniqueKeysWithValues: reply.custom.map { ("\($0.key)", $0.value) }),
            waiting: reply.waiting, changesLeft: reply.changesLeft)
    }

    /// Sets the first PIN.
    ///
    /// - Parameters:
    ///   - pin: the PIN.
    ///   - authority: what lets it be set, where the enrollment is older than ten minutes.
    /// - Throws: ``CountersignError/pinPolicy(_:)``, ``CountersignError/pinAlreadySet``,
    ///   ``CountersignError/authorityNeeded`` and others.
    public func setPIN(_ pin: PIN, authority: EnrollmentAuthority? = nil) async throws(CountersignError) {
        try await authenticator.changePIN(from: nil, to: pin, authority: authority, of: id)
    }

    /// Replaces the PIN.
    ///
    /// - Throws: ``CountersignError/pinIncorrect(attemptsLeft:)`` when the old one is wrong, which counts, and others.
    public func changePIN(from old: PIN, to new: PIN) async throws(CountersignError) {
        try await authenticator.changePIN(from: old, to: new, of: id)
    }

    /// Removes the PIN.
    ///
    /// - Throws: ``CountersignError/pinIncorrect(attemptsLeft:)`` when it is wrong, which counts, and others.
    public func removePIN(_ pin: PIN) async throws(CountersignError) {
        try await authenticator.changePIN(from: pin, to: nil, of: id)
    }

    /// Registers the user's biometrics, in the place of those that were registered before.
    ///
    /// - Parameters:
    ///   - prompt: what the system's prompt says.
    ///   - pin: the PIN, where one is set.
    ///   - authority: what lets it be registered where no PIN is set and the enrollment is older than ten minutes.
    /// - Throws: ``CountersignError/biometric(_:)``, ``CountersignError/pinIncorrect(attemptsLeft:)``,
    ///   ``CountersignError/authorityNeeded`` and others.
    public func registerBiometric(
        prompt: String, pin: PIN? = nil, authority: EnrollmentAuthority? = nil
    ) async throws(CountersignError) {
        try await authenticator.changeBiometric(to: prompt, pin: pin, authority: authority, of: id)
    }

    /// Removes the biometric.
    ///
    /// - Parameters:
    ///   - pin: the PIN, where one is set.
    ///   - authority: as for ``registerBiometric(prompt:pin:authority:)``.
    /// - Throws: as ``registerBiometric(prompt:pin:authority:)``.
    public func removeBiometric(
        pin: PIN? = nil, authority: EnrollmentAuthority? = nil
    ) async throws(CountersignError) {
        try await authenticator.changeBiometric(to: nil, pin: pin, authority: authority, of: id)
    }

    /// Registers a custom authenticator, anew where it was registered before.
    ///
    /// - Parameters:
    ///   - name: its name, as the one who runs the app has set it up.
    ///   - data: what it is registered with, as that one understands it; at most 16 KiB.
    ///   - pin: the PIN, where one is set.
    ///   - authority: as for ``registerBiometric(prompt:pin:authority:)``.
    /// - Returns: what it says to the app; nil for nothing.
    /// - Throws: ``CountersignError/customRetry(attemptsLeft:payload:)`` where it wants something else or something
    ///   more, ``CountersignError/customFailed(payload:)``, ``CountersignError/customNotRegistered`` where there is none
    ///   of this name, ``CountersignError/customUnavailable`` and others.
    @discardableResult
    public func register(
        custom name: String, data: String, pin: PIN? = nil, authority: EnrollmentAuthority? = nil
    ) async throws(CountersignError) -> String? {
        try await authenticator.changeAuthenticator(name, to: data, pin: pin, authority: authority, of: id)
    }

    /// Gives a custom authenticator up.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - pin: the PIN, where one is set.
    ///   - authority: as for ``registerBiometric(prompt:pin:authority:)``.
    /// - Throws: ``CountersignError/customNotRegistered`` and others.
    public func deregister(
        custom name: String, pin: PIN? = nil, authority: EnrollmentAuthority? = nil
    ) async throws(CountersignError) {
        _ = try await authenticator.changeAuthenticator(name, to: nil, pin: pin, authority: authority, of: id)
    }
}
