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
            let context = certificates.context
            let handler =
                certificates.asksForCertificates
                ? NIOSSLServerHandler(
                    context: context,
                    customVerificationCallback: { shown, promise in
                        promise.succeed(Certificates.takes(shown) ? .certificateVerified : .failed)
                    })
                : NIOSSLServerHandler(context: context)
            try channel.pipeline.syncOperations.addHandler(handler)
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
            let connection = HTTPConnection(
                responder: responder, counts: counts, refusing: refusing,
                asksForCertificates: certificates?.asksForCertificates ?? false)
            guard let certificates else { return connection }
            return SecuredChannel(base: connection, certificates: certificates)
        }
    }
}
