import NIOCore
import NIOHTTP2

/// Closes a connection that the peer ends with GOAWAY, as soon as no request is under way on it.
///
/// AsyncHTTPClient leaves such a connection open if it is idle when the frame arrives. Its shutdown, and with it the
/// end of the server, then waits until the peer closes the connection, which may be never. Spec: RFC 9113 §6.8.
final class HTTP2GoAwayHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private var openStreams = 0
    private var isEnding = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .goAway = unwrapInboundIn(data).payload {
            isEnding = true
            closeIfIdle(context)
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is NIOHTTP2StreamCreatedEvent { openStreams += 1 }
        if event is StreamClosedEvent {
            openStreams -= 1
            closeIfIdle(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func closeIfIdle(_ context: ChannelHandlerContext) {
        if isEnding, openStreams <= 0 { context.close(promise: nil) }
    }
}
