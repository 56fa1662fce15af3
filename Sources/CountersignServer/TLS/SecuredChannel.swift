import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// Connections that speak TLS before anything else, each with the certificate that holds when it begins.
struct SecuredChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let certificates: Certificates

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificates.context))
        }
        .flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

extension HTTPServerBuilder {
    /// HTTP/1.1, inside TLS when there are certificates.
    static func http1(counting counts: ConnectionCounts, securedBy certificates: Certificates?) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            let plain = HTTPConnection(responder: responder, counts: counts)
            guard let certificates else { return plain }
            return SecuredChannel(base: plain, certificates: certificates)
        }
    }
}
