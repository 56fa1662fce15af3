import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("The bootstrap token")
struct BootstrapTokenTests {
    @Test(
        "It is refused when a proxy passed the request on",
        arguments: ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"])
    func isRefusedThroughAProxy(field: String) async throws {
        try await TestServer.with { server in
            let reply = try await server.administrator.call(
                .GET, "/v1/admin/clients", headers: [(field, "203.0.113.7")])
            #expect(reply.status == 401)
            #expect(reply.code == "unauthorized")
            #expect(try await server.administrator.call(.GET, "/v1/admin/clients").status == 200)
        }
    }

    @Test("RFC 6750 §2.1: it stands after Bearer, in any case and after any number of blanks, and nothing after it")
    func form() async throws {
        try await TestServer.with { server in
            let token = server.token
            for field in ["Bearer \(token)", "bearer \(token)", "BEARER   \(token)"] {
                #expect(try await server.caller(field).call(.GET, "/v1/admin/clients").status == 200, "\(field)")
            }
            let refused = [
                "Bearer", "Bearer \(token) x", "Bearer \(token),", "Bearer \"\(token)\"", "Bearer \(token)=",
                "Bearer \(token.uppercased())", "Bearer \(token.dropLast())", "Bearer\t\(token)", "Bearer\(token)",
                "Bearer: \(token)", "Bearer token=\(token)", "DPoP \(token)", "Token \(token)", token,
            ]
            for field in refused {
                let reply = try await server.caller(field).call(.GET, "/v1/admin/clients")
                expectRefusal(reply, 401, "unauthorized", at: nil, field)
            }
        }
    }
}
