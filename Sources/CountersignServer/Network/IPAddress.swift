import Foundation
import NIOCore

/// An address of the internet, 4 bytes or 16; IPv4 inside IPv6 is IPv4.
struct IPAddress: Hashable, Sendable {
    let bytes: [UInt8]

    /// Reads an address as it is usually written, or nil.
    init?(_ text: some StringProtocol) {
        var version4 = in_addr()
        var version6 = in6_addr()
        if inet_pton(AF_INET, String(text), &version4) == 1 {
            bytes = withUnsafeBytes(of: version4) { Array($0) }
        } else if inet_pton(AF_INET6, String(text), &version6) == 1 {
            let all = withUnsafeBytes(of: version6) { Array($0) }
            bytes = all.starts(with: Self.mapped) ? Array(all.dropFirst(Self.mapped.count)) : all
        } else {
            return nil
        }
    }

    /// The address of the other end of a connection; nil when it is no network's.
    init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress else { return nil }
        // An interface's name may follow the address.
        self.init(text.prefix { $0 != "%" })
    }

    /// What stands before an IPv4 address that is written as IPv6.
    ///
    /// Spec: RFC 4291 §2.5.5.2.
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// The part that a caller cannot choose: an IPv4 address, or half of an IPv6 address.
    var network: [UInt8] { Array(bytes.count == 4 ? bytes[...] : bytes.prefix(8)) }

    /// Whether it is this machine's own.
    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}

extension IPAddress: CustomStringConvertible {
    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
