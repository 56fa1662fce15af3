import NIOCore
import NIOPosix
import Testing

/// A host on loopback that takes connections and says nothing.
package struct SilentHost: Sendable {
    package let port: Int
    private let connected: AsyncStream<Void>
    private let listener: any Channel

    /// Begins to listen.
    package init() async throws {
        let (connected, connect) = AsyncStream.makeStream(of: Void.self)
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                connect.yield()
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = try #require(listener.localAddress?.port)
        self.connected = connected
    }

    /// Waits for the next connection.
    package func connection() async {
        for await _ in connected { break }
    }

    package func close() async throws { try await listener.close() }
}
