import NIOCore
import NIOPosix
import Synchronization

/// A relying party's end of callbacks: a real listener on a free port of this machine, which answers each request as a
/// test says and notes what came, byte for byte.
final class Receiver: Sendable {
    /// What to answer.
    enum Reply: Sendable {
        /// A complete reply without content.
        case status(Int, fields: [String] = [])
        /// These bytes, and the end of the connection.
        case bytes([UInt8])
        /// These bytes, on a connection that stays.
        case beginning([UInt8])
        /// Nothing, on a connection that stays.
        case silence
        /// `200` and content without end.
        case endless
        /// `200` at once, and this content, of which a byte comes every 200 milliseconds.
        case dripping(String)
    }

    /// One request, as it stood on the wire.
    struct Call: Sendable {
        /// The request line.
        let line: String
        /// The fields, by names in lower case.
        let fields: [String: String]
        /// The content.
        let body: [UInt8]
    }

    /// What comes, in order; for one reader.
    let arrivals: AsyncStream<Call>
    private let arrive: AsyncStream<Call>.Continuation
    private let noted = Mutex<[Call]>([])
    private let answer: @Sendable (Int) -> Reply

    private init(_ answer: @escaping @Sendable (Int) -> Reply) {
        (arrivals, arrive) = AsyncStream.makeStream()
        self.answer = answer
    }

    /// All that came so far.
    var calls: [Call] { noted.withLock { $0 } }

    /// Runs something while a receiver listens.
    ///
    /// - Parameters:
    ///   - answer: the reply to each request, by its number from 0 on.
    ///   - body: is given the receiver and the base of its URLs.
    static func with<Result: Sendable>(
        _ answer: @escaping @Sendable (Int) -> Reply, _ body: (Receiver, String) async throws -> Result
    ) async throws -> Result {
        let receiver = Receiver(answer)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Connection(receiver: receiver))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let base = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
        do {
            let result = try await body(receiver, base)
            try await channel.close()
            return result
        } catch {
            try await channel.close()
            throw error
        }
    }

    /// A port of this machine on which nobody listens.
    static func closedPort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await channel.close()
        return port
    }

    fileprivate func take(_ call: Call) -> Reply {
        let number = noted.withLock { noted in
            noted.append(call)
            return noted.count - 1
        }
        arrive.yield(call)
        return answer(number)
    }
}

/// One connection: reads one request and answers it.
private final class Connection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let receiver: Receiver
    private var received: [UInt8] = []
    private var isEndless = false

    init(receiver: Receiver) {
        self.receiver = receiver
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytesView
        guard let call = Receiver.Call(received) else { return }
        received = []
        switch receiver.take(call) {
        case .status(let status, let fields):
            let head = (["HTTP/1.1 \(status) Test", "content-length: 0"] + fields).joined(separator: "\r\n")
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + "\r\n\r\n")), promise: nil)
        case .bytes(let bytes):
            let channel = context.channel
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)))
                .whenComplete { _ in channel.close(promise: nil) }
        case .beginning(let bytes): context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        case .silence: break
        case .endless:
            isEndless = true
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n")), promise: nil)
            pour(into: context)
        case .dripping(let content):
            let head = "HTTP/1.1 200 OK\r\ncontent-length: \(content.utf8.count)\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
            let channel = context.channel
            for (number, byte) in content.utf8.enumerated() {
                channel.eventLoop.scheduleTask(in: .milliseconds(200 * Int64(number))) {
                    channel.writeAndFlush(ByteBuffer(bytes: [byte]), promise: nil)
                }
            }
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isEndless { pour(into: context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func pour(into context: ChannelHandlerContext) {
        let block = ByteBuffer(repeating: UInt8(ascii: "x"), count: 65536)
        while context.channel.isActive, context.channel.isWritable {
            context.writeAndFlush(wrapOutboundOut(block), promise: nil)
        }
    }
}

extension Receiver.Call {
    /// Reads a request, or nil as long as it is not whole.
    fileprivate init?(_ bytes: [UInt8]) {
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: [13, 10, 13, 10]) }) else { return nil }
        var lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
        guard !lines.isEmpty else { return nil }
        line = lines.removeFirst()
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            // A field that comes twice is kept as such, for a test to refuse.
            let value = parts[1].drop { $0 == " " }
            fields[parts[0].lowercased()] = fields[parts[0].lowercased()].map { "\($0), \(value)" } ?? String(value)
        }
        self.fields = fields
        body = Array(bytes[(end + 4)...])
        guard body.count >= fields["content-length"].flatMap({ Int($0) }) ?? 0 else { return nil }
    }
}
