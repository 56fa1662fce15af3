package import CountersignCore
package import CountersignWire

/// The result of an attempt to deliver; reasons are texts without secrets.
package enum DeliveryResult: Sendable {
    /// The receiver has accepted the message.
    case delivered
    /// A callback's receiver has accepted it, after it had answered before that it is gone.
    case recovered
    /// It failed and may succeed later, not before the time that the receiver named.
    case failed(String, notBefore: Timestamp? = nil)
    /// It will never succeed.
    case refused(String)
    /// The receiver of a callback answered that it is gone.
    case gone(String)
    /// The device can no longer be reached by this push registration.
    case unregistered(String, PushTarget)
}
