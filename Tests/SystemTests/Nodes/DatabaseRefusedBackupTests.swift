import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("A copy of a PostgreSQL database that is not whole gets no name", .serialized, .timeLimit(.minutes(10)))
struct DatabaseRefusedBackupTests {
    @Test("A copy that lost something, or is cut off, gets no name; what is there already is not touched")
    func damaged() async throws {
        try await BackupStage.playing { stage in
            let programs = try TemporaryFolder()
            let copy = stage.path("copy")
            let harms = [
                ("exec $REAL \"$@\" --exclude-table-data=public.users", "users had 1 rows, and none are in it"),
                ("$REAL \"$@\" | head -c 9000", "pg_restore failed"),
                ("$REAL \"$@\" >/dev/null", "pg_restore failed"),
                ("$REAL \"$@\"; echo 'the disk is full' >&2; exit 1", "pg_dump failed (1): the disk is full"),
                ("echo 'pg_dump (PostgreSQL) 12.9'", "is of version 12, and the server of version"),
                ("echo hello", "does not say its version"),
            ]
            for (script, words) in harms {
                var admin = stage.admin
                // The command first asks for the version.
                let asked = words.contains("version") ? "" : "[ \"$1\" != --version ] || exec $REAL --version\n"
                try admin.replace("pg_dump", by: asked + script, in: programs)
                let result = try await admin.run("admin", "backup", "--out", copy)
                #expect(result.status == 1)
                #expect(result.errors.contains(words), "\(result.errors)")
                #expect(try !stage.names.contains { $0.hasPrefix("copy") }, "\(script)")
            }
            _ = try stage.folder.write("copy", Array("precious".utf8))
            let result = try await stage.admin.run("admin", "backup", "--out", copy)
            #expect(result.status == 1 && result.errors.contains("copy is there already"))
            #expect(try stage.folder.read("copy") == Array("precious".utf8))
        }
    }

    @Test("A restore that fails, for a try, is told of, and what was made for it is dropped")
    func failedTrial() async throws {
        try await BackupStage.playing { stage in
            let programs = try TemporaryFolder()
            var admin = stage.admin
            let script = "for it; do [ \"${it#--dbname}\" = \"$it\" ] || exec /bin/false; done; exec $REAL \"$@\""
            try admin.replace("pg_restore", by: script, in: programs)
            let result = try await admin.run("admin", "backup", "--try-restore", "--out", stage.path("copy"))
            #expect(result.status == 1 && result.errors.contains("pg_restore failed"), "\(result.errors)")
            #expect(try !stage.names.contains { $0.hasPrefix("copy") })
            let left = try stage.postgres.sql(
                "SELECT count(*) FROM pg_database WHERE datname LIKE 'countersign_try%'", in: "postgres")
            #expect(left == "0")
        }
    }

    @Test(
        "Whatever byte changes in the file before it is read back: no copy, or one that has lost no row and changed none"
    )
    func changedBytes() async throws {
        try await BackupStage.playing { stage in
            let programs = try TemporaryFolder()
            let good = stage.path("good")
            let told = try await stage.admin.json("admin", "backup", "--out", good)
            let size = try #require(told["size"]?.integer)
            let rows = try await stage.rows(in: good)
            #expect(rows.count > 10)
            var refused = 0
            // The definitions are at the beginning of the file; the compressed rows are at the end.
            let places = (0..<8).flatMap { (part: Int64) -> [Int64] in
                [size / 8 * part + 40, size - size / 32 * part - 40]
            }
            for place in places {
                var admin = stage.admin
                let script = """
                    [ "$1" != --version ] || exec $REAL --version
                    $REAL "$@" > \(programs.path("whole"))
                    printf '\\245' | dd of=\(programs.path("whole")) bs=1 seek=\(place) conv=notrunc 2>/dev/null
                    cat \(programs.path("whole"))
                    """
                try admin.replace("pg_dump", by: script, in: programs)
                let copy = stage.path("copy-\(place)")
                let result = try await admin.run("admin", "backup", "--out", copy)
                if result.status == 0 {
                    #expect(try await stage.rows(in: copy) == rows, "byte \(place) of \(size)")
                } else {
                    refused += 1
                    #expect(!FileManager.default.fileExists(atPath: copy))
                }
            }
            // How many of the bytes matter differs from database to database.
            #expect(refused > 0)
        }
    }

