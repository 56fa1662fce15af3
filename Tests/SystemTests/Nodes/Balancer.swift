import NIOCore
import NIOPosix
import Synchronization

/// One address for several nodes: each new connection goes to the next of them that takes it.
final class Balancer: Sendable {
    private let ports: [Int]
    private let next = Mutex(0)
    private let channel = Mutex<(any Channel)?>(nil)

    /// A balancer of nodes on ports of this machine.
    init(ports: [Int]) {
        self.ports = ports
    }

    /// Listens on a port of this machine.
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
                // The server's side first: a node that is gone already takes no handler, and the next one is tried with
                // a client that passes nothing to anybody yet.
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

/// Passes everything on to the other side of a connection, its end included.
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
