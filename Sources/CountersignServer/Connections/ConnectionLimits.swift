import NIOCore

/// How many connections callers may have open at a time.
package struct ConnectionLimits: Hashable, Sendable {
    /// The default of ``total``; the limit on open files can reduce it.
    package static let standardTotal = 20_000

    /// How many connections may wait to be accepted; the system's own limit may be lower.
    ///
    /// Where more come at once, the system drops their packets, and callers try again after one second, three and
    /// seven.
    package static let backlog = 4096

    /// The maximum number of all connections; further connections wait until one ends.
    package var total: Int
    /// The maximum number from one network; further connections are closed at once.
    ///
    /// A network is an IPv4 address, or the half of an IPv6 address that a caller cannot choose. This machine and
    /// trusted proxies, which forward for many callers, have no such limit.
    package var perAddress: Int

    package init(total: Int = standardTotal, perAddress: Int = 256) {
        self.total = total
        self.perAddress = perAddress
    }
}

/// The limits on the time and memory that one connection can take.
struct ExchangeLimits: Sendable {
    /// How long a caller may take from the last reply to the end of the next request's head.
    var idle = TimeAmount.seconds(75)
    /// How long a body may take after its head.
    var body = TimeAmount.seconds(30)
    /// How long a caller may leave bytes of a reply unread.
    var write = TimeAmount.seconds(30)
    /// How long input is read and discarded after the last reply.
    ///
    /// Spec: RFC 9112 §9.6.
    var linger = TimeAmount.seconds(5)
    /// How much of a reply is passed to the system at a time, in bytes.
    var slice = 16 * 1024
    /// How much is held of requests that arrive before the reply to an earlier one, roughly in bytes.
    var held = 64 * 1024
}
