package import CountersignWire
package import OpenPGP

/// The enrollments.
///
/// All throw ``StoreError``.
package protocol EnrollmentStore {
    func find(_ id: EnrollmentID) throws -> Enrollment?
    func state(_ id: EnrollmentID) throws -> Enrollment.State?
    func all(of user: UserID) throws -> [Enrollment]
    func active(of user: UserID) throws -> [Enrollment]
    func isEnrolled(_ fingerprint: Fingerprint) throws -> Bool
    func insert(_ enrollment: Enrollment, certificate: [UInt8]) throws
    /// A device counts from now on, if it does not already; no question about it is open.
    func count(_ enrollment: EnrollmentID, from: Timestamp) throws
    /// Suspends a device, or resumes it.
    func suspend(_ enrollment: EnrollmentID, since: Timestamp?) throws
    func put(_ device: DeviceDescription, of enrollment: EnrollmentID) throws
    /// The versions of a challenge's body that a device reads.
    func put(_ versions: [Int64], of enrollment: EnrollmentID) throws
    /// Keeps others from changing an enrollment until the transaction ends.
    ///
    /// For a transaction that will change it, before it looks at it: of many at once each waits for the one before.
    func lock(_ enrollment: EnrollmentID) throws
    /// False when the enrollment was not active.
    func remove(_ enrollment: EnrollmentID, reason: RemovalReason, at: Timestamp) throws -> Bool
}
