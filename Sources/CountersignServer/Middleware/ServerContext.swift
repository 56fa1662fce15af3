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

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        var generator = SystemRandomNumberGenerator()
        requestID = "req_" + Hex.encode((0..<8).map { _ in generator.next() })
        isFromLoopback = source.channel.remoteAddress.map(Self.isLoopback) ?? false
    }

    private static func isLoopback(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4(let address): address.address.sin_addr.s_addr.bigEndian >> 24 == 127
        case .v6: ["::1", "::ffff:127.0.0.1"].contains(address.ipAddress ?? "")
        case .unixDomainSocket: true
        }
    }
}
