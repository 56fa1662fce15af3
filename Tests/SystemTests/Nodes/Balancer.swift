import NIOCore
import NIOPosix
import Synchronization

/// A load balancer: each new connection goes to the next node that accepts it.
final class Balancer: Sendable {
    private let ports: [Int]
    private let next = Mutex(0)
    private let channel = Mutex<(any Channel)?>(nil)

    /// Creates a balancer for nodes on local ports.
    init(ports: [Int]) {
        self.ports = ports
    }

    /// Listens on a local port.
    func listen(on port: Int) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { [self] client in connect(client) }
            .bind(host: "127.0.0.1", port: port).get()
        self.channel.withLock { $0 = channel }
    }

    /// Stops listening.
    func stop() async throws {
        try await channel.withLock { $0 }?.close()
    }

    private func connect(_ client: any Channel) -> EventLoopFuture<Void> {
        let first = next.withLock { next in
            next += 1
            return next
        }
        return attempt(client, first: first, tried: 0)
    }

    private func attempt(_ client: any Channel, first: Int, tried: Int) -> EventLoopFuture<Void> {
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.autoRead, value: false)
            .connect(host: "127.0.0.1", port: ports[(first + tried) % ports.count])
            .flatMapThrowing { server in
                // The handler for the server's side is added first. This fails if the node has closed the connection
                // already; the next node is then tried, while the client's side has no handler yet.
                try server.pipeline.syncOperations.addHandler(Passing(to: client))
                try client.pipeline.syncOperations.addHandler(Passing(to: server))
                for channel in [client, server] {
                    channel.setOption(.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
                }
            }
            .flatMapError { [self] error in
                guard tried + 1 < ports.count else { return client.eventLoop.makeFailedFuture(error) }
                return attempt(client, first: first, tried: tried + 1)
            }
    }
}

/// Forwards everything to the other side of a connection, including its end.
private final class Passing: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) {
        self.other = other
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
