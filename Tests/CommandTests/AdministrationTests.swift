import CountersignStorage
import Encodings
import Foundation
import TestSupport
import Testing

@Suite("What an operator does to a server's data beside the server", .timeLimit(.minutes(15)))
struct AdministrationTests {
    /// Starts a server on what lies in a folder, and tells whether a client that was made before is known.
    private func knows(
        _ shop: String, in folder: TemporaryFolder, environment: [String: String] = [:]
    ) async throws -> Bool {
        let (server, told) = try await ServedTool.start(in: folder, environment: environment)
        let url = try #require(told["issuer"]?.string)
        let asked = try await Tool.run(
            ["user", "create", "--json"], environment: ["COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": shop])
        server.send(SIGTERM)
        _ = try await server.result()
        return asked.status == 0
    }

    /// A server's folder in which something was made, and the credentials of a client.
    private func makeFolder(environment: [String: String] = [:]) async throws -> (TemporaryFolder, shop: String) {
        let folder = try TemporaryFolder()
        let (server, told) = try await ServedTool.start(in: folder, environment: environment)
        let token = String(decoding: try folder.read("server data/bootstrap.token"), as: UTF8.self).dropLast()
        let made = try await Tool.run(
            ["client", "create", "--name", "Shop", "--json"],
            environment: ["COUNTERSIGN_URL": told["issuer"]?.string ?? "", "COUNTERSIGN_TOKEN": String(token)]
        ).json()
        server.send(SIGTERM)
        _ = try await server.result()
        let id = try #require(made["client_id"]?.string)
        return (folder, "\(id):\(try #require(made["client_secret"]?.string))")
    }

