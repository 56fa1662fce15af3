import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A person signs in by a trusted device")
struct SignInTests {
    @Test("The device approves, the browser gets a code, the client its tokens, once")
    func signsIn() async throws {
        let scene = try await SignInScene()
        let asked = try await scene.asked()
        let ask = try #require(asked.ask)
        #expect(
            try await scene.progress(of: asked) == .shown(asked, .asking(try #require(ask.number), until: ask.until)))
        try await scene.approve(asked)
        guard case .shown(let shown, .authenticated) = try await scene.progress(of: asked),
            case .authenticated(let authentication) = shown.state
        else { throw World.Broken("progress") }
        #expect(authentication.user == scene.user && authentication.evidence.enrollment == scene.device.enrollment)
        #expect(authentication.methods == ["swk", "user", "mca"] && authentication.strength == .device)
        guard case .finished(let finished) = try await scene.finish(asked) else { throw World.Broken("finish") }
        #expect(try await scene.finish(asked) == .notReady)
        guard case .redeemed(let redeemed) = try await scene.redeem(finished.code) else { throw World.Broken("redeem") }
        #expect(redeemed.family.authentication == authentication && redeemed.family.scopes == ["openid"])
        let tokens = try await SignTokens.sign(redeemed, ports: scene.world.ports)
        #expect(tokens.expiresIn == 600)
        #expect(try await scene.isGood(tokens))
        scene.world.time.advance(seconds: 600)
        #expect(try await !scene.isGood(tokens))
    }

    @Test("Nobody is told of a person who is not there: the same number, the same time, the same end")
    func unknown() async throws {
        let scene = try await SignInScene()
        let known = try await scene.asked()
        let unknown = try await scene.asked("nobody", in: try SignInScene.browser("two"))
        #expect(known.ask?.until == unknown.ask?.until && unknown.ask?.number?.digits.utf8.count == 6)
        #expect(try await scene.isPut(known))
        #expect(try await !scene.isPut(unknown))
        // A denial in a browser that is not known to be the person's looks as if nobody had answered.
        try await scene.answer(known) { _ in .denied }
        let two = try SignInScene.browser("two")
        for seconds: Int64 in [0, 119, 1] {
            scene.world.time.advance(seconds: seconds)
            let isOpen = scene.world.time.now < (known.ask?.until ?? scene.world.time.now)
            for (asked, browser) in [(known, scene.browser), (unknown, two)] {
                guard case .shown(_, let progress) = try await scene.progress(of: asked, in: browser) else {
                    throw World.Broken("progress")
                }
                if isOpen, case .asking = progress { continue }
                #expect(!isOpen && progress == .unanswered)
            }
        }
    }

    @Test("A browser in which the person has signed in learns of a denial")
    func declined() async throws {
        let scene = try await SignInScene()
        _ = try await scene.signedIn()
        let asked = try await scene.asked()
        #expect(asked.ask?.isBrowserKnown == true)
        try await scene.answer(asked) { _ in .denied }
        guard case .shown(_, .declined) = try await scene.progress(of: asked) else { throw World.Broken("progress") }
        // It can be asked again, under the same name.
        let again = try await scene.asked(again: asked.id)
        #expect(again.id == asked.id && again.ask?.challenge != asked.ask?.challenge)
        try await scene.approve(again)
        guard case .finished = try await scene.finish(again) else { throw World.Broken("finish") }
    }

    @Test("By default only browsers in which the person has signed in reach their devices")
    func unknownBrowser() async throws {
        let scene = try await SignInScene()
        _ = try await scene.signedIn()
        try await scene.set(asking: .known)
        #expect(try await scene.isAsked())
        scene.world.time.advance(seconds: 120)
        let other = try await scene.asked(in: try SignInScene.browser("two"))
        #expect(try await !scene.isPut(other) && other.ask?.number != nil)
    }

    @Test("No other browser sees, continues or finishes a sign-in")
    func otherBrowser() async throws {
        let scene = try await SignInScene()
        let other = try SignInScene.browser("two")
        let asked = try await scene.asked()
        #expect(try await scene.progress(of: asked, in: other) == .notFound)
        #expect(try await scene.ask(again: asked.id, in: other) == .tooLate)
        #expect(try await !CancelSignIn.cancel(asked.id, in: other, ports: scene.world.ports))
        try await scene.approve(asked)
        #expect(try await scene.finish(asked, in: other) == .notReady)
        guard case .finished = try await scene.finish(asked) else { throw World.Broken("finish") }
    }

    @Test("A code that a device scans signs in, and makes the browser the person's")
    func scans() async throws {
        let scene = try await SignInScene(asking: .known)
        let asked = try await scene.askedByCode()
        let id = try #require(asked.ask?.challenge)
        let until = try #require(asked.ask?.until)
        #expect(asked.user == nil && asked.ask?.number == nil)
        #expect(try await scene.progress(of: asked) == .shown(asked, .showing(id, until: until)))
        // Nobody else sees the code.
        let other = try SignInScene.browser("two")
        #expect(try await ShowSignInCode.code(of: asked.id, in: other, ports: scene.world.ports) == nil)
        #expect(try await scene.scan(asked) == .claimed)
        guard case .shown(_, .scanned(until)) = try await scene.progress(of: asked) else {
            throw World.Broken("progress")
        }
        #expect(try await ShowSignInCode.code(of: asked.id, in: scene.browser, ports: scene.world.ports) == nil)
        try await scene.decide(asked, .approved(.confirm, number: nil))
        guard case .finished(let finished) = try await scene.finish(asked),
            case .redeemed(let redeemed) = try await scene.redeem(finished.code)
        else { throw World.Broken("finish") }
        #expect(redeemed.family.user == scene.user && redeemed.family.authentication.methods.contains("mca"))
        // From now on, the number reaches the phone from this browser.
        #expect(try await scene.isAsked())
    }

    @Test("A code is scanned only by users of the client; who declines leaves the sign-in open")
    func scansRefused() async throws {
        let scene = try await SignInScene()
        let other = try await scene.world.makeClient("Other", waives: true).client
        let stranger = try await scene.world.makeUser("stranger", of: other)
        let device = try await scene.world.makeDevice(of: stranger, by: other)
        let asked = try await scene.askedByCode()
        #expect(try await scene.scan(asked, with: device) == .userNotLinked)
        #expect(try await scene.scan(asked) == .claimed)
        try await scene.decide(asked, .denied)
        #expect(try await scene.finish(asked) == .notReady)
        // The same sign-in shows another code; the earlier one is worth nothing.
        let again = try await scene.askedByCode(again: asked.id)
        #expect(again.id == asked.id && again.ask?.challenge != asked.ask?.challenge)
        #expect(try await scene.scan(again) == .claimed)
        try await scene.decide(again, .approved(.confirm, number: nil))
        guard case .finished = try await scene.finish(again) else { throw World.Broken("finish") }
    }

    @Test("The ways that are offered depend on the browser and the client's settings, and not on who exists")
    func ways() async throws {
        let scene = try await SignInScene(asking: .known)
        func ways(_ name: String) async throws -> OfferWays.Outcome {
            try await OfferWays.ways(for: try scene.wanted(name), in: scene.browser, ports: scene.world.ports)
        }
        #expect(try await ways("customer-1") == .ways([.qr]))
        #expect(try await ways("nobody") == .ways([.qr]))
        let asked = try await scene.askedByCode()
        _ = try await scene.scan(asked)
        try await scene.decide(asked, .approved(.confirm, number: nil))
        guard case .finished = try await scene.finish(asked) else { throw World.Broken("finish") }
        #expect(try await ways("customer-1") == .ways([.device, .qr]))
        #expect(try await ways("nobody") == .ways([.qr]))
        try await scene.set(asking: .all)
        #expect(try await ways("nobody") == .ways([.device, .qr]))
    }

    @Test("The person begins again in another tab: only the newest number counts, and it reaches the phone")
    func otherTab() async throws {
        let scene = try await SignInScene()
        let first = try await scene.asked()
        let second = try await scene.asked()
        #expect(second.id != first.id)
        #expect(try await scene.isPut(second))
        let challenge = try #require(first.ask?.challenge)
        let earlier = try #require(try await scene.world.store.read { try $0.challenges.find(challenge) })
        #expect(earlier.state.status.state == "cancelled")
        try await scene.approve(second)
        guard case .finished = try await scene.finish(second) else { throw World.Broken("finish") }
    }

    @Test("In a browser that is theirs the person goes before whoever asks from another one")
    func goesBefore() async throws {
        let scene = try await SignInScene()
        _ = try await scene.signedIn()
        let two = try SignInScene.browser("two")
        #expect(try await scene.isAsked(in: two))
        let own = try await scene.asked()
        #expect(try await scene.isPut(own))
        // And not the other way round.
        #expect(try await !scene.isAsked(in: two))
        try await scene.approve(own)
        guard case .finished = try await scene.finish(own) else { throw World.Broken("finish") }
    }

    @Test("Cancelled after the approval, nothing is given; after the code it is too late to cancel")
    func cancelledLate() async throws {
        let scene = try await SignInScene()
        let asked = try await scene.asked()
        try await scene.approve(asked)
        #expect(try await CancelSignIn.cancel(asked.id, in: scene.browser, ports: scene.world.ports))
        #expect(try await scene.finish(asked) == .notReady)
        let other = try await scene.asked()
        try await scene.approve(other)
        guard case .finished(let finished) = try await scene.finish(other) else { throw World.Broken("finish") }
        #expect(try await !CancelSignIn.cancel(other.id, in: scene.browser, ports: scene.world.ports))
        guard case .redeemed = try await scene.redeem(finished.code) else { throw World.Broken("redeem") }
    }

    // Spec: OpenID Connect Core 1.0 §3.1.2.1.
    @Test("Somebody else than the client expects is not signed in")
    func otherPerson() async throws {
        let scene = try await SignInScene()
        let other = try await scene.world.makeUser("customer-2", of: scene.shop)
        var wanted = try scene.wanted()
        wanted.hint = .id(other)
        guard case .asked(let asked) = try await scene.ask(wanted, by: .device) else { throw World.Broken("sign-in") }
        try await scene.approve(asked)
        #expect(try await scene.finish(asked) == .otherPerson(asked.wanted))
        #expect(try await scene.finish(asked) == .notReady)
    }

    @Test("A session gives sixty codes a minute")
    func manyCodes() async throws {
        let scene = try await SignInScene()
        let secret = try #require(try await scene.signedIn().session).secret
        func goOn() async throws -> FinishSignIn.Outcome {
            try await FinishSignIn.goOn(
                try scene.wanted(), in: secret, browser: scene.browser, ports: scene.world.ports)
        }
        for _ in 0..<60 { guard case .finished = try await goOn() else { throw World.Broken("session") } }
        #expect(try await goOn() == .tooMany(retryAfter: 60))
        scene.world.time.advance(seconds: 60)
        guard case .finished = try await goOn() else { throw World.Broken("session") }
    }

    @Test("Between the code and the tokens, too, what ends a sign-in ends it, and leaves no row of who is deleted")
    func endsBetween() async throws {
        for ending in SignInScene.Ending.allCases {
            let scene = try await SignInScene()
            let asked = try await scene.askedByCode()
            _ = try await scene.scan(asked)
            try await scene.decide(asked, .approved(.confirm, number: nil))
            guard case .finished(let finished) = try await scene.finish(asked) else { throw World.Broken("finish") }
            try await scene.end(ending)
            let outcome = try await scene.redeem(finished.code)
            #expect(outcome == .invalid || outcome == .clientGone, "\(ending)")
            #expect(try await scene.world.count("token_families") == 0)
            if ending == .link {
                for table in ["authorizations", "sessions", "session_clients"] {
                    #expect(try await scene.world.count(table) == 0, "\(table)")
                }
            }
        }
    }

    @Test("A page that asks offers to go on as who was named there and has signed in since, and nobody else")
    func offer() async throws {
        let scene = try await SignInScene(profile: .web)
        let ports = scene.world.ports
        let waits = try await scene.asked()
        let stranger = try await scene.asked("customer-2", in: try SignInScene.browser("two"))
        var named = try scene.wanted()
        named.identifier = .externalID(try ExternalID("customer-2"))
        guard case .asked(let other) = try await scene.ask(named, by: .device) else { throw World.Broken("ask") }
        let scans = try await scene.askedByCode()
        scene.world.time.advance(seconds: 1)
        let secret = try #require(try await scene.signedIn().session).secret
        func isOffered(_ open: Authorization, by secret: Secret<String>) async throws -> Bool {
            try await FinishSignIn.offer(insteadOf: open, in: secret, browser: scene.browser, ports: ports) != nil
        }
        #expect(try await isOffered(waits, by: secret))
        #expect(try await isOffered(scans, by: secret))
        for open in [stranger, other] { #expect(try await !isOffered(open, by: secret)) }
        #expect(try await !isOffered(waits, by: Secret("x")))
        // Who asks once more in the tab has said that they do not go on.
        scene.world.time.advance(seconds: 1)
        let again = try await scene.asked(again: waits.id)
        #expect(try await !isOffered(again, by: secret))
        try await scene.suspend(true)
        #expect(try await !isOffered(waits, by: secret))
        try await scene.suspend(false)
        let back = try #require(try await scene.signedIn().session).secret
        #expect(try await isOffered(scans, by: back))
        // A page could not say as whom somebody goes on of whom the client knows no address.
        try await ports.commit(at: ports.time.now, as: .system) { [user = scene.user] work in
            for claim in try work.identifiers.claims(of: user) { try work.identifiers.delete(claim.id) }
        }
        #expect(try await !isOffered(scans, by: back))
    }

    @Test("A suspension ends the sessions that the device has opened; its refresh tokens give nothing until it is back")
    func suspended() async throws {
        let scene = try await SignInScene(profile: .web)
        let secret = try #require(try await scene.signedIn().session).secret
        let refresh = try await scene.offline().tokens.refresh
        func goOn() async throws -> FinishSignIn.Outcome {
            try await FinishSignIn.goOn(
                try scene.wanted(), in: secret, browser: scene.browser, ports: scene.world.ports)
        }
        // One that was suspended when sessions did not end by that.
        let (now, phone) = (scene.world.time.now, scene.device.enrollment)
        try await scene.world.store.commit { try $0.enrollments.suspend(phone, since: now) }
        #expect(try await goOn() == .notReady)
        try await scene.world.store.commit { try $0.enrollments.suspend(phone, since: nil) }
        guard case .finished = try await goOn() else { throw World.Broken("session") }
        try await scene.suspend(true)
        #expect(try await goOn() == .notReady)
        #expect(try await scene.refresh(refresh) == .invalid)
        try await scene.suspend(false)
        #expect(try await goOn() == .notReady)
        _ = try await scene.refreshed(refresh)
    }

    @Test("One sign-in of a person is asked at a time; a further one shows a number that nobody is asked for")
    func oneAtATime() async throws {
        let scene = try await SignInScene()
        let first = try await scene.asked()
        let second = try await scene.asked(in: try SignInScene.browser("two"))
        #expect(try await !scene.isPut(second))
        // The person cancels the first, and the second can ask.
        #expect(try await CancelSignIn.cancel(first.id, in: scene.browser, ports: scene.world.ports))
        #expect(try await scene.finish(first) == .notReady)
        let again = try await scene.asked(again: second.id, in: try SignInScene.browser("two"))
        #expect(try await scene.isPut(again))
    }

    @Test("In one browser a sign-in at another client takes the place of the first, and in another browser none does")
    func oneAtATimeAnywhere() async throws {
        let scene = try await SignInScene()
        let world = scene.world
        let other = try await world.makeClient("Other").client
        let party = RelyingParty(
            client: other.id, profile: .native, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))],
            askedBrowsers: .all)
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await world.link(scene.user, to: other)
        try await world.claim("customer-1", of: scene.user, by: other)
        let first = try await scene.asked()
        let wanted = try scene.wanted("customer-1", at: other)
        guard
            case .asked(let elsewhere) = try await scene.ask(wanted, by: .device, in: try SignInScene.browser("two")),
            case .asked(let here) = try await scene.ask(wanted, by: .device)
        else { throw World.Broken("ask") }
        #expect(try await !scene.isPut(elsewhere))
        #expect(try await scene.isPut(here))
        let challenge = try #require(first.ask?.challenge)
        let earlier = try #require(try await world.store.read { try $0.challenges.find(challenge) })
        #expect(earlier.state.status.state == "cancelled")
    }

