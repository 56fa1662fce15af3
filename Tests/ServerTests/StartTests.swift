import Foundation
import Testing

@testable import CountersignServer

/// What a start does before the server answers.
@Suite("Start")
struct StartTests {
    @Test("The key command's output is read; one that fails or hangs is refused, with what to look at")
    func keyCommand() throws {
        #expect(try KeyCommand.run("echo ' key '") == "key")
        #expect(throws: StartError("`exit 3`, which master_key_command names, failed (3).")) {
            try KeyCommand.run("exit 3")
        }
        let began = ContinuousClock.now
        let late = StartError("`sleep 60 & sleep 60`, which master_key_command names, was not done after 1 s.")
        #expect(throws: late) { try KeyCommand.run("sleep 60 & sleep 60", within: .seconds(1)) }
        #expect(ContinuousClock.now - began < .seconds(30))
    }

    @Test("A free port is looked for at the host that is listened on", arguments: ["127.0.0.1", "::1", "localhost"])
    func freePort(host: String) throws {
        #expect(try (1...65535).contains(Server.freePort(host: host)))
    }

    @Test("A host that is not this machine's has no free port")
    func foreignHost() {
        #expect(throws: StartError("No port of 192.0.2.1 is free.")) { try Server.freePort(host: "192.0.2.1") }
    }
}
