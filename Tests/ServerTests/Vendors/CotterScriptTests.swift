import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

// Spec: Fetch Standard, *CORS protocol*; docs/decisions/0108-cotters-door.md.
@Suite("Cotter: scripts of a client's own pages read its replies")
struct CotterScriptTests {
    private static let own = "https://app.example.com"
    private static let field = "access-control-allow-origin"

    @Test("The client's own origin, those of other clients' pages, and everybody else's")
    func others() async throws {
        let uri = "\(Self.own)/callback"
        try await CotterScene.with(["profile": "spa", "redirect_uris": [.string(uri)]]) { scene in
            let another = "https://other.example.com"
            let client = try await scene.server.makeClient("Other")
            let settings: JSONValue = ["profile": "spa", "redirect_uris": [.string("\(another)/callback")]]
            let set = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(client.clientID)/openid", settings)
            #expect(set.status == 200, "\(set)")
            for path in ["/verify/get_identity", "/token", "/token/\(scene.key)"] {
                for (origin, isAllowed) in [(Self.own, true), (another, true), ("https://evil.example", false)] {
                    let asked = try await scene.server.send(
                        .OPTIONS, "/api/v0\(path)", headers: [("Origin", origin)], isContract: false)
                    #expect(asked.status == 204 && (asked.headers[Self.field] == origin) == isAllowed, "\(asked)")
                    let names = asked.headers["access-control-allow-headers"] ?? ""
                    #expect(names.contains("API_KEY_ID") == isAllowed)
                    let error = try await scene.post(path, [:], headers: [("Origin", origin)])
                    #expect(error.status == 400 && (error.headers[Self.field] == origin) == isAllowed, "\(error)")
                }
            }
            for (origin, isAllowed) in [(Self.own, true), (another, false), ("https://evil.example", false)] {
                let result = try await scene.prove(
                    "putri\(origin.utf8.count)@example.com", ["redirect_url": uri], in: TestBrowser(scene.server)
                ).result
                var body = scene.redemption(result)
                body["redirect_url"] = .string(uri)
                let reply = try await scene.post(
                    "/verify/get_identity", .object(body), headers: [("Origin", origin)])
                #expect(reply.status == 200 && (reply.headers[Self.field] == origin) == isAllowed, "\(reply)")
            }
        }
    }
}
