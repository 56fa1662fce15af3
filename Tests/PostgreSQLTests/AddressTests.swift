import CountersignCore
import CountersignStorage
import StorageTestSupport
import Testing

@Suite("The address of a database, and the password in it")
struct AddressTests {
    @Test(
        "Hosts, ports and database are shown, user and password are not",
        arguments: [
            ("postgres://db.example.com/countersign", "db.example.com/countersign"),
            ("postgresql://u:hush-hush@db.example.com:5433/cs", "db.example.com:5433/cs"),
            (
                "postgres://u:hush-hush@a.example.com:1,b.example.com:2/cs?target_session_attrs=read-write",
                "a.example.com:1,b.example.com:2/cs"
            ),
            ("postgres://u@/cs?host=/run/postgresql&password=hush-hush", "/run/postgresql/cs"),
        ])
    func shown(_ text: String, _ expected: String) throws {
        let address = try PostgresAddress(text)
        #expect("\(address)" == expected)
        #expect(!String(reflecting: address).contains("hush"))
    }

    @Test(
        "What libpq does not read is refused without being repeated",
        arguments: [
            "mysql://u:p@h/d", "countersign", "postgres:/h", "postgres://u:p@[::1/d", "postgres://h/d?pasword=x",
            "postgres://h/d?=", "host=h dbname=d",
        ])
    func refused(_ text: String) {
        #expect(throws: PostgresAddress.Malformed.self) { try PostgresAddress(text) }
    }

    @Test("A server that nobody reaches, a wrong database and a wrong user are told in libpq's words, without password")
    func unreachable() async throws {
        let database = try await PostgresDatabase.make()
        let reasons = [
            ("postgres://u:hush-hush@127.0.0.1:1/x", "onnection refused"),
            (
                "postgres://countersign:hush-hush@127.0.0.1:\(try database.port)/none",
                "database \"none\" does not exist"
            ),
            ("postgres://nobody:hush-hush@127.0.0.1:\(try database.port)/\(database.name)", "role \"nobody\" does not"),
        ]
        for (text, reason) in reasons {
            let error = await #expect(throws: PostgresEngine.Unreachable.self) {
                _ = try await PostgresDatabase.engine(at: text, hub: ChangeHub(time: ScriptedTime()))
            }
            #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
            #expect(error?.reason.contains("hush") == false)
        }
    }
}
