package import Encodings
import Foundation

/// A process of its own that keeps a push service's rules; see `Tests/PushPeer`.
package final class PushPeerProcess: Sendable {
    /// It is missing, or did not do what it should.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String
    }

    /// A request that came, and what was answered.
    package struct Arrival: Sendable {
        package let json: JSONValue

        package var status: Int64 { json["status"]?.integer ?? -1 }
        package var reason: String? { json["reason"]?.string }
        package var path: String { json["path"]?.string ?? "" }
        package var payload: [UInt8] { Array((json["payload"]?.string ?? "").utf8) }
        /// By what the server proved who it is; one is another when this is.
        package var token: String { json["token"]?.string ?? "" }

        package func field(_ name: String) -> String? { json["fields"]?[name]?.string }
    }

    private let program: RunningProgram
    private let folder: TemporaryFolder
    /// Where it listens.
    package let url: String
    /// The file of the certificate that it shows.
    package var authorities: String { folder.path("tls.pem") }

    /// Starts a peer.
    ///
    /// - Parameters:
    ///   - service: whose rules it keeps.
    ///   - key: the public key of who may send, as that service's rules read it.
    ///   - arguments: what else they ask for.
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

    /// The next request that comes.
    package func arrival() async throws -> Arrival {
        guard let line = await program.line() else { throw Broken(description: "the peer has ended") }
        return Arrival(json: try JSONValue(parsing: Array(line.utf8)))
    }

    /// Has it do something besides keeping the rules.
    package func order(_ members: JSONObject) async throws {
        try program.type(JSONValue.object(members).text)
        guard await program.line()?.contains("done") == true else {
            throw Broken(description: "the peer does not do what it is told")
        }
    }

    /// From now on it notes what comes and tells of it with ``noted()`` alone.
    package func beQuiet() async throws { try await order(["quiet": true]) }

    /// What came since it is quiet: the times of arrival, by id.
    package func noted() async throws -> [String: UInt64] {
        try program.type(JSONValue.members(["report": true]).text)
        var noted: [String: UInt64] = [:]
        while let line = await program.line(), !line.contains("done") {
            let words = line.split(separator: " ")
            if words.count == 2 { noted[String(words[0])] = UInt64(words[1]) }
        }
        return noted
    }

    /// Holds it: connections to it stand, and nothing answers there.
    package func hold() { program.send(SIGSTOP) }

    /// Lets it go on.
    package func resume() { program.send(SIGCONT) }

    /// Ends it.
    package func end() async throws {
        let ended = try await program.result()
        guard ended.status == 0 else { throw Broken(description: ended.errors) }
    }
}
