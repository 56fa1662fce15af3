import NIOCore
import NIOPosix
import Synchronization

/// Connections to one server, each of which sends a request and waits for the reply.
///
/// Each connection holds only a socket and a few words, so that the client needs little of the memory.
final class Polls: Sendable {
    private struct State {
        var channels: [any Channel] = []
        var statuses: [Int: Int] = [:]
        var awaited: (count: Int, arrived: Occurrence)?
    }

    private let port: Int
    private let state = Mutex(State())

    init(port: Int) {
        self.port = port
    }

    /// The number of replies with each status.
    var statuses: [Int: Int] { state.withLock { $0.statuses } }

    /// Opens a connection and sends a request.
    func open(_ request: [UInt8]) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(StatusReader(polls: self))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        state.withLock { $0.channels.append(channel) }
        try await channel.writeAndFlush(ByteBuffer(bytes: request))
    }

    /// Returns after this many replies, whatever their status.
    func replies(_ count: Int) async {
        let arrived = Occurrence()
        state.withLock { state in
            state.awaited = (count, arrived)
            if state.statuses.values.reduce(0, +) >= count { arrived.happen() }
        }
        await arrived.wait()
    }

    /// Closes all connections.
    func close() async throws {
        for channel in state.withLock({ $0.channels }) where channel.isActive { try? await channel.close() }
    }

    fileprivate func note(status: Int) {
        state.withLock { state in
            state.statuses[status, default: 0] += 1
            if let awaited = state.awaited, state.statuses.values.reduce(0, +) >= awaited.count {
                awaited.arrived.happen()
            }
        }
    }
}

/// Reads the status of a reply; 0 is for a connection that ended without one.
private final class StatusReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let polls: Polls
    private var isAnswered = false

    init(polls: Polls) {
        self.polls = polls
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let start = unwrapInboundIn(data).readableBytesView.prefix(12)
        note(String(decoding: start, as: UTF8.self).split(separator: " ").last.flatMap { Int($0) } ?? 0)
    }

    func channelInactive(context: ChannelHandlerContext) {
        note(0)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func note(_ status: Int) {
        guard !isAnswered else { return }
        isAnswered = true
        polls.note(status: status)
    }
}
