package import CountersignWire

/// Why a call of a device is refused.
package enum DeviceRefusal: Error, Equatable, Sendable {
    /// The signature is not what it must be.
    case signature(MessageSignatureError)
    /// No such enrollment.
    case unknownEnrollment
    /// The signature is good and its time is not.
    case clockSkew(serverTime: Timestamp)
    /// The signature is good and was used before.
    case nonceReplayed
    /// The enrollment is over; the notice says so for the device to verify.
    case deregistered(RemovalNotice)
    /// The enrollment is suspended: its device can look at itself and remove itself.
    case suspended
}
