package import CountersignCore
package import CountersignWire

/// How an attempt to deliver ended; reasons are words without secrets.
package enum DeliveryResult: Sendable {
    /// The receiver has it.
    case delivered
    /// The receiver of a callback has it, which had said that it is gone.
    case recovered
    /// It did not arrive and may do so later; from when on to try again, where the receiver said so.
    case failed(String, notBefore: Timestamp? = nil)
    /// It will never arrive.
    case refused(String)
    /// The receiver of a callback says that it is gone.
    case gone(String)
    /// The device is not reached there any more.
    case unregistered(String, PushTarget)
}
