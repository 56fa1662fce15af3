import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Synchronization
import Testing

@Suite("An app signs its user in at the real server", .timeLimit(.minutes(15)))
struct SigningInTests {
    /// A browser without scripts, whose person signs in with the phone of the scene.
    private final class Visitor: BrowserSession {
        private let scene: SDKScene
        private let isWilling: Bool
        private let cookies = Mutex<[String: String]>([:])

        init(_ scene: SDKScene, isWilling: Bool = true) {
            self.scene = scene
            self.isWilling = isWilling
        }

        func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL {
            let first = try await send(.GET, "\(url.path())?\(url.query() ?? "")")
            let second = try await submit(first, to: "/signin/choose", "identifier=customer-1@example.com")
            let place = try #require(
                try await submit(second, to: "/signin/ask", "way=device").headers["location"], "\(second)")
            let page = Self.text(try await send(.GET, place))
            let number = try #require(page.firstMatch(of: #/aria-label="([0-9 ,]+)"/#)).output.1.filter(\.isNumber)
            let question = try await asked().open()
            let done: Reply
            if isWilling {
                _ = try await question.approve(with: .confirmation, number: String(number))
                done = try await send(.GET, "\(place)/done")
            } else {
                // A no on the phone may be another's doing: it is the person at the browser who gives up.
                _ = try await question.deny()
                done = try await submit(try await send(.GET, place), to: "/signin/cancel", "way=none")
            }
            let onward = Self.text(done).firstMatch(of: #/http-equiv="refresh" content="0;url=([^"]*)"/#)
            let back = try #require(done.headers["location"] ?? onward.map { String($0.output.1) }, "\(done)")
            return try #require(URL(string: back.replacing("&amp;", with: "&")))
        }

        /// What the phone is asked, as soon as the server has put it there.
        private func asked() async throws -> PendingChallenge {
            while true {
                if let pending = try await scene.authenticator.pendingChallenges().first { return pending }
                try await Task.sleep(for: .milliseconds(25))
            }
        }

        private func submit(_ page: Reply, to path: String, _ field: String) async throws -> Reply {
            let sealed = try #require(Self.text(page).firstMatch(of: #/name="request" value="([^"]*)"/#), "\(page)")
            return try await send(.POST, path, form: "request=\(sealed.output.1)&\(field)")
        }

        private func send(_ method: HTTPMethod, _ path: String, form: String? = nil) async throws -> Reply {
            var headers = form == nil ? [] : [("Content-Type", "application/x-www-form-urlencoded")]
            let cookie = cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
            if !cookie.isEmpty { headers.append(("Cookie", cookie)) }
            let reply = try await scene.server.send(
                method, path, headers: headers, body: form.map { Array($0.utf8) }, isContract: false)
            if let set = reply.headers["set-cookie"] {
                let pair = set.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                cookies.withLock { $0[String(pair[0])] = String(pair[1]) }
            }
            return reply
        }

        private static func text(_ reply: Reply) -> String { String(decoding: reply.body, as: UTF8.self) }
    }

    /// The shop's app, registered as one that keeps no secret.
    private func app(_ scene: SDKScene, scopes: [String] = ["openid", "offline_access"]) async throws -> OpenIDClient {
        let pair = String(decoding: Base64.decode(scene.shop.authorization.dropFirst(6)) ?? [], as: UTF8.self)
        let id = String(pair.prefix { $0 != ":" })
        let settings: JSONValue = [
            "profile": "native", "redirect_uris": ["http://127.0.0.1/callback"], "asked_browsers": "all",
        ]
        let reply = try await scene.server.administrator.call(.PUT, "/v1/admin/clients/\(id)/openid", settings)
        #expect(reply.status == 200, "\(reply)")
        let email: JSONValue = ["email": "customer-1@example.com"]
        #expect(try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", email).status == 200)
        return try OpenIDClient(
            OpenIDRegistration(
                issuer: try #require(URL(string: "\(scene.server.issuer)")), clientID: id,
                redirectURI: try #require(URL(string: "http://127.0.0.1:50999/callback")), scopes: scopes),
            vault: scene.vault, transport: scene.transport, clock: scene.clock)
    }

    @Test("A number on the phone signs in; refresh, userinfo and sign-out follow")
    func whole() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            let signedIn = try await app.authorize(in: Visitor(scene), SignInRequest(maxAge: 600))
            #expect(signedIn.identity.subject == scene.user && signedIn.isLasting)
            #expect(signedIn.identity.acr == "urn:countersign:acr:device")
            let first = try await app.accessToken().reveal()
            #expect(try await app.userInfo().subject == scene.user)
            scene.server.clock.advance(seconds: 590)
            async let one = app.accessToken().reveal()
            async let two = app.accessToken().reveal()
            let tokens = try await [one, two]
            #expect(tokens[0] == tokens[1] && tokens[0] != first)
            #expect(scene.transport.requests(to: "/oauth2/token").count == 2)
            #expect(try await app.userInfo().subject == scene.user)
            guard case .complete = try await app.signOut() else { throw CancellationError() }
            #expect(try await app.signedIn() == nil)
        }
    }

    @Test("A reply that was lost is fetched again within the server's grace")
    func lost() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            _ = try await app.authorize(in: Visitor(scene))
            scene.server.clock.advance(seconds: 590)
            scene.transport.loseReplies(1, from: "/oauth2/token")
            _ = try await app.accessToken()
            scene.transport.happen(nil)
            scene.server.clock.advance(seconds: 590)
            _ = try await app.accessToken()
            #expect(try await app.userInfo().subject == scene.user)
        }
    }

    @Test("A refresh after the server has ended the tokens tells so, and the app starts anew")
    func ended() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            _ = try await app.authorize(in: Visitor(scene))
            try await scene.removeAtServer()
            scene.server.clock.advance(seconds: 590)
            #expect(await code { _ = try await app.accessToken() } == "sign_in_ended")
            #expect(try await app.signedIn() == nil)
        }
    }

    @Test("A no on the phone, and giving up in the browser, is one in the app")
    func declined() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            #expect(
                await code { _ = try await app.authorize(in: Visitor(scene, isWilling: false)) } == "sign_in_declined")
            #expect(try await app.signedIn() == nil)
        }
    }

    @Test("A scope that the server does not know is no sign-in's end")
    func briefly() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene, scopes: ["openid", "unheard"])
            let signedIn = try await app.authorize(in: Visitor(scene))
            #expect(!signedIn.isLasting && signedIn.scopes == ["openid"])
        }
    }
}
