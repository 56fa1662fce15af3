package import CountersignWire
package import OpenPGP

/// The keys of enrollments that prove a method, and what was answered wrongly by them.
///
/// All throw ``StoreError``.
package protocol MethodStore {
    func certificate(of enrollment: EnrollmentID) throws -> [UInt8]?
    /// The PIN and biometric of a device count from now on, and what is set within ten minutes of enrolling.
    func count(of enrollment: EnrollmentID, from: Timestamp) throws
    /// Sets, replaces or, for nil, removes the key that proves a method, and keeps the certificate that says so; nil
    /// leaves the certificate as it is.
    func put(
        _ key: CertifiedKey?, for method: AnswerMethod, of enrollment: EnrollmentID, certificate: [UInt8]?,
        countsFrom: Timestamp
    ) throws
    /// Replaces what custom authenticators a device has.
    func put(_ customs: [AuthenticatorName: EnrolledCustom], of enrollment: EnrollmentID) throws
    /// Counts a wrong PIN.
    ///
    /// - Returns: how many there are in a row; nil when the PIN is another one, or locked, by now.
    func countWrongPIN(_ key: CertifiedKey, of enrollment: EnrollmentID) throws -> Int?
    /// Forgets what wrong PINs there were.
    func forgetWrongPINs(of enrollment: EnrollmentID) throws
    func lockPIN(of enrollment: EnrollmentID, at: Timestamp) throws
}
