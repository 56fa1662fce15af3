import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A person says yes or no to a device by the code that it shows")
struct DeviceConfirmTests {
    // Spec: RFC 8628 §3.3.
    @Test(
        "RFC 8628 §3.3: whoever has signed in is asked, then their phone, and the device gets its tokens",
        arguments: Engine.allCases)
    func confirmed(_ engine: Engine) async throws {
        let scene = try await DeviceGrantScene(engine, .byCode)
        let begun = try await scene.begin()
        let asked = try await scene.signIn(begun)
        guard case .asks(let found, let question) = try await scene.find("\(begun.userCode)".lowercased()) else {
            throw World.Broken("find")
        }
        #expect(found == asked && question.user == scene.user && question.isGiven)
        #expect(found.wanted.askedFrom?.address == "192.0.2.9")
        #expect(try await scene.poll(begun) == .pending(interval: 5))
        guard case .asked(let put) = try await scene.confirm(try scene.answer(begun)) else {
            throw World.Broken("confirm")
        }
        #expect(try await scene.shop.isPut(put))
        // The yes on the page alone gives nothing.
        #expect(try await scene.poll(begun) == .pending(interval: 5))
        try await scene.shop.approve(put)
        let given = try await scene.tokens(begun)
        #expect(given.family.user == scene.user && given.family.isDeviceGrant)
        #expect(given.family.authentication.methods == ["swk", "user", "mca"])
    }

