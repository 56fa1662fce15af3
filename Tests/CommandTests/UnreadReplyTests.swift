import Encodings
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// Counts replies; it reads only when it is told to.
private final class Reader: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let seen = Mutex("")

    /// The replies that came so far, by their statuses.
    var statuses: [String] {
        seen.withLock { $0.matches(of: #/HTTP\/1\.1 ([0-9]{3}) /#).map { String($0.output.1) } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        seen.withLock { $0 += text }
    }
}

@Suite("Replies that nobody reads take little memory, and not for long", .timeLimit(.minutes(10)))
struct UnreadReplyTests {
    private static let pipelined = 60

    @Test(
        "60 connections with 60 requests each, no reply read: less than 40 MB; who reads on gets all of them",
        arguments: [false, true])
    func memory(isSecured: Bool) async throws {
        let folder = try TemporaryFolder()
        let metrics = FreePort.next()
        var options = ["--metrics-listen", "127.0.0.1:\(metrics)"]
        if isSecured {
            try await folder.writeCertificate()
            options += ["--tls-certificate", folder.path("tls.pem"), "--tls-key", folder.path("tls.key")]
        }
        let (server, told) = try await ServedTool.start(in: folder, options)
        let port = try #require(told["issuer"]?.string?.split(separator: ":").last.flatMap { Int($0) })
        let reader = Reader()
        // What is made once is made by one.
        let warm = try await open(port, isSecured, reader)
        let before = try await Self.memory(metrics)
        var channels = [warm]
        for _ in 1..<60 { channels.append(try await open(port, isSecured, Reader())) }
        var most = 0
        for _ in 0..<20 {
            most = max(most, try await Self.memory(metrics))
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(most - before < 40 << 20, "\((most - before) >> 20) MB")
        try await warm.setOption(.autoRead, value: true).get()
        let end = ContinuousClock.now + .seconds(120)
        while reader.statuses.count < Self.pipelined, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(reader.statuses == [String](repeating: "200", count: Self.pipelined))
        for channel in channels { try? await channel.close() }
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    private func open(_ port: Int, _ isSecured: Bool, _ reader: Reader) async throws -> any Channel {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if isSecured {
                        var configuration = TLSConfiguration.makeClientConfiguration()
                        configuration.certificateVerification = .none
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(
                                context: NIOSSLContext(configuration: configuration), serverHostname: nil))
                    }
                    try channel.pipeline.syncOperations.addHandler(reader)
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
        // Written when the handshake is over, which takes reading.
        try await channel.writeAndFlush(ByteBuffer(string: String(repeating: request, count: Self.pipelined)))
        try await channel.setOption(.autoRead, value: false).get()
        return channel
    }

    /// What the server's process takes, as it says itself.
    private static func memory(_ port: Int) async throws -> Int {
        let page = try await RunningProgram.run(
            try #require(Program.path(of: "curl")), ["-s", "http://127.0.0.1:\(port)/metrics"])
        let line = page.output.split(separator: "\n").first { $0.hasPrefix("process_resident_memory_bytes ") }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
    }
}
