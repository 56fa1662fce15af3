import CountersignWire
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: OpenID Connect Back-Channel Logout 1.0 §2.1, §2.2, §2.4 and §2.6.
@Suite("Clients are told of the end of a session, by the modules of the OpenID certification", .timeLimit(.minutes(15)))
struct BackchannelLogoutTests {
    private typealias Calls = AsyncStream<CallbackReceiver.Call>.AsyncIterator

    /// A shop that listens for logout tokens, and a browser that is signed in there, with the claims of its ID token.
    private static func with(
        _ body:
            @escaping @Sendable (SignInPageScene, _ identity: JSONValue, _ idToken: String, inout Calls) async throws
            -> Void
    ) async throws {
        try await CallbackReceiver.with { receiver in
            let settings: JSONObject = [
                "asked_browsers": "all", "backchannel_logout_uri": .string(receiver.url),
                "backchannel_logout_session_required": true,
            ]
            try await SignInPageScene.with(settings) { scene in
                var calls = receiver.calls.makeAsyncIterator()
                let code = try #require(try await scene.signIn().result["code"])
                let token = try #require(try await scene.redeem(code).json["id_token"]?.string)
                let identity = try await Self.verified(token, type: "JWT", scene)
                try await body(scene, identity, token, &calls)
            }
        }
    }

    /// The claims of a token, verified by the keys that are published; this client's tokens have OpenID's usual algorithm.
    private static func verified(_ token: String, type: String, _ scene: SignInPageScene) async throws -> JSONValue {
        let keys = try JWKSet(try await scene.server.send(.GET, "/oauth2/jwks", isContract: false).json)
        let verified = try JWS.verify(token, algorithms: [.rs256], type: .exactly(type), keys: keys)
        return try JSONValue(parsing: verified.payload)
    }

    /// Reads a logout request as a relying party must, which has a session by an ID token with these claims.
    private static func expectLogout(
        _ call: CallbackReceiver.Call?, of identity: JSONValue, _ scene: SignInPageScene
    ) async throws {
        let call = try #require(call)
        #expect(call.headers["content-type"] == "application/x-www-form-urlencoded")
        let fields = try #require(FormText.fields(in: String(decoding: call.body, as: UTF8.self)))
        #expect(fields.map(\.name) == ["logout_token"])
        let claims = try await verified(try #require(fields.first?.value), type: "logout+jwt", scene)
        for name in ["iss", "aud", "sub", "sid"] {
            #expect(claims[name] != nil && claims[name] == identity[name], "\(name): \(claims)")
        }
        let (issuedAt, end) = (try #require(claims["iat"]?.integer), try #require(claims["exp"]?.integer))
        let now = scene.server.clock.now.seconds
        #expect((now - 60...now).contains(issuedAt) && end == issuedAt + 120)
        #expect(claims["events"]?["http://schemas.openid.net/event/backchannel-logout"]?.object != nil)
        #expect(claims["nonce"] == nil && claims["jti"]?.string?.isEmpty == false)
    }

    private static func logout(_ hint: String) -> String {
        "/oauth2/logout?id_token_hint=\(FormText.encoded(hint))"
    }

    // Modules: oidcc-backchannel-logout-discovery-endpoint-verification
    @Test("oidcc-backchannel-logout-discovery-endpoint-verification: the metadata say that clients are told")
    func discovery() async throws {
        try await SignInPageScene.with { scene in
            let metadata = try await scene.server.send(.GET, "/.well-known/openid-configuration", isContract: false)
            #expect(metadata.json["backchannel_logout_supported"] == true)
            #expect(metadata.json["backchannel_logout_session_supported"] == true)
            let algorithms = metadata.json["id_token_signing_alg_values_supported"]?.array
            #expect(algorithms?.contains("none") == false)
        }
    }

    // Modules: oidcc-backchannel-rp-initiated-logout
    @Test("oidcc-backchannel-rp-initiated-logout: the client that signs a person out gets a token that it can verify")
    func initiated() async throws {
        try await Self.with { scene, identity, idToken, calls in
            #expect(identity["sid"] != nil)
            let out = try await scene.browser.get(Self.logout(idToken))
            #expect(out.status == 200 && out.heading == "You are signed out", "\(out.reply)")
            try await Self.expectLogout(await calls.next(), of: identity, scene)
        }
    }

    @Test("Whoever answers on the page that asks has the client told, too")
    func answered() async throws {
        try await Self.with { scene, identity, _, calls in
            let page = try await scene.browser.get("/oauth2/logout")
            let out = try await scene.browser.submit(page, to: "/oauth2/logout/answer", [("decision", "all")])
            #expect(out.heading == "You are signed out", "\(out.reply)")
            try await Self.expectLogout(await calls.next(), of: identity, scene)
        }
    }

    @Test("O-26: a session that is ended on the account page reaches the client")
    func accountPage() async throws {
        try await Self.with { scene, identity, _, calls in
            let account = try await scene.server.makeClient("Acme account")
            let settings: JSONValue = [
                "profile": "web", "redirect_uris": [.string("\(scene.server.issuer)/account")],
                "registration": "known",
            ]
            let set = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(account.credential.id)/openid", settings)
            #expect(set.status == 200, "\(set)")
            let other = SignInPageScene(
                scene: scene.scene, browser: TestBrowser(scene.server), credential: scene.credential)
            _ = try await other.signIn()
            let page = try await other.browser.get("/account")
            let end = try #require(
                page.html.firstMatch(of: #/\/account\/sessions\/ses_[^\/]*\/end/#).map { String($0.output) })
            #expect(try await other.browser.submit(page, to: end).status == 200)
            try await Self.expectLogout(await calls.next(), of: identity, scene)
        }
    }

    @Test("O-42: a removed device reaches the clients that its sessions signed people in to")
    func removedDevice() async throws {
        try await Self.with { scene, identity, _, calls in
            let removed = try await scene.scene.shop.call(
                .DELETE, "/v1/users/\(scene.scene.user)/enrollments/\(scene.scene.phone.enrollment)")
            #expect(removed.status == 204, "\(removed)")
            try await Self.expectLogout(await calls.next(), of: identity, scene)
        }
    }

    @Test("The settings are shown as they were set, and without them there are none")
    func settings() async throws {
        try await Scene.with { scene in
            let path = "/v1/admin/clients/\(scene.shop.credential.id)/openid"
            let uri = "https://shop.example.com:8443/logout?tenant=1"
            var body: JSONObject = [
                "profile": "web", "redirect_uris": ["https://shop.example.com/callback"],
                "backchannel_logout_uri": .string(uri), "backchannel_logout_session_required": true,
            ]
            var set = try await scene.administrator.call(.PUT, path, .object(body)).success()
            #expect(set["backchannel_logout_uri"] == .string(uri))
            #expect(set["backchannel_logout_session_required"] == true)
            #expect(try await scene.administrator.call(.GET, path).success() == set)
            body["backchannel_logout_session_required"] = false
            set = try await scene.administrator.call(.PUT, path, .object(body)).success()
            #expect(set["backchannel_logout_session_required"] == nil)
            body["backchannel_logout_uri"] = nil
            set = try await scene.administrator.call(.PUT, path, .object(body)).success()
            #expect(set["backchannel_logout_uri"] == nil)
        }
    }
}
