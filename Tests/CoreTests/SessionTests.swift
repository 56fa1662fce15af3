import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("The session of a browser, and what was given in it")
struct SessionTests {
    private func goOn(_ session: Secret<String>?, _ scene: SignInScene) async throws -> FinishSignIn.Outcome {
        try await FinishSignIn.goOn(
            try scene.wanted(), in: try #require(session), browser: scene.browser, ports: scene.world.ports)
    }

    private func tokens(_ code: Secret<String>, _ scene: SignInScene) async throws -> SignedTokens {
        guard case .redeemed(let redeemed) = try await scene.redeem(code) else { throw World.Broken("redeem") }
        return try await SignTokens.sign(redeemed, ports: scene.world.ports)
    }

    private func session(of family: TokenFamilyID, _ scene: SignInScene) async throws -> SessionID? {
        try await scene.world.store.read { try $0.families.find(family) }?.session
    }

    // Spec: NIST SP 800-63B-4 §2.1.3, §2.2.3.
    @Test("A session ends unless it is used, and in any case; sooner where it is good for AAL2")
    func times() async throws {
        for strength in Authentication.Strength.allCases {
            let (idle, absolute) = Session.limits(of: strength)
            #expect(idle == (strength < .aal2 ? .hours(12) : .hours(1)), "\(strength)")
            #expect(absolute == (strength < .aal2 ? .days(30) : .hours(24)), "\(strength)")
        }
        let hour: Int64 = 3600
        let unused = try await SignInScene()
        let left = try await unused.signedIn().session?.secret
        unused.world.time.advance(seconds: 12 * hour - 1)
        guard case .finished = try await goOn(left, unused) else { throw World.Broken("idle") }
        unused.world.time.advance(seconds: 12 * hour)
        #expect(try await goOn(left, unused) == .notReady)
        let used = try await SignInScene()
        let kept = try await used.signedIn().session?.secret
        for _ in 0..<(30 * 24 / 11) {
            used.world.time.advance(seconds: 11 * hour)
            guard case .finished = try await goOn(kept, used) else { throw World.Broken("used") }
        }
        used.world.time.advance(seconds: 5 * hour)
        #expect(try await goOn(kept, used) == .notReady)
    }

    // Spec: OWASP ASVS 7.2.4. Tabs do not disturb each other.
    @Test(
        "The same person's next sign-in renews the session under a new value, and what the other tab got stays good",
        arguments: Engine.allCases)
    func renewed(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let first = try await scene.signedIn()
        let former = try #require(first.session).secret
        guard case .redeemed(let redeemed) = try await scene.redeem(first.code),
            case .finished(let pending) = try await goOn(former, scene)
        else { throw World.Broken("session") }
        let tokens = try await SignTokens.sign(redeemed, ports: scene.world.ports)
        scene.world.time.advance(seconds: 30)
        let asked = try await scene.asked()
        try await scene.approve(asked)
        guard case .finished(let second) = try await scene.finish(asked, former: former) else {
            throw World.Broken("finish")
        }
        let opened = try #require(second.session)
        #expect(!opened.secret.isSame(as: former))
        #expect(opened.expiresAt == scene.world.time.now.adding(.days(30)))
        #expect(try await goOn(former, scene) == .notReady)
        guard case .finished = try await goOn(opened.secret, scene) else { throw World.Broken("session") }
        #expect(try await scene.isGood(tokens))
        // The other tab redeems what it got before, in the same session and under the same name.
        guard case .redeemed(let late) = try await scene.redeem(pending.code),
            case .redeemed(let newest) = try await scene.redeem(second.code)
        else { throw World.Broken("redeem") }
        #expect(late.family.authentication.at < newest.family.authentication.at)
        for family in [late.family, newest.family] {
            #expect(family.sid == redeemed.family.sid)
            #expect(try await session(of: family.id, scene) == redeemed.family.session)
        }
        #expect(try await scene.world.count("sessions") == 1)
        #expect(try await scene.world.audit().filter { $0.kind == .sessionEnded }.isEmpty)
    }

    // Spec: docs/reference/limits.md.
    @Test(
        "A person has fifty sessions; for the next one that ends which was used longest ago, and its client is told",
        arguments: Engine.allCases)
    func atMostFifty(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        try await scene.listen(scene.shop.id)
        let (store, user) = (scene.world.store, scene.user)
        func count() async throws -> Int {
            let now = scene.world.time.now
            return try await store.read { try $0.sessions.lasting(of: user, at: now).count }
        }
        let kept = try #require(try await scene.signedIn().session).secret
        let left = try await scene.signedIn()
        guard case .redeemed(let given) = try await scene.redeem(left.code) else { throw World.Broken("redeem") }
        scene.world.time.advance(seconds: 30)
        let now = scene.world.time.now
        for number in 2..<50 {
            let session = Session(
                id: scene.world.newID(), secret: Secret("\(number)"), given.family.authentication, from: nil, at: now)
            try await store.commit { try $0.sessions.insert(session) }
        }
        guard case .finished = try await goOn(kept, scene) else { throw World.Broken("kept") }
        #expect(try await count() == 50)
        #expect(try await scene.told() == [])
        // Whoever signs in where they are signed in has no further one.
        scene.world.time.advance(seconds: 1)
        guard case .finished(let again) = try await scene.finish(try await approved(scene), former: kept) else {
            throw World.Broken("renewed")
        }
        #expect(try await count() == 50)
        #expect(try await scene.told() == [])
        let next = [try await approved(scene), try await approved(scene)]
        let finished = try await atOnce(2) { try await scene.finish(next[$0]) }
        for outcome in finished { guard case .finished = outcome else { throw World.Broken("\(outcome)") } }
        #expect(try await count() == 50)
        #expect(try await scene.told() == [SessionName(client: scene.shop.id, sid: try #require(given.family.sid))])
        #expect(try await goOn(left.session?.secret, scene) == .notReady)
        guard case .finished = try await goOn(again.session?.secret, scene) else { throw World.Broken("again") }
        #expect(try await scene.world.audit().count { $0.kind == .sessionEnded } == 2)
    }

    private func approved(_ scene: SignInScene) async throws -> Authorization {
        let asked = try await scene.asked()
        try await scene.approve(asked)
        return asked
    }

    @Test("A session that was ended is not renewed any more; one that was renewed is ended", arguments: Engine.allCases)
    func endIsFinal(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let secret = try #require(try await scene.signedIn().session).secret
        let (now, store) = (scene.world.time.now, scene.world.store)
        let session = try #require(try await store.read { try $0.sessions.find(SecretHash(of: secret), at: now) })
        func renew(to value: String) async throws -> Bool {
            let renewed = Session(
                id: session.id, secret: Secret(value), session.authentication, from: nil, at: now)
            return try await store.commit { try $0.sessions.renew(renewed) }
        }
        #expect(try await renew(to: "one"))
        try await store.commit { try $0.sessions.end(session.id, at: now) }
        #expect(try await !renew(to: "two"))
        for value in ["one", "two"] {
            #expect(try await store.read { try $0.sessions.lasting(SecretHash(of: Secret(value)), at: now) } == nil)
        }
        #expect(try await goOn(Secret("two"), scene) == .notReady)
    }

    @Test("Of a sign-out and the same person's next sign-in at once, what was ended stays ended", arguments: 0..<5)
    func endedMeanwhile(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen)
        let former = try #require(try await scene.signedIn().session).secret
        let now = scene.world.time.now
        let old = try await scene.world.store.read { try $0.sessions.find(SecretHash(of: former), at: now)?.id }
        let id = try #require(old)
        let asked = try await scene.asked()
        try await scene.approve(asked)
        async let finished = scene.finish(asked, former: former)
        async let ended: Void = SignOut.signOut(former, .session, ports: scene.world.ports)
        let (outcome, _) = try await (finished, ended)
        guard case .finished(let next) = outcome else { throw World.Broken("finish") }
        let isEnded = try await scene.world.audit().contains { $0.kind == .sessionEnded }
        #expect(try await scene.world.store.read { try $0.sessions.lasting(id, at: now) == nil } == isEnded)
        // Who came second by the replaced cookie has ended nothing, and a new session is not the one that was ended.
        guard case .redeemed(let given) = try await scene.redeem(next.code) else {
            #expect(isEnded)
            return
        }
        #expect((given.family.session != id) == isEnded)
    }

