package import CountersignWire

/// Why a call of a device is refused.
package enum DeviceRefusal: Error, Equatable, Sendable {
    /// The proof of who calls is not what it must be.
    case proof(DeviceProofError)
    /// No such enrollment.
    case unknownEnrollment
    /// The proof is good and its time is not.
    case clockSkew(serverTime: Timestamp)
    /// The proof is good and was used before.
    case nonceReplayed
    /// The enrollment is over; the notice says so for the device to verify.
    case deregistered(RemovalNotice)
    /// The enrollment is suspended: its device can look at itself and remove itself.
    case suspended
}
