import CountersignCore
import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("The issuer's keys, for operators")
struct IssuerKeyTests {
    private static let path = "/v1/admin/issuer-keys"

    @Test("They are listed with what others know them by, and nothing secret")
    func list() async throws {
        try await TestServer.with { server in
            let keys = try await server.administrator.call(.GET, Self.path).success()["keys"]?.array ?? []
            #expect(keys.map { $0["use"] } == ["openpgp-signing", "openpgp-encryption", "push"])
            #expect(keys.allSatisfy { $0["state"] == "current" && $0["changes_at"] == nil })
            let armored = try await server.send(.GET, "/v1/server-certificate").body
            let certificate = try Certificate(armored: String(decoding: armored, as: UTF8.self))
            #expect(keys.prefix(2).map { $0["name"]?.string } == certificate.subkeys.map { "\($0.fingerprint)" })
            let push = try await server.send(.GET, "/v1/push-keys").success()["keys"]?.array ?? []
            #expect(push.map { $0["kid"] } == [keys.last?["name"]])
        }
    }

    @Test("A rotation is begun once; the next key is published before it signs, and told in the audit")
    func rotate() async throws {
        try await TestServer.with { server in
            let caller = server.administrator
            let begun = try await caller.call(.POST, "\(Self.path)/push/rotate", ["at_once": false])
            #expect(begun.status == 202, "\(begun)")
            let key = try begun.success()
            #expect(key["state"] == "next" && key["use"] == "push" && key["compromised"] == false)
            let created = try #require(key["created_at"]?.string.flatMap { Timestamp($0) })
            let due = try #require(key["changes_at"]?.string.flatMap { Timestamp($0) })
            #expect(due == created.adding(RotateIssuerKey.publication))
            let refused = try await caller.call(.POST, "\(Self.path)/push/rotate")
            #expect(refused.status == 409 && refused.code == "rotation_under_way", "\(refused)")
            #expect(refused.json["key"]?["id"] == key["id"])
            let hastened = try await caller.call(.POST, "\(Self.path)/push/rotate", ["at_once": true])
            #expect(try hastened.success()["id"] == key["id"])
            let push = try await server.send(.GET, "/v1/push-keys").success()["keys"]?.array ?? []
            #expect(push.map { $0["kid"] }.last == key["name"] && push.count == 2)
            #expect(try await caller.auditCount("issuer_key.changed") == 2)
        }
    }

    @Test("A certificate that is full takes no further key, and the server goes on")
    func full() async throws {
        try await TestServer.with { server in
            let path = "\(Self.path)/openpgp-signing/rotate"
            var reply = try await server.administrator.call(.POST, path, ["compromised": true])
            var count = 1
            // Each takes the one before back and adds another, which is in the certificate at once.
            while reply.status == 202, count < 400 {
                reply = try await server.administrator.call(.POST, path, ["compromised": true])
                count += 1
            }
            #expect(reply.status == 409 && reply.code == "issuer_certificate_full", "\(count): \(reply)")
            #expect(count > 50)
            let armored = try await server.send(.GET, "/v1/server-certificate").body
            let certificate = try Certificate(armored: String(decoding: armored, as: UTF8.self))
            #expect(certificate.encoded.count < Certificate.maximumSize)
            // Those in it can still be taken back.
            #expect(certificate.subkeys.count { $0.revokedAt != nil } == certificate.subkeys.count - 3)
            let push = try await server.administrator.call(.POST, "\(Self.path)/push/rotate")
            #expect(push.status == 202, "\(push)")
        }
    }

    @Test("Uses that there are not are 404, members that there are not 422")
    func refused() async throws {
        try await TestServer.with { server in
            for use in ["token", "primary", "OPENPGP-SIGNING"] {
                let reply = try await server.administrator.call(.POST, "\(Self.path)/\(use)/rotate")
                #expect(reply.status == 404 && reply.code == "key_use_not_found", "\(use): \(reply)")
            }
            let reply = try await server.administrator.call(.POST, "\(Self.path)/push/rotate", ["now": true])
            #expect(reply.status == 422 && reply.code == "unknown_member", "\(reply)")
            #expect(try await server.administrator.auditCount("issuer_key.changed") == 0)
        }
    }
}