    @Test("Of two tabs that finish with one cookie each has its code, and whichever value the browser keeps is good")
    func bothWithOneCookie() async throws {
        let scene = try await SignInScene()
        let former = try #require(try await scene.signedIn().session).secret
        var asked: [Authorization] = []
        for _ in 0..<2 {
            let next = try await scene.asked()
            try await scene.approve(next)
            asked.append(next)
        }
        let node = try await scene.world.reopened()
        try await node.store.refreshKeys()
        guard case .finished(let one) = try await scene.finish(asked[0], former: former),
            case .finished(let two) = try await FinishSignIn.finish(
                asked[1].id, in: scene.browser, former: former, ports: node.ports)
        else { throw World.Broken("finish") }
        for finished in [one, two] {
            guard case .finished = try await goOn(finished.session?.secret, scene),
                case .redeemed = try await scene.redeem(finished.code)
            else { throw World.Broken("session") }
        }
        #expect(try await goOn(former, scene) == .notReady)
        #expect(try await scene.world.audit().filter { $0.kind == .sessionEnded }.isEmpty)
    }

    // Spec: OpenID Connect Back-Channel Logout 1.0 §2.1.
    @Test("Another person's sign-in gives the browser a new session, and ends the former one with its codes and tokens")
    func replaced() async throws {
        let scene = try await AccountScene().shop
        let first = try await scene.signedIn()
        let former = try #require(first.session).secret
        let given = try await tokens(first.code, scene)
        let asked = try await scene.askedByMail("customer-2", at: scene.shop)
        #expect(try await scene.enter(try #require(try await scene.sent(for: asked)), for: asked) == .authenticated)
        guard case .finished(let pending) = try await goOn(former, scene) else { throw World.Broken("session") }
        guard case .finished(let second) = try await scene.finish(asked, former: former) else {
            throw World.Broken("finish")
        }
        #expect(try await goOn(former, scene) == .notReady)
        #expect(try await !scene.isGood(given))
        #expect(try await scene.redeem(pending.code) == .invalid)
        guard case .redeemed(let newest) = try await scene.redeem(second.code) else { throw World.Broken("redeem") }
        #expect(newest.family.user != scene.user && newest.family.sid != nil)
        #expect(try await scene.world.audit().count { $0.kind == .sessionEnded } == 1)
    }

