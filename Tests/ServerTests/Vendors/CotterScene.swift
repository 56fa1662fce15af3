import CountersignWire
import Crypto
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

/// An app that was written for Cotter, and its users; a shop's client with the profile `compatible`.
///
/// What it sends and expects is written from the documentation of Cotter's calls.
struct CotterScene: Sendable {
    static let redirectURI = "yourapp://"
    static let state = "abcXYZ456"

    let pages: SignInPageScene

    var scene: Scene { pages.scene }
    var server: TestServer { pages.server }
    /// The app's `API_KEY_ID`.
    var key: String { pages.credential.id }

    /// Runs a body with an app that may make the calls, and whose users sign in by a device or a mail.
    ///
    /// - Parameters:
    ///   - client: the members of the client's registration besides these.
    ///   - settings: how it uses the provider, besides these.
    ///   - body: the body to run.
    static func with(
        client: JSONObject = JSONObject(), _ settings: JSONObject = JSONObject(),
        _ body: @escaping @Sendable (CotterScene) async throws -> Void
    ) async throws {
        var members: JSONObject = ["vendors": ["cotter"]]
        for member in client.members { members[member.name] = member.value }
        var all: JSONObject = [
            "profile": "compatible", "redirect_uris": [.string(redirectURI), "http://127.0.0.1/callback"],
            "ways": ["device", "email"], "registration": "open", "asked_browsers": "all",
        ]
        for member in settings.members { all[member.name] = member.value }
        let hasCalls = members["vendors"]?.array?.contains("cotter") == true
        try await Scene.with(client: members) { [all] scene in
            let pages = SignInPageScene(
                scene: scene, browser: TestBrowser(scene.server), credential: scene.shop.credential)
            try await pages.set(all)
            if hasCalls { try await pages.server.awaitKeys(["EC", "OKP"], at: "/api/v0/token/jwks") }
            try await body(CotterScene(pages: pages))
        }
    }

    /// The path of Cotter's page.
    ///
    /// - Parameter changes: parameters in the place of the usual ones; nil for none of this name.
    func link(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        var parameters: [(String, String?)] = [
            ("api_key", key), ("redirect_url", Self.redirectURI), ("type", "EMAIL"),
            ("code_challenge", SignInPageScene.challenge), ("state", Self.state),
        ]
        for (name, value) in changes {
            if let place = parameters.firstIndex(where: { $0.0 == name }) {
                parameters[place].1 = value
            } else {
                parameters.append((name, value))
            }
        }
        return "/app?"
            + parameters.compactMap { name, value in value.map { "\(name)=\(FormText.encoded($0))" } }
            .joined(separator: "&")
    }

    /// From the page to the redirect, by a code to an address that has got no other one.
    func prove(
        _ address: String, _ changes: KeyValuePairs<String, String?> = [:], in browser: TestBrowser,
        by way: String = "email"
    ) async throws -> Page {
        let first = try await browser.get(link(changes))
        let choice = try await browser.submit(first, to: "/signin/choose", [("identifier", address)])
        return try await typeCode(to: address, from: choice, in: browser, by: way)
    }

    /// From the page of the ways to the redirect, by a mail or a text message.
    func typeCode(
        to address: String, from choice: Page, in browser: TestBrowser, by way: String = "email"
    ) async throws -> Page {
        let asked = try await browser.submit(choice, to: "/signin/ask", [("way", way)])
        let path = try #require(asked.location, "\(asked.reply)")
        let page = try await browser.get(path)
        for _ in 0..<200 {
            let messages = try await server.send(.GET, "/dev/outbox").success()["messages"]?.array ?? []
            if let text = messages.first(where: { "\($0)".contains(address) })?["text"]?.string,
                let code = text.firstMatch(of: #/[0-9]{6}/#)
            {
                _ = try await browser.submit(page, to: "\(path)/enter", [("code", String(code.output))])
                return try await browser.get("\(path)/done")
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw NoMessage()
    }

    struct NoMessage: Error {}

    /// From the page to the redirect, by an approval on the user's phone.
    func approve(
        _ address: String, _ changes: KeyValuePairs<String, String?> = [:], in browser: TestBrowser
    ) async throws -> Page {
        let first = try await browser.get(link(changes))
        let choice = try await browser.submit(first, to: "/signin/choose", [("identifier", address)])
        let asked = try await browser.submit(choice, to: "/signin/ask", [("way", "device")])
        let path = try #require(asked.location, "\(asked.reply)")
        try await pages.approve(try await browser.get(path))
        return try await browser.get("\(path)/done")
    }

    /// Gives the user with the phone an address on the client's word.
    func claim(_ member: String, _ address: String) async throws {
        let reply = try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", .members([member: .string(address)]))
        #expect(reply.status == 200, "\(reply)")
    }

    /// The body of the call that gets the identity, from the parameters of the redirect.
    func redemption(_ result: [String: String]) -> JSONObject {
        [
            "code_verifier": .string(SignInPageScene.verifier), "authorization_code": .string(result["code"] ?? ""),
            "challenge_id": .integer(result["challenge_id"].flatMap { Int64($0) } ?? 0),
            "redirect_url": .string(Self.redirectURI),
        ]
    }

    func post(
        _ path: String, _ body: JSONValue, key: String? = nil, headers: [(String, String)] = []
    ) async throws -> Reply {
        try await server.send(
            .POST, "/api/v0\(path)",
            headers: [("API_KEY_ID", key ?? self.key), ("Content-type", "application/json")] + headers,
            body: body.encoded, isContract: false)
    }

    func get(_ path: String, key: String? = nil) async throws -> Reply {
        try await server.send(
            .GET, "/api/v0\(path)", headers: [("API_KEY_ID", key ?? self.key)], isContract: false)
    }

    func identity(_ body: JSONObject, key: String? = nil) async throws -> Reply {
        try await post("/verify/get_identity?oauth_token=true", .object(body), key: key)
    }

    /// Whether the server's key for Cotter's calls has signed a text.
    func isSigned(_ text: String, by signature: String) async throws -> Bool {
        let keys = try await get("/token/jwks").success()["keys"]?.array ?? []
        let key = try #require(keys.first { $0["kty"] == "OKP" })
        let x = try #require(key["x"]?.string.flatMap { Base64URL.decode($0) })
        let bytes = try #require(Base64.decode(signature))
        return try Curve25519.Signing.PublicKey(rawRepresentation: x).isValidSignature(bytes, for: Array(text.utf8))
    }

    /// The claims of userinfo; the token goes by a form, so that no reply but the one that gave it need have it.
    func userinfo(_ access: String) async throws -> Reply {
        try await pages.token([("access_token", access)], at: "/oauth2/userinfo")
    }
}

/// Expects exactly this refusal of a call of Cotter's.
func expectMessage(_ reply: Reply, _ status: Int, _ message: String, location: SourceLocation = #_sourceLocation) {
    #expect(reply.status == status && reply.json == ["msg": .string(message)], "\(reply)", sourceLocation: location)
}