    @Test("The phone names from where the device asks, and not from where the code was typed")
    func origin() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let begun = try await scene.begin()
        guard case .asked(let put) = try await scene.confirm(try scene.answer(begun)) else {
            throw World.Broken("confirm")
        }
        let id = try #require(put.ask?.challenge)
        let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
        #expect(challenge.question.context?.text == "192.0.2.9")
    }

    @Test(
        "RFC 8628 §3.5: a no on the page or on the phone is access_denied, and the last word",
        arguments: [true, false])
    func denied(_ isOnPage: Bool) async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let begun = try await scene.begin()
        let request = try scene.answer(begun)
        if isOnPage {
            #expect(try await ConfirmDeviceGrant.deny(request, ports: scene.world.ports) == .denied)
        } else {
            guard case .asked(let put) = try await scene.confirm(request) else { throw World.Broken("confirm") }
            try await scene.shop.answer(put) { _ in .denied }
        }
        #expect(try await scene.poll(begun) == .denied)
        #expect(try await scene.confirm(request) == .gone)
        #expect(try await ConfirmDeviceGrant.deny(request, ports: scene.world.ports) == .gone)
    }

    @Test("Whoever reports the device keeps their browser")
    func reported() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        guard case .asked(let put) = try await scene.confirm(try scene.answer(try await scene.begin())) else {
            throw World.Broken("confirm")
        }
        try await scene.shop.answer(put) { _ in .reported }
        try await scene.shop.set(asking: .known)
        #expect(try await scene.shop.isAsked())
    }

    @Test("Asked again after the number, and once more in time; only the newest number counts")
    func again() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let begun = try await scene.begin()
        guard case .asked(let first) = try await scene.confirm(try scene.answer(begun)) else {
            throw World.Broken("first")
        }
        scene.world.time.advance(seconds: 120)
        guard case .asked(let second) = try await scene.confirm(try scene.answer(begun)) else {
            throw World.Broken("second")
        }
        #expect(first.ask?.challenge != second.ask?.challenge)
        try await scene.shop.approve(second)
        _ = try await scene.tokens(begun)
    }

    @Test("A number that the device has shown counts no more once the code is typed")
    func afterHint() async throws {
        let scene = try await DeviceGrantScene()
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        let hinted = try await scene.signIn(begun)
        guard case .asked(let put) = try await scene.confirm(try scene.answer(begun)) else {
            throw World.Broken("confirm")
        }
        let former = try #require(hinted.ask?.challenge)
        let ended = try await scene.world.store.read { try $0.challenges.find(former)?.state.status.state }
        #expect(ended == "cancelled")
        try await scene.shop.approve(put)
        _ = try await scene.tokens(begun)
    }

    @Test("Without a trusted device the yes on the page is enough")
    func withoutDevice() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let (user, session) = try await scene.signedInByMail("second", .open)
        let begun = try await scene.begin()
        let request = try scene.answer(begun, by: user, session: session)
        #expect(try await scene.confirm(request) == .confirmed)
        let given = try await scene.tokens(begun)
        #expect(given.family.user == user && given.family.authentication.methods == ["otp"])
        // By mail, for the page; nobody was authenticated for the device.
        let fresh = try await scene.world.audit().filter { $0.kind == .signedIn }.compactMap { $0.detail["fresh"] }
        #expect(fresh.suffix(2) == [true, false])
    }

    @Test("Whom the client does not know gets nothing by their yes once it takes nobody any more")
    func closedSince() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let other = try await scene.world.makeClient("Other").client
        try await AccountScene.set(other, at: SignInScene.redirectURI, .open, in: scene.world)
        let signedIn = try await scene.shop.signedInByMail("second", at: other)
        let session = try #require(signedIn.finished.session).secret
        let ways: Set<SignInWay> = [.device, .qr, .email]
        try await scene.set(.byCode, ways: ways, .open)
        let begun = try await scene.begin()
        let request = try scene.answer(begun, by: signedIn.user, session: session)
        #expect(try await scene.confirm(request) == .confirmed)
        try await scene.set(.byCode, ways: ways, .closed)
        #expect(try await scene.poll(begun) == .invalid)
    }

    @Test("Whoever has signed in by a mail's code is at no browser of the person's, whose devices are not asked there")
    func codeSession() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let (user, session) = try await scene.signedInByMail("customer-1", .closed)
        #expect(user == scene.user)
        let begun = try await scene.begin()
        let elsewhere = try scene.answer(begun, in: try SignInScene.browser("thief"), session: session)
        #expect(try await scene.confirm(elsewhere) == .notAsked)
        guard case .asked = try await scene.confirm(try scene.answer(begun, session: session)) else {
            throw World.Broken("their own browser")
        }
    }

    @Test("A yes that was enough by itself ends with the session in which it was said")
    func sessionEnded() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let (user, session) = try await scene.signedInByMail("second", .open)
        let begun = try await scene.begin()
        let request = try scene.answer(begun, by: user, session: session)
        #expect(try await scene.confirm(request) == .confirmed)
        let now = scene.world.time.now
        try await scene.world.ports.commit(at: now, as: .system) { work in
            guard let found = try work.sessions.find(SecretHash(of: session), at: now) else {
                throw World.Broken("session")
            }
            try work.endSession(found)
        }
        #expect(try await scene.poll(begun) == .invalid)
    }

    @Test("What a third party may ends with the session in which it was allowed, also where the phone approves later")
    func allowedInEndedSession() async throws {
        for isAllowed in [true, false] {
            let scene = try await DeviceGrantScene(.sqlite, .byCode, isThirdParty: true)
            let node = try await scene.world.reopened()
            let begun = try await scene.begin(scopes: isAllowed ? ["openid", "email"] : ["openid"])
            guard case .asked(let put) = try await scene.confirm(try scene.answer(begun)) else {
                throw World.Broken("confirm")
            }
            try await SignOut.signOut(scene.session, .session, ports: node.ports)
            try await scene.shop.approve(put)
            if isAllowed {
                #expect(try await scene.poll(begun) == .invalid)
            } else {
                // Nothing was left to allow: the phone has decided alone.
                _ = try await scene.tokens(begun)
            }
        }
    }

    @Test("Of two tabs in two languages the one that says yes last counts")
    func languages() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let begun = try await scene.begin()
        var put: Authorization?
        for name in ["de", "en"] {
            var request = try scene.answer(begun)
            (request.languages, request.language) = (name, LanguageTag(name))
            guard case .asked(let asked) = try await scene.confirm(request) else { throw World.Broken(name) }
            put = asked
        }
        let wanted = try await scene.signIn(begun).wanted
        #expect(wanted.languages == "en" && wanted.askedIn == LanguageTag("en"))
        try await scene.shop.approve(try #require(put))
        _ = try await scene.tokens(begun)
    }

    @Test("Where a client says how old an authentication may be, an older session does not say yes")
    func tooOld() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        try await scene.set(.byCode, maximumAge: 60)
        let begun = try await scene.begin()
        scene.world.time.advance(seconds: 59)
        guard case .asks = try await scene.find("\(begun.userCode)") else { throw World.Broken("find") }
        scene.world.time.advance(seconds: 62)
        #expect(try await scene.find("\(begun.userCode)") == .signIn(scene.shop.shop.id, begun.userCode))
        #expect(try await scene.confirm(try scene.answer(begun)) == .signIn)
    }

    @Test("A person who signs in to look at a third party's code is not known to it before they say yes")
    func looking() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode, isThirdParty: true)
        let ports = scene.world.ports
        let shop = scene.shop.shop.id
        try await scene.set(.byCode, .known)
        func isLinked() async throws -> Bool {
            try await scene.world.store.read { try $0.links.find(.id(scene.user), of: shop) } != nil
        }
        try await ports.commit(at: scene.world.time.now, as: .system) { work in
            try work.endLink(of: scene.user, to: shop)
        }
        #expect(try await !isLinked())
        let wanted = Wanted(client: shop, redirectURI: ports.issuer.devicePage, scopes: [])
        let outcome = try await FinishSignIn.goOn(
            wanted, in: scene.session, browser: scene.shop.browser, ports: ports)
        guard case .finished = outcome else { throw World.Broken("\(outcome)") }
        #expect(try await !isLinked())
    }

    @Test("Where the devices cannot be asked, nothing has changed, and nobody is signed in")
    func notAsked() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        // The ten of an hour.
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            for _ in 0..<10 { _ = try work.count(.signInAsks(scene.user, at: nil, isBrowserKnown: true)) }
        }
        let begun = try await scene.begin()
        let before = try await scene.signIn(begun)
        #expect(try await scene.confirm(try scene.answer(begun)) == .notAsked)
        #expect(try await scene.signIn(begun) == before)
        #expect(try await scene.poll(begun) == .pending(interval: 5))
    }

    @Test("What a third party may is allowed by the yes, and not before the phone has approved")
    func thirdParty() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode, isThirdParty: true)
        func scopes() async throws -> Set<String>? {
            try await scene.world.store.read { try $0.grants.find(scene.user, for: scene.shop.shop.id)?.scopes }
        }
        let begun = try await scene.begin(scopes: ["openid", "email"])
        guard case .asks(_, let question) = try await scene.find("\(begun.userCode)") else {
            throw World.Broken("find")
        }
        #expect(!question.isGiven && question.wanted.scopes == ["openid", "email"])
        guard case .asked(let put) = try await scene.confirm(try scene.answer(begun)) else {
            throw World.Broken("confirm")
        }
        #expect(try await scopes() == ["openid"])
        try await scene.shop.approve(put)
        _ = try await scene.tokens(begun)
        #expect(try await scopes() == ["openid", "email"])
    }

    @Test("What a third party was allowed before, and is no more, no yes allows that has not read it")
    func takenBack() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode, isThirdParty: true)
        let (world, client) = (scene.world, scene.shop.shop.id)
        let begun = try await scene.begin()
        var request = try scene.answer(begun)
        func isGiven() async throws -> Bool {
            guard case .asks(_, let question) = try await scene.find("\(begun.userCode)") else {
                throw World.Broken("find")
            }
            return question.isGiven
        }
        request.isGiven = try await isGiven()
        #expect(request.isGiven)
        try await world.ports.commit(at: world.time.now, as: .system) { work in
            try work.grants.deleteGrant(of: scene.user, for: client)
        }
        let before = try await scene.signIn(begun)
        #expect(try await scene.confirm(request) == .asksAnew)
        #expect(try await scene.signIn(begun) == before)
        request.isGiven = try await isGiven()
        #expect(!request.isGiven)
        guard case .asked(let put) = try await scene.confirm(request) else { throw World.Broken("confirm") }
        try await scene.shop.approve(put)
        _ = try await scene.tokens(begun)
        #expect(try await world.store.read { try $0.grants.find(scene.user, for: client)?.scopes } == ["openid"])
    }

    @Test("Whoever has not signed in signs in first; nobody answers for somebody else")
    func otherPerson() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let begun = try await scene.begin()
        let outcome = try await scene.find("\(begun.userCode)", session: Secret("none"))
        #expect(outcome == .signIn(scene.shop.shop.id, begun.userCode))
        #expect(try await scene.confirm(try scene.answer(begun, session: Secret("none"))) == .signIn)
        #expect(try await scene.confirm(try scene.answer(begun, by: scene.world.newID())) == .signIn)
        let denied = try await ConfirmDeviceGrant.deny(
            try scene.answer(begun, by: scene.world.newID()), ports: scene.world.ports)
        #expect(denied == .signIn)
        #expect(try await scene.poll(begun) == .pending(interval: 5))
    }

    @Test("The browser that says yes first has the device; another one with the code gets nothing of it")
    func otherBrowser() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let other = try SignInScene.browser("two")
        let begun = try await scene.begin()
        guard case .asks = try await scene.find("\(begun.userCode)", in: other) else { throw World.Broken("find") }
        guard case .asked(let put) = try await scene.confirm(try scene.answer(begun)) else {
            throw World.Broken("confirm")
        }
        #expect(try await scene.find("\(begun.userCode)", in: other) == .unknown)
        #expect(try await scene.confirm(try scene.answer(begun, in: other)) == .gone)
        let shown = try await WatchAuthorization.show(put.id, in: other, isOfDevice: true, ports: scene.world.ports)
        #expect(shown == .notFound)
    }

    @Test("Of a yes and a no from two browsers at once, on two nodes, one counts, and the other comes too late")
    func atOnce() async throws {
        let scene = try await DeviceGrantScene(.chosen, .byCode)
        let other = try await scene.world.reopened()
        try await other.store.refreshKeys()
        let begun = try await scene.begin()
        let here = try scene.answer(begun)
        let there = try scene.answer(begun, in: try SignInScene.browser("two"))
        async let yes = ConfirmDeviceGrant.confirm(here, ports: scene.world.ports)
        async let no = ConfirmDeviceGrant.deny(there, ports: other.ports)
        switch try await (yes, no) {
        case (.gone, .denied): #expect(try await scene.poll(begun) == .denied)
        case (.asked(let put), .gone):
            try await scene.shop.approve(put)
            #expect(try await scene.tokens(begun).family.user == scene.user)
        case let others: Issue.record("\(others)")
        }
    }

    @Test("A device that gives up while its person's phone is asked: page and phone learn it")
    func givenUp() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let ports = scene.world.ports
        let begun = try await scene.begin()
        guard case .asked(let put) = try await scene.confirm(try scene.answer(begun)) else {
            throw World.Broken("confirm")
        }
        let cancelled = try await CancelDeviceGrant.cancel(begun.deviceCode, by: scene.shop.shop.id, ports: ports)
        #expect(cancelled == .cancelled)
        let shown = try await WatchAuthorization.show(put.id, in: scene.shop.browser, isOfDevice: true, ports: ports)
        guard case .shown(_, let progress) = shown else { throw World.Broken("\(shown)") }
        #expect(progress == .finished)
        let challenge = try #require(put.ask?.challenge)
        let ended = try await scene.world.store.read { try $0.challenges.find(challenge)?.state.status.state }
        #expect(ended == "cancelled")
        #expect(try await scene.poll(begun) == .denied)
    }

    @Test("No page of an ordinary sign-in asks for a device's, shows it, or finishes it")
    func otherWays() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        let ports = scene.world.ports
        let begun = try await scene.begin()
        guard case .asked(let put) = try await scene.confirm(try scene.answer(begun)) else {
            throw World.Broken("confirm")
        }
        #expect(try await scene.shop.ask(put.wanted, by: .qr, again: put.id) == .tooLate)
        #expect(try await scene.shop.ask(put.wanted, by: .qr) == .tooLate)
        #expect(try await scene.shop.ask(try scene.shop.wanted(), by: .qr, again: put.id) == .tooLate)
        #expect(try await scene.shop.progress(of: put) == .notFound)
        let shown = try await WatchAuthorization.show(put.id, in: scene.shop.browser, isOfDevice: true, ports: ports)
        guard case .shown(_, .asking) = shown else { throw World.Broken("shown") }
        let before = try await scene.signIn(begun)
        #expect(try await ChangePageLanguage.change(put.id, to: "fr", in: scene.shop.browser, ports: ports) == nil)
        #expect(try await scene.signIn(begun) == before)
        try await scene.shop.approve(put)
        #expect(try await scene.shop.finish(put) == .notReady)
        _ = try await scene.tokens(begun)
        // Nor does a device's page show a browser's sign-in.
        let browsers = try await scene.shop.askedByCode()
        let other = try await WatchAuthorization.show(
            browsers.id, in: scene.shop.browser, isOfDevice: true, ports: ports)
        #expect(other == .notFound)
    }

    // Spec: RFC 8628 §5.1.
    @Test(
        "RFC 8628 §5.1: wrong codes are limited for a browser, a network and a user, and a right one changes nothing",
        arguments: Engine.allCases)
    func guesses(_ engine: Engine) async throws {
        let scene = try await DeviceGrantScene(engine, .byCode)
        let begun = try await scene.begin()
        let code = "\(begun.userCode)"
        let network: [UInt8] = [192, 0, 2, 1]
        for turn in 0..<5 {
            guard case .asks = try await scene.find(code, network: network) else { throw World.Broken("find") }
            let wrong = try await scene.find(turn == 0 ? "not a code" : "BBBB-BBBB", network: network)
            #expect(wrong == .unknown)
        }
        guard case .tooMany(let wait) = try await scene.find(code, network: network) else {
            throw World.Broken("browser")
        }
        #expect((1...600).contains(wait.value))
        // Another browser of the network, without a session, has the rest of the network's.
        let none = Secret("none")
        let two = try SignInScene.browser("two")
        for _ in 0..<5 {
            #expect(try await scene.find("BBBB-BBBB", in: two, session: none, network: network) == .unknown)
        }
        let three = try SignInScene.browser("three")
        guard case .tooMany = try await scene.find(code, in: three, session: none, network: network) else {
            throw World.Broken("network")
        }
        guard case .signIn = try await scene.find(code, in: three, session: none) else { throw World.Broken("code") }
        // The user has five left, in whatever browser.
        for _ in 0..<5 { #expect(try await scene.find("BBBB-BBBB", in: three) == .unknown) }
        let four = try SignInScene.browser("four")
        guard case .tooMany = try await scene.find(code, in: four) else { throw World.Broken("user") }
        // What strangers have used up together keeps nobody out who has signed in.
        let second = try await DeviceGrantScene(engine, .byCode)
        try await second.world.ports.commit(at: second.world.time.now, as: .system) { work in
            for _ in 0..<1000 { _ = try work.count(.allWrongUserCodes) }
        }
        let other = "\(try await second.begin().userCode)"
        guard case .tooMany = try await second.find(other, session: none) else { throw World.Broken("all") }
        guard case .asks = try await second.find(other) else { throw World.Broken("signed in") }
    }

    /// What a device of the shop has asked for, and the phone has approved.
    private func approved(_ scene: AccountScene) async throws -> BeginDeviceGrant.Begun {
        let party = RelyingParty(
            client: scene.shop.shop.id, profile: .native,
            redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], askedBrowsers: .all,
            ways: [.device, .qr, .email], registration: .open, deviceGrant: .byHint)
        #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
        var request = BeginDeviceGrant.Request(by: party.client, isAuthenticated: false)
        request.hint = DeviceGrantScene.name
        guard case .begun(let begun) = try await BeginDeviceGrant.begin(request, ports: scene.world.ports) else {
            throw World.Broken("begun")
        }
        try await scene.shop.put(try await scene.shop.signIn(begun))
        try await scene.shop.approve(try await scene.shop.signIn(begun))
        return begun
    }

    @Test("What a device got stands on the account page, and ends there, by its user alone")
    func account() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        let begun = try await approved(scene)
        let given = try await scene.shop.tokens(.deviceCode(begun.deviceCode))
        let shown = try #require(try await scene.show(session))
        #expect(shown.withoutSession.map { $0.family.id } == [given.family.id])
        #expect(shown.withoutSession.map { $0.client } == [scene.shop.shop.name])
        // Somebody else's end is none.
        let other = try await scene.shop.signedInByMail("second", at: scene.shop.shop)
        let theirs = try await EndOwnAccess.end(
            .family(given.family.id), by: try #require(other.finished.session).secret, shownTo: other.user,
            ports: scene.world.ports)
        #expect(theirs == .done(nil))
        #expect(try await scene.show(session)?.withoutSession.count == 1)
        #expect(try await scene.end(.family(given.family.id), by: session) == .done(nil))
        #expect(try await scene.show(session)?.withoutSession.isEmpty == true)
    }

    @Test("Whoever ends all on the account page ends also what is approved, on whatever node it would be fetched next")
    func approvedBefore() async throws {
        let scene = try await AccountScene(.chosen)
        let node = try await scene.world.reopened()
        try await node.store.refreshKeys()
        let session = try await scene.byTap()
        let begun = try await approved(scene)
        let browser = try SignInScene.browser("two")
        let asked = try await scene.shop.asked(in: browser)
        try await scene.shop.approve(asked)
        let ended = try await EndOwnAccess.end(
            .otherSessions, by: session, shownTo: scene.user, ports: node.ports)
        #expect(ended == .done(nil))
        #expect(try await scene.shop.poll(.deviceCode(begun.deviceCode)) == .denied)
        #expect(try await scene.shop.finish(asked, in: browser) == .notReady)
        #expect(try await scene.show(session)?.withoutSession.isEmpty == true)
    }

    @Test(
        "Whom only the account page's client knows stays when what they approved is refused",
        arguments: ["all others end", "the browser cancels", "the device cancels"])
    func stays(_ way: String) async throws {
        let scene = try await AccountScene()
        let (world, user, shop) = (scene.world, scene.user, scene.shop.shop.id)
        let session = try await scene.byTap()
        let begun = try await approved(scene)
        let browser = try SignInScene.browser("two")
        let asked = try await scene.shop.asked(in: browser)
        try await scene.shop.approve(asked)
        let isLinked = try await world.store.commit {
            try $0.links.delete(user, from: shop)
            return try $0.links.put(user, to: scene.account.id, externalID: nil)
        }
        #expect(isLinked)
        switch way {
        case "all others end": #expect(try await scene.end(.otherSessions, by: session) == .done(nil))
        case "the browser cancels": #expect(try await CancelSignIn.cancel(asked.id, in: browser, ports: world.ports))
        default:
            let cancelled = try await CancelDeviceGrant.cancel(begun.deviceCode, by: shop, ports: world.ports)
            #expect(cancelled == .cancelled)
        }
        #expect(try await scene.enrollment(scene.phone).state == .active)
        let known = try #require(try await world.store.read { try $0.users.find(user) })
        #expect(known.deletedAt == nil)
        #expect(try await scene.show(session) != nil)
    }
}
