package import NIOCore
package import NIOHTTP1
import NIOPosix

/// A minimal HTTP server on the loopback address, which takes what the server under test sends.
package struct HTTPReceiver: Sendable {
    private let channel: any Channel

    /// Its port.
    package var port: Int { channel.localAddress?.port ?? 0 }

    /// Listens on a free port.
    ///
    /// - Parameter answer: returns the body of the reply to a request.
    package init(
        answering answer: @escaping @Sendable (_ head: HTTPRequestHead, _ body: ByteBuffer) -> ByteBuffer
    ) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// Stops listening.
    package func close() async throws { try await channel.close() }
}

private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (HTTPRequestHead, ByteBuffer) -> ByteBuffer
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    init(answer: @escaping @Sendable (HTTPRequestHead, ByteBuffer) -> ByteBuffer) {
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, ByteBuffer())
        case .body(var part): body.writeBuffer(&part)
        case .end:
            guard let head else { return }
            let reply = answer(head, body)
            let fields: HTTPHeaders = ["content-length": "\(reply.readableBytes)"]
            context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: .ok, headers: fields))), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(reply))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
