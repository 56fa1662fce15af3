import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import CountersignServer

/// A browser without scripts: it keeps cookies, reads the forms of our pages, and follows no redirect by itself.
final class TestBrowser: Sendable {
    let server: TestServer
    private let cookies = Mutex<[String: String]>([:])

    init(_ server: TestServer) { self.server = server }

    /// The names of the cookies that it has.
    var cookieNames: [String] { cookies.withLock { $0.keys.sorted() } }

    /// Another browser with the same cookies, as a thief of them has it.
    func copy(without name: String? = nil) -> TestBrowser {
        let other = TestBrowser(server)
        let kept = cookies.withLock { $0.filter { name == nil || !$0.key.contains(name ?? "") } }
        other.cookies.withLock { $0 = kept }
        return other
    }

    func get(_ path: String, headers: [(String, String)] = []) async throws -> Page {
        try await send(.GET, path, headers: headers, body: nil)
    }

    func post(_ path: String, _ fields: [(String, String)], headers: [(String, String)] = []) async throws -> Page {
        let form = FormText.encoded(fields)
        let type = [("Content-Type", "application/x-www-form-urlencoded")]
        return try await send(.POST, path, headers: type + headers, body: Array(form.utf8))
    }

    private func send(
        _ method: HTTPMethod, _ path: String, headers: [(String, String)], body: [UInt8]?
    ) async throws -> Page {
        let field = cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ") }
        let sent = field.isEmpty ? headers : headers + [("Cookie", field)]
        let reply = try await server.send(method, path, headers: sent, body: body, isContract: false)
        // Several of one name stand in one line here, and no cookie of ours has a comma.
        for set in reply.headers["set-cookie"]?.split(separator: ", ") ?? [] {
            let pair = set.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            #expect(set.contains("HttpOnly") && set.contains("SameSite=Lax") && set.contains("Path=/"), "\(set)")
            let value = set.contains("Max-Age=0") ? nil : pair.last.map(String.init)
            cookies.withLock { $0[String(pair[0])] = value }
        }
        return Page(reply: reply)
    }

