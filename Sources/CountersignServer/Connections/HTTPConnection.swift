import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// HTTP/1.1 on a connection, one exchange after the other.
///
/// In the framework's place, whose handlers would read and answer request after request while no reply is read.
struct HTTPConnection: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// How much the system takes of a reply that nobody reads, in bytes; it takes twice of what it is told.
    private static let sendBuffer = 64 * 1024
    /// Bytes that are not yet the system's: from the first number on whoever writes waits until fewer than the second.
    private static let watermark = ChannelOptions.Types.WriteBufferWaterMark(low: 1024, high: 8192)

    let responder: HTTPChannelHandler.Responder
    let counts: ConnectionCounts

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
            // A file for a socket has no such buffer.
            try? options?.setOption(.socketOption(.so_sndbuf), value: numericCast(Self.sendBuffer))
            // What a connection waits with it keeps; who sends much gets more from the second read on.
            try options?.setOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 16_384))
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false)
            try pipeline.addHandler(ExchangeHandler())
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async { await handleHTTP(asyncChannel: value, logger: logger) }
}

/// An address has as many connections as it may.
private struct TooManyConnections: Error {}
