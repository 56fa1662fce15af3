import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A server that hangs up instead of replying to the second request of each connection.
final class BreakingServer: Sendable {
    /// What was heard.
    struct Heard: Sendable {
        /// How many requests came whole.
        var whole = 0
        /// How many of them got no reply.
        var cut = 0
        /// How many bytes of a request came that is not whole yet, by connection.
        var partial: [ObjectIdentifier: Int] = [:]
    }

    /// The port of this machine that it listens on.
    let port: Int
    private let listener: any Channel
    private let state: Book

    /// What was heard until now.
    var heard: Heard { state.heard.withLock { $0 } }

    /// Starts one.
    init() async throws {
        let state = Book()
        self.state = state
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Connection(state))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
    }

    /// Stops listening.
    func stop() async throws { try await listener.close() }

    fileprivate final class Book: Sendable {
        let heard = Mutex(Heard())
    }

    private final class Connection: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let state: Book
        private var bytes = ByteBuffer()
        private var requests = 0

        init(_ state: Book) { self.state = state }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var buffer = unwrapInboundIn(data)
            bytes.writeBuffer(&buffer)
            let isWhole = Self.isWhole(String(buffer: bytes))
            let id = ObjectIdentifier(self)
            state.heard.withLock { $0.partial[id] = isWhole ? nil : bytes.readableBytes }
            guard isWhole else { return }
            bytes.clear()
            requests += 1
            let isCut = requests == 2
            state.heard.withLock { heard in
                heard.whole += 1
                if isCut { heard.cut += 1 }
            }
            if isCut { return context.close(promise: nil) }
            let reply = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
        }

        private static func isWhole(_ text: String) -> Bool {
            guard let end = text.range(of: "\r\n\r\n") else { return false }
            let length =
                text[..<end.lowerBound].split(separator: "\r\n")
                .first { $0.lowercased().hasPrefix("content-length:") }
                .flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
            return text[end.upperBound...].utf8.count >= length
        }
    }
}
