package import CountersignWire
package import OpenPGP

/// The keys of enrollments that prove a method, and the counts of wrong PINs.
///
/// All functions throw ``StoreError``.
package protocol MethodStore {
    func certificate(of enrollment: EnrollmentID) throws -> [UInt8]?
    /// Makes the PIN and the biometric of a device count from a time, unless they count from an earlier one.
    ///
    /// Methods that are set within ten minutes of enrolling then count at once.
    func count(of enrollment: EnrollmentID, from: Timestamp) throws
    /// Sets, replaces or removes the key that proves a method.
    ///
    /// A new PIN begins without wrong ones, and is not locked.
    ///
    /// - Parameters:
    ///   - key: the new key; nil to remove the key.
    ///   - method: the PIN or the biometric.
    ///   - enrollment: the enrollment.
    ///   - certificate: the device's certificate with the change; nil to leave the stored one as it is.
    ///   - countsFrom: from when the new key counts.
    func put(
        _ key: CertifiedKey?, for method: AnswerMethod, of enrollment: EnrollmentID, certificate: [UInt8]?,
        countsFrom: Timestamp
    ) throws
    /// Replaces the custom authenticators of a device.
    func put(_ customs: [AuthenticatorName: EnrolledCustom], of enrollment: EnrollmentID) throws
    /// Counts a wrong PIN.
    ///
    /// - Returns: how many there were since the last right one; nil if this key is no longer the PIN's, or the PIN is
    ///   locked.
    func countWrongPIN(_ key: CertifiedKey, of enrollment: EnrollmentID) throws -> Int?
    /// Sets the count of wrong PINs to zero.
    func forgetWrongPINs(of enrollment: EnrollmentID) throws
    func lockPIN(of enrollment: EnrollmentID, at: Timestamp) throws
}
