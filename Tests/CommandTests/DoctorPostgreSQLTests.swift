import CountersignStorage
import Testing

@testable import CountersignServer

@Suite("countersign admin doctor judges a PostgreSQL server")
struct DoctorPostgreSQLTests {
    /// One thing that is other than it should be, and what is said of it.
    private static let cases: [(String, DiagnosticResult.State, @Sendable (inout PostgresStatus) -> Void)] = [
        ("database server", .fine, { $0.version = 130_000 }),
        ("database server", .fault, { $0.version = 120_017 }),
        ("database server", .fault, { $0.isReadOnly = true }),
        ("database encoding", .fault, { $0.encoding = "SQL_ASCII" }),
        (
            "database TLS", .fine,
            {
                $0.isLocal = true; $0.tlsVersion = nil
            }
        ),
        (
            "database TLS", .fine,
            {
                $0.isLocal = true; $0.tlsMode = "prefer"
            }
        ),
        ("database TLS", .fine, { $0.tlsMode = "verify-ca" }),
        ("database TLS", .warning, { $0.tlsMode = "require" }),
        ("database TLS", .warning, { $0.tlsMode = "prefer" }),
        ("database TLS", .fault, { $0.tlsVersion = nil }),
        ("database clock", .fine, { $0.clockDifference = -5000 }),
        ("database clock", .warning, { $0.clockDifference = 5001 }),
        ("database clock", .warning, { $0.clockDifference = -5001 }),
        // Of 18 connections each, after three that are kept.
        ("database connections", .fine, { $0.maximumConnections = 39 }),
        ("database connections", .warning, { $0.maximumConnections = 38 }),
        ("database connections", .warning, { $0.maximumConnections = 21 }),
        ("database connections", .fault, { $0.maximumConnections = 20 }),
        ("database durability", .fault, { $0.fsync = false }),
        ("database durability", .fault, { $0.synchronousCommit = "off" }),
        ("database durability", .warning, { $0.fullPageWrites = false }),
        ("database replica", .warning, { $0.synchronousNames = "" }),
        ("database replica", .warning, { $0.synchronousCommit = "local" }),
        ("database replica", .fine, { $0.synchronousCommit = "remote_apply" }),
    ]

    /// A server on another machine that is as it should be.
    private var sound: PostgresStatus {
        var status = PostgresStatus()
        status.version = 150_004
        status.versionText = "15.4"
        status.encoding = "UTF8"
        status.maximumConnections = 100
        status.reservedConnections = 3
        status.connections = 7
        status.isLocal = false
        status.tlsVersion = "TLSv1.3"
        status.tlsMode = "verify-full"
        status.synchronousNames = "replica"
        return status
    }

    @Test("A server that is as it should be")
    func fine() {
        let findings = Doctor.judge(sound, connections: 16)
        #expect(findings.filter { $0.state != .fine } == [])
        #expect(
            findings.map(\.what) == [
                "It is PostgreSQL 15.4.", "It is UTF8.", "TLSv1.3 is spoken (sslmode=verify-full).",
                "It agrees with the one here.",
                "97 are allowed, 7 are open, and a server takes up to 18: enough for 5.",
                "fsync is on, synchronous_commit is on.", "Commits wait for replica (synchronous_commit is on).",
            ])
    }

    @Test("One thing that is other than it should be is told of, and nothing else is", arguments: cases.indices)
    func one(_ index: Int) {
        let (name, state, change) = Self.cases[index]
        var status = sound
        change(&status)
        let findings = Doctor.judge(status, connections: 16)
        #expect(findings.filter { $0.name == name }.map(\.state) == [state])
        #expect(findings.filter { $0.name != name && $0.state != .fine } == [])
        for finding in findings { #expect((finding.state == .fine) == (finding.cure == nil)) }
    }
}
