import NIOCore
import Synchronization

/// Notices when the caller at the other end of a connection hangs up.
///
/// A request that waits reads and writes nothing, so nothing else would tell; its place among the waits would be
/// taken until its time is up.
final class HangUpHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = NIOAny

    /// The connections that are open: to ask a pipeline for its handler would take a turn of its event loop.
    private static let open = Mutex<[ObjectIdentifier: Interrupter]>([:])

    private let interrupter = Interrupter()

    /// What ends the waits of a connection; nil when it has ended.
    static func interrupter(of channel: any Channel) -> Interrupter? {
        open.withLock { $0[ObjectIdentifier(channel)] }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = ObjectIdentifier(context.channel)
        Self.open.withLock { $0[channel] = interrupter }
        // What a connection waits with it keeps; who sends much gets more from the second read on.
        try? context.channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 65_536))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        let channel = ObjectIdentifier(context.channel)
        Self.open.withLock { $0[channel] = nil }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { interrupter.interrupt() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        interrupter.interrupt()
        context.fireChannelInactive()
    }
}
