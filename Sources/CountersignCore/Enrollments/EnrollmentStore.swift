package import CountersignWire
package import OpenPGP

/// The enrollments.
///
/// All functions throw ``StoreError``.
package protocol EnrollmentStore {
    func find(_ id: EnrollmentID) throws -> Enrollment?
    /// An enrollment whose state does not change before the transaction ends.
    func findHeld(_ id: EnrollmentID) throws -> Enrollment?
    func state(_ id: EnrollmentID) throws -> Enrollment.State?
    func all(of user: UserID) throws -> [Enrollment]
    func active(of user: UserID) throws -> [Enrollment]
    func isEnrolled(_ fingerprint: Fingerprint) throws -> Bool
    /// Whether a JWK with this thumbprint was enrolled, for whatever purpose.
    func isEnrolled(thumbprint: [UInt8]) throws -> Bool
    /// The enrollment with the JWK of this thumbprint, whatever has become of it.
    func find(thumbprint: [UInt8]) throws -> EnrollmentID?
    /// Inserts an enrollment; `certificate` is empty for a device that has JWKs.
    func insert(_ enrollment: Enrollment, certificate: [UInt8]) throws
    /// Replaces the JWKs of a device.
    ///
    /// - Parameters:
    ///   - keys: the keys.
    ///   - thumbprint: that of the key among them that is new.
    ///   - enrollment: the enrollment.
    ///   - countsFrom: from when the user's biometric counts.
    func put(_ keys: DeviceJWKs, adding thumbprint: [UInt8], of enrollment: EnrollmentID, countsFrom: Timestamp) throws
    /// Makes an enrollment count from a time, unless it counts from an earlier one, and forgets the question about it.
    func count(_ enrollment: EnrollmentID, from: Timestamp) throws
    /// Notes since when an enrollment is confirmed, nil for no longer; it is no longer about to be.
    func confirm(_ enrollment: EnrollmentID, at: Timestamp?) throws
    /// Notes from when an enrollment is confirmed; nil for not at all.
    func confirm(_ enrollment: EnrollmentID, from: Timestamp?) throws
    /// The enrollments that are to be confirmed by a time.
    func confirming(by now: Timestamp, limit: Int) throws -> [EnrollmentID]
    /// Suspends an enrollment from a time, or resumes it if the time is nil.
    func suspend(_ enrollment: EnrollmentID, since: Timestamp?) throws
    func put(_ device: DeviceDescription, of enrollment: EnrollmentID) throws
    /// Replaces the versions of a challenge's body that a device can read.
    func put(_ versions: [Int64], of enrollment: EnrollmentID) throws
    /// Keeps others from changing an enrollment until the transaction ends.
    ///
    /// A transaction that will change an enrollment calls this before it reads it. Concurrent transactions then run one
    /// after the other.
    func lock(_ enrollment: EnrollmentID) throws
    /// Removes an enrollment, active or suspended, and its push registration.
    ///
    /// - Returns: false if there is no such enrollment, or it was removed before.
    func remove(_ enrollment: EnrollmentID, reason: RemovalReason, at: Timestamp) throws -> Bool
}
