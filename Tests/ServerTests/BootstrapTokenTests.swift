import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("The bootstrap token")
struct BootstrapTokenTests {
    @Test(
        "Design 8: it is refused when a proxy passed the request on",
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
}