    /// Who ends a session.
    enum Ending: CaseIterable { case thePerson, theAccountPage, theClient }

    @Test("A code is worth nothing once its session has ended, whoever ended it", arguments: Ending.allCases)
    func ended(_ ending: Ending) async throws {
        let account = try await AccountScene()
        let scene = account.shop
        let finished = try await scene.signedIn()
        let secret = try #require(finished.session).secret
        guard case .redeemed(let redeemed) = try await scene.redeem(finished.code) else { throw World.Broken("redeem") }
        // It takes longer than a code is good.
        let other = try await account.byMail()
        guard case .finished(let pending) = try await goOn(secret, scene) else { throw World.Broken("session") }
        let ports = scene.world.ports
        switch ending {
        case .thePerson: try await SignOut.signOut(secret, .session, ports: ports)
        case .theAccountPage:
            let id = try #require(redeemed.family.session)
            #expect(try await account.end(.session(id), by: other) == .done(nil))
        case .theClient:
            let sid = try #require(redeemed.family.sid)
            #expect(try await SignOut.signOut(secret, named: sid, by: scene.shop.id, ports: ports))
        }
        #expect(try await scene.redeem(pending.code) == .invalid)
        #expect(try await scene.world.store.read { try $0.families.find(redeemed.family.id) }?.endedAt != nil)
    }

    /// A sign-in by a code to the customer's address, in a browser with a session or without.
    private func byMail(_ scene: SignInScene, former: Secret<String>? = nil) async throws -> FinishSignIn.Finished {
        let asked = try await scene.askedByMail("customer-1", at: scene.shop)
        #expect(try await scene.enter(try #require(try await scene.sent(for: asked)), for: asked) == .authenticated)
        guard case .finished(let finished) = try await scene.finish(asked, former: former) else {
            throw World.Broken("finish")
        }
        return finished
    }

    @Test("With a device that renewed a session ends what was given in it before")
    func removedDevice() async throws {
        let scene = try await AccountScene().shop
        let first = try await byMail(scene)
        let given = try await tokens(first.code, scene)
        let asked = try await scene.asked()
        try await scene.approve(asked)
        guard case .finished = try await scene.finish(asked, former: try #require(first.session).secret) else {
            throw World.Broken("finish")
        }
        #expect(try await scene.isGood(given))
        try await scene.end(.device)
        #expect(try await !scene.isGood(given))
    }

    @Test("With an address ends the code that it gave, also where a device has renewed its session since")
    func removedAddressOfCode() async throws {
        let scene = try await AccountScene().shop
        let first = try await byMail(scene)
        let asked = try await scene.asked()
        try await scene.approve(asked)
        let renewed = try await scene.finish(asked, former: try #require(first.session).secret)
        guard case .finished(let second) = renewed else { throw World.Broken("finish") }
        let removal = try await RemoveAddress.remove(
            .email(try SignInScene.email("customer-1")), of: .id(scene.user),
            by: try await scene.world.makeClient("Operator").client.caller, ports: scene.world.ports)
        #expect(removal == .removed)
        #expect(try await scene.redeem(first.code) == .invalid)
        guard case .redeemed = try await scene.redeem(second.code) else { throw World.Broken("session") }
    }

    @Test("With an address that renewed a session does not end what a device gave in it, and outlives it")
    func removedAddress() async throws {
        let scene = try await AccountScene().shop
        let first = try #require(try await scene.signedIn().session).secret
        var wanted = try scene.wanted()
        wanted.scopes.append(TokenFamily.offlineAccess)
        guard
            case .finished(let offline) = try await FinishSignIn.goOn(
                wanted, in: first, browser: scene.browser, ports: scene.world.ports)
        else { throw World.Broken("offline") }
        let refresh = try await tokens(offline.code, scene).refresh
        let renewed = try #require(try await byMail(scene, former: first).session).secret
        let removal = try await RemoveAddress.remove(
            .email(try SignInScene.email("customer-1")), of: .id(scene.user),
            by: try await scene.world.makeClient("Operator").client.caller, ports: scene.world.ports)
        #expect(removal == .removed)
        #expect(try await scene.world.count("sessions", where: "ended_at IS NULL") == 0)
        #expect(try await goOn(renewed, scene) == .notReady)
        _ = try await scene.refreshed(refresh)
    }
}
