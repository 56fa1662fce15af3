import CountersignStorage
import CountersignWire
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: OpenID Connect Back-Channel Logout 1.0 §2.2, §2.4, §2.5 and §4.
@Suite("Clients are told that a session has ended")
struct TellLogoutTests {
    /// A session in which the third party and then the shop have signed the customer in, and another one at the shop.
    private func twoSessions(
        _ engine: Engine = .sqlite
    ) async throws -> (scene: AccountScene, secret: Secret<String>, session: SessionID) {
        let scene = try await AccountScene(engine)
        for client in [scene.shop.shop, scene.third] { try await scene.shop.listen(client.id) }
        _ = try await scene.byMail()
        let signedIn = try await scene.shop.signedInByMail("customer-1", at: scene.third)
        guard case .finished(let next) = try await scene.shop.goOn(signedIn.finished, at: scene.shop.shop),
            case .redeemed(let given) = try await scene.shop.redeem(next.code)
        else { throw World.Broken("two clients") }
        #expect(try await scene.shop.names().count == 3)
        return (scene, try #require(signedIn.finished.session).secret, try #require(given.family.session))
    }

    /// The tokens of a sign-in at the shop that the phone approves.
    private func byTap(_ scene: AccountScene) async throws -> TokenFamily {
        let finished = try await scene.shop.signedIn(with: scene.shop.device, as: "customer-1", at: scene.shop.shop)
        guard case .redeemed(let given) = try await scene.shop.redeem(finished.code) else { throw World.Broken("tap") }
        return given.family
    }

    private func name(_ family: TokenFamily) throws -> SessionName {
        SessionName(client: family.client, sid: try #require(family.sid))
    }

    @Test("Each client that has an ID token of the session, by its own name for it, once", arguments: Engine.allCases)
    func each(_ engine: Engine) async throws {
        let (scene, secret, session) = try await twoSessions(engine)
        let names = try await scene.shop.names(of: session)
        #expect(Set(names.map(\.client)) == [scene.shop.shop.id, scene.third.id])
        #expect(Set(names.map(\.sid)).count == 2)
        #expect(try await scene.shop.told() == [])
        for _ in 0..<2 {
            try await SignOut.signOut(secret, .session, ports: scene.world.ports)
            #expect(try await scene.shop.told() == names)
        }
        #expect(try await scene.shop.names(of: session) == [])
        #expect(try await scene.shop.names().count == 1)
    }

    @Test("Of two ends at once, and of as many as come, one tells", arguments: 0..<3)
    func endsAtOnce(_ round: Int) async throws {
        let (scene, secret, session) = try await twoSessions(.chosen)
        let names = try await scene.shop.names(of: session)
        let ports = scene.world.ports
        _ = try await atOnce(4) { number in
            try await SignOut.signOut(secret, number % 2 == 0 ? .session : .everything, ports: ports)
        }
        #expect(try await scene.shop.told() == names)
    }

    @Test("A code that is redeemed while its session ends: told what was given, or nothing is given", arguments: 0..<5)
    func endsMeanwhile(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen)
        try await scene.listen(scene.shop.id)
        let finished = try await scene.signedIn()
        let secret = try #require(finished.session).secret
        async let redeemed = scene.redeem(finished.code)
        async let ended: Void = SignOut.signOut(secret, .session, ports: scene.world.ports)
        let (outcome, _) = try await (redeemed, ended)
        let told = try await scene.told()
        guard case .redeemed(let given) = outcome else {
            #expect(outcome == .invalid && told == [])
            return
        }
        #expect(try told == [name(given.family)])
    }

    @Test("On the account page: the session that is ended, and all others, also one that has ended by itself")
    func accountPage() async throws {
        let (scene, secret, session) = try await twoSessions()
        let own = try await scene.shop.names(of: session)
        let first = try await byTap(scene)
        let second = try await byTap(scene)
        let ended = try #require(first.session)
        #expect(try await scene.end(.session(ended), by: secret) == .done(nil))
        #expect(try await scene.shop.told() == [name(first)])
        // The session is over by itself, and the client's own may not be.
        scene.world.time.advance(.hours(13))
        let later = try await scene.byMail()
        let now = try await scene.shop.names().filter { !own.contains($0) && $0.sid != second.sid }
        #expect(now.count == 2, "the first by mail, and the one that asks")
        #expect(try await scene.end(.otherSessions, by: later) == .done(nil))
        let told = try await scene.shop.told()
        let known = own + [try name(first), try name(second)]
        #expect(Set(told).isSuperset(of: known) && told.count == 5, "\(told)")
        #expect(try await scene.shop.names().count == 1)
    }

    @Test("Whoever signs out after the session has ended by itself has its clients told, if the client names it")
    func signedOutLate() async throws {
        let (scene, secret, session) = try await twoSessions()
        let names = try await scene.shop.names(of: session)
        let own = try #require(names.first { $0.client == scene.shop.shop.id })
        scene.world.time.advance(.hours(13))
        let ports = scene.world.ports
        for (sid, told) in [("x\(own.sid)", []), (own.sid, names), (own.sid, names)] as [(String, [SessionName])] {
            // Of the two that name it rightly, the first one ends it.
            let isOpen = try await SignOut.isSignedIn(secret, ports: ports)
            let isEnd = try await SignOut.signOut(secret, named: sid, by: own.client, ports: ports)
            #expect(isEnd == (isOpen && sid == own.sid))
            #expect(try await scene.shop.told() == told)
        }
        #expect(try await !SignOut.isSignedIn(secret, ports: ports))
    }

    @Test(
        "Where a session was not used for long, what outlives it ends with all of it, and its client is told",
        arguments: ["sign-out", "the session", "other sessions"])
    func endedLate(_ way: String) async throws {
        let scene = try await AccountScene()
        try await scene.shop.listen(scene.shop.shop.id)
        let secret = try await scene.byTap()
        var wanted = try scene.shop.wanted()
        wanted.scopes.append(TokenFamily.offlineAccess)
        let ports = scene.world.ports
        guard
            case .finished(let finished) = try await FinishSignIn.goOn(
                wanted, in: secret, browser: scene.shop.browser, ports: ports),
            case .redeemed(let given) = try await scene.shop.redeem(finished.code)
        else { throw World.Broken("offline") }
        scene.world.time.advance(.hours(13))
        let tokens = try await SignTokens.sign(given, ports: ports)
        let latest = try await scene.shop.refreshed(tokens.refresh)
        switch way {
        case "sign-out": try await SignOut.signOut(secret, .everything, ports: ports)
        case "the session":
            let session = try #require(given.family.session)
            #expect(try await scene.end(.session(session), by: try await scene.byMail()) == .done(nil))
        default: #expect(try await scene.end(.otherSessions, by: try await scene.byMail()) == .done(nil))
        }
        #expect(try await scene.shop.told() == [name(given.family)])
        #expect(try await scene.shop.refresh(latest.refresh) == .invalid)
    }

    /// Suspends the phone, or removes it.
    private func end(_ isSuspended: Bool, _ scene: AccountScene) async throws {
        if isSuspended { try await scene.shop.suspend(true) } else { try await scene.shop.end(.device) }
    }

    @Test(
        "The removal or suspension of a device: its sessions, over or not, and no other, once",
        arguments: [false, true])
    func device(isSuspended: Bool) async throws {
        let (scene, _, _) = try await twoSessions()
        let first = try await byTap(scene)
        scene.world.time.advance(.hours(13))
        let second = try await byTap(scene)
        try await end(isSuspended, scene)
        let told = try await scene.shop.told()
        #expect(try Set(told) == [name(first), name(second)])
        #expect(try await scene.shop.names().count == 3)
        guard isSuspended else { return }
        // Nobody is told once more.
        try await scene.shop.suspend(false)
        try await scene.shop.end(.device)
        #expect(try await scene.shop.told() == told)
    }

    @Test("A session that ends by itself tells nothing, and its names are gone with it")
    func expired() async throws {
        let (scene, _, _) = try await twoSessions()
        scene.world.time.advance(.days(31))
        let now = scene.world.time.now
        _ = try await scene.world.store.commit { try $0.retention.sweep(now: now, limit: 100) }
        #expect(try await scene.shop.told() == [])
        #expect(try await scene.shop.names() == [])
    }

    @Test("The removal of an address: the sessions that codes to it opened")
    func address() async throws {
        let (scene, _, _) = try await twoSessions()
        let tapped = try await byTap(scene)
        let before = try await scene.shop.names().filter { $0.sid != tapped.sid }
        let email = PersonalAddress.email(try SignInScene.email("customer-1"))
        let isRemoved = try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            try work.remove(email, of: scene.user)
        }
        #expect(isRemoved)
        let told = Set(try await scene.shop.told())
        #expect(told == Set(before))
    }

