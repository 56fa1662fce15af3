import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// A connection that uses TLS, with the certificate that is current when the connection begins.
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
    /// HTTP/1.1, over TLS if there is a certificate.
    static func http1(
        counting counts: ConnectionCounts, securedBy certificates: Certificates?,
        refusing: @escaping ExchangeHandler.Refusing
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            let plain = HTTPConnection(responder: responder, counts: counts, refusing: refusing)
            guard let certificates else { return plain }
            return SecuredChannel(base: plain, certificates: certificates)
        }
    }
}
