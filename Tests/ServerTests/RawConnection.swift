import CountersignWire
import Encodings
import Foundation
import NIOCore
import NIOPosix
import ServerTestSupport

/// Writes to a server what no client would.
enum RawConnection {
    /// What a server answered on a connection that it ended.
    struct Replies {
        let text: String

        /// Their statuses, in order.
        var statuses: [String] { text.matches(of: #/HTTP\/1\.1 ([0-9]{3}) /#).map { String($0.output.1) } }
        /// The body of the last one.
        var json: JSONValue {
            let body = text.components(separatedBy: "\r\n\r\n").last ?? ""
            return (try? JSONValue(parsing: Array(body.utf8))) ?? .null
        }
        /// A field of the last one.
        func field(_ name: String) -> String? {
            let head = text[(text.range(of: "HTTP/1.1 ", options: .backwards)?.lowerBound ?? text.startIndex)...]
            return head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name.lowercased()): ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    /// Sends bytes, and reads until the server ends the connection.
    static func exchange(_ server: TestServer, _ bytes: [UInt8]) async throws -> Replies {
        let channel = try await connect(to: server)
        return try await channel.executeThenClose { inbound, outbound in
            // A server may hang up before it has read everything.
            try? await outbound.write(ByteBuffer(bytes: bytes))
            var text = ""
            do {
                for try await part in inbound { text += String(buffer: part) }
            } catch is IOError {}
            return Replies(text: text)
        }
    }

    /// Sends a request's head, and reads until the server ends the connection.
    static func exchange(_ server: TestServer, _ lines: String...) async throws -> Replies {
        try await exchange(server, Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    }

    /// Opens a connection to a server.
    static func connect(to server: TestServer) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let port = Int("\(server.issuer)".split(separator: ":").last ?? "") ?? 0
        return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
    }
}
