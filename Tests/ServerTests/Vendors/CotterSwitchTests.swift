import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

// Spec: docs/decisions/0108-cotters-door.md.
@Suite("Cotter's calls, for clients that an operator has let make them")
struct CotterSwitchTests {
    static let noKey = "API_KEY_ID is no client that may make these calls"

    @Test("A client that was not let has neither page nor calls")
    func off() async throws {
        for vendors in [[], ["okta", "onewelcome"]] as [JSONValue] {
            try await CotterScene.with(client: ["vendors": vendors]) { scene in
                let page = try await scene.pages.browser.get(scene.link())
                #expect(page.status == 400 && page.location == nil && page.request == nil, "\(page.reply)")
                for path in [
                    "/verify/get_identity", "/token", "/token/\(scene.key)", "/event/create_pending", "/event/create",
                    "/event/respond/1", "/user/create",
                ] { expectMessage(try await scene.post(path, [:]), 401, Self.noKey) }
                for path in [
                    "/event/new/customer-1", "/event/get/1", "/user/enrolled/customer-1/TRUSTED_DEVICE/x",
                    "/user/customer-1", "/user?identifier=putri@example.com",
                ] {
                    expectMessage(try await scene.get(path), 401, Self.noKey)
                }
                #expect(try await scene.get("/token/jwks").status == 404)
            }
        }
    }

    @Test("The keys are there while any client has the calls that is not disabled")
    func keys() async throws {
        try await CotterScene.with { scene in
            let path = "/v1/admin/clients/\(scene.key)"
            let administrator = scene.scene.administrator
            let keys = try await scene.get("/token/jwks").success()["keys"]?.array ?? []
            // The key of tokens is first, for clients that take the first.
            #expect(keys.map { $0["kty"] } == ["EC", "OKP"] && keys[1]["alg"] == "EdDSA")
            #expect(keys.allSatisfy { $0["d"] == nil })
            let own = try await scene.server.send(.GET, "/oauth2/jwks", isContract: false).json["keys"]?.array ?? []
            #expect(own.allSatisfy { $0["kty"] != "OKP" } && own.contains { $0 == keys[0] })
            #expect(try await administrator.call(.POST, "\(path)/disable").status == 200)
            #expect(try await scene.get("/token/jwks").status == 404)
            #expect(try await administrator.call(.POST, "\(path)/enable").status == 200)
            #expect(try await scene.get("/token/jwks").status == 200)
            #expect(try await administrator.call(.PATCH, path, ["vendors": ["okta"]]).status == 200)
            #expect(try await scene.get("/token/jwks").status == 404)
            let other = try await scene.server.makeClient("Other", ["vendors": ["cotter"]])
            #expect(try await scene.get("/token/jwks").status == 200)
            let gone = try await administrator.call(.DELETE, "/v1/admin/clients/\(other.clientID)")
            #expect(gone.status < 300, "\(gone)")
            #expect(try await scene.get("/token/jwks").status == 404)
        }
    }

    @Test("What a browser asks before a call is answered while any client has the calls that is not disabled")
    func asked() async throws {
        let origin = "https://app.example.com"
        let settings: JSONObject = ["profile": "spa", "redirect_uris": [.string("\(origin)/callback")]]
        try await CotterScene.with(settings) { scene in
            let path = "/v1/admin/clients/\(scene.key)"
            let administrator = scene.scene.administrator
            // Another client of the same origin, which stays enabled and has not the calls.
            let other = try await scene.server.makeClient("Other")
            let set = try await administrator.call(
                .PUT, "/v1/admin/clients/\(other.clientID)/openid", .object(settings))
            #expect(set.status == 200, "\(set)")
            try await Self.expectAnswers(true, to: origin, scene)
            #expect(try await administrator.call(.POST, "\(path)/disable").status == 200)
            try await Self.expectAnswers(false, to: origin, scene)
            #expect(try await administrator.call(.POST, "\(path)/enable").status == 200)
            try await Self.expectAnswers(true, to: origin, scene)
            #expect(try await administrator.call(.PATCH, path, ["vendors": ["okta"]]).status == 200)
            try await Self.expectAnswers(false, to: origin, scene)
        }
    }

    /// Expects that the scripts of an origin may make and read the calls, or that nothing is said of this to them.
    private static func expectAnswers(_ isOn: Bool, to origin: String, _ scene: CotterScene) async throws {
        let field = "access-control-allow-origin"
        for path in ["/verify/get_identity", "/token", "/token/\(scene.key)"] {
            let asked = try await scene.server.send(
                .OPTIONS, "/api/v0\(path)", headers: [("Origin", origin)], isContract: false)
            if isOn {
                #expect(asked.status == 204 && asked.headers[field] == origin, "\(asked)")
            } else {
                expectMessage(asked, 404, "there is no such call")
                #expect(asked.headers[field] == nil, "\(asked)")
            }
            let error = try await scene.post(path, [:], headers: [("Origin", origin)])
            #expect(error.status == (isOn ? 400 : 401), "\(error)")
            #expect(error.headers[field] == (isOn ? origin : nil), "\(error)")
        }
    }

    @Test("Who calls is told by API_KEY_ID: none, no client, a disabled one, one with a secret")
    func callers() async throws {
        try await CotterScene.with { scene in
            let body = JSONValue.object(scene.redemption([:]))
            for key in ["", "x", "w4FK6Zz0XIhtGY3o5biI", "cli_00000000000000000000000000"] {
                expectMessage(try await scene.post("/verify/get_identity", body, key: key), 401, Self.noKey)
            }
            // In the form of a UUID it is the same client, whose code is wrong.
            let uuid = try #require(ClientID(scene.key)).uuid
            for key in [scene.key, uuid, uuid.uppercased()] {
                expectMessage(try await scene.post("/verify/get_identity", body, key: key), 500, "Challenge Expired")
            }
            let path = "/v1/admin/clients/\(scene.key)"
            #expect(try await scene.scene.administrator.call(.POST, "\(path)/disable").status == 200)
            expectMessage(try await scene.post("/verify/get_identity", body), 401, Self.noKey)
            #expect(try await scene.scene.administrator.call(.POST, "\(path)/enable").status == 200)
            // A client that keeps a secret shows it.
            try await scene.pages.set([:])
            expectMessage(try await scene.post("/verify/get_identity", body), 401, Self.noKey)
            let shown = [("Authorization", scene.scene.shop.authorization)]
            let reply = try await scene.post("/verify/get_identity", body, headers: shown)
            expectMessage(reply, 500, "Challenge Expired")
        }
    }

    @Test("What is not among the calls is 404, another method is 405, and a body that is none is 400")
    func unknown() async throws {
        try await CotterScene.with { scene in
            for path in ["/user/list/all", "/token/custom/x", "/verify/request/x", ""] {
                let reply = try await scene.post(path, [:])
                expectMessage(reply, 404, "there is no such call")
            }
            let reply = try await scene.get("/verify/get_identity")
            expectMessage(reply, 405, "use OPTIONS, POST")
            for body in [[], "x", .null] as [JSONValue] {
                expectMessage(
                    try await scene.post("/verify/get_identity", body), 400, "the body must be a JSON object")
            }
            for name in ["code_verifier", "authorization_code", "challenge_id", "redirect_url"] {
                for value in [nil, .bool(true)] as [JSONValue?] {
                    var body = scene.redemption([:])
                    body[name] = value
                    expectMessage(try await scene.identity(body), 400, "\(name) is missing or wrong")
                }
            }
        }
    }
}
