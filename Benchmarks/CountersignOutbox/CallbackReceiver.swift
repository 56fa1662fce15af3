import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A minimal receiver of callbacks, which only records when each arrives.
final class CallbackReceiver: Sendable {
    private let noted = Mutex<[String]>([])

    /// Listens, prints its port, and at the end of its input prints the arrivals.
    static func run() async throws {
        let receiver = CallbackReceiver()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(receiver: receiver))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        print(channel.localAddress?.port ?? 0)
        fflush(nil)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                while readLine() != nil {}
                continuation.resume()
            }
        }
        try await channel.close()
        let lines = receiver.noted.withLock { $0 }
        FileHandle.standardOutput.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }

    fileprivate func note(_ id: String) {
        let line = "\(id) \(nanoseconds())"
        noted.withLock { $0.append(line) }
    }
}

private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let receiver: CallbackReceiver

    init(receiver: CallbackReceiver) {
        self.receiver = receiver
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): receiver.note(head.headers.first(name: "webhook-id") ?? "")
        case .body: break
        case .end:
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
