import NIOCore

/// Closes a connection when data were sent and nothing came back for too long.
///
/// All requests share one HTTP/2 connection, which stays open when requests time out. If a router has dropped the
/// connection, or the peer has stopped and the flow-control window is used up, every later push would time out too.
final class HTTP2IdleTimeoutHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let limit: TimeAmount
    private var alarm: Scheduled<Void>?

    /// - Parameter limit: how long nothing may come back after data were sent.
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