    @Test("A program that goes on for ever over a damaged file is ended, and there is no copy")
    func endless() async throws {
        try await BackupStage.playing { stage in
            let programs = try TemporaryFolder()
            var admin = stage.admin
            let script = "[ \"$1\" != --version ] || exec $REAL --version\necho '-- a line'; exec sleep 600"
            try admin.replace("pg_restore", by: script, in: programs)
            let result = try await admin.run("admin", "backup", "--out", stage.path("copy"))
            #expect(result.status == 1)
            #expect(result.errors.contains("pg_restore wrote nothing for 30 seconds, and was ended."), "\(result)")
            #expect(try !stage.names.contains { $0.hasPrefix("copy") })
        }
    }

    @Test("Whoever interrupts a backup leaves nothing behind: no draft, no program that goes on")
    func interrupted() async throws {
        try await BackupStage.playing { stage in
            let programs = try TemporaryFolder()
            var admin = stage.admin
            let script =
                "[ \"$1\" != --version ] || exec $REAL --version\necho $$ >\(programs.path("id")); exec sleep 600"
            try admin.replace("pg_dump", by: script, in: programs)
            for signal in [SIGINT, SIGTERM] {
                let command = try RunningProgram(
                    try ServerProcess.program,
                    [
                        "admin", "backup", "--out", stage.path("copy"), "--data", admin.data, "--database",
                        admin.database,
                    ],
                    environment: admin.environment)
                var id: Int32?
                while id == nil {
                    try await Task.sleep(for: .milliseconds(5))
                    id = (try? String(contentsOfFile: programs.path("id"), encoding: .utf8)).flatMap {
                        $0.hasSuffix("\n") ? Int32($0.dropLast()) : nil
                    }
                }
                try FileManager.default.removeItem(atPath: programs.path("id"))
                // The draft is created before the program runs.
                #expect(try stage.names.contains("copy.part"))
                command.send(signal)
                let result = try await command.result()
                #expect(result.status == 1 && result.errors.contains("It was interrupted"), "\(result)")
                #expect(try !stage.names.contains { $0.hasPrefix("copy") })
                #expect(kill(try #require(id), 0) == -1)
            }
        }
    }

    @Test("A role that may make no database is told so before anything is copied")
    func noTrial() async throws {
        try await BackupStage.playing { stage in
            try stage.postgres.sql("CREATE ROLE modest LOGIN; GRANT pg_read_all_data TO modest")
            let admin = Operator(
                database: stage.postgres.address(as: "modest"), data: stage.admin.data)
            let told = try await admin.json("admin", "backup", "--out", stage.path("one"))
            #expect(told["restored"] == false)
            let result = try await admin.run("admin", "backup", "--try-restore", "--out", stage.path("two"))
            #expect(result.status == 1)
            #expect(result.errors.contains("permission denied to create database"), "\(result.errors)")
            #expect(try !stage.names.contains { $0.hasPrefix("two") })
        }
    }

    @Test("No pg_dump, no database, a database that is not ours: each in words that help")
    func missing() async throws {
        let postgres = try PostgresServer()
        let folder = try TemporaryFolder()
        let copy = folder.path("copy")
        func failure(_ database: String, _ environment: [String: String] = [:]) async throws -> String {
            let admin = Operator(database: database, data: folder.path("data"), environment: environment)
            let result = try await admin.run("admin", "backup", "--out", copy)
            #expect(result.status == 1)
            #expect(!FileManager.default.fileExists(atPath: folder.path("data")), "a command about a server makes none")
            return result.errors
        }
        let bare = try await failure(postgres.address(of: "postgres"), ["PATH": "/nonexistent"])
        #expect(bare.contains("pg_dump is not on the search path") && bare.contains("postgresql-client"))
        #expect(try await failure(postgres.address(of: "none")).contains("database \"none\" does not exist"))
        #expect(try await failure(postgres.address(of: "postgres")).contains("There is no database of Countersign's"))
        #expect(try await failure("postgres://u@127.0.0.1:1/x").contains("onnection refused"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }
}