    @Test("A new authentication of the same person renews the session and tells nothing; another person's ends it")
    func replaced() async throws {
        let account = try await AccountScene()
        let scene = account.shop
        try await scene.listen(scene.shop.id)
        let first = try await scene.signedIn()
        guard case .redeemed(let given) = try await scene.redeem(first.code) else { throw World.Broken("redeem") }
        func signIn(_ name: String, former: Secret<String>) async throws -> Secret<String> {
            let asked = try await scene.askedByMail(name, at: scene.shop)
            #expect(try await scene.enter(try #require(try await scene.sent(for: asked)), for: asked) == .authenticated)
            guard case .finished(let finished) = try await scene.finish(asked, former: former) else {
                throw World.Broken("finish")
            }
            return try #require(finished.session).secret
        }
        var renewed = try await signIn("customer-1", former: try #require(first.session).secret)
        #expect(try await scene.told() == [])
        // The same after the session was not used for long.
        scene.world.time.advance(.hours(13))
        renewed = try await signIn("customer-1", former: renewed)
        #expect(try await scene.told() == [])
        #expect(try await scene.names().filter { $0 == (try name(given.family)) }.count == 1)
        scene.world.time.advance(.hours(13))
        _ = try await signIn("customer-2", former: renewed)
        #expect(try await scene.told() == [name(given.family)])
    }

    @Test(
        "The removal or suspension of a device whose session something else has renewed: who got tokens by it alone",
        arguments: [false, true])
    func renewedSince(isSuspended: Bool) async throws {
        let scene = try await AccountScene()
        for client in [scene.shop.shop, scene.third] { try await scene.shop.listen(client.id) }
        // The address is proved, so that it means the same person everywhere.
        _ = try await scene.byMail()
        let finished = try await scene.shop.signedIn(with: scene.shop.device, as: "customer-1", at: scene.shop.shop)
        guard case .redeemed(let given) = try await scene.shop.redeem(finished.code) else { throw World.Broken("tap") }
        let asked = try await scene.shop.askedByMail("customer-1", at: scene.third)
        let code = try #require(try await scene.shop.sent(for: asked))
        #expect(try await scene.shop.enter(code, for: asked) == .authenticated)
        let former = try #require(finished.session).secret
        guard case .finished(let next) = try await scene.shop.finishAllowing(asked, former: former),
            case .redeemed(let other) = try await scene.shop.redeem(next.code, by: scene.third.id)
        else { throw World.Broken("code") }
        #expect(other.family.session == given.family.session)
        try await end(isSuspended, scene)
        #expect(try await scene.shop.told() == [name(given.family)])
    }

    @Test("The end of a client's access tells that client, whose name for the session is then another")
    func access() async throws {
        let (scene, secret, session) = try await twoSessions()
        let (shop, third) = (scene.shop, scene.third)
        let old = try await shop.names(of: session).filter { $0.client == third.id }
        for _ in 0..<2 {
            #expect(try await scene.end(.client(third.id), by: secret) == .done(third.name))
        }
        #expect(try await shop.told() == old)
        guard case .finished(let next) = try await shop.goOn(in: secret, at: third),
            case .redeemed(let given) = try await shop.redeem(next.code, by: third.id)
        else { throw World.Broken("again") }
        #expect(given.family.session == session && given.family.sid != old.first?.sid)
        try await SignOut.signOut(secret, .session, ports: scene.world.ports)
        #expect(try await shop.told().contains(name(given.family)))
    }

    @Test("A client that lets go of a user is told of all sessions, and so is the last, with which the user is deleted")
    func unlinked() async throws {
        let (scene, _, _) = try await twoSessions()
        let names = try await scene.shop.names()
        let ports = scene.world.ports
        let shop = scene.shop.shop
        #expect(try await UnlinkUser.unlink(.id(scene.user), from: shop.caller, ports: ports) == .unlinked)
        #expect(try await scene.shop.told() == names.filter { $0.client == shop.id })
        #expect(try await UnlinkUser.unlink(.id(scene.user), from: scene.third.caller, ports: ports) == .unlinked)
        let told = Set(try await scene.shop.told())
        #expect(told == Set(names))
    }

    @Test("Who listens nowhere is told nothing, nor who got no ID token, nor who has gone")
    func silent() async throws {
        for kind in ["nowhere", "no ID token", "removed", "deleted"] {
            let scene = try await SignInScene()
            try await scene.listen(scene.shop.id, at: kind == "nowhere" ? nil : SignInScene.logoutURI)
            let secret = try #require(try await scene.signedIn().session).secret
            var wanted = try scene.wanted()
            if kind == "no ID token" { wanted.scopes = ["email", TokenFamily.offlineAccess] }
            guard
                case .finished(let next) = try await FinishSignIn.goOn(
                    wanted, in: secret, browser: scene.browser, ports: scene.world.ports),
                case .redeemed(let given) = try await scene.redeem(next.code)
            else { throw World.Broken(kind) }
            let kept = try #require(try await scene.world.store.read { try $0.families.find(given.family.id) })
            #expect(kept.sid == given.family.sid && kept.session == given.family.session && kept.session != nil)
            #expect((kept.sid == nil) == (kind == "no ID token"))
            if kind == "removed" { try await scene.end(.settings) }
            if kind == "deleted" {
                _ = try await DeleteClient.delete(scene.shop.id, by: .system, ports: scene.world.ports)
            }
            try await SignOut.signOut(secret, .session, ports: scene.world.ports)
            #expect(try await scene.told() == [], "\(kind)")
        }
    }

    @Test(
        "A logout token is signed like an ID token, good for two minutes, different each time, and never has a nonce",
        arguments: IDTokenAlgorithm.allCases)
    func token(_ algorithm: IDTokenAlgorithm) async throws {
        let scene = try await SignInScene()
        try await scene.listen(scene.shop.id, signedBy: algorithm)
        let signedBy = try #require(JWSAlgorithm(rawValue: algorithm.rawValue))
        let keys = try scene.world.ports.keys.current().tokens.published
        var names: Set<String?> = []
        for _ in 0..<2 {
            guard case .posted(let token, let uri) = try await scene.logoutToken() else { throw World.Broken("token") }
            #expect("\(uri)" == SignInScene.logoutURI)
            let verified = try JWS.verify(
                token.reveal(), algorithms: [signedBy], type: .exactly("logout+jwt"), keys: keys)
            let claims = try JSONValue(parsing: verified.payload)
            let now = scene.world.time.now.seconds
            #expect(claims["iss"] == .string(World.issuer) && claims["aud"] == .string("\(scene.shop.id)"))
            #expect(claims["sub"] == .string("\(scene.user)") && claims["sid"] == "sid-1")
            #expect(claims["iat"] == .integer(now) && claims["exp"] == .integer(now + 120))
            let events: JSONValue = ["http://schemas.openid.net/event/backchannel-logout": [:]]
            #expect(claims["events"] == events)
            #expect(claims.object?.members.count == 8 && claims["nonce"] == nil)
            names.insert(claims["jti"]?.string)
            scene.world.time.advance(seconds: 3600)
        }
        #expect(names.count == 2 && !names.contains(nil))
    }

    @Test("What is sent goes by the settings of then: a disabled client is told later, one that has gone never")
    func later() async throws {
        let scene = try await SignInScene()
        try await scene.listen(scene.shop.id)
        let ports = scene.world.ports
        _ = try await DisableClient.disable(scene.shop.id, by: .system, ports: ports)
        guard case .disabled = try await scene.logoutToken() else { throw World.Broken("disabled") }
        _ = try await EnableClient.enable(scene.shop.id, by: .system, ports: ports)
        try await scene.listen(scene.shop.id, at: "https://shop.example.com/other")
        guard case .posted(_, let uri) = try await scene.logoutToken() else { throw World.Broken("moved") }
        #expect("\(uri)" == "https://shop.example.com/other")
        try await scene.listen(scene.shop.id, at: nil)
        guard case .unwanted = try await scene.logoutToken() else { throw World.Broken("nowhere") }
        try await scene.listen(scene.shop.id)
        try await scene.end(.settings)
        guard case .unwanted = try await scene.logoutToken() else { throw World.Broken("removed") }
    }
}

extension SignInScene {
    static let logoutURI = "https://shop.example.com/logout"

