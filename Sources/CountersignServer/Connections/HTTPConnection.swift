import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// HTTP/1.1 on a connection, one exchange after the other.
///
/// Replaces the framework's handlers, which would read and answer one request after another while the caller reads no
/// replies.
struct HTTPConnection: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// The size of the socket's send buffer, in bytes; the system doubles this value.
    private static let sendBuffer = 64 * 1024
    /// Limits the bytes that the system has not accepted: above the high mark, writers wait until fewer than the low
    /// mark remain.
    private static let watermark = ChannelOptions.Types.WriteBufferWaterMark(low: 1024, high: 8192)

    let responder: HTTPChannelHandler.Responder
    let counts: ConnectionCounts
    let refusing: ExchangeHandler.Refusing
    /// Whether the connection's TLS asks for the certificate of the other end.
    var asksForCertificates = false

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let address = IPAddress(channel.remoteAddress)
        guard counts.enter(address) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        }
        channel.closeFuture.whenComplete { [counts] _ in counts.leave(address) }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let options = channel.syncOptions
            try options?.setOption(.writeBufferWaterMark, value: Self.watermark)
            // A Unix domain socket has no such buffer.
            try? options?.setOption(.socketOption(.so_sndbuf), value: numericCast(Self.sendBuffer))
            // A connection keeps this buffer while it waits, so the buffer begins small and grows from the second read
            // on.
            try options?.setOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 16_384))
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false)
            if asksForCertificates { try pipeline.addHandler(CertificateField()) }
            try pipeline.addHandler(ExchangeHandler(refusing: refusing))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        // The accepting task, whose child this is, works on an event loop; see ``Listener``.
        await withTaskExecutorPreference(globalConcurrentExecutor) {
            await handleHTTP(asyncChannel: value, logger: logger)
        }
    }
}

/// The network already has the maximum number of connections.
private struct TooManyConnections: Error {}
