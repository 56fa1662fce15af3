/// How many connections callers may have at a time.
package struct ConnectionLimits: Hashable, Sendable {
    /// How many in all where nothing is set: as many as open files allow, at most.
    package static let standardTotal = 20_000

    /// In all; who comes after waits until one ends.
    package var total: Int
    /// From one address, or of IPv6 from half of one, which a caller cannot choose; who comes after is hung up on.
    ///
    /// This machine and trusted proxies, who speak for many, have no such limit.
    package var perAddress: Int

    /// These limits.
    package init(total: Int = standardTotal, perAddress: Int = 256) {
        self.total = total
        self.perAddress = perAddress
    }
}

/// What a connection may take of time and memory, whatever its caller does.
struct ExchangeLimits: Sendable {
    /// How long a caller may take from the last reply to the end of the next request's head, in seconds.
    var idle: Int64 = 75
    /// How long a body may take after its head, in seconds.
    var body: Int64 = 30
    /// How long a caller may leave bytes of a reply unread, in seconds; it runs only while there are some.
    var write: Int64 = 30
    /// How long what a caller still sends is read and thrown away after the last reply, in seconds.
    ///
    /// Spec: RFC 9112 §9.6.
    var linger: Int64 = 5
    /// How much of a reply is given to the system at a time, in bytes.
    var slice = 16 * 1024
    /// How much may be held of requests that came before the reply to an earlier one, roughly in bytes.
    var held = 64 * 1024
}