    /// The page in German.
    func inGerman(_ page: Page) async throws -> Page {
        let switched = try await submit(page, to: try #require(page.languagePath), [("ui_locales", "de")])
        let shown = if let location = switched.location { try await get(location) } else { switched }
        #expect(page.language == "en" && shown.status == 200 && shown.language == "de", "\(shown.reply)")
        return shown
    }

    /// Sends the form of a page with these fields besides the sealed request.
    func submit(_ page: Page, to path: String, _ fields: [(String, String)] = []) async throws -> Page {
        try await post(path, [("request", try #require(page.request, "\(page.reply)"))] + fields)
    }
}

/// What a browser got.
struct Page {
    let reply: Reply

    var status: Int { reply.status }
    var html: String { String(decoding: reply.body, as: UTF8.self) }
    var location: String? { reply.headers["location"] }

    /// The heading.
    var heading: String? {
        html.firstMatch(of: #/<h1[^>]*>(.*?)<\/h1>/#.dotMatchesNewlines()).map {
            String($0.output.1).replacing(#/<\/?bdi>/#, with: "")
        }
    }

    /// The sealed request that every form carries.
    var request: String? {
        html.firstMatch(of: #/name="request" value="([^"]*)"/#).map { String($0.output.1) }
    }

    /// Where the button posts to that changes the language.
    var languagePath: String? {
        html.firstMatch(of: #/formaction="([^"]*)" name="ui_locales"/#).map { String($0.output.1) }
    }

    /// The language that it is in.
    var language: String? { html.firstMatch(of: #/<html lang="([^"]*)"/#).map { String($0.output.1) } }

    /// The digits that the page shows.
    var number: String? {
        html.firstMatch(of: #/aria-label="([0-9 ,]+)"/#).map { String($0.output.1.filter(\.isNumber)) }
    }

    /// Where the page goes on by itself.
    var onward: String? {
        html.firstMatch(of: #/http-equiv="refresh" content="0;url=([^"]*)"/#)
            .map { String($0.output.1.replacing("&amp;", with: "&")) }
    }

    /// The parameters of the address that the browser goes to, by a redirect or by the page.
    var result: [String: String] {
        let items = (location ?? onward).flatMap { URLComponents(string: $0)?.queryItems } ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }
}

/// A shop that signs people in by the provider, a customer with a phone, and a browser.
struct SignInPageScene: Sendable {
    static let redirectURI = "http://127.0.0.1:9/callback"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    let scene: Scene
    let browser: TestBrowser
    /// The shop's id and secret.
    let credential: (id: String, secret: String)

    var server: TestServer { scene.server }

    static func with(
        _ settings: JSONObject = ["asked_browsers": "all"],
        _ body: @escaping @Sendable (SignInPageScene) async throws -> Void
    ) async throws {
        try await Scene.with { scene in
            let made = SignInPageScene(
                scene: scene, browser: TestBrowser(scene.server), credential: scene.shop.credential)
            try await made.set(settings)
            let claim: JSONValue = ["email": "customer-1@example.com"]
            let claimed = try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", claim)
            #expect(claimed.status == 200, "\(claimed)")
            try await body(made)
        }
    }

    func set(_ settings: JSONObject) async throws {
        var body: JSONObject = ["profile": "web", "redirect_uris": [.string(Self.redirectURI)]]
        for member in settings.members { body[member.name] = member.value }
        let reply = try await scene.administrator.call(
            .PUT, "/v1/admin/clients/\(credential.id)/openid", .object(body))
        #expect(reply.status == 200, "\(reply)")
    }

    /// The path of an authorization request.
    ///
    /// - Parameter changes: parameters in the place of the usual ones; nil for none of this name.
    func request(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        var parameters: [(String, String?)] = [
            ("client_id", credential.id), ("redirect_uri", Self.redirectURI), ("response_type", "code"),
            ("scope", "openid"), ("state", "s-1"), ("nonce", "n-1"), ("code_challenge", Self.challenge),
            ("code_challenge_method", "S256"),
        ]
        for (name, value) in changes {
            if let place = parameters.firstIndex(where: { $0.0 == name }) {
                parameters[place].1 = value
            } else {
                parameters.append((name, value))
            }
        }
        let query = parameters.compactMap { name, value in value.map { "\(name)=\(FormText.encoded($0))" } }
        return "/oauth2/authorize?\(query.joined(separator: "&"))"
    }

    /// From the client's request to the page with the number.
    func numberPage(
        _ name: String = "customer-1", _ changes: KeyValuePairs<String, String?> = [:], in other: TestBrowser? = nil
    ) async throws -> (path: String, page: Page) {
        let browser = other ?? browser
        let first = try await browser.get(request(changes))
        let second = try await browser.submit(first, to: "/signin/choose", [("identifier", "\(name)@example.com")])
        let asked = try await browser.submit(second, to: "/signin/ask", [("way", "device")])
        #expect(asked.status == 303, "\(asked.reply)")
        let path = try #require(asked.location)
        return (path, try await browser.get(path))
    }

    /// The phone approves the only thing that it is asked, or the only new one.
    func approve(_ page: Page, besides earlier: [String] = []) async throws {
        let reply = try await scene.approve((try await pending(besides: earlier), try #require(page.number)))
        #expect(reply.status == 200, "\(reply)")
    }

    /// The id of the only thing that the phone is asked, or of the only new one, as soon as the outbox has put it there.
    func pending(besides earlier: [String] = []) async throws -> String {
        for _ in 0..<200 {
            if let id = try await allPending().first(where: { !earlier.contains($0) }) { return id }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw NothingAsked()
    }

    /// The ids of all that the phone is asked now.
    func allPending() async throws -> [String] {
        let pending = try await scene.phone.send(.GET, "/v1/enrollments/self/challenges").success()
        return (pending["challenges"]?.array ?? []).compactMap { $0["id"]?.string }
    }

    struct NothingAsked: Error {}

    /// The page that leads the browser back to the client.
    func signIn(_ changes: KeyValuePairs<String, String?> = [:]) async throws -> Page {
        // The phone may be asked about a device that waits.
        let earlier = try await allPending()
        let (path, page) = try await numberPage("customer-1", changes)
        try await approve(page, besides: earlier)
        return try await browser.get("\(path)/done")
    }

    /// The page that leads the browser back to the client, after a code to an address that has got no other one.
    func signInByMail(
        _ name: String, _ changes: KeyValuePairs<String, String?> = [:], in other: TestBrowser? = nil
    ) async throws -> Page {
        let browser = other ?? TestBrowser(server)
        let first = try await browser.get(request(changes))
        let second = try await browser.submit(first, to: "/signin/choose", [("identifier", name)])
        let asked = try await browser.submit(second, to: "/signin/ask", [("way", "email")])
        let path = try #require(asked.location)
        let page = try await browser.get(path)
        for _ in 0..<200 {
            let mails = try await server.send(.GET, "/dev/outbox").success()["messages"]?.array ?? []
            if let text = mails.first(where: { "\($0)".contains(name) })?["text"]?.string,
                let code = text.firstMatch(of: #/[0-9]{6}/#)
            {
                _ = try await browser.submit(page, to: "\(path)/enter", [("code", String(code.output))])
                return try await browser.get("\(path)/done")
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw NothingAsked()
    }

    func token(
        _ fields: [(String, String)], basic: (String, String)? = nil, at path: String = "/oauth2/token",
        accept: String? = nil, prefer: String? = nil
    ) async throws -> Reply {
        let form = FormText.encoded(fields)
        var headers = [("Content-Type", "application/x-www-form-urlencoded")]
        if let accept { headers.append(("Accept", accept)) }
        if let prefer { headers.append(("Prefer", prefer)) }
        if let basic {
            headers.append(("Authorization", "Basic \(Base64.encode(Array("\(basic.0):\(basic.1)".utf8)))"))
        }
        return try await server.send(
            .POST, path, headers: headers, body: Array(form.utf8), isContract: false)
    }

    func redeem(_ code: String, basic: (String, String)? = nil) async throws -> Reply {
        try await token(
            [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Self.redirectURI),
                ("code_verifier", Self.verifier),
            ], basic: basic ?? credential)
    }

    func userinfo(_ token: String, _ method: HTTPMethod = .GET) async throws -> Reply {
        try await server.send(
            method, "/oauth2/userinfo", headers: [("Authorization", "Bearer \(token)")], isContract: false)
    }
}

extension Caller {
    /// The id and the secret of a client.
    var credential: (id: String, secret: String) {
        let pair = String(decoding: Base64.decode(authorization.dropFirst(6)) ?? [], as: UTF8.self)
            .split(separator: ":").map(String.init)
        return (pair[0], pair[1])
    }
}
