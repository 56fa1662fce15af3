import Foundation
import NIOCore

/// An IPv4 address of 4 bytes, or an IPv6 address of 16; an IPv4-mapped IPv6 address becomes an IPv4 address.
struct IPAddress: Hashable, Sendable {
    let bytes: [UInt8]

    /// Parses an address in its usual notation.
    init?(_ text: some StringProtocol) {
        var version4 = in_addr()
        var version6 = in6_addr()
        if inet_pton(AF_INET, String(text), &version4) == 1 {
            self.init(version4)
        } else if inet_pton(AF_INET6, String(text), &version6) == 1 {
            self.init(version6)
        } else {
            return nil
        }
    }

    private init(_ address: in_addr) {
        bytes = withUnsafeBytes(of: address) { Array($0) }
    }

    private init(_ address: in6_addr) {
        let all = withUnsafeBytes(of: address) { Array($0) }
        bytes = all.starts(with: Self.mapped) ? Array(all.dropFirst(Self.mapped.count)) : all
    }

    /// The address of a connection's peer; nil if it is not an IP address.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let address): self.init(address.address.sin_addr)
        case .v6(let address): self.init(address.address.sin6_addr)
        case .unixDomainSocket, nil: return nil
        }
    }

    /// The prefix of an IPv4-mapped IPv6 address.
    ///
    /// Spec: RFC 4291 §2.5.5.2.
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// The part that a caller cannot choose: an IPv4 address, or the first half of an IPv6 address.
    var network: [UInt8] { Array(bytes.count == 4 ? bytes[...] : bytes.prefix(8)) }

    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// The networks of one machine, one link, one site or one carrier, of which nobody outside knows where they are, and
    /// IPv6 addresses that hold an IPv4 address, which may be of such a network.
    ///
    /// Spec: RFC 1122 §3.2.1.3, RFC 1918 §3, RFC 6598 §7, RFC 3927 §2.1, RFC 4193 §3.1, RFC 4291 §2.5.3 and §2.5.6.
    private static let privateNetworks = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
        "::/96", "64:ff9b::/96", "2002::/16", "fc00::/7", "fe80::/10",
    ].compactMap { Network($0) }

    /// Whether the address means another machine in each network.
    var isPrivate: Bool { Self.privateNetworks.contains { $0.contains(self) } }
}

extension IPAddress: CustomStringConvertible {
    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
