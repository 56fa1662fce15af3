import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("What an operator sees of a server: its log, its numbers", .timeLimit(.minutes(15)))
struct OperationTests {
    @Test("With --log-format json each line is an object, and each request has its id in all its lines")
    func jsonLog() async throws {
        let folder = try TemporaryFolder()
        let (server, told) = try await ServedTool.start(in: folder, ["--log-format", "json", "--log-level", "info"])
        let url = try #require(told["issuer"]?.string)
        let refused = try await Tool.run(
            ["type", "list"], environment: ["COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": "cst_wrong"])
        #expect(refused.status == 1)
        server.send(SIGTERM)
        let lines = try await server.result().errors.split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8))
        }
        #expect(lines.map { $0["message"]?.string } == ["refused", "request"])
        #expect(lines.first?["request"]?.string?.hasPrefix("req_") == true)
        #expect(lines.first?["request"] == lines.last?["request"])
        let access = try #require(lines.last)
        #expect(access["level"] == "info" && access["method"] == "GET" && access["status"] == "401")
        #expect(access["route"] == "/v1/admin/types" && access["from"] == "127.0.0.1")
        #expect(access["ms"]?.string?.wholeMatch(of: /[0-9]+\.[0-9]{3}/) != nil)
    }

    @Test("The metrics have a listener of their own, which tells nothing else; the public one does not tell them")
    func metrics() async throws {
        let folder = try TemporaryFolder()
        let port = FreePort.next()
        let (server, told) = try await ServedTool.start(in: folder, ["--metrics-listen", "127.0.0.1:\(port)"])
        let url = try #require(told["issuer"]?.string)
        let curl = try #require(Program.path(of: "curl"))
        let page = try await RunningProgram.run(curl, ["-sS", "-i", "http://127.0.0.1:\(port)/metrics"])
        #expect(page.output.hasPrefix("HTTP/1.1 200 OK"))
        #expect(page.output.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"))
        #expect(page.output.contains("\ncountersign_build_info{version=\"0.1.0\"} 1\n"))
        for path in ["http://127.0.0.1:\(port)/readyz", "http://127.0.0.1:\(port)/", "\(url)/metrics"] {
            let other = try await RunningProgram.run(curl, ["-sS", "-o", "/dev/null", "-w", "%{http_code}", path])
            #expect(other.output == "404", "\(path)")
        }
        // Its port taken, a second server says which one.
        let second = try await Tool.run(
            ["serve", "--port", "0", "--data", folder.path("other"), "--metrics-listen", "127.0.0.1:\(port)"])
        #expect(second.status == 1)
        #expect(second.errors.contains("127.0.0.1:\(port) is taken") && second.errors.contains("--metrics-listen"))
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    @Test("A reload does not end a server that has nothing to read again")
    func reload() async throws {
        try await ServedTool.with { tool in
            tool.server.send(SIGHUP)
            while try !tool.server.errors.contains("there is no certificate to read again") {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await tool.run("type", "list").status == 0)
        }
    }

    @Test("The master key is read from a file or from what a command prints", arguments: ["file", "command"])
    func masterKey(_ source: String) async throws {
        let folder = try TemporaryFolder()
        let key = try folder.write("the key", Array((Base64.encode([UInt8](repeating: 5, count: 32)) + "\n").utf8))
        let options =
            source == "file" ? ["--master-key-file", key] : ["--master-key-command", "cat '\(key)'"]
        for _ in 0..<2 {
            let (server, _) = try await ServedTool.start(in: folder, options)
            #expect(!FileManager.default.fileExists(atPath: folder.path("server data/master.key")))
            server.send(SIGTERM)
            #expect(try await server.result().status == 0)
        }
        // Without it there is no key for this database.
        let refused = try await Tool.run(["serve", "--port", "0", "--data", folder.path("server data")])
        #expect(refused.status == 1 && refused.errors.contains("Restore"), "\(refused.errors)")
    }

    @Test(
        "A master key that is not there, or none, is refused before anything is made",
        arguments: [
            (["--master-key-command", "exit 3"], "failed (3)"),
            (["--master-key-command", "echo short"], "`echo short`"),
            (["--master-key-file", "missing"], "missing"), (["--master-key-file", "/dev/null"], "/dev/null"),
        ])
    func noMasterKey(_ options: [String], _ words: String) async throws {
        let folder = try TemporaryFolder()
        let refused = try await Tool.run(["serve", "--port", "0", "--data", folder.path("data")] + options)
        #expect(refused.status == 1)
        #expect(refused.errors.contains(words), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("data/countersign.sqlite")))
    }
}