    @Test("Asking again makes the earlier number worthless")
    func askedAgain() async throws {
        let scene = try await SignInScene()
        let first = try await scene.asked()
        let second = try await scene.asked(again: first.id)
        #expect(try await scene.isPut(second))
        let challenge = try #require(first.ask?.challenge)
        let earlier = try #require(try await scene.world.store.read { try $0.challenges.find(challenge) })
        #expect(earlier.state.status.state == "cancelled")
        try await scene.approve(second)
        guard case .finished = try await scene.finish(second) else { throw World.Broken("finish") }
    }

    @Test("Unknown browsers ask three times an hour together, known ones ten times")
    func budgets() async throws {
        let scene = try await SignInScene()
        func ask(_ name: String) async throws -> Bool {
            scene.world.time.advance(seconds: 121)
            return try await scene.isAsked(in: try SignInScene.browser(name))
        }
        for number in 0..<3 { #expect(try await ask("\(number)")) }
        #expect(try await !ask("3"))
        scene.world.time.advance(seconds: 3600)
        _ = try await scene.signedIn()
        for _ in 0..<10 { #expect(try await ask("one")) }
        #expect(try await !ask("one"))
        // Each budget is its own.
        scene.world.time.advance(seconds: 3600)
        #expect(try await ask("one"))
        #expect(try await ask("4"))
    }

    @Test("A network starts sixty sign-ins a minute, whoever they name")
    func network() async throws {
        let scene = try await SignInScene()
        for number in 0..<60 {
            guard case .asked = try await scene.ask("nobody-\(number)", network: [192, 0, 2, 1]) else {
                throw World.Broken("sign-in \(number)")
            }
        }
        #expect(try await scene.ask("customer-1", network: [192, 0, 2, 1]) == .tooMany(retryAfter: 60))
        guard case .asked = try await scene.ask("customer-1", network: [192, 0, 2, 2]) else {
            throw World.Broken("sign-in")
        }
    }

    @Test("A report of a sign-in keeps the client from nothing, and forgets the browser")
    func reported() async throws {
        let scene = try await SignInScene()
        _ = try await scene.signedIn()
        try await scene.set(asking: .known)
        let asked = try await scene.asked()
        try await scene.answer(asked) { _ in .reported }
        #expect(try await scene.world.store.read { try $0.askingLocks.list(after: nil, limit: 10) }.isEmpty)
        try await scene.world.makeType()
        _ = try await scene.world.ask(try scene.world.request(for: scene.user), by: scene.shop)
        // Devices are not asked any more from the browser that was reported.
        #expect(try await !scene.isAsked(again: asked.id))
    }

    // Spec: docs/decisions/0072-signing-in.md.
    @Test("For a day after a report no unknown browser has devices asked; known ones do, and codes to scan are taken")
    func reportLocksStrangers() async throws {
        let scene = try await SignInScene()
        _ = try await scene.signedIn()
        let stranger = try SignInScene.browser("stranger")
        let asked = try await scene.asked(in: stranger)
        #expect(try await scene.isPut(asked))
        try await scene.answer(asked) { _ in .reported }
        scene.world.time.advance(seconds: 121)
        for name in ["stranger", "another"] {
            #expect(try await !scene.isAsked(in: try SignInScene.browser(name)), "\(name)")
        }
        #expect(try await scene.isAsked(), "the browser in which the person has signed in")
        guard case .claimed = try await scene.scan(try await scene.askedByCode()) else { throw World.Broken("scan") }
        scene.world.time.advance(seconds: 86_400)
        #expect(try await scene.isAsked(in: try SignInScene.browser("another")))
    }

    // Spec: OpenID Connect Core 1.0 §3.1.2.1.
    @Test("A page left open after the approval gives nothing older than the client allows", arguments: [60, 61])
    func leftOpen(_ seconds: Int64) async throws {
        let scene = try await SignInScene()
        var wanted = try scene.wanted()
        wanted.maximumAge = 0
        guard case .asked(let asked) = try await scene.ask(wanted, by: .device) else { throw World.Broken("asked") }
        try await scene.approve(asked)
        scene.world.time.advance(seconds: seconds)
        switch try await scene.finish(asked) {
        case .finished: #expect(seconds == 60)
        case let outcome: #expect(outcome == .notReady && seconds == 61)
        }
    }

    // Spec: NIST SP 800-63B-4 §2.1.3 and §2.2.3.
    @Test("A session goes on without asking, as old as the client allows, for the person whom it expects")
    func session() async throws {
        let scene = try await SignInScene()
        let secret = try #require(try await scene.signedIn().session).secret
        func goOn(_ change: (inout Wanted) throws -> Void = { _ in }) async throws -> FinishSignIn.Outcome {
            var wanted = try scene.wanted()
            try change(&wanted)
            return try await FinishSignIn.goOn(wanted, in: secret, browser: scene.browser, ports: scene.world.ports)
        }
        guard case .finished(let finished) = try await goOn() else { throw World.Broken("session") }
        #expect(finished.session == nil)
        guard case .redeemed(let redeemed) = try await scene.redeem(finished.code) else { throw World.Broken("redeem") }
        #expect(redeemed.family.authentication.at == scene.world.time.now)
        #expect(try await goOn { $0.isFresh = true } == .notReady)
        #expect(try await goOn { $0.hint = .id(scene.world.newID()) } == .notReady)
        guard case .finished = try await goOn({ $0.hint = .id(scene.user) }) else { throw World.Broken("hint") }
        scene.world.time.advance(seconds: 61)
        #expect(try await goOn { $0.maximumAge = 60 } == .notReady)
        guard case .finished = try await goOn({ $0.maximumAge = 61 }) else { throw World.Broken("age") }
        // Twelve hours without use end it.
        scene.world.time.advance(seconds: 12 * 3600)
        #expect(try await goOn() == .notReady)
    }

    @Test("A removed device ends the sessions and tokens that it opened", arguments: SignInScene.Ending.allCases)
    func ends(_ ending: SignInScene.Ending) async throws {
        let scene = try await SignInScene()
        let world = scene.world
        let finished = try await scene.signedIn()
        let secret = try #require(finished.session).secret
        guard case .redeemed(let redeemed) = try await scene.redeem(finished.code) else { throw World.Broken("redeem") }
        let tokens = try await SignTokens.sign(redeemed, ports: world.ports)
        let asked = try await scene.asked()
        try await scene.approve(asked)
        #expect(try await scene.isGood(tokens))
        try await scene.end(ending)
        #expect(try await !scene.isGood(tokens))
        let goOn = try await FinishSignIn.goOn(
            try scene.wanted(), in: secret, browser: scene.browser, ports: world.ports)
        #expect(goOn == .notReady || goOn == .clientGone)
        // What was approved before is not given afterwards.
        let finish = try await scene.finish(asked)
        #expect(finish == .notReady || finish == .clientGone)
    }

}
