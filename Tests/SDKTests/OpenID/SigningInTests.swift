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
    private struct Visitor: BrowserSession {
        private let scene: SDKScene
        private let isWilling: Bool
        private let visitor: PageVisitor

        init(_ scene: SDKScene, isWilling: Bool = true) {
            (self.scene, self.isWilling) = (scene, isWilling)
            visitor = PageVisitor(scene.server)
        }

        func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL {
            guard !isWilling else {
                return try await visitor.signIn(url) { number in
                    _ = try await asked().open().approve(with: .confirmation, number: number)
                }
            }
            let place = try await visitor.ask(url).place
            // A no on the phone may be another's doing: it is the person at the browser who gives up.
            _ = try await asked().open().deny()
            return try await visitor.cancel(at: place)
        }

        /// What the phone is asked, as soon as the server has put it there.
        private func asked() async throws -> PendingChallenge {
            while true {
                if let pending = try await scene.authenticator.pendingChallenges().first { return pending }
                try await Task.sleep(for: .milliseconds(25))
            }
        }
    }

    private func id(of client: Caller) throws -> String {
        let bytes = try #require(Base64.decode(client.authorization.dropFirst(6)))
        return String(String(decoding: bytes, as: UTF8.self).prefix { $0 != ":" })
    }

    /// The shop's app, registered as one that keeps no secret.
    private func app(
        _ scene: SDKScene, scopes: [String] = ["openid", "offline_access"], of client: Caller? = nil,
        registration: String = "closed", apis: [OpenIDRegistration.API] = [], may resources: [String] = []
    ) async throws -> OpenIDClient {
        let id = try id(of: client ?? scene.shop)
        let settings: JSONValue = [
            "profile": "native", "redirect_uris": ["http://127.0.0.1/callback"], "asked_browsers": "all",
            "registration": .string(registration), "resources": .array(resources.map(JSONValue.string)),
        ]
        let reply = try await scene.server.administrator.call(.PUT, "/v1/admin/clients/\(id)/openid", settings)
        #expect(reply.status == 200, "\(reply)")
        let email: JSONValue = ["email": "customer-1@example.com"]
        #expect(try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", email).status == 200)
        return try OpenIDClient(
            OpenIDRegistration(
                issuer: try #require(URL(string: "\(scene.server.issuer)")), clientID: id,
                redirectURI: try #require(URL(string: "http://127.0.0.1:50999/callback")), scopes: scopes,
                apis: apis),
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
            // Whoever has copied it has not its key.
            let copied = try await scene.server.send(
                .GET, "/oauth2/userinfo", headers: [("Authorization", "Bearer \(first)")], isContract: false)
            #expect(copied.status == 401, "\(copied)")
            scene.server.clock.advance(seconds: 590)
            async let one = app.accessToken().reveal()
            async let two = app.accessToken().reveal()
            let tokens = try await [one, two]
            #expect(tokens[0] == tokens[1] && tokens[0] != first)
            // Each of the two was told a nonce first.
            #expect(scene.transport.requests(to: "/oauth2/token").count == 4)
            #expect(try await app.userInfo().subject == scene.user)
            guard case .complete = try await app.signOut() else { throw CancellationError() }
            #expect(try await app.signedIn() == nil)
        }
    }

    // Spec: RFC 8707 §2.1, §2.2.
    @Test("An app gets tokens for the operator's API, beside those for the issuer, as long as it may have them")
    func api() async throws {
        try await SDKScene.with { scene in
            let orders = "https://orders.example/"
            let api = try await scene.server.makeClient("API")
            let settings: JSONValue = [
                "profile": "web", "redirect_uris": [],
                "resource": ["identifier": .string(orders), "scopes": ["read", "write"]],
            ]
            let path = "/v1/admin/clients/\(try id(of: api))/openid"
            #expect(try await scene.server.administrator.call(.PUT, path, settings).status == 200)
            let app = try await app(scene, apis: [OpenIDRegistration.API(orders, scopes: ["read"])], may: [orders])
            let signedIn = try await app.authorize(in: Visitor(scene))
            #expect(signedIn.scopes == ["openid", "offline_access"])
            let token = try await app.accessToken(for: orders).reveal()
            #expect(try await app.accessToken(for: orders).reveal() == token)
            #expect(try await app.userInfo().subject == scene.user)
            #expect(try await app.accessToken().reveal() != token)
            func told(_ token: String) async throws -> JSONValue {
                try await scene.server.send(
                    .POST, "/oauth2/introspect",
                    headers: [
                        ("Authorization", api.authorization), ("Content-Type", "application/x-www-form-urlencoded"),
                    ], body: Array("token=\(token)".utf8), isContract: false
                ).json
            }
            let good = try await told(token)
            #expect(good["active"] == true && good["aud"] == .string(orders) && good["scope"] == "read", "\(good)")
            // The device by itself signs in with the same registration, and brings no tokens for APIs.
            _ = try await app.signIn(by: scene.enrollment)
            #expect(await code { _ = try await app.accessToken(for: orders) } == "not_signed_in")
            // An operator who takes the API away ends it; the rest goes on.
            _ = try await app.authorize(in: Visitor(scene))
            let last = try await app.accessToken(for: orders).reveal()
            #expect(try await told(last)["active"] == true)
            let again = try await self.app(scene, apis: [OpenIDRegistration.API(orders, scopes: ["read"])])
            #expect(await code { _ = try await again.accessToken(for: orders) } == "sign_in_refused")
            #expect(try await again.userInfo().subject == scene.user)
            #expect(try await told(last) == ["active": false])
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

    @Test("Whoever signs in enrolls another device by that, once; on the first one the number is typed")
    func enrolls() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene, scopes: ["openid", "enroll"])
            let signedIn = try await app.authorize(in: Visitor(scene))
            #expect(signedIn.scopes == ["openid", "enroll"])
            let token = try await app.accessToken()
            let tablet = try await scene.relaunched(vault: MemoryVault())
            scene.transport.loseReplies(1, from: "/v1/enrollment-tickets")
            let made = try await tablet.enroll(with: .accessToken(token))
            #expect("\(made.user)" == scene.user)
            let approval = try #require(made.approval)
            let number = try #require(approval.number)
            let pending = try #require(try await scene.authenticator.pendingChallenges().first)
            _ = try await pending.open().approve(with: .confirmation, number: number)
            #expect(try await made.refresh() == nil)
            #expect(await code { _ = try await tablet.enroll(with: .accessToken(token)) } == "ticket_used")
            _ = try await app.signOut()
            #expect(await code { _ = try await tablet.enroll(with: .accessToken(token)) } == "sign_in_ended")
        }
    }

    @Test("A first PIN is set by a sign-in where no ticket is at hand")
    func method() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene, scopes: ["openid", "enroll"])
            scene.server.clock.advance(seconds: 3600)
            #expect(await code { try await scene.enrollment.setPIN(PIN("83517")) } == "authority_needed")
            _ = try await app.authorize(in: Visitor(scene))
            try await scene.enrollment.setPIN(PIN("83517"), authority: .accessToken(try await app.accessToken()))
            let reply = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
            #expect(reply["enrollments"]?.array?.first?["waiting"]?["pin"] != nil, "it waits, as with a ticket")
        }
    }

    @Test("The device signs its user in, and nobody is asked")
    func byItself() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            let signedIn = try await app.signIn(by: scene.enrollment)
            #expect(signedIn.identity.subject == scene.user && !signedIn.isLasting && signedIn.scopes == ["openid"])
            #expect(signedIn.identity.amr == ["swk"])
            #expect(try await app.userInfo().subject == scene.user)
            #expect(try await scene.authenticator.pendingChallenges().isEmpty)
            let other = try OpenIDClient(
                OpenIDRegistration(
                    issuer: try #require(URL(string: "https://other.example.com")), clientID: "x",
                    redirectURI: try #require(URL(string: "http://127.0.0.1/callback"))), vault: MemoryVault())
            #expect(await code { _ = try await other.signIn(by: scene.enrollment) } == "configuration_invalid")
            let stranger = try await self.app(scene, of: try await scene.server.makeClient("Other"))
            #expect(await code { _ = try await stranger.signIn(by: scene.enrollment) } == "sign_in_refused")
            scene.server.clock.advance(seconds: 600)
            #expect(await code { _ = try await app.accessToken() } == "not_signed_in")
            #expect(try await app.signIn(by: scene.enrollment).identity.subject == scene.user)
            let reply = try await scene.server.administrator.call(
                .POST, "/v1/admin/enrollments/\(scene.enrollment.id)/suspend")
            #expect(reply.status == 204, "\(reply)")
            #expect(await code { _ = try await app.signIn(by: scene.enrollment) } == "enrollment_suspended")
            try await scene.removeAtServer()
            #expect(await code { _ = try await app.signIn(by: scene.enrollment) } == "device_deregistered")
        }
    }

    @Test("A device signs its user in anew while that sign-in stands, and brings nobody back after a sign-out")
    func anew() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            let anew: @Sendable () async -> String = {
                await code { _ = try await app.signInAnew(by: scene.enrollment) }
            }
            #expect(await anew() == "not_signed_in")
            _ = try await app.signIn(by: scene.enrollment)
            scene.server.clock.advance(seconds: 600)
            #expect(await anew() == "")
            _ = try await app.accessToken()
            let before = scene.transport.requests(to: "/revoke").count
            scene.transport.happen { request, send in
                let response = try await send(request)
                if request.url.path.hasSuffix("/token"), response.status == 200 { _ = try await app.signOut() }
                return response
            }
            #expect(await anew() == "not_signed_in")
            #expect(try await app.signedIn() == nil)
            #expect(scene.transport.requests(to: "/revoke").count == before + 2, "the new token is taken back as well")
            scene.transport.happen(nil)
            _ = try await app.authorize(in: Visitor(scene))
            #expect(await anew() == "not_signed_in", "such a sign-in is refreshed")
        }
    }

    @Test("A device whose clock is off signs in as soon as the server has told it the time")
    func clock() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            scene.clock.set(aheadBy: 300)
            let relaunched = try await scene.relaunched()
            let enrollment = try #require(await relaunched.enrollments.first)
            #expect(try await app.signIn(by: enrollment).identity.subject == scene.user)
            // For a nonce, by the wrong time, and by the right one.
            #expect(scene.transport.requests(to: "/oauth2/token").count == 3)
        }
    }

    @Test("With the PIN the same call shows two factors; a wrong one counts, and nobody is asked anything else")
    func byPIN() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            #expect(
                await code { _ = try await app.signIn(by: scene.enrollment, with: .pin(PIN("83517"))) }
                    == "method_missing")
            try await scene.enrollment.setPIN(PIN("83517"))
            #expect(
                await code { _ = try await app.signIn(by: scene.enrollment, with: .pin(PIN("11111"))) }
                    == "pin_incorrect")
            #expect(try await scene.authenticator.pendingChallenges().isEmpty)
            let signedIn = try await app.signIn(by: scene.enrollment, with: .pin(PIN("83517")))
            #expect(signedIn.identity.acr == "urn:countersign:acr:device2")
            #expect(signedIn.identity.amr == ["swk", "user", "pin", "mfa"])
            #expect(
                await code { _ = try await app.signIn(by: scene.enrollment, with: .custom("face", data: "x")) }
                    == "configuration_invalid")
        }
    }

    /// Spec: docs/protocol/signing-in.md, With a PIN or a biometric.
    @Test("A server that names another challenge, or a sign-in at another client, gets no signature for it")
    func anotherChallenge() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            let elsewhere = try await self.app(
                scene, of: try await scene.server.makeClient("Other"), registration: "known")
            try await scene.enrollment.setPIN(PIN("83517"))
            let payment = try await scene.ask(["type": "typed"])
            let asked = Mutex<JSONValue?>(nil)
            scene.transport.happen { request, send in
                let response = try await send(request)
                guard request.url.path.hasSuffix("/sign-ins") else { return response }
                let challenge = try JSONValue(parsing: response.body)["challenge"]
                asked.withLock { $0 = challenge }
                throw FaultyTransport.Lost()
            }
            #expect(
                await code { _ = try await elsewhere.signIn(by: scene.enrollment, with: .pin(PIN("83517"))) }
                    == "network")
            let others = [JSONValue.string("\(payment.id)"), try #require(asked.withLock { $0 })]
            for other in others {
                scene.transport.happen { request, send in
                    let response = try await send(request)
                    guard request.url.path.hasSuffix("/sign-ins") else { return response }
                    return TransportResponse(
                        status: response.status, headers: response.headers,
                        body: JSONValue.members(["challenge": other]).encoded)
                }
                await #expect {
                    _ = try await app.signIn(by: scene.enrollment, with: .pin(PIN("83517")))
                } throws: { error in
                    guard case CountersignError.notHandleable(let reason) = error else { return false }
                    return reason == "the server asks for something other than this sign-in"
                }
            }
            scene.transport.happen(nil)
            #expect(scene.transport.bodies(to: "/answer").isEmpty)
            #expect(try await scene.status(of: payment).state == "pending")
            #expect(try await app.signIn(by: scene.enrollment, with: .pin(PIN("83517"))).identity.subject == scene.user)
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
