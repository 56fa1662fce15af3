import Encodings
import Foundation
import TestSupport
import Testing

@Suite("countersign serve", .timeLimit(.minutes(15)))
struct ServeTests {
    @Test("With --json the first line tells where it listens, while it runs")
    func announcement() async throws {
        let folder = try TemporaryFolder()
        let (server, told) = try await ServedTool.start(in: folder)
        let issuer = try #require(told["issuer"]?.string)
        #expect(issuer.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+/) != nil)
        #expect(told["data"] == .string(folder.path("server data")))
        // Shown only when it is asked for.
        #expect(told["bootstrap_token"] == .null)
        server.send(SIGTERM)
        let result = try await server.result()
        #expect(result.status == 0)
        #expect(result.output.split(separator: "\n").count == 1)
    }

    @Test("The bootstrap token is shown once, when it is asked for, and lies in a file of the owner's alone")
    func bootstrapToken() async throws {
        let folder = try TemporaryFolder()
        let (server, told) = try await ServedTool.start(in: folder, ["--print-bootstrap"])
        let token = try #require(told["bootstrap_token"]?.string)
        let file = folder.path("server data/bootstrap.token")
        #expect(String(decoding: try folder.read("server data/bootstrap.token"), as: UTF8.self) == token + "\n")
        for name in ["bootstrap.token", "master.key", "countersign.sqlite"] {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: file.replacing("bootstrap.token", with: name))
            #expect((attributes[.posixPermissions] as? Int) == 0o600, "\(name)")
        }
        server.send(SIGTERM)
        _ = try await server.result()
        let (again, second) = try await ServedTool.start(in: folder, ["--print-bootstrap"])
        #expect(second["bootstrap_token"] == .null)
        again.send(SIGTERM)
        #expect(try await again.result().status == 0)
    }

    @Test("For a person it says how to go on, in commands that work as they stand")
    func forPeople() async throws {
        let folder = try TemporaryFolder()
        let data = folder.path("it's a folder")
        let server = try Tool.start(["serve", "--port", "0", "--data", data])
        let export = try #require(await server.line(holding: "export COUNTERSIGN_TOKEN"))
        let shell = try await RunningProgram.run("/bin/sh", ["-c", "\(export); printf %s \"$COUNTERSIGN_TOKEN\""])
        let token = try String(contentsOfFile: "\(data)/bootstrap.token", encoding: .utf8)
        #expect(shell.output + "\n" == token)
        #expect(await server.line(holding: "Back up") != nil)
        server.send(SIGTERM)
        let result = try await server.result()
        #expect(result.status == 0)
        #expect(!result.output.contains(token.dropLast()))
    }

    @Test("A signal that asks to stop ends it gracefully", arguments: [SIGTERM, SIGINT])
    func signals(_ signal: Int32) async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            // A device that waits does not hold the server up.
            let watching = try tool.start("device", "watch", "--json")
            let asked = try await tool.ask(as: shop)
            #expect(await watching.line(holding: asked.id) != nil)
            let start = ContinuousClock.now
            tool.server.send(signal)
            let result = try await tool.server.result()
            #expect(result.status == 0, "\(result.errors)")
            #expect(start.duration(to: .now) < .seconds(15))
            let complaints = result.errors.split(separator: "\n").filter {
                !$0.contains(" trace ") && !$0.contains(" info ")
            }
            #expect(complaints == [])
            watching.send(SIGTERM)
            _ = try await watching.result()
        }
    }

    @Test("A second server on the same folder is refused, and the first goes on")
    func sameFolder() async throws {
        try await ServedTool.with { tool in
            let second = try await Tool.run(["serve", "--port", "0", "--data", tool.data])
            #expect(second.status == 1)
            #expect(second.output.isEmpty)
            #expect(second.errors.contains("Another server runs on the data folder \(tool.data)"))
            #expect(second.errors.contains("--data"))
            #expect(try await tool.run("type", "list").status == 0)
        }
    }

    @Test("A port that is taken is refused, and says what to do")
    func samePort() async throws {
        try await ServedTool.with { tool in
            let port = try #require(tool.url.split(separator: ":").last.map(String.init))
            let second = try await Tool.run(["serve", "--port", port, "--data", tool.folder.path("other")])
            #expect(second.status == 1)
            #expect(second.output.isEmpty)
            #expect(second.errors.contains("Port \(port) is taken") && second.errors.contains("--port"))
        }
    }

    @Test(
        "Without its master key, or with another, a server does not start", arguments: ["missing", "damaged", "other"])
    func masterKey(_ harm: String) async throws {
        let folder = try TemporaryFolder()
        let (server, _) = try await ServedTool.start(in: folder)
        server.send(SIGTERM)
        _ = try await server.result()
        let file = folder.path("server data/master.key")
        let key = try folder.read("server data/master.key")
        switch harm {
        case "missing": try FileManager.default.removeItem(atPath: file)
        case "damaged": _ = try folder.write("server data/master.key", Array("hello\n".utf8))
        default:
            let other = Base64.encode([UInt8](repeating: 7, count: 32)) + "\n"
            _ = try folder.write("server data/master.key", Array(other.utf8))
        }
        let refused = try await Tool.run(["serve", "--port", "0", "--data", folder.path("server data")])
        #expect(refused.status == 1)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("Restore"), "\(refused.errors)")
        if harm == "missing" { #expect(!FileManager.default.fileExists(atPath: file), "a new key would hide the loss") }
        // Restored, it serves again.
        _ = try folder.write("server data/master.key", key)
        let (again, _) = try await ServedTool.start(in: folder)
        again.send(SIGTERM)
        #expect(try await again.result().status == 0)
    }

    @Test("The master key may come from the environment", arguments: ["", "short", "AAAA"])
    func malformedMasterKey(_ key: String) async throws {
        let folder = try TemporaryFolder()
        let refused = try await Tool.run(
            ["serve", "--port", "0", "--data", folder.path("data")], environment: ["COUNTERSIGN_MASTER_KEY": key])
        #expect(refused.status == 2)
        #expect(refused.errors.contains("COUNTERSIGN_MASTER_KEY"))
        #expect(!key.isEmpty ? !refused.errors.contains(" \(key) ") : true)
        let good = Base64.encode([UInt8](repeating: 7, count: 32))
        let (server, _) = try await ServedTool.start(in: folder, environment: ["COUNTERSIGN_MASTER_KEY": good])
        #expect(!FileManager.default.fileExists(atPath: folder.path("server data/master.key")))
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    @Test("Promise 5: what was told survives a kill")
    func killed() async throws {
        let folder = try TemporaryFolder()
        let (server, first) = try await ServedTool.start(in: folder)
        let token = String(decoding: try folder.read("server data/bootstrap.token"), as: UTF8.self).dropLast()
        let issuer = try #require(first["issuer"]?.string)
        let environment = ["COUNTERSIGN_URL": issuer, "COUNTERSIGN_TOKEN": String(token)]
        let user = try await Tool.run(["user", "create", "--external-id", "x", "--json"], environment: environment)
        let id = try #require(try user.json()["id"]?.string)
        server.send(SIGKILL)
        #expect(try await server.result().status == 128 + SIGKILL)
        let (again, second) = try await ServedTool.start(in: folder)
        let ticket = try await Tool.run(
            ["user", "ticket", "x", "--json"],
            environment: [
                "COUNTERSIGN_URL": try #require(second["issuer"]?.string), "COUNTERSIGN_TOKEN": String(token),
            ]
        )
        #expect(try ticket.json()["user"] == .string(id))
        again.send(SIGTERM)
        #expect(try await again.result().status == 0)
    }

    @Test("A new bootstrap token replaces the earlier one, also while the server runs")
    func renewedToken() async throws {
        try await ServedTool.with { tool in
            let result = try await Tool.run(["admin", "bootstrap", "--data", tool.data, "--json"])
            #expect(result.status == 0, "\(result.errors)")
            let file = try #require(try result.json()["file"]?.string)
            let token = try String(contentsOfFile: file, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(token != tool.token)
            #expect(!result.output.contains(token))
            #expect(try await tool.run("type", "list", as: token).status == 0)
            #expect(try await tool.run("type", "list").status == 1)
        }
    }

    @Test("A bootstrap token is made for a server that exists")
    func renewedTokenOfNobody() async throws {
        let folder = try TemporaryFolder()
        let result = try await Tool.run(["admin", "bootstrap", "--data", folder.path("nothing")])
        #expect(result.status == 1)
        #expect(result.errors.contains("There is no database in"))
    }

    @Test("Promise 4: the most talkative log holds no secret")
    func logs() async throws {
        try await ServedTool.with(environment: ["COUNTERSIGN_LOG_LEVEL": "trace"]) { tool in
            let shop = try await tool.furnish()
            let ticket = try #require(try await tool.json("user", "ticket", "customer-1", as: shop)["ticket"]?.string)
            let asked = try await tool.ask(as: shop)
            _ = try await tool.json("device", "answer", asked.id, "--approve", "--number", asked.number)
            _ = try await tool.run("type", "list", as: "cst_a-wrong-token")
            _ = try await tool.run("device", "answer", asked.id, "--deny")
            tool.server.send(SIGTERM)
            let result = try await tool.server.result()
            let secret = try #require(shop.split(separator: ":").last)
            let written = result.output + result.errors
            #expect(!result.errors.isEmpty, "a talkative log says something")
            let key = String(decoding: try tool.folder.read("server data/master.key"), as: UTF8.self).dropLast()
            for hidden in [tool.token, String(secret), ticket, asked.number, String(key), "a-wrong-token"] {
                #expect(!written.contains(hidden))
            }
            #expect(!written.contains("Pay EUR"))
        }
    }
}
