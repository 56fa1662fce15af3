import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import RawStructuredFieldValues
import ServerTestSupport
import TestSupport
import Testing

/// Every reply is held against the contract by the test server, so that what is left to say here is little.
@Suite("Requests damaged at random get a documented reply, never a fault, and the server lives")
struct DamagedRequestTests {
    private static let rounds = 60

    /// Expects that the server took it or refused it, and that both are in the contract.
    private func expectNoFault(_ reply: Reply, _ seed: UInt64, location: SourceLocation = #_sourceLocation) {
        #expect(reply.status < 500, "COUNTERSIGN_SEED=\(seed) \(reply)", sourceLocation: location)
    }

    @Test("Bodies of clients and operators")
    func clients() async throws {
        try await Scene.with { scene in
            var random = SeededGenerator.announced(by: "damaged bodies of clients")
            let ask: JSONValue = [
                "user": .string(scene.user), "type": "payment", "message": "Zahlen Sie 1.250,00 €?",
                "details": [["label": "Betrag", "value": "EUR 1.250,00"]], "signing_data": "x", "expires_in": 60,
                "context": ["ip": "2001:db8::1", "user_agent": "Firefox"], "methods": ["confirm"], "locale": "de-DE",
                "enrollments": [.string("\(scene.phone.enrollment)")], "state": "s", "number_entry": true,
            ]
            let type: JSONValue = [
                "methods": ["confirm"], "expires_in": 100, "number_entry": true, "signing_data": true,
                "assurance": "receipt", "max_pending": 1000, "max_asks": 1000, "denial_pause": 0,
            ]
            let client: JSONValue = [
                "name": "Shop", "rights": ["users"], "callback_uris": ["https://shop.example.com/hook"],
                "waive_enrollment_approval": false,
            ]
            let calls: [(Caller, HTTPMethod, String, JSONValue)] = [
                (scene.shop, .POST, "/v1/challenges", ask), (scene.shop, .POST, "/v1/users", ["external_id": "a"]),
                (scene.shop, .PATCH, "/v1/users/\(scene.user)", ["external_id": "b"]),
                (scene.administrator, .POST, "/v1/admin/clients", client),
                (scene.administrator, .PUT, "/v1/admin/types/other", type),
            ]
            for (caller, method, path, body) in calls {
                expectNoFault(try await caller.call(method, path, body), random.seed)
                for _ in 0..<Self.rounds {
                    let damaged = random.mutated(body.encoded)
                    expectNoFault(try await caller.send(method, path, body: damaged), random.seed)
                }
            }
            #expect(try await scene.server.send(.GET, "/readyz").status == 200)
        }
    }

    @Test("Bodies of devices, signed as they are")
    func devices() async throws {
        try await Scene.with(client: ["waive_enrollment_approval": true]) { scene in
            var random = SeededGenerator.announced(by: "damaged bodies of devices")
            let asked = try await scene.ask()
            let question = try await scene.phone.open(asked.id).question
            let number = try #require(EntryNumber(asked.number))
            let sealed = try await scene.phone.seal(
                scene.phone.receipt(of: question, .approved(.confirm, number: number)).text)
            let path = "/v1/challenges/\(asked.id)/answer"
            for round in 0..<Self.rounds {
                let body =
                    round.isMultiple(of: 2)
                    ? random.mutated(AnswerRequest(message: sealed).json.encoded)
                    : AnswerRequest(message: random.mutated(sealed)).json.encoded
                // A change of a change may be none.
                guard body != AnswerRequest(message: sealed).json.encoded else { continue }
                let headers = try await scene.phone.signature(.POST, path, body: body)
                let reply = try await scene.server.send(.POST, path, headers: headers, body: body)
                #expect((400..<500).contains(reply.status), "COUNTERSIGN_SEED=\(random.seed) \(reply)")
            }
            #expect(try await scene.approve(asked).json["state"] == "approved")
            let ticket = try await scene.shop.makeTicket(for: scene.user)
            let phone = try await TestPhone(invitation: ticket, server: scene.server)
            let request = try phone.enrollmentRequest.encoded
            for _ in 0..<Self.rounds {
                let body = random.mutated(request)
                let headers = try await phone.signature(
                    .POST, "/v1/enrollments", body: body, keyID: "\(phone.certificate.fingerprint)")
                let reply = try await scene.server.send(.POST, "/v1/enrollments", headers: headers, body: body)
                expectNoFault(reply, random.seed)
            }
            #expect(try await scene.server.send(.GET, "/readyz").status == 200)
        }
    }

