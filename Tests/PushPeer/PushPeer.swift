import Crypto
import Encodings
import Foundation
import JOSE
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A server that keeps the documented rules of a push service, for the tests of what is sent there: HTTP/2 over TLS; of
/// APNs one stream until the first request with a good token, and the reasons of Apple's tables; of FCM access tokens
/// and Google's error codes.
///
/// What comes is told on standard output, what to do is read from standard input. It ends with its input.
@main
struct PushPeer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 7, let rules = try rules(Array(arguments[3...])) else {
            let usage = """
                usage: PushPeer CERTIFICATE KEY apns PUBLIC-KEY TEAM KEY-ID TOPIC…
                       PushPeer CERTIFICATE KEY fcm PUBLIC-KEY ACCOUNT KEY-ID PROJECT

                """
            FileHandle.standardError.write(Data(usage.utf8))
            exit(2)
        }
        let script = Script()
        let channel = try await listen(try context(arguments[1], arguments[2]), rules, script)
        tell(["port": .integer(Int64(channel.localAddress?.port ?? 0))])
        while let line = await nextLine() { script.obey(line) }
        try await channel.close()
    }

    /// The rules of a service, as the arguments name it; nil for a service that is not known.
    private static func rules(_ arguments: [String]) throws -> (any PeerRules)? {
        let key = try Data(contentsOf: URL(filePath: arguments[1]))
        switch arguments[0] {
        case "apns":
            let pem = String(decoding: key, as: UTF8.self)
            return APNsRules(
                team: arguments[2], keyID: arguments[3], key: try P256.Signing.PublicKey(pemRepresentation: pem),
                topics: Set(arguments[4...]))
        case "fcm":
            return FCMRules(
                account: arguments[2], keyID: arguments[3], key: try RSAPublicKey(derRepresentation: Array(key)),
                project: arguments[4])
        default: return nil
        }
    }

    private static func context(_ certificate: String, _ key: String) throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        return try NIOSSLContext(configuration: tls)
    }

    private static func listen(
        _ tls: NIOSSLContext, _ rules: any PeerRules, _ script: Script
    ) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                let connection = ConnectionState()
                script.opened(channel)
                // Until who asks is known, one request at a time.
                let settings = [
                    HTTP2Setting(parameter: .maxConcurrentStreams, value: rules.firstStreams),
                    HTTP2Setting(parameter: .maxHeaderListSize, value: 8000),
                ]
                return channel.eventLoop.makeCompletedFuture {
                    let multiplexer = HTTP2StreamMultiplexer(mode: .server, channel: channel) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandlers([
                                HTTP2FramePayloadToHTTP1ServerCodec(),
                                StreamHandler(rules: rules, script: script, connection: connection),
                            ])
                        }
                    }
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: tls), NIOHTTP2Handler(mode: .server, initialSettings: settings),
                        multiplexer,
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// The next line of standard input, read on a thread of its own.
    private static func nextLine() async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: readLine()) }
        }
    }
}
