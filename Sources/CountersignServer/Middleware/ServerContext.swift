import Encodings
import Foundation
import Hummingbird
import Logging
import NIOCore

/// What the server knows of a request before anybody looked at it.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Finds the request in the log.
    let requestID: String
    /// Whether the caller is on this machine.
    let isFromLoopback: Bool
    /// The caller's connection.
    let channel: any Channel
    /// Takes the rest of the answer, when that is known only after a wait.
    let later = Later()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        var generator = SystemRandomNumberGenerator()
        requestID = "req_" + withUnsafeBytes(of: generator.next() as UInt64) { Hex.encode($0) }
        channel = source.channel
        isFromLoopback = source.channel.remoteAddress.map(Self.isLoopback) ?? false
    }

    /// The network the caller comes from: an IPv4 address, or the half of an IPv6 address that a caller cannot choose.
    var network: [UInt8]? {
        channel.remoteAddress?.ipAddress.map { text in
            var address = in6_addr()
            guard inet_pton(AF_INET6, text, &address) == 1 else { return Array(text.utf8) }
            let bytes = withUnsafeBytes(of: address) { Array($0) }
            let isVersion4 = bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF])
            return Array(isVersion4 ? bytes.suffix(4) : bytes.prefix(8))
        }
    }

    private static func isLoopback(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4: address.ipAddress?.hasPrefix("127.") ?? false
        case .v6: ["::1", "::ffff:127.0.0.1"].contains(address.ipAddress ?? "")
        case .unixDomainSocket: true
        }
    }
}
