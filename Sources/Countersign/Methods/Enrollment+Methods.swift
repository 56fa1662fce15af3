public import CountersignWire
import Encodings
import OpenPGP

/// The status of an enrollment's methods on the server.
public struct EnrolledMethods: Sendable {
    /// The state of the PIN.
    public let pin: MethodsReply.PINState
    /// How many wrong PINs are left.
    public let attemptsLeft: Int
    /// The rules for PINs; show them where the user chooses one.
    public let pinPolicy: PINPolicy
    /// Whether a biometric is registered.
    public let hasBiometric: Bool
    /// The names of the client's custom authenticators, each with whether it is registered.
    public let custom: [String: Bool]
    /// The methods that are set but do not count yet, each with the time from which the server accepts its answers.
    public let waiting: [AnswerMethod: Timestamp]
    /// How many changes of the PIN or the biometric are left.
    ///
    /// The certificate, which verifies receipts, keeps every key there ever was, and has limited room. Have the user
    /// enroll the device anew before no change is left; ``tellsToEnrollAnew`` says when.
    public let changesLeft: Int

    /// Whether the app should tell the user to enroll the device anew soon.
    public var tellsToEnrollAnew: Bool { changesLeft <= 5 }
}

extension Enrollment {
    /// Whether the enrollment has a key on this device that the user's biometrics unlock; the server is not asked.
    public var hasBiometricKey: Bool {
        get async { await authenticator.hasBiometricKey(of: id) }
    }

    /// Asks the server for the status of the methods.
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
    ///   - authority: what entitles the device to set it, if the enrollment is older than ten minutes.
    /// - Throws: ``CountersignError/pinPolicy(_:)``, ``CountersignError/pinAlreadySet``,
    ///   ``CountersignError/authorityNeeded`` and others.
    public func setPIN(_ pin: PIN, authority: EnrollmentAuthority? = nil) async throws(CountersignError) {
        try await authenticator.changePIN(from: nil, to: pin, authority: authority, of: id)
    }

    /// Replaces the PIN.
    ///
    /// - Throws: ``CountersignError/pinIncorrect(attemptsLeft:)`` when the old PIN is wrong, which uses up an attempt,
    ///   and others.
    public func changePIN(from old: PIN, to new: PIN) async throws(CountersignError) {
        try await authenticator.changePIN(from: old, to: new, of: id)
    }

    /// Removes the PIN.
    ///
    /// - Throws: ``CountersignError/pinIncorrect(attemptsLeft:)`` when the PIN is wrong, which uses up an attempt, and
    ///   others.
    public func removePIN(_ pin: PIN) async throws(CountersignError) {
        try await authenticator.changePIN(from: pin, to: nil, of: id)
    }

    /// Registers the user's biometrics, and replaces those that were registered before.
    ///
    /// - Parameters:
    ///   - prompt: the text of the system's prompt.
    ///   - pin: the PIN, if one is set.
    ///   - authority: what entitles the device to the change if no PIN is set and the enrollment is older than ten
    ///     minutes.
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
    ///   - pin: the PIN, if one is set.
    ///   - authority: as for ``registerBiometric(prompt:pin:authority:)``.
    /// - Throws: the errors of ``registerBiometric(prompt:pin:authority:)``.
    public func removeBiometric(
        pin: PIN? = nil, authority: EnrollmentAuthority? = nil
    ) async throws(CountersignError) {
        try await authenticator.changeBiometric(to: nil, pin: pin, authority: authority, of: id)
    }

    /// Registers a custom authenticator, again if it was registered before.
    ///
    /// - Parameters:
    ///   - name: the name under which the app's operator has set it up.
    ///   - data: the data to register, in the authenticator's own format; at most 16 KiB.
    ///   - pin: the PIN, if one is set.
    ///   - authority: as for ``registerBiometric(prompt:pin:authority:)``.
    /// - Returns: the authenticator's data for the app; nil for none.
    /// - Throws: ``CountersignError/customRetry(attemptsLeft:payload:)`` when it wants other or more data,
    ///   ``CountersignError/customFailed(payload:)``, ``CountersignError/customNotRegistered`` when there is none of
    ///   this name, ``CountersignError/customUnavailable`` and others.
    @discardableResult
    public func register(
        custom name: String, data: String, pin: PIN? = nil, authority: EnrollmentAuthority? = nil
    ) async throws(CountersignError) -> String? {
        try await authenticator.changeAuthenticator(name, to: data, pin: pin, authority: authority, of: id)
    }

    /// Deregisters a custom authenticator.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - pin: the PIN, if one is set.
    ///   - authority: as for ``registerBiometric(prompt:pin:authority:)``.
    /// - Throws: ``CountersignError/customNotRegistered`` and others.
    public func deregister(
        custom name: String, pin: PIN? = nil, authority: EnrollmentAuthority? = nil
    ) async throws(CountersignError) {
        _ = try await authenticator.changeAuthenticator(name, to: nil, pin: pin, authority: authority, of: id)
    }
}
