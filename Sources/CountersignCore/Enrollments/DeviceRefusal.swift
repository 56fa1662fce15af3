package import CountersignWire

/// Why a call of a device is refused.
package enum DeviceRefusal: Error, Equatable, Sendable {
    /// The proof that the call comes from a device is not valid.
    case proof(DeviceProofError)
    /// There is no such enrollment.
    case unknownEnrollment
    /// The proof is valid, but its time is too far from the server's time.
    case clockSkew(serverTime: Timestamp)
    /// The proof is valid, but it was used before.
    case nonceReplayed
    /// The device has made too many reads.
    case tooManyReads(retryAfter: Seconds)
    /// The enrollment is removed; the server signs the notice, so that the device can verify it.
    case deregistered(RemovalNotice)
    /// The enrollment is suspended, so its device can only look at its own enrollment and remove it.
    case suspended
}