    /// Says where a client is told of the end of sessions; nil for nowhere.
    func listen(
        _ client: ClientID, at uri: String? = logoutURI, signedBy algorithm: IDTokenAlgorithm? = nil
    ) async throws {
        let party = try #require(try await world.store.read { try $0.relyingParties.find(client) })
        let listening = RelyingParty(
            client: client, profile: party.profile, redirectURIs: party.redirectURIs,
            askedBrowsers: party.askedBrowsers, ways: party.ways, registration: party.registration,
            logoutReceiver: uri.map { LogoutReceiver(uri: CallbackURI(stored: $0)) }, idTokenAlgorithm: algorithm)
        #expect(try await SetRelyingParty.set(listening, by: .system, ports: world.ports) == .set(listening))
        try await world.store.refreshKeys()
    }

    /// What waits to be told of ends, in the order of clients and names.
    func told() async throws -> [SessionName] {
        let now = world.time.now
        var names: [SessionName] = []
        for leased in try await world.store.lease(.logout, limit: 100, now: now, until: now) {
            guard case .logout(let uri, let client, let sid, let whose) = leased.message.content else {
                throw World.Broken("logout")
            }
            #expect("\(uri)" == Self.logoutURI && leased.message.lane.host == "shop.example.com:443")
            #expect(whose == user)
            names.append(SessionName(client: client, sid: sid))
        }
        return names.sorted { ("\($0.client)", $0.sid) < ("\($1.client)", $1.sid) }
    }

    /// The names that sessions have for clients, of one session or of all.
    func names(of session: SessionID? = nil) async throws -> [SessionName] {
        var names: [SessionName] = []
        for row in try await world.sql("SELECT client_id, sid, session_id FROM session_clients ORDER BY client_id, sid")
        {
            let (client, sid, place) = (try row.text(0), try row.text(1), try row.text(2))
            guard session == nil || session == SessionID(place) else { continue }
            names.append(SessionName(client: try #require(ClientID(client)), sid: sid))
        }
        return names
    }

    /// What is told the shop of the end of a session of the customer's.
    func logoutToken() async throws -> TellLogout.Outcome {
        try await TellLogout.token(of: "sid-1", user, for: shop.id, ports: world.ports)
    }

    /// Goes on at a client in a browser's session; the person allows what it wants.
    func goOn(in secret: Secret<String>, at client: Client) async throws -> FinishSignIn.Outcome {
        try await FinishSignIn.goOn(
            try wanted(nil, at: client), in: secret, browser: browser, answer: .allows(user), ports: world.ports)
    }
}
