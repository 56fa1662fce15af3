import CountersignWire
import NIOCore
import NIOHTTP1
import NIOSSL

/// Writes the certificate by which a connection's other end has authenticated into each of its requests, as a proxy
/// does, in the place of whatever the caller wrote there.
final class CertificateField: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let secured = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        let bytes = try? secured?.peerCertificate?.toDERBytes()
        head.headers.remove(name: ClientCertificateField.name)
        if let bytes {
            head.headers.add(name: ClientCertificateField.name, value: ClientCertificateField.value(of: bytes))
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