    @Test("The fields that authenticate")
    func fields() async throws {
        try await Scene.with { scene in
            var random = SeededGenerator.announced(by: "damaged fields")
            let own = "/v1/enrollments/self"
            for _ in 0..<Self.rounds {
                var headers = try await scene.phone.signature(.GET, own)
                let index = Int.random(in: 0..<headers.count, using: &random)
                let right = headers[index].1
                headers[index].1 = visible(random.mutated(Array(right.utf8)))
                guard Self.canonical(headers[index].1) != Self.canonical(right) else { continue }
                let reply = try await scene.server.send(.GET, own, headers: headers)
                #expect(reply.status == 401, "COUNTERSIGN_SEED=\(random.seed) \(headers[index]) \(reply)")
            }
            let path = "/v1/users/\(scene.user)"
            for _ in 0..<Self.rounds {
                let damaged = visible(random.mutated(Array(scene.shop.authorization.utf8)))
                guard damaged != scene.shop.authorization else { continue }
                let reply = try await scene.server.caller(damaged).call(.GET, path)
                // The scheme's name is in any case.
                let isSame = damaged.dropFirst(5) == scene.shop.authorization.dropFirst(5)
                #expect(reply.status == 401 || isSame, "COUNTERSIGN_SEED=\(random.seed) \(damaged) \(reply)")
            }
            #expect(try await scene.phone.send(.GET, own).json["state"] == "active")
        }
    }

    /// A field in its one form; nil when it is none.
    ///
    /// RFC 9651 §4.2 lets blanks stand between the parts, and a parameter that comes twice have its last value.
    private static func canonical(_ field: String) -> [UInt8]? {
        var parser = StructuredFieldValueParser(Array(field.utf8))
        var serializer = StructuredFieldValueSerializer()
        return (try? parser.parseDictionaryFieldValue()).flatMap { try? serializer.writeDictionaryFieldValue($0) }
    }

    /// What a client library sends as the value of a field.
    private func visible(_ bytes: [UInt8]) -> String {
        let kept = bytes.filter { (0x20...0x7E).contains($0) }
        return String(decoding: kept, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }

    @Test("Paths and queries")
    func paths() async throws {
        try await Scene.with { scene in
            var random = SeededGenerator.announced(by: "damaged paths")
            let challenge = try await scene.ask().id
            let paths = [
                "/v1/challenges/\(challenge)?wait=0", "/v1/challenges/\(challenge)/receipt?format=certificate",
                "/v1/users/\(scene.user)", "/v1/users/external_id:customer-1/enrollments", "/v1/admin/events?cursor=0",
            ]
            for path in paths {
                for _ in 0..<Self.rounds {
                    let bytes = random.mutated(Array(path.dropFirst().utf8))
                    // Foundation sends the root in place of a path whose escapes are not UTF-8.
                    guard bytes.allSatisfy({ $0 < 0x80 }) else { continue }
                    // What no request line can hold comes escaped, as from any client library.
                    let damaged = bytes.map { byte in
                        (0x21...0x7E).contains(byte) && ![UInt8(ascii: "#"), UInt8(ascii: "%")].contains(byte)
                            ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte])
                    }.joined()
                    let caller = path.hasPrefix("/v1/admin") ? scene.administrator : scene.shop
                    expectNoFault(try await caller.call(.GET, "/" + damaged), random.seed)
                }
            }
            #expect(try await scene.state(of: challenge) == "pending")
        }
    }
}
