import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: Fetch Standard, *CORS protocol*; RFC 6454 §6.2; docs/decisions/0072-signing-in.md.
@Suite("Scripts of a client's own pages read what it gets")
struct CrossOriginTests {
    private static let own = "https://app.example.com"
    private static let others = "https://other.example.com:8443"

    /// A scene whose shop is a page in the browser, beside another one of these.
    private static func with(
        _ body: @escaping @Sendable (SignInPageScene) async throws -> Void
    ) async throws {
        try await SignInPageScene.with([
            "asked_browsers": "all", "profile": "spa", "redirect_uris": [.string("\(own)/callback")],
        ]) { scene in
            let other = try await scene.server.makeClient("Other")
            let settings: JSONValue = ["profile": "spa", "redirect_uris": [.string("\(others)/callback")]]
            let set = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(other.credential.id)/openid", settings)
            #expect(set.status == 200, "\(set)")
            try await body(scene)
        }
    }

    private static func send(
        _ method: HTTPMethod, _ path: String, from origin: String?, _ fields: [(String, String)] = [],
        _ headers: [(String, String)] = [], at scene: SignInPageScene
    ) async throws -> Reply {
        let sent = headers + (origin.map { [("Origin", $0)] } ?? [])
        let type = [("Content-Type", "application/x-www-form-urlencoded")]
        return try await scene.server.send(
            method, path, headers: method == .POST ? sent + type : sent,
            body: method == .POST ? Array(FormText.encoded(fields).utf8) : nil, isContract: false)
    }

    /// The tokens of a sign-in, as a page in the browser fetches them.
    private static func redeemed(_ scene: SignInPageScene, from origin: String) async throws -> Reply {
        let browser = TestBrowser(scene.server)
        let request = scene.request(["redirect_uri": "\(own)/callback"])
        let choice = try await browser.submit(
            try await browser.get(request), to: "/signin/choose", [("identifier", "customer-1@example.com")])
        let asked = try await browser.submit(choice, to: "/signin/ask", [("way", "device")])
        let path = try #require(asked.location, "\(asked.reply)")
        try await scene.approve(try await browser.get(path))
        let done = try await browser.get("\(path)/done")
        let code = try #require(done.result["code"], "\(done.reply)")
        let form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", "\(own)/callback"),
            ("code_verifier", SignInPageScene.verifier), ("client_id", scene.credential.id),
        ]
        return try await send(.POST, "/oauth2/token", from: origin, form, at: scene)
    }

    private static let field = "access-control-allow-origin"

    @Test("A browser that asks first is told of the methods, for any client's origin and for no other")
    func preflights() async throws {
        try await Self.with { scene in
            let ask = [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "authorization")]
            for path in ["/oauth2/token", "/oauth2/par", "/oauth2/revoke", "/oauth2/userinfo"] {
                for origin in [Self.own, Self.others] {
                    let reply = try await Self.send(.OPTIONS, path, from: origin, [], ask, at: scene)
                    #expect(reply.status == 204 && reply.headers[Self.field] == origin, "\(reply)")
                    #expect(reply.headers["access-control-allow-methods"]?.contains("POST") == true)
                    #expect(reply.headers["access-control-allow-headers"] == "Authorization, Content-Type, DPoP")
                    #expect(reply.headers["access-control-allow-credentials"] == nil)
                    #expect(reply.headers["vary"] == "Origin")
                }
                for origin in [
                    "https://evil.example", "null", "*", "\(Self.own).evil.example", "https://APP.example.com",
                    "\(Self.own):443", "\(Self.own)/", "http://app.example.com", "\(Self.own), \(Self.others)", nil,
                ] {
                    let reply = try await Self.send(.OPTIONS, path, from: origin, [], ask, at: scene)
                    #expect(reply.status == 204 && reply.headers[Self.field] == nil, "\(origin ?? "none"): \(reply)")
                }
            }
            for path in ["/oauth2/authorize", "/oauth2/introspect", "/account", "/v1/challenges"] {
                let reply = try await Self.send(.OPTIONS, path, from: Self.own, [], ask, at: scene)
                #expect(reply.status == 405 && reply.headers[Self.field] == nil, "\(path): \(reply)")
            }
        }
    }

    @Test("Tokens and claims are for the scripts of the client's own origin, and not for those of another client's")
    func others() async throws {
        try await Self.with { scene in
            let stolen = try await Self.redeemed(scene, from: Self.others)
            #expect(stolen.status == 200 && stolen.headers[Self.field] == nil, "\(stolen)")
            let reply = try await Self.redeemed(scene, from: Self.own)
            #expect(reply.status == 200 && reply.headers[Self.field] == Self.own, "\(reply)")
            let access = try #require(reply.json["access_token"]?.string)
            for (origin, isAllowed) in [(Self.own, true), (Self.others, false), ("https://evil.example", false)] {
                let info = try await Self.send(
                    .GET, "/oauth2/userinfo", from: origin, [], [("Authorization", "Bearer \(access)")], at: scene)
                #expect(info.status == 200 && (info.headers[Self.field] == origin) == isAllowed, "\(info)")
            }
            let form = [("token", access), ("client_id", scene.credential.id)]
            let revoked = try await Self.send(.POST, "/oauth2/revoke", from: Self.own, form, at: scene)
            #expect(revoked.status == 200 && revoked.headers[Self.field] == Self.own)
            // What is wrong can be read by every client's pages, so that they can say it.
            for (origin, isAllowed) in [(Self.own, true), (Self.others, true), ("https://evil.example", false)] {
                let over = try await Self.send(
                    .GET, "/oauth2/userinfo", from: origin, [], [("Authorization", "Bearer \(access)")], at: scene)
                #expect(over.status == 401 && (over.headers[Self.field] == origin) == isAllowed, "\(over)")
            }
        }
    }

    @Test("What everybody may know is for every page; a client that is no page in the browser has no origin")
    func open() async throws {
        try await Self.with { scene in
            for path in ["/oauth2/jwks", "/.well-known/openid-configuration"] {
                let reply = try await Self.send(.GET, path, from: "https://evil.example", at: scene)
                #expect(reply.status == 200 && reply.headers[Self.field] == "*", "\(reply)")
            }
            for changed in ["web", "disabled"] {
                let admin = scene.scene.administrator
                switch changed {
                case "web":
                    try await scene.set(["redirect_uris": [.string("\(Self.own)/callback")]])
                default:
                    try await scene.set(["profile": "spa", "redirect_uris": [.string("\(Self.own)/callback")]])
                    let path = "/v1/admin/clients/\(scene.credential.id)/disable"
                    #expect(try await admin.call(.POST, path).status == 200)
                }
                let reply = try await Self.send(.OPTIONS, "/oauth2/token", from: Self.own, at: scene)
                #expect(reply.headers[Self.field] == nil, "\(changed): \(reply)")
            }
        }
    }

    @Test("The origin of a page is written as browsers write it")
    func spelling() throws {
        for (uri, origin) in [
            ("https://App.Example.com:443/a?b=c", "https://app.example.com"),
            ("https://app.example.com:8443/a", "https://app.example.com:8443"),
            ("http://127.0.0.1:3000/", "http://127.0.0.1:3000"), ("http://[::1]:3000/", "http://[::1]:3000"),
            ("com.example.app:/a", nil),
        ] as [(String, String?)] {
            #expect(try #require(RedirectURI(uri)).origin == origin)
        }
    }
}
