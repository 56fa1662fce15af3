import NIOCore

/// Gives up a connection on which something was said and nothing came back for too long.
///
/// HTTP/2 shares one connection among all requests, and keeps it when they time out: one that a router has forgotten, or
/// whose other end stood still until the window for data was used up, would let every later push time out, too.
final class HTTP2IdleTimeoutHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let limit: TimeAmount
    private var alarm: Scheduled<Void>?

    /// A watch for one connection.
    ///
    /// - Parameter limit: how long nothing may come back.
    init(limit: TimeAmount) {
        self.limit = limit
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if alarm == nil {
            let channel = context.channel
            alarm = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        alarm?.cancel()
        alarm = nil
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        alarm?.cancel()
        context.fireChannelInactive()
    }
}