    private func names(in folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path("server data")).filter {
            $0.hasPrefix("master.key")
        }
        .sorted()
    }

    @Test("The master key in the folder is replaced while the server runs, and the earlier one opens nothing any more")
    func rotation() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let earlier = try tool.folder.read("server data/master.key")
            let result = try await Tool.run(["admin", "key", "rotate", "--data", tool.data, "--json"])
            #expect(result.status == 0, "\(result.errors)")
            let told = try result.json()
            #expect(told["finished"] == true)
            let kept = try #require(told["earlier"]?.string)
            #expect(FileManager.default.contents(atPath: kept).map { [UInt8]($0) } == earlier)
            #expect(try tool.folder.read("server data/master.key") != earlier)
            #expect(!result.output.contains(String(decoding: earlier, as: UTF8.self).dropLast()))
            for file in try names(in: tool.folder) {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(tool.data)/\(file)")
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
            }
            #expect(try names(in: tool.folder).count == 2)
            // The server that runs goes on, and so does the next one.
            _ = try await tool.ask(as: shop)
            tool.server.send(SIGKILL)
            _ = try await tool.server.result()
            #expect(try await knows(shop, in: tool.folder))
            _ = try tool.folder.write("server data/master.key", earlier)
            let refused = try await Tool.run(["serve", "--port", "0", "--data", tool.data])
            #expect(refused.status == 1 && refused.errors.contains("Restore the right master key"))
        }
    }

    @Test("A rotation that is killed at any moment leaves a folder that opens, and the next one finishes it")
    func killedRotation() async throws {
        let (folder, shop) = try await makeFolder()
        let data = folder.path("server data")
        var random = SeededGenerator.announced(by: "killed rotations")
        for _ in 0..<15 {
            let rotation = try Tool.start(["admin", "key", "rotate", "--data", data])
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...250, using: &random)))
            rotation.send(SIGKILL)
            _ = try await rotation.result()
            #expect(try await Tool.run(["admin", "migrate", "--data", data]).status == 0)
        }
        #expect(try await knows(shop, in: folder))
        #expect(try await Tool.run(["admin", "key", "rotate", "--data", data]).status == 0)
        let findings = try await Tool.run(["admin", "doctor", "--data", data]).output
        #expect(findings.contains("fine: master key:"), "\(findings)")
        #expect(!(try names(in: folder)).contains("master.key.next"))
    }

    @Test(
        "A rotation cut off between two of its steps is made up for", arguments: ["prepared", "accepted", "installed"])
    func cutOff(_ step: String) async throws {
        let (folder, shop) = try await makeFolder()
        let data = folder.path("server data")
        let earlier = try folder.read("server data/master.key")
        if step == "prepared" {
            // The next key is there, and the database does not know it.
            let next = Base64.encode([UInt8](repeating: 9, count: 32)) + "\n"
            _ = try folder.write("server data/master.key.next", Array(next.utf8))
        } else {
            let other = try folder.write("other", Array((Base64.encode([UInt8](repeating: 9, count: 32)) + "\n").utf8))
            let key = try folder.write("key", earlier)
            let accepted = try await Tool.run(
                ["admin", "key", "rotate", "--data", data, "--new-master-key-file", other],
                environment: ["COUNTERSIGN_MASTER_KEY_FILE": key])
            #expect(accepted.status == 0, "\(accepted.errors)")
            let place = step == "accepted" ? "master.key.next" : "master.key"
            _ = try folder.write("server data/\(place)", try folder.read("other"))
        }
        #expect(try await knows(shop, in: folder))
        #expect(try await Tool.run(["admin", "key", "rotate", "--data", data]).status == 0)
        #expect(try await knows(shop, in: folder))
        #expect(try await Tool.run(["admin", "doctor", "--data", data]).output.contains("fine: master key:"))
    }

    @Test("A key from elsewhere: both open the database until the rotation is finished, by the new one alone")
    func elsewhere() async throws {
        func key(_ byte: UInt8) -> String { Base64.encode([UInt8](repeating: byte, count: 32)) }
        let (old, new) = (["COUNTERSIGN_MASTER_KEY": key(1)], ["COUNTERSIGN_MASTER_KEY": key(2)])
        let (folder, shop) = try await makeFolder(environment: old)
        let data = folder.path("server data")
        func admin(_ arguments: [String], _ environment: [String: String]) async throws -> ProgramResult {
            try await Tool.run(["admin"] + arguments + ["--data", data], environment: environment)
        }
        let nameless = try await admin(["key", "rotate"], old)
        #expect(nameless.status == 1 && nameless.errors.contains("--new-master-key-file"))
        let file = try folder.write("new", Array(key(2).utf8))
        #expect(try await admin(["key", "rotate", "--new-master-key-file", file], new).status == 1)
        #expect(try await admin(["key", "rotate", "--new-master-key-file", file], old).status == 0)
        #expect(try await knows(shop, in: folder, environment: old))
        #expect(try await knows(shop, in: folder, environment: new))
        let doctor = try await admin(["doctor"], new)
        #expect(doctor.output.contains("warning: master key:") && doctor.output.contains("admin key finish"))
        let early = try await admin(["key", "finish"], old)
        #expect(early.status == 1 && early.errors.contains("Name the new one first"))
        #expect(try await knows(shop, in: folder, environment: old))
        #expect(try await admin(["key", "finish"], new).status == 0)
        #expect(try await knows(shop, in: folder, environment: new))
        let refused = try await Tool.run(["serve", "--port", "0", "--data", data], environment: old)
        #expect(refused.status == 1 && refused.errors.contains("Restore"))
        #expect(try await admin(["doctor"], new).output.contains("fine: master key:"))
    }

    @Test("What root makes in another user's folder is that user's")
    func owner() async throws {
        let (folder, _) = try await makeFolder()
        let data = folder.path("server data")
        // Only root can give files away; what others make is theirs, as the folder is.
        let nobody = NSNumber(value: geteuid() == 0 ? 65534 : geteuid())
        for name in [data] + (try names(in: folder).map { "\(data)/\($0)" }) {
            try FileManager.default.setAttributes([.ownerAccountID: nobody], ofItemAtPath: name)
        }
        #expect(try await Tool.run(["admin", "key", "rotate", "--data", data]).status == 0)
        #expect(try await Tool.run(["admin", "bootstrap", "--data", data]).status == 0)
        for name in ["master.key", "bootstrap.token", "rotation.lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(data)/\(name)")
            #expect(attributes[.ownerAccountID] as? NSNumber == nobody, "\(name)")
        }
    }

    @Test("Commands about a server make none where there is none", arguments: ["key rotate", "key finish", "backup"])
    func nobody(_ command: String) async throws {
        let folder = try TemporaryFolder()
        let arguments = command.split(separator: " ").map(String.init)
        let out = command == "backup" ? ["--out", folder.path("copy")] : []
        let result = try await Tool.run(["admin"] + arguments + ["--data", folder.path("nothing")] + out)
        #expect(result.status == 1)
        #expect(result.errors.contains("There is no database in"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test("A backup made under load is restored: everything that was told before it is there, and it serves")
    func restoredBackup() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let load = Task {
                var ids: [String] = []
                while !Task.isCancelled {
                    let user = try await tool.json("user", "create", as: shop)
                    ids.append(try #require(user["id"]?.string))
                }
                return ids
            }
            var before: [String] = []
            for _ in 0..<3 {
                before.append(try #require(try await tool.json("user", "create", as: shop)["id"]?.string))
            }
            let asked = try await tool.ask(as: shop)
            let copy = tool.folder.path("copy.sqlite")
            let result = try await Tool.run(["admin", "backup", "--data", tool.data, "--out", copy, "--json"])
            #expect(result.status == 0, "\(result.errors)")
            let told = try result.json()
            #expect(told["rows"]?["challenges"] == 1 && told["rows"]?["enrollments"] == 1)
            load.cancel()
            #expect(try await load.value.isEmpty == false)
            let again = try await Tool.run(["admin", "backup", "--data", tool.data, "--out", copy])
            #expect(again.status == 1 && again.errors.contains("is there already"))
            // Restored as the help says: the copy and the key in a new folder.
            let restored = try TemporaryFolder()
            let data = restored.path("server data")
            try FileManager.default.createDirectory(
                atPath: data, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try FileManager.default.copyItem(atPath: copy, toPath: "\(data)/countersign.sqlite")
            try FileManager.default.copyItem(atPath: "\(tool.data)/master.key", toPath: "\(data)/master.key")
            let (server, announced) = try await ServedTool.start(in: restored)
            let environment = ["COUNTERSIGN_URL": announced["issuer"]?.string ?? "", "COUNTERSIGN_TOKEN": shop]
            let shown = try await Tool.run(["challenge", "show", asked.id, "--json"], environment: environment)
            #expect(try shown.json()["state"] == "pending")
            for id in before {
                let ticket = try await Tool.run(["user", "ticket", id, "--json"], environment: environment)
                #expect(try ticket.json()["user"] == .string(id))
                tool.made.note(try ticket.json())
            }
            server.send(SIGTERM)
            #expect(try await server.result().status == 0)
        }
    }

    @Test("With --no-migrate a database of another schema is refused, and `admin migrate` makes it right")
    func migrating() async throws {
        let folder = try TemporaryFolder()
        let data = folder.path("server data")
        let refused = try await Tool.run(["serve", "--port", "0", "--no-migrate", "--data", data])
        #expect(refused.status == 1)
        let newest = Migrations.newest
        #expect(
            refused.errors.contains("has schema 0, this program needs \(newest): run `countersign admin migrate`"))
        let migrated = try await Tool.run(["admin", "migrate", "--data", data, "--json"])
        #expect(try migrated.json() == ["schema": .integer(Int64(newest))])
        let (server, _) = try await ServedTool.start(in: folder, ["--no-migrate"])
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }
}
