import Foundation
package import NIOCore

/// The addresses that callbacks and hooks may connect to.
///
/// A URL may name a host, or resolve to an address, that only the server's own network can reach.
///
/// Spec: docs/decisions/0018-where-callbacks-may-go.md.
package enum OutboundAddressPolicy: Sendable {
    /// Only public addresses.
    case publicAddresses
    /// Public addresses and the loopback addresses, as in development mode.
    case publicAddressesAndLoopback
    case allAddresses

    /// A connection was closed because of its address.
    struct Refusal: Error {}

    /// Whether callbacks may connect to an address.
    package func allows(_ address: SocketAddress) -> Bool {
        switch (self, AddressKind(address)) {
        case (.allAddresses, _), (_, .publicAddress), (.publicAddressesAndLoopback, .loopback): true
        case (.publicAddresses, .loopback), (_, .other): false
        }
    }

    /// Checks the address of a connection before a request is sent on it, so that a name that resolves differently each
    /// time cannot evade the check.
    ///
    /// A forbidden address only sees a connection, and a TLS handshake if the URL is `https`.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let address = channel.remoteAddress, allows(address) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(Refusal())
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }
}

/// The kind of an address.
private enum AddressKind {
    case publicAddress
    case loopback
    case other

    /// IPv4 networks that are not public.
    ///
    /// Spec: RFC 6890, IANA IPv4 Special-Purpose Address Registry.
    private static let special4: [(network: [UInt8], bits: Int)] = [
        ([0, 0, 0, 0], 8), ([10, 0, 0, 0], 8), ([100, 64, 0, 0], 10), ([169, 254, 0, 0], 16), ([172, 16, 0, 0], 12),
        ([192, 0, 0, 0], 24), ([192, 0, 2, 0], 24), ([192, 88, 99, 0], 24), ([192, 168, 0, 0], 16),
        ([198, 18, 0, 0], 15), ([198, 51, 100, 0], 24), ([203, 0, 113, 0], 24), ([224, 0, 0, 0], 4),
        ([240, 0, 0, 0], 4),
    ]

    /// Networks within 2000::/3 that are not public: for protocols, documentation and 6to4.
    ///
    /// Spec: RFC 6890, IANA IPv6 Special-Purpose Address Registry.
    private static let special6: [(network: [UInt8], bits: Int)] = [
        ([0x20, 0x01, 0x00, 0x00], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x20, 0x02], 16), ([0x3F, 0xFF, 0x00], 20),
    ]

    init(_ address: SocketAddress) {
        switch address {
        case .v4(let address):
            self.init(four: withUnsafeBytes(of: address.address.sin_addr) { Array($0) })
        case .v6(let address):
            self.init(sixteen: withUnsafeBytes(of: address.address.sin6_addr) { Array($0) })
        case .unixDomainSocket:
            self = .other
        }
    }

    private init(four bytes: [UInt8]) {
        if bytes[0] == 127 {
            self = .loopback
        } else {
            self = Self.special4.contains { Self.lies(bytes, in: $0.network, $0.bits) } ? .other : .publicAddress
        }
    }

    private init(sixteen bytes: [UInt8]) {
        let zeros = [UInt8](repeating: 0, count: 15)
        if bytes.starts(with: zeros.prefix(10) + [0xFF, 0xFF]) {
            // An IPv4-mapped address.
            self.init(four: Array(bytes.suffix(4)))
        } else if bytes.starts(with: [0, 0x64, 0xFF, 0x9B] + zeros.prefix(8)) {
            // NAT64: a gateway translates the address, so a loopback address in it is the gateway's and not this
            // machine's.
            let kind = AddressKind(four: Array(bytes.suffix(4)))
            self = kind == .publicAddress ? .publicAddress : .other
        } else if bytes.elementsEqual(zeros + [1]) {
            self = .loopback
        } else {
            let isSpecial = Self.special6.contains { Self.lies(bytes, in: $0.network, $0.bits) }
            self = Self.lies(bytes, in: [0x20], 3) && !isSpecial ? .publicAddress : .other
        }
    }

    private static func lies(_ address: [UInt8], in network: [UInt8], _ bits: Int) -> Bool {
        (0..<bits).allSatisfy { bit in (address[bit / 8] ^ network[bit / 8]) << UInt8(bit % 8) & 0x80 == 0 }
    }
}
