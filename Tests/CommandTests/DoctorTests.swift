import CountersignStorage
import CountersignWire
import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

@Suite("countersign admin doctor", .timeLimit(.minutes(15)))
struct DoctorTests {
    private func findings(_ result: ProgramResult) throws -> [String: String] {
        let findings = try result.json()["findings"]?.array ?? []
        for finding in findings {
            // What is not fine says what to do.
            #expect((finding["state"] == "fine") == (finding["cure"] == nil))
        }
        return Dictionary(
            findings.map { ($0["name"]?.string ?? "", $0["state"]?.string ?? "") }
        ) { [$0, $1].contains("fault") ? "fault" : $0 }
    }

    @Test("A server that runs is fine; it says what it saw, and changes nothing")
    func healthy() async throws {
        try await ServedTool.with { tool in
            let before = try FileManager.default.contentsOfDirectory(atPath: tool.data).sorted()
            let result = try await Tool.run(
                ["admin", "doctor", "--data", tool.data, "--json"], environment: ["COUNTERSIGN_ISSUER": tool.url])
            #expect(result.status == 0, "\(result.output)")
            var found = try findings(result)
            // Whatever this machine has.
            #expect(found.removeValue(forKey: "disk") != nil)
            #expect(
                found == [
                    "folder": "fine", "database": "fine", "master key": "fine", "clock": "fine", "outbox": "fine",
                    "issuer": "fine", "server clock": "fine",
                ])
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.data).sorted() == before)
        }
    }

    @Test(
        "Each fault is found, and ends it with 1",
        arguments: ["mode", "key mode", "missing key", "other key", "issuer"])
    func faults(_ harm: String) async throws {
        let folder = try TemporaryFolder()
        let (server, told) = try await ServedTool.start(in: folder)
        server.send(SIGTERM)
        _ = try await server.result()
        let data = folder.path("server data")
        let key = "\(data)/master.key"
        var environment: [String: String] = [:]
        var expected = "folder"
        switch harm {
        case "mode": try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: data)
        case "key mode": try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key)
        case "missing key":
            try FileManager.default.removeItem(atPath: key)
            expected = "database"
        case "other key":
            let other = Base64.encode([UInt8](repeating: 3, count: 32))
            _ = try folder.write("server data/master.key", Array(other.utf8))
            expected = "database"
        default:
            environment["COUNTERSIGN_ISSUER"] = told["issuer"]?.string
            expected = "issuer"
        }
        let result = try await Tool.run(["admin", "doctor", "--data", data, "--json"], environment: environment)
        #expect(result.status == 1)
        #expect(try findings(result).filter { $0.value == "fault" }.keys.sorted() == [expected])
        #expect(result.errors == "{\"code\":\"refused\",\"detail\":\"There is a fault.\"}\n")
    }

    @Test("Before the first start there is nothing wrong, and nothing is made")
    func beforeTheFirstStart() async throws {
        let folder = try TemporaryFolder()
        let result = try await Tool.run(["admin", "doctor", "--data", folder.path("data")])
        #expect(result.status == 0)
        #expect(result.output.contains("warning: folder:") && result.output.contains("warning: database:"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    @Test("A clock that stands before the newest event is wrong; a few seconds are not")
    func clock() {
        #expect(Doctor.clock(newest: nil, now: now).state == .fine)
        #expect(Doctor.clock(newest: now.adding(seconds: 5), now: now).state == .fine)
        #expect(Doctor.clock(newest: now.adding(seconds: 6), now: now).state == .fault)
    }

    @Test("The date of a reply tells how the server's clock differs")
    func serverClock() {
        #expect(Reachability.time(nil, now: now) == nil)
        #expect(Reachability.time("yesterday", now: now) == nil)
        #expect(Reachability.time("Fri, 15 Jan 2027 08:00:04 GMT", now: now)?.state == .fine)
        #expect(Reachability.time("Fri, 15 Jan 2027 08:00:06 GMT", now: now)?.state == .warning)
        #expect(Reachability.time("Fri, 15 Jan 2027 07:59:54 GMT", now: now)?.state == .warning)
    }

    @Test(
        "Messages that wait for long are told of",
        arguments: [(nil as Int64?, DiagnosticResult.State.fine), (600, .fine), (601, .warning)])
    func outbox(_ age: Int64?, _ state: DiagnosticResult.State) {
        let oldest = age.map { now.adding(seconds: -$0) }
        #expect(Doctor.outbox(1, oldest: oldest, now: now).state == state)
    }

    @Test(
        "Little room is told of",
        arguments: [(199 as UInt64, DiagnosticResult.State.fault), (200, .warning), (1999, .warning), (2000, .fine)])
    func space(_ megabytes: UInt64, _ state: DiagnosticResult.State) {
        #expect(Doctor.space(free: megabytes).state == state)
    }

    @Test("A certificate is judged by its days")
    func certificate() async throws {
        let folder = try TemporaryFolder()
        let openssl = try #require(Program.path(of: "openssl"))
        let made = try await RunningProgram.run(
            openssl,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                folder.path("key.pem"), "-out", folder.path("cert.pem"), "-days", "30", "-subj", "/CN=localhost",
            ])
        #expect(made.status == 0)
        let files = TLSFiles(certificate: folder.path("cert.pem"), key: folder.path("key.pem"))
        let (start, day) = (Int(Date().timeIntervalSince1970), 86_400)
        #expect(Doctor.certificate(files, now: start - day).state == .fault)
        #expect(Doctor.certificate(files, now: start + day).state == .fine)
        #expect(Doctor.certificate(files, now: start + 17 * day).state == .warning)
        #expect(Doctor.certificate(files, now: start + 31 * day).state == .fault)
        let other = TLSFiles(certificate: folder.path("key.pem"), key: folder.path("cert.pem"))
        #expect(Doctor.certificate(other, now: start).state == .fault)
    }

    @Test(
        "A database of places is judged by its kind and its age",
        arguments: [
            ("Test-City", 0, .fine, "(Test-City) is 0 days old."), ("Test-Country", 60, .fine, "is 60 days old."),
            ("Test-City", -1, .fine, "is 0 days old."), ("Test-City", 61, .warning, "is 61 days old."),
            ("Test-ASN", 0, .warning, "it may name no cities and countries."),
        ] as [(String, Int, DiagnosticResult.State, String)])
    func places(_ type: String, _ age: Int, _ state: DiagnosticResult.State, _ words: String) throws {
        let folder = try TemporaryFolder()
        var writer = PlacesWriter()
        writer.type = type
        try writer.add("203.0.113.0/24", .cologne)
        let path = try folder.write("places.mmdb", writer.file)
        let found = Doctor.places(path, now: Int(writer.builtAt) + age * 86_400)
        #expect((found.name, found.state) == ("places", state))
        #expect(found.what.hasPrefix(path) && found.what.hasSuffix(words), "\(found)")
        #expect((found.cure == nil) == (state == .fine))
    }

    @Test("A database of places that cannot be used is a fault, and neither `serve` nor `config check` takes it")
    func unusablePlaces() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("places.mmdb", "Berlin\n".utf8)
        let data = folder.path("data")
        let environment = ["COUNTERSIGN_PLACES_DATABASE": path]
        let doctor = try await Tool.run(["admin", "doctor", "--data", data, "--json"], environment: environment)
        #expect(doctor.status == 1)
        #expect(try findings(doctor)["places"] == "fault")
        for command in [["serve", "--port", "0"], ["config", "check"]] {
            let refused = try await Tool.run(command + ["--data", data], environment: environment)
            #expect(refused.status == 1)
            #expect(refused.errors.hasPrefix("\(path) is not a whole file in MaxMind DB format."), "\(refused.errors)")
        }
    }
}
