package import Encodings
import Foundation

/// A push service with its protocol's rules, as a separate process; see `Tests/PushPeer`.
package final class PushPeerProcess: Sendable {
    /// The peer is missing, or did not do what it should.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String
    }

    /// A request that arrived, and the answer to it.
    package struct Arrival: Sendable {
        package let json: JSONValue

        package var status: Int64 { json["status"]?.integer ?? -1 }
        package var reason: String? { json["reason"]?.string }
        package var path: String { json["path"]?.string ?? "" }
        package var payload: [UInt8] { Array((json["payload"]?.string ?? "").utf8) }
        /// The token by which the server authenticated; it changes when the server makes a new one.
        package var token: String { json["token"]?.string ?? "" }

        package func field(_ name: String) -> String? { json["fields"]?[name]?.string }
    }

    private let program: RunningProgram
    private let folder: TemporaryFolder
    /// The URL at which it listens.
    package let url: String
    /// The file with the peer's certificate.
    package var authorities: String { folder.path("tls.pem") }

    /// Starts a peer.
    ///
    /// - Parameters:
    ///   - service: the service whose rules it follows.
    ///   - key: the public key of the permitted sender, in the service's form.
    ///   - arguments: further arguments of the service.
    package init(_ service: String, key: [UInt8], _ arguments: [String]) async throws {
        folder = try TemporaryFolder()
        try await folder.writeCertificate()
        let keyFile = try folder.write("key", key)
        program = try RunningProgram(
            try Self.path, [folder.path("tls.pem"), folder.path("tls.key"), service, keyFile] + arguments)
        let told = try JSONValue(parsing: Array((await program.line() ?? "").utf8))
        url = "https://localhost:\(told["port"]?.integer ?? 0)"
    }

    private static var path: String {
        get throws {
            let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
            let path = tests.deletingLastPathComponent().appending(path: "PushPeer").path
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw Broken(description: "\(path) is missing: build PushPeer")
            }
            return path
        }
    }

    /// Waits for the next request.
    package func arrival() async throws -> Arrival {
        guard let line = await program.line() else { throw Broken(description: "the peer has ended") }
        return Arrival(json: try JSONValue(parsing: Array(line.utf8)))
    }

    /// Sends a command to the peer.
    package func order(_ members: JSONObject) async throws {
        try program.type(JSONValue.object(members).text)
        guard await program.line()?.contains("done") == true else {
            throw Broken(description: "the peer does not do what it is told")
        }
    }

    /// From now on the peer only records requests, and reports them only through ``noted()``.
    package func beQuiet() async throws { try await order(["quiet": true]) }

    /// The requests since ``beQuiet()``: their times of arrival by id.
    package func noted() async throws -> [String: UInt64] {
        try program.type(JSONValue.members(["report": true]).text)
        var noted: [String: UInt64] = [:]
        while let line = await program.line(), !line.contains("done") {
            let words = line.split(separator: " ")
            if words.count == 2 { noted[String(words[0])] = UInt64(words[1]) }
        }
        return noted
    }

    /// Suspends the peer: connections to it stay open, but nothing answers.
    package func hold() { program.send(SIGSTOP) }

    /// Resumes the peer.
    package func resume() { program.send(SIGCONT) }

    /// Ends the peer.
    package func end() async throws {
        let ended = try await program.result()
        guard ended.status == 0 else { throw Broken(description: ended.errors) }
    }
}
