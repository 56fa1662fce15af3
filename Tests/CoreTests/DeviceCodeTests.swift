import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A device without a browser asks, and fetches its tokens by its code")
struct DeviceCodeTests {
    @Test("RFC 8628 §6.1: a code has eight letters of twenty, and is read whatever separates them")
    func letters() async throws {
        let random = try await World().random
        for _ in 0..<50 {
            let code = UserCode(from: random)
            #expect("\(code)".wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}/) != nil)
            #expect(UserCode(typed: "\(code)") == code)
        }
        let code = try #require(UserCode(typed: "WDJB-MJHT"))
        for typed in ["wdjbmjht", " WDJB MJHT ", "W.D.J.B-M.J.H.T", "WDJB\u{2013}MJHT"] {
            #expect(UserCode(typed: typed) == code, "\(typed)")
        }
        let long = "WDJB-MJHT" + String(repeating: " ", count: 60)
        let others = ["", "WDJB-MJH", "WDJB-MJHTX", "WDJB-MJHA", "WDJB-MJH1", long]
        for typed in others { #expect(UserCode(typed: typed) == nil, "\(typed)") }
    }

    // Spec: RFC 8628 §3.2, §3.4, §3.5; RFC 6749 §10.5.
    @Test(
        "RFC 8628 §3.5: nothing until the person has approved by the number, then tokens, once",
        arguments: Engine.allCases)
    func approved(_ engine: Engine) async throws {
        let scene = try await DeviceGrantScene(engine)
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        #expect(begun.expiresIn == 600 && begun.interval == 5)
        // The first poll never comes too soon.
        #expect(try await scene.poll(begun, after: 0) == .pending(interval: 5))
        let asked = try await scene.signIn(begun)
        #expect(begun.number == asked.ask?.number && begun.number != nil)
        try await scene.shop.approve(asked)
        let given = try await scene.tokens(begun)
        #expect(given.family.user == scene.user && given.family.session == nil && given.isIdentified)
        #expect(given.family.authentication.methods == ["swk", "user", "mca"])
        let stored = try await scene.world.store.read { try $0.families.find(given.family.id) }
        #expect(stored == given.family && stored?.isDeviceGrant == true)
        let tokens = try await SignTokens.sign(given, ports: scene.world.ports)
        #expect(tokens.refresh == nil)
        #expect(try await scene.shop.isGood(tokens))
        // A code that comes again was somebody else's, too.
        #expect(try await scene.poll(begun, after: 0) == .invalid)
        #expect(try await !scene.shop.isGood(tokens))
    }

    @Test("RFC 9449 §5.2: a device of a client with bound tokens gets none without a proof, and its code stays good")
    func unproved() async throws {
        let scene = try await DeviceGrantScene()
        try await scene.set(.byHint, bindsTokens: true)
        let prover = Prover(scene.world)
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.approve(try await scene.signIn(begun))
        #expect(try await scene.poll(begun) == .unproved(.missing))
        guard case .redeemed(let given) = try await scene.poll(begun, with: try await prover.proved()) else {
            throw World.Broken("redeem")
        }
        #expect(given.keyThumbprint == prover.binding && given.family.keyThumbprint == prover.binding)
        let stored = try await scene.world.store.read { try $0.families.find(given.family.id) }
        #expect(stored == given.family && stored?.isDeviceGrant == true)
    }

    @Test("RFC 9449 §11.1: a proof that has brought a device its tokens brings no other device any")
    func replayed() async throws {
        let scene = try await DeviceGrantScene()
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.approve(try await scene.signIn(begun))
        let key = try await Prover(scene.world).proved()
        guard case .redeemed = try await scene.poll(begun, with: key) else { throw World.Broken("redeem") }
        let second = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.approve(try await scene.signIn(second))
        #expect(try await scene.poll(second, with: key) == .unproved(.replayed))
        guard case .redeemed = try await scene.poll(second) else { throw World.Broken("second") }
    }

    @Test("Of two nodes that the device asks at once, one gives the tokens, and they stay good")
    func twoNodes() async throws {
        let scene = try await DeviceGrantScene(.chosen)
        let other = try await scene.world.reopened()
        try await other.store.refreshKeys()
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.expectTokensOnce(
            .deviceCode(begun.deviceCode), of: try await scene.signIn(begun), at: other)
    }

    @Test(
        "RFC 8628 §3.5: a denial and a report are access_denied alike",
        arguments: [Decision.denied, .reported])
    func denied(_ decision: Decision) async throws {
        let scene = try await DeviceGrantScene()
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.answer(try await scene.signIn(begun)) { _ in decision }
        #expect(try await scene.poll(begun) == .denied)
        #expect(try await scene.poll(begun, after: 0) == .denied)
        // Nobody agrees afterwards.
        #expect(try await scene.find("\(begun.userCode)") == .unknown)
        // A report keeps unknown devices from asking for a day, and the code on the page goes on.
        let again = try await scene.begin(hint: DeviceGrantScene.name)
        let isPut = try await scene.shop.isPut(try await scene.signIn(again))
        #expect(isPut == (decision == .denied))
    }

    @Test("RFC 8628 §5.1: somebody whom nobody knows looks the same: a number, and no answer until the end")
    func unknown() async throws {
        let scene = try await DeviceGrantScene()
        for hint in ["nobody@example.com", "external_id:nobody", "not a name at all"] {
            let begun = try await scene.begin(hint: hint, lifetime: 60)
            #expect(begun.number != nil && begun.expiresIn == 60)
            #expect(try await scene.shop.isPut(try await scene.signIn(begun)) == false)
            #expect(try await scene.poll(begun) == .pending(interval: 5))
            #expect(try await scene.poll(begun, after: 55) == .expired)
        }
    }

    @Test("The same statements bring back as many rows for known and unknown people, when a device asks and polls")
    func sameStatements() async throws {
        let (world, recorder) = try await World.recorded()
        let scene = try await SignInScene(in: world)
        let party = RelyingParty(
            client: scene.shop.id, profile: .native, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))],
            deviceGrant: .byHint)
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        func play(_ name: String) async throws -> [[String]] {
            var request = BeginDeviceGrant.Request(by: scene.shop.id, isAuthenticated: false)
            request.hint = "\(name)@example.com"
            request.network = [192, 0, 2, 9]
            _ = recorder.takeTexts()
            guard case .begun(let begun) = try await BeginDeviceGrant.begin(request, ports: world.ports) else {
                throw World.Broken("begun")
            }
            var parts = [recorder.takeTexts(withRows: true)]
            try await scene.put(try await scene.signIn(begun))
            let redemption = try await scene.redemption(.deviceCode(begun.deviceCode))
            _ = recorder.takeTexts()
            #expect(try await RedeemDecision.redeem(redemption, ports: world.ports) == .pending(interval: 5))
            parts.append(recorder.takeTexts(withRows: true))
            return parts
        }
        // The first request counts in windows that are not there yet.
        _ = try await play("customer-0")
        let (known, unknown) = (try await play("customer-1"), try await play("customer-0"))
        #expect(known == unknown)
        #expect(known[0].contains { $0.contains("INSERT INTO outbox") } && known[1].count == 1)
    }

    @Test("RFC 8628 §3.5: until the last second, and not in the next one")
    func expires() async throws {
        let scene = try await DeviceGrantScene()
        let begun = try await scene.begin(hint: DeviceGrantScene.name, lifetime: 60)
        try await scene.shop.approve(try await scene.signIn(begun))
        let late = try await scene.begin()
        #expect(late.number == nil)
        #expect(try await scene.poll(begun, after: 60) == .expired)
        #expect(try await scene.poll(late, after: 539) == .pending(interval: 5))
        #expect(try await scene.poll(late, after: 1) == .expired)
        // No more than ten minutes, whatever is asked for.
        #expect(try await scene.begin(lifetime: 3600).expiresIn == 600)
    }

    @Test("A question that is put late ends with its sign-in, and nobody is asked in its last second")
    func lastSecond() async throws {
        let scene = try await DeviceGrantScene()
        for (late, isAsked) in [(Int64(58_500), true), (59_500, false)] {
            let outcome = try await scene.begun(hint: DeviceGrantScene.name, lifetime: 60)
            guard case .begun(let begun) = outcome else { throw World.Broken("\(outcome)") }
            let asked = try await scene.signIn(begun)
            scene.world.time.advance(milliseconds: late)
            try await scene.shop.put(asked)
            let challenge = try #require(asked.ask?.challenge)
            let put = try await scene.world.store.read { try $0.challenges.find(challenge) }
            #expect((put != nil) == isAsked, "\(late)")
            if let put { #expect(put.expiresAt <= asked.expiresAt) }
        }
    }

    @Test("RFC 8628 §3.5: slow_down, five seconds more each time, also once the person has approved")
    func slowDown() async throws {
        let scene = try await DeviceGrantScene()
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        #expect(try await scene.poll(begun, after: 0) == .pending(interval: 5))
        #expect(try await scene.poll(begun, after: 4) == .slowDown(interval: 10))
        #expect(try await scene.poll(begun, after: 9) == .slowDown(interval: 15))
        #expect(try await scene.poll(begun, after: 15) == .pending(interval: 15))
        try await scene.shop.approve(try await scene.signIn(begun))
        #expect(try await scene.poll(begun, after: 5) == .slowDown(interval: 20))
        guard case .redeemed = try await scene.poll(begun, after: 20) else { throw World.Broken("tokens") }
    }

    // Spec: RFC 8628 §5.2.
    @Test("A device code of another client, or one that somebody has made up, is none")
    func otherClient() async throws {
        let scene = try await DeviceGrantScene()
        let other = try await scene.world.makeClient("Other").client
        try await scene.set(.byHint, for: other)
        // It knows the person, too: nothing else refuses it.
        let user = scene.shop.user
        _ = try await scene.world.store.commit { try $0.links.put(user, to: other.id, externalID: nil) }
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.approve(try await scene.signIn(begun))
        #expect(try await scene.poll(begun, by: other.id) == .invalid)
        let code = begun.deviceCode.reveal()
        for made in ["", "x", "\(code)x", String(code.dropLast()), "\(try await scene.signIn(begun).id)."] {
            let request = RedeemDecision.Request(.deviceCode(Secret(made)), by: scene.shop.shop.id)
            #expect(try await RedeemDecision.redeem(request, ports: scene.world.ports) == .invalid, "\(made)")
        }
        // A browser's sign-in has no device code, and a device's no browser's code.
        let asked = try await scene.shop.askedByCode()
        let forged = RedeemDecision.Request(
            .deviceCode(scene.world.ports.hasher.deviceCode(of: asked.id)), by: scene.shop.shop.id)
        #expect(try await RedeemDecision.redeem(forged, ports: scene.world.ports) == .invalid)
        #expect(try await scene.shop.redeem(begun.deviceCode) == .invalid)
        _ = try await scene.tokens(begun)
    }

    @Test("Only a client whose settings say so begins anything, and only then is somebody named")
    func off() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .off)
        guard case .off = try await scene.begun() else { throw World.Broken("begun") }
        try await scene.set(.byCode)
        let begun = try await scene.begin()
        #expect(begun.number == nil)
        try await scene.set(.off)
        #expect(try await scene.poll(begun) == .clientGone)
        #expect(try await scene.find("\(begun.userCode)") == .unknown)
    }

    @Test("Nobody is asked by name where the client is not registered for it")
    func hintOff() async throws {
        let scene = try await DeviceGrantScene(.sqlite, .byCode)
        guard case .hintNotAllowed = try await scene.begun(hint: DeviceGrantScene.name) else {
            throw World.Broken("begun")
        }
    }

    @Test("Neither a refresh token nor a further device comes of it")
    func scopes() async throws {
        let scene = try await DeviceGrantScene()
        for nothing in [["offline_access", "enroll"], ["unknown"], []] {
            guard case .notGiven = try await scene.begun(scopes: nothing) else { throw World.Broken("\(nothing)") }
        }
        let begun = try await scene.begin(hint: DeviceGrantScene.name, scopes: ["openid", "offline_access", "enroll"])
        try await scene.shop.approve(try await scene.signIn(begun))
        let given = try await scene.tokens(begun)
        #expect(given.family.scopes == ["openid"] && given.scopes == ["openid"] && !given.family.isOffline)
    }

    @Test(
        "Whatever ends a sign-in also ends one that the device has not fetched",
        arguments: SignInScene.Ending.allCases)
    func ended(_ ending: SignInScene.Ending) async throws {
        let scene = try await DeviceGrantScene()
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.approve(try await scene.signIn(begun))
        try await scene.shop.end(ending)
        #expect(try await scene.poll(begun) == ending.polled)
    }

    // Spec: RFC 7009 §2.
    @Test("A client that gives up ends the question: a later yes is told that it came too late")
    func cancelled() async throws {
        let scene = try await DeviceGrantScene()
        let ports = scene.world.ports
        let other = try await scene.world.makeClient("Other").client
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        let asked = try await scene.signIn(begun)
        #expect(try await CancelDeviceGrant.cancel(begun.deviceCode, by: other.id, ports: ports) == .notYours)
        #expect(try await scene.poll(begun) == .pending(interval: 5))
        try await scene.shop.expectCancelled(begun.deviceCode, of: asked)
        #expect(try await scene.poll(begun) == .denied)
        #expect(try await CancelDeviceGrant.cancel(Secret("x"), by: other.id, ports: ports) == .notFound)
    }

    @Test("A client that gives up after its tokens were given, without having got them, ends them")
    func cancelledLate() async throws {
        let scene = try await DeviceGrantScene()
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.approve(try await scene.signIn(begun))
        let tokens = try await SignTokens.sign(try await scene.tokens(begun), ports: scene.world.ports)
        let outcome = try await CancelDeviceGrant.cancel(
            begun.deviceCode, by: scene.shop.shop.id, ports: scene.world.ports)
        #expect(outcome == .cancelled)
        #expect(try await !scene.shop.isGood(tokens))
    }

    @Test("A third party has nobody asked for more than they have allowed it")
    func thirdParty() async throws {
        let scene = try await DeviceGrantScene(isThirdParty: true)
        let more = try await scene.begin(hint: DeviceGrantScene.name, scopes: ["openid", "email"])
        #expect(try await !scene.shop.isPut(try await scene.signIn(more)))
        let same = try await scene.begin(hint: DeviceGrantScene.name)
        #expect(try await scene.shop.isPut(try await scene.signIn(same)))
        try await scene.shop.approve(try await scene.signIn(same))
        // What they have allowed ends before the device fetches its tokens.
        let (user, client) = (scene.user, scene.shop.shop.id)
        try await scene.world.store.commit { try $0.grants.deleteGrant(of: user, for: client) }
        #expect(try await scene.poll(same) == .invalid)
    }

    // Spec: NIST SP 800-63B-4 §3.1.3.2, OWASP ASVS 6.6.4.
    @Test("Devices that name somebody have the budget of unknown browsers, and one question at a time")
    func budget() async throws {
        let scene = try await DeviceGrantScene()
        // The sign-in of the scene was the first of three.
        let first = try await scene.begin(hint: DeviceGrantScene.name)
        #expect(try await scene.shop.isPut(try await scene.signIn(first)))
        let meanwhile = try await scene.begin(hint: DeviceGrantScene.name)
        #expect(try await !scene.shop.isPut(try await scene.signIn(meanwhile)))
        _ = try await CancelDeviceGrant.cancel(first.deviceCode, by: scene.shop.shop.id, ports: scene.world.ports)
        let third = try await scene.begin(hint: DeviceGrantScene.name)
        #expect(try await scene.shop.isPut(try await scene.signIn(third)))
        _ = try await CancelDeviceGrant.cancel(third.deviceCode, by: scene.shop.shop.id, ports: scene.world.ports)
        let fourth = try await scene.begin(hint: DeviceGrantScene.name)
        #expect(try await !scene.shop.isPut(try await scene.signIn(fourth)) && fourth.number != nil)
    }

    @Test("An app begins as many as a network may; a client that proves who it is, as many as it may")
    func limits() async throws {
        let scene = try await DeviceGrantScene()
        for _ in 0..<60 { _ = try await scene.begin() }
        guard case .tooMany(let wait) = try await scene.begun() else { throw World.Broken("begun") }
        #expect((1...60).contains(wait.value))
        // One network does not use up what all have.
        for _ in 0..<5 { _ = try await scene.begun() }
        let counted = try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            try work.counted(.deviceGrants(of: scene.shop.shop.id, maximum: 600)).number
        }
        #expect(counted == 60)
        guard case .begun = try await scene.begun(isAuthenticated: true) else { throw World.Broken("tooMany") }
        scene.world.time.advance(seconds: 60)
        _ = try await scene.begin()
    }

    @Test("While there are many sign-ins, an app names nobody, since a device cannot do a browser's work")
    func flood() async throws {
        let scene = try await DeviceGrantScene()
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            _ = try work.count(.workSteps)
        }
        guard case .tooMany = try await scene.begun(hint: DeviceGrantScene.name) else { throw World.Broken("begun") }
        guard case .begun = try await scene.begun(hint: DeviceGrantScene.name, isAuthenticated: true) else {
            throw World.Broken("tooMany")
        }
        _ = try await scene.begin()
    }

    // Spec: OpenID Connect Core 1.0 §3.1.2.1.
    @Test("OpenID Connect Core 1.0 §3.1.2.1: how strong the device likes it chooses by which type phones are asked")
    func strength() async throws {
        let scene = try await DeviceGrantScene()
        try await scene.set(.byHint, stepUpTypes: [.pin])
        // Who has no PIN is asked by the usual type.
        let liked = try await scene.begin(hint: DeviceGrantScene.name, strength: .twoFactors)
        try await scene.shop.approve(try await scene.signIn(liked))
        #expect(try await scene.tokens(liked).family.authentication.strength == .device)
        let pin = try await scene.shop.device.setPIN()
        let begun = try await scene.begin(hint: DeviceGrantScene.name, strength: .twoFactors)
        let asked = try await scene.signIn(begun)
        #expect(try await scene.shop.answer(asked) { .approved(.confirm, number: $0) }.summary == "invalid")
        _ = try await scene.shop.answer(asked, by: pin) { .approved(.pin, number: $0) }
        #expect(try await scene.tokens(begun).family.authentication.strength == .twoFactors)
    }

    // Spec: OWASP ASVS 6.3.5.
    @Test("All proved addresses are told that a device has signed in, in the language that it asked for")
    func told() async throws {
        let scene = try await DeviceGrantScene()
        let email = PersonalAddress.email(try SignInScene.email("customer-1"))
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            _ = try work.verify(email, of: scene.user)
            // The notices of browsers are counted apart.
            for _ in 0..<10 { _ = try work.count(.signInNotices(to: scene.user)) }
        }
        let german = try #require(LanguageTag("de"))
        let begun = try await scene.begin(hint: DeviceGrantScene.name, in: german)
        try await scene.shop.approve(try await scene.signIn(begun))
        _ = try await scene.tokens(begun)
        let now = scene.world.time.now
        let leased = try await scene.world.store.lease(.mail, limit: 100, now: now, until: now.adding(.days(1)))
        let told = leased.compactMap { leased -> String? in
            guard case .personal(let message, let address, _) = leased.message.content else { return nil }
            return message.values["bycode"] == nil ? nil : "\(address) \(message.language == german)"
        }
        #expect(told == ["\(DeviceGrantScene.name) true"])
    }
}
