import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A client's server names a person, whose phone is asked")
struct BackchannelTests {
    // Spec: CIBA Core 1.0 §7.3, §10.1, §11.
    @Test(
        "CIBA Core 1.0 §10.1: nothing until the person has approved by the number, then tokens, once",
        arguments: Engine.allCases)
    func approved(_ engine: Engine) async throws {
        let scene = try await BackchannelScene(engine)
        let begun = try await scene.begin()
        #expect(begun.expiresIn == 120 && begun.interval == 5 && begun.number != nil)
        // Spec: CIBA Core 1.0 §7.3.
        #expect(begun.authRequestID.reveal().wholeMatch(of: /[A-Za-z0-9._-]{60,}/) != nil)
        #expect(try await scene.poll(begun, after: 0) == .pending(interval: 5))
        let asked = try await scene.signIn(begun)
        #expect(begun.number == asked.ask?.number)
        try await scene.approve(begun)
        let given = try await scene.tokens(begun)
        #expect(given.family.user == scene.user && given.family.session == nil && given.isIdentified)
        #expect(given.family.authentication.methods == ["swk", "user", "mca"] && given.pushed == nil)
        let stored = try await scene.world.store.read { try $0.families.find(given.family.id) }
        #expect(stored == given.family && stored?.origin == .backchannel && stored?.isDeviceGrant == false)
        let tokens = try await SignTokens.sign(given, ports: scene.world.ports)
        #expect(try await scene.shop.isGood(tokens))
        // One that comes again was somebody else's, too.
        #expect(try await scene.poll(begun, after: 0) == .invalid)
        #expect(try await !scene.shop.isGood(tokens))
    }

    // Spec: CIBA Core 1.0 §11, §14.
    @Test("Somebody whom nobody knows looks the same: the same reply, and no answer until the end")
    func unknown() async throws {
        let scene = try await BackchannelScene()
        let stranger: UserID = ID(at: Timestamp(milliseconds: 1), random: [UInt8](repeating: 9, count: 10))
        let hints: [BeginBackchannel.Hint] = [
            .name("nobody@example.com"), .name("external_id:nobody"), .name("no name at all"), .user(stranger),
        ]
        for hint in hints {
            let begun = try await scene.begin(scene.request(for: hint))
            #expect(begun.number != nil && begun.expiresIn == 120 && begun.interval == 5)
            #expect(try await !scene.isPut(begun))
            #expect(try await scene.poll(begun) == .pending(interval: 5))
            #expect(try await scene.poll(begun, after: 115) == .expired)
        }
    }

    // Spec: docs/decisions/0092-ciba.md.
    @Test(
        "The client's own API has no question about a sign-in, by whichever door, nor a gap for it; operators have",
        arguments: Engine.allCases)
    func notListed(_ engine: Engine) async throws {
        let scene = try await BackchannelScene(engine)
        let (world, shop, user) = (scene.world, scene.shop.shop, scene.user)
        let ports = world.ports
        try await world.makeType()
        _ = try await scene.shop.device.setPIN()
        let own = try await world.ask(try world.request(for: user), by: shop).challenge.id
        let begun = try await scene.begin()
        guard
            case .asked(let byDevice) = try await AskOwnSignIn.ask(
                at: scene.client, by: try await scene.shop.device.call(), ports: ports)
        else { throw World.Broken("own sign-in") }
        var asked = [try await scene.signIn(begun), try await scene.shop.asked()]
        for _ in 0..<Listing.pageSize { asked.append(try await scene.shop.askedByCode()) }
        let hidden = try asked.map { try #require($0.ask?.challenge) }
        func list(_ scope: ListScope, of named: UserID? = nil) async throws -> Page<Challenge> {
            var filter = ListChallenges.Filter()
            filter.user = named
            return try await ListChallenges.list(filter, in: scope, cursor: nil, ports: ports).get()
        }
        for named in [nil, user] {
            let page = try await list(.client(shop.id), of: named)
            #expect(page.elements.map(\.id) == [own] && page.cursor == nil)
        }
        #expect(try await list(.all).cursor != nil)
        let ofUser = try await list(.all, of: user).elements.map(\.id)
        #expect(Set(ofUser) == [own, byDevice, hidden[0], hidden[1]])
        for id in [byDevice, hidden[0], hidden[1], hidden[2]] {
            #expect(try await WatchChallenge.challenge(id, for: shop.credential, ports: ports) == .notFound)
            #expect(try await CancelChallenge.cancel(id, by: shop.caller, ports: ports) == .notFound)
            #expect(try await ResendChallenge.resend(id, by: shop.caller, ports: ports) == .notFound)
            #expect(try await ShowCode.code(of: id, to: shop.caller, ports: ports) == .notFound)
        }
        // The page has not told of the no, and the receipt does not either.
        try await scene.shop.answer(asked[1]) { _ in .denied }
        /// The receipts in a client's export, or in an operator's.
        func receipts(in scope: ListScope) async throws -> [ChallengeID] {
            let exporting = try await ExportUser.begin(.id(user), in: scope, by: shop.caller, ports: ports)
            var export = try #require(exporting.export)
            var found: [ChallengeID] = []
            while let parts = try await export.next(ports: ports) {
                for part in parts {
                    if case .receipt(let receipt) = part { found.append(receipt.challenge) }
                    guard case .client = scope else { continue }
                    if case .challenge(let challenge) = part { #expect(challenge.id == own) }
                    guard case .event(let event) = part, event.kind != .signedIn else { continue }
                    #expect(event.challenge == nil || event.challenge == own)
                }
            }
            return found
        }
        #expect(try await receipts(in: .client(shop.id)).isEmpty)
        #expect(try await receipts(in: .all) == [hidden[1]])
        try await scene.approve(begun)
        _ = try await scene.tokens(begun)
        #expect(try await receipts(in: .client(shop.id)) == [hidden[0]])
        let reported = try await scene.signIn(try await scene.begin())
        try await scene.shop.answer(reported) { _ in .reported }
        let report = try #require(reported.ask?.challenge)
        #expect(try await EndLock.end(report, by: .system, ports: ports) == .ended)
        #expect(try await receipts(in: .client(shop.id)) == [hidden[0]])
        // Nor when the challenges are kept no longer.
        world.time.advance(seconds: 100 * 86_400)
        #expect(try await SweepKept.sweep(Retention(), ports: ports) > 2)
        for id in [hidden[0], hidden[1], report] {
            #expect(try await world.store.read { try $0.challenges.find(id) } == nil)
        }
        #expect(try await receipts(in: .client(shop.id)) == [hidden[0]])
        #expect(Set(try await receipts(in: .all)) == [hidden[0], hidden[1], report])
    }

    @Test(
        "A client's export hides a sign-in also in events that do not say it, as those of earlier versions do not",
        arguments: Engine.allCases)
    func notListedBefore(_ engine: Engine) async throws {
        let scene = try await BackchannelScene(engine)
        let (world, shop) = (scene.world, scene.shop)
        try await world.makeType()
        /// Asks for the shop itself, and in a sign-in, and both are denied.
        func denied() async throws -> (own: ChallengeID, signIn: ChallengeID) {
            let own = try await world.ask(try world.request(for: scene.user), by: shop.shop)
            _ = try await shop.device.answer(own, .denied)
            let asked = try await scene.signIn(try await scene.begin())
            try await shop.answer(asked) { _ in .denied }
            return (own.challenge.id, try #require(asked.ask?.challenge))
        }
        /// The challenges in a client's export, by its events and by its receipts.
        func exported() async throws -> (events: Set<ChallengeID>, receipts: Set<ChallengeID>) {
            let exporting = try await ExportUser.begin(
                .id(scene.user), in: .client(shop.shop.id), by: shop.shop.caller, ports: world.ports)
            var export = try #require(exporting.export)
            var (events, receipts): (Set<ChallengeID>, Set<ChallengeID>) = ([], [])
            while let parts = try await export.next(ports: world.ports) {
                for part in parts {
                    if case .event(let event) = part, let id = event.challenge { events.insert(id) }
                    if case .receipt(let receipt) = part { receipts.insert(receipt.challenge) }
                }
            }
            return (events, receipts)
        }
        let earlier = try await denied()
        try await world.sql("UPDATE audit SET detail = '{}' WHERE challenge_id IS NOT NULL")
        let later = try await denied()
        var seen = try await exported()
        #expect(seen.events == [earlier.own, later.own] && seen.receipts == [earlier.own, later.own])
        // When the challenges are kept no longer, nobody knows of the earlier ones.
        world.time.advance(seconds: 100 * 86_400)
        #expect(try await SweepKept.sweep(Retention(), ports: world.ports) > 2)
        #expect(try await world.store.read { try $0.challenges.find(earlier.own) } == nil)
        seen = try await exported()
        #expect(seen.events == [later.own] && seen.receipts == [later.own])
    }

    // Spec: CIBA Core 1.0 §7.1.
    @Test("The person is named by an address, by the client's own name, or by an ID token")
    func hints() async throws {
        let scene = try await BackchannelScene()
        for hint in [.name("external_id:customer-1"), .user(scene.user)] as [BeginBackchannel.Hint] {
            let begun = try await scene.begin(scene.request(for: hint))
            #expect(try await scene.isPut(begun))
            try await scene.approve(begun)
            #expect(try await scene.tokens(begun).family.user == scene.user)
        }
    }

    // Spec: CIBA Core 1.0 §7.1, §8.
    @Test("What the client says stands on the phone as it is, and else the text of the type")
    func message() async throws {
        let scene = try await BackchannelScene()
        func question(_ message: String?) async throws -> String {
            let text = try message.map { try DisplayMessage($0) }
            let begun = try await scene.begin(scene.request { $0.message = text })
            let challenge = try #require(try await scene.signIn(begun).ask?.challenge)
            return try #require(try await scene.world.store.read { try $0.challenges.find(challenge) })
                .question.message.text
        }
        #expect(try await question("Pay 12,00 € · W4SCT") == "Pay 12,00 € · W4SCT")
        #expect(try await question(nil) == "Sign in to \(scene.shop.shop.name.text)?")
    }

    // Spec: CIBA Core 1.0 §11.
    @Test("CIBA Core 1.0 §11: a denial and a report are access_denied alike", arguments: [Decision.denied, .reported])
    func denied(_ decision: Decision) async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin()
        try await scene.shop.answer(try await scene.signIn(begun)) { _ in decision }
        #expect(try await scene.poll(begun) == .denied)
        #expect(try await scene.poll(begun, after: 0) == .denied)
    }

    @Test("After a report the client has this person asked no more, and pages still do")
    func reported() async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin()
        try await scene.shop.answer(try await scene.signIn(begun)) { _ in .reported }
        scene.world.time.advance(.days(2))
        let again = try await scene.begin()
        #expect(try await !scene.isPut(again) && again.number != nil)
        #expect(try await scene.shop.isAsked())
        let locks = try await scene.world.store.read { try $0.askingLocks.list(after: nil, limit: 10) }
        #expect(locks.map(\.client) == [scene.client] && locks.map(\.user) == [scene.user])
        let challenge = try #require(locks.first?.challenge)
        _ = try await EndLock.end(challenge, by: .system, ports: scene.world.ports)
        #expect(try await scene.isPut(try await scene.begin()))
    }

    // Spec: CIBA Core 1.0 §7.1, §11.
    @Test("Until the last second, and not in the next one; no longer than the type, whatever is asked for")
    func expires() async throws {
        let scene = try await BackchannelScene()
        let short = try await scene.begin(scene.request { $0.lifetime = 30 })
        #expect(short.expiresIn == 30)
        try await scene.approve(short)
        #expect(try await scene.poll(short, after: 30) == .expired)
        let long = try await scene.begin(scene.request { $0.lifetime = 3600 })
        #expect(long.expiresIn == 120)
        #expect(try await scene.poll(long, after: 119) == .pending(interval: 5))
        #expect(try await scene.poll(long, after: 1) == .expired)
    }

    // Spec: CIBA Core 1.0 §11.
    @Test("CIBA Core 1.0 §11: slow_down, five seconds more each time, also once the person has approved")
    func slowDown() async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin()
        #expect(try await scene.poll(begun, after: 0) == .pending(interval: 5))
        #expect(try await scene.poll(begun, after: 4) == .slowDown(interval: 10))
        try await scene.approve(begun)
        #expect(try await scene.poll(begun, after: 9) == .slowDown(interval: 15))
        guard case .redeemed = try await scene.poll(begun, after: 15) else { throw World.Broken("tokens") }
    }

    // Spec: CIBA Core 1.0 §10.1, §11.
    @Test("The request of another client, a device's code, or one that somebody has made up, is none")
    func otherClient() async throws {
        let scene = try await BackchannelScene()
        let other = try await scene.world.makeClient("Other").client
        try await scene.set(.poll, for: other)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        #expect(try await scene.poll(begun, by: other.id) == .invalid)
        let text = begun.authRequestID.reveal()
        let id = try scene.id(begun)
        for made in ["", "x", "\(text)x", "\(id).", scene.world.ports.hasher.deviceCode(of: id).reveal()] {
            let request = RedeemDecision.Request(.authRequest(Secret(made)), by: scene.client)
            #expect(try await RedeemDecision.redeem(request, ports: scene.world.ports) == .invalid, "\(made)")
        }
        let page = try await scene.shop.asked()
        let forged = RedeemDecision.Request(
            .authRequest(scene.world.ports.hasher.authRequestID(of: page.id)), by: scene.client)
        #expect(try await RedeemDecision.redeem(forged, ports: scene.world.ports) == .invalid)
        _ = try await scene.tokens(begun)
    }

    @Test("Of two polls at once, one gets the tokens, and they stay good")
    func twoPolls() async throws {
        let scene = try await BackchannelScene(.chosen)
        let begun = try await scene.begin()
        try await scene.shop.expectTokensOnce(.authRequest(begun.authRequestID), of: try await scene.signIn(begun))
    }

    @Test("Whatever ends a sign-in also ends one that is not fetched", arguments: SignInScene.Ending.allCases)
    func ended(_ ending: SignInScene.Ending) async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin()
        try await scene.approve(begun)
        try await scene.shop.end(ending)
        #expect(try await scene.poll(begun) == ending.polled)
    }

    // Spec: RFC 7009 §2.
    @Test("A client that gives up ends the question: a later yes is told that it came too late")
    func cancelled() async throws {
        let scene = try await BackchannelScene()
        let ports = scene.world.ports
        let other = try await scene.world.makeClient("Other").client
        let begun = try await scene.begin()
        let asked = try await scene.signIn(begun)
        #expect(try await CancelDeviceGrant.cancel(begun.authRequestID, by: other.id, ports: ports) == .notYours)
        try await scene.shop.expectCancelled(begun.authRequestID, of: asked)
        #expect(try await scene.poll(begun) == .denied)
    }

    @Test("Only a client whose settings say so asks, and what was asked before gives nothing afterwards")
    func off() async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin()
        try await scene.set(nil)
        #expect(try await scene.poll(begun) == .clientGone)
        guard case .off = try await scene.outcome(scene.request()) else { throw World.Broken("off") }
        try await scene.set(BackchannelScene.push)
        // Spec: CIBA Core 1.0 §11.
        #expect(try await scene.poll(begun) == .clientGone)
    }

    // Modules: -refresh-token
    // Spec: CIBA Core 1.0 §7.1.
    @Test("Without openid there is nothing; a refresh token is given, and the right to enroll is not")
    func scopes() async throws {
        let scene = try await BackchannelScene()
        for scopes in [[], ["email"], ["offline_access", "enroll"]] {
            guard case .openIDMissing = try await scene.outcome(scene.request { $0.scopes = scopes }) else {
                throw World.Broken("\(scopes)")
            }
        }
        let all = ["openid", "offline_access", "enroll"]
        let begun = try await scene.begin(scene.request { $0.scopes = all })
        try await scene.approve(begun)
        let given = try await scene.tokens(begun)
        #expect(Set(given.family.scopes) == ["openid", "offline_access"] && given.family.isOffline)
        let tokens = try await SignTokens.sign(given, ports: scene.world.ports)
        guard case .refreshed = try await scene.shop.refresh(tokens.refresh) else { throw World.Broken("refresh") }
    }

    // Spec: CIBA Core 1.0 §7.1; RFC 6750 §2.1.
    @Test("A client that is told of decisions says by what it knows us, in the form of a bearer token")
    func notificationTokens() async throws {
        let good = ["x", "a-._~+/09Z", "ab==", String(repeating: "t", count: 1024)]
        for text in good { #expect(NotificationToken(text)?.text.reveal() == text, "\(text)") }
        let bad = ["", "=", "a b", "a=b", "a\n", "ä", "a,", "\"a\"", String(repeating: "t", count: 1025)]
        for text in bad { #expect(NotificationToken(text) == nil, "\(text)") }
        for delivery in [BackchannelScene.ping, BackchannelScene.push] {
            let scene = try await BackchannelScene(.sqlite, delivery)
            guard case .notificationTokenMissing = try await scene.outcome(scene.request { $0.notificationToken = nil })
            else { throw World.Broken("no token") }
        }
        let scene = try await BackchannelScene()
        _ = try await scene.begin(scene.request { $0.notificationToken = nil })
    }

    @Test("A third party has nobody asked for more than they have allowed it")
    func thirdParty() async throws {
        let scene = try await BackchannelScene(isThirdParty: true)
        let asked = try await scene.shop.asked()
        try await scene.shop.approve(asked)
        guard case .finished = try await scene.shop.finishAllowing(asked) else { throw World.Broken("finish") }
        let more = try await scene.begin(scene.request { $0.scopes = ["openid", "email"] })
        #expect(try await !scene.isPut(more))
        let same = try await scene.begin()
        #expect(try await scene.isPut(same))
        try await scene.approve(same)
        // What they have allowed ends before the server fetches its tokens.
        let (user, client) = (scene.user, scene.client)
        try await scene.world.store.commit { try $0.grants.deleteGrant(of: user, for: client) }
        #expect(try await scene.poll(same) == .invalid)
    }

    // Spec: NIST SP 800-63B-4 §3.1.3.2, OWASP ASVS 6.6.4.
    @Test("Ten questions an hour since the last yes, and three at a time; pages have their own")
    func budget() async throws {
        let scene = try await BackchannelScene()
        var open: [BeginBackchannel.Begun] = []
        for _ in 0..<3 {
            let begun = try await scene.begin()
            #expect(try await scene.isPut(begun))
            open.append(begun)
        }
        #expect(try await !scene.isPut(try await scene.begin()))
        #expect(try await scene.shop.isAsked())
        try await scene.approve(open[0])
        // The yes counts anew.
        scene.world.time.advance(seconds: 120)
        for number in 0..<11 {
            let begun = try await scene.begin()
            #expect(try await scene.isPut(begun) == (number < 10), "\(number)")
            scene.world.time.advance(seconds: 120)
        }
        scene.world.time.advance(.hours(1))
        #expect(try await scene.isPut(try await scene.begin()))
    }

    // Spec: NIST SP 800-63B-4 §3.1.3.2, OWASP ASVS 6.6.4.
    @Test("Thirty questions a day, however often the person says yes, over all first parties")
    func budgetOfDay() async throws {
        let scene = try await BackchannelScene()
        let other = try await scene.world.makeClient("Other").client
        try await scene.world.link(scene.user, to: other)
        try await scene.set(.poll, for: other)
        for number in 0..<30 {
            let begun = try await scene.begin()
            #expect(try await scene.isPut(begun), "\(number)")
            try await scene.approve(begun)
        }
        for client in [scene.client, other.id] {
            var request = BeginBackchannel.Request(by: client, for: .user(scene.user))
            request.scopes = ["openid"]
            #expect(try await !scene.isPut(try await scene.begin(request)))
        }
        // Pages have their own, and the next day its thirty.
        #expect(try await scene.shop.isAsked())
        scene.world.time.advance(.days(1))
        for client in [scene.client, other.id] {
            var request = BeginBackchannel.Request(by: client, for: .user(scene.user))
            request.scopes = ["openid"]
            #expect(try await scene.isPut(try await scene.begin(request)))
        }
    }

    @Test("What no device of the person's can answer uses up nothing of what others may ask")
    func nothingUsedUp() async throws {
        let scene = try await BackchannelScene()
        try await scene.shop.suspend(true)
        for _ in 0..<12 { #expect(try await !scene.isPut(try await scene.begin())) }
        try await scene.shop.suspend(false)
        #expect(try await scene.isPut(try await scene.begin()))
    }

    @Test("A client begins as many as it may, whoever they name")
    func limits() async throws {
        let scene = try await BackchannelScene()
        let (client, now) = (scene.client, scene.world.time.now)
        try await scene.world.ports.commit(at: now, as: .system) { work in
            for _ in 0..<600 { _ = try work.count(.backchannelRequests(of: client, maximum: 600)) }
        }
        guard case .tooMany(let wait) = try await scene.outcome(scene.request(for: .name("nobody"))) else {
            throw World.Broken("begun")
        }
        #expect((1...60).contains(wait.value))
        scene.world.time.advance(seconds: 60)
        _ = try await scene.begin()
    }

    // Spec: CIBA Core 1.0 §7.1; NIST SP 800-63B-4 §3.1.3.
    @Test("A client that shows no number asks by a type without one, and the proof says so")
    func types() async throws {
        let scene = try await BackchannelScene()
        let tap = try await scene.tap()
        try await scene.set(.poll, type: tap)
        let begun = try await scene.begin()
        #expect(begun.number == nil)
        try await scene.shop.answer(try await scene.signIn(begun)) { _ in .approved(.confirm, number: nil) }
        let authentication = try await scene.tokens(begun).family.authentication
        #expect(authentication.methods == ["swk", "user"] && authentication.strength == .device)
        // A type with a number cannot be asked by so, nor one that is not there.
        for name in [TypeName.confirm, try #require(TypeName("nothing"))] {
            let party = RelyingParty(
                client: scene.client, profile: .web, redirectURIs: [],
                backchannel: RelyingParty.Backchannel(delivery: .poll, type: name))
            let outcome = try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports)
            #expect(outcome == .backchannelTypeNotUsable)
        }
    }

    @Test("The audit says that a server has asked")
    func audited() async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin()
        try await scene.approve(begun)
        _ = try await scene.tokens(begun)
        let events = try await scene.world.audit().filter { $0.kind == .signedIn }
        #expect(events.map { $0.detail["door"] } == ["backchannel"])
        #expect(events.map { $0.detail["fresh"] } == [true])
    }

    // Spec: FAPI-CIBA §5.2.2.
    @Test("A strict client that shows no number says by binding_message which request it is")
    func strict() async throws {
        let scene = try await BackchannelScene()
        let keys = JWKSet([JWK(P256.Signing.PrivateKey().publicKey)]).json
        let (tap, message) = (try await scene.tap(), try DisplayMessage("W4SCT"))
        for (type, isNeeded) in [(tap, true), (nil, false)] as [(TypeName?, Bool)] {
            let party = RelyingParty(
                client: scene.client, profile: .strict, redirectURIs: [], keySet: keys,
                backchannel: RelyingParty.Backchannel(delivery: .poll, type: type, algorithm: .es256))
            #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
            let outcome = try await scene.outcome(scene.request())
            let isMissing = if case .messageMissing = outcome { true } else { false }
            #expect(isMissing == isNeeded, "\(outcome)")
            _ = try await scene.begin(scene.request { $0.message = message })
        }
    }

    @Test("A number that is shown must be typed, also where the type has lost it since")
    func loosenedType() async throws {
        let scene = try await BackchannelScene()
        try await scene.world.store.commit { try $0.types.put(ChallengeType(name: .confirm, numberEntry: false)) }
        for asked in [try await scene.signIn(try await scene.begin()), try await scene.shop.asked()] {
            let id = try #require(asked.ask?.challenge)
            let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
            #expect(challenge.numberHash != nil)
        }
    }

    @Test("Nobody is asked for a number that nobody shows, since the client or its type has got it only now")
    func numberUnseen() async throws {
        let scene = try await BackchannelScene()
        let tap = try await scene.tap()
        for isOfType in [false, true] {
            try await scene.set(.poll, type: tap)
            let begun = try await scene.shop.begin(scene.request())
            #expect(begun.number == nil)
            if isOfType {
                try await scene.world.store.commit { try $0.types.put(ChallengeType(name: tap, numberEntry: true)) }
            } else {
                try await scene.set(.poll)
            }
            try await scene.shop.put(try await scene.signIn(begun))
            #expect(try await !scene.isPut(begun))
            #expect(try await scene.poll(begun) == .pending(interval: 5))
        }
    }

    // Spec: CIBA Core 1.0 §7.1.
    @Test("acr_values: where a stronger type is wanted, and no phone can answer it, the usual one asks")
    func strength() async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin(scene.request { $0.strength = .twoFactors })
        #expect(try await scene.isPut(begun))
        try await scene.approve(begun)
        #expect(try await scene.tokens(begun).family.authentication.strength == .device)
    }

    // Spec: RFC 9449 §5; CIBA Core 1.0 §5.
    @Test("Who proves a key when it asks gets tokens by this key alone")
    func bound() async throws {
        let scene = try await BackchannelScene()
        let prover = Prover(scene.world)
        let key = try await prover.proved()
        let begun = try await scene.begin(scene.request { $0.key = key })
        try await scene.approve(begun)
        #expect(try await scene.poll(begun) == .invalid)
        #expect(try await scene.poll(begun, with: try await Prover(scene.world).proved()) == .invalid)
        let again = try await prover.proved()
        guard case .redeemed(let given) = try await scene.poll(begun, after: 5, with: again) else {
            throw World.Broken("redeem")
        }
        #expect(given.keyThumbprint == prover.binding && given.family.keyThumbprint == prover.binding)
    }

    // Spec: RFC 8705 §6.1.
    @Test("RFC 8705 §6.1: a certificate that is renewed before the tokens are fetched ends nothing, and they have it")
    func renewedCertificate() async throws {
        let scene = try await BackchannelScene()
        let (old, new) = (
            ProvedKey(ClientCertificate([1], isVerified: true)), ProvedKey(ClientCertificate([2], isVerified: true))
        )
        let begun = try await scene.begin(scene.request { $0.key = old })
        try await scene.approve(begun)
        guard case .redeemed(let given) = try await scene.poll(begun, with: new) else { throw World.Broken("redeem") }
        #expect(given.keyThumbprint == new.thumbprint && given.family.keyThumbprint == new.thumbprint)
    }

    @Test(
        "A held poll gives nothing to a client that is registered anew after it has authenticated; the next poll does",
        arguments: ["never", "before the wait", "meanwhile"])
    func registeredAnew(when: String) async throws {
        let scene = try await BackchannelScene(.chosen)
        let (world, node) = (scene.world, try await scene.world.reopened())
        try await node.store.refreshKeys()
        let certificate = ClientCertificate([1], isVerified: false)
        let party = RelyingParty(
            client: scene.client, profile: .web,
            redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], askedBrowsers: .all,
            certificate: .thumbprints([certificate.thumbprint]),
            backchannel: RelyingParty.Backchannel(delivery: .poll))
        /// The client gives up its secret, by which it has authenticated.
        @Sendable func change() async throws {
            #expect(try await SetRelyingParty.set(party, by: .system, ports: node.ports) == .set(party))
        }
        let begun = try await scene.begin()
        let deadline = world.time.now.adding(seconds: 20)
        let meanwhile = Meanwhile {
            if when == "meanwhile" { try await change() }
            try await scene.approve(begun)
            world.time.set(deadline)
        }
        let request = try await scene.shop.redemption(.authRequest(begun.authRequestID))
        if when == "before the wait" { try await change() }
        let held = try await scene.shop.waiting(request, changes: meanwhile)
            .outcome(until: deadline, ports: world.ports)
        guard when != "never" else {
            guard case .redeemed = held else { throw World.Broken("\(held)") }
            return
        }
        #expect(held == .pending(interval: 5))
        _ = try await scene.tokens(begun)
    }

    @Test("A held poll ends with its client", arguments: [SignInScene.Ending.clientDisabled, .settings])
    func heldByClientThatIsGone(_ ending: SignInScene.Ending) async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin()
        let request = try await scene.shop.redemption(.authRequest(begun.authRequestID))
        let wait = try await scene.shop.waiting(request, changes: Meanwhile { try await scene.shop.end(ending) })
        let deadline = scene.world.time.now.adding(seconds: 20)
        #expect(try await wait.outcome(until: deadline, ports: scene.world.ports) == .clientGone)
    }

    @Test("RFC 9449 §11.1: a proof that has begun a request begins no other")
    func replayed() async throws {
        let scene = try await BackchannelScene()
        let key = try await Prover(scene.world).proved()
        _ = try await scene.begin(scene.request { $0.key = key })
        guard case .unproved(.replayed) = try await scene.outcome(scene.request { $0.key = key }) else {
            throw World.Broken("begun")
        }
    }

    @Test("No page goes on with it, and no browser gets a code by it")
    func otherWays() async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin()
        let asked = try await scene.signIn(begun)
        #expect(try await scene.shop.progress(of: asked) == .notFound)
        try await scene.approve(begun)
        #expect(try await scene.shop.finish(try await scene.signIn(begun)) == .notReady)
        _ = try await scene.tokens(begun)
    }

    @Test("What it wants is the same after its row")
    func stored() throws {
        let client: ClientID = ID(at: Timestamp(milliseconds: 1), random: [UInt8](repeating: 1, count: 10))
        var wanted = Wanted(client: client, redirectURI: "", scopes: ["openid"])
        wanted.door = .backchannel(
            AskingServer(
                message: try DisplayMessage("Pay 5 €"),
                context: ContextLine(address: "203.0.113.7", userAgent: "curl/8"),
                notificationToken: NotificationToken("abc")))
        wanted.hint = .id(ID(at: Timestamp(milliseconds: 1), random: [UInt8](repeating: 2, count: 10)))
        #expect(Wanted(wanted.json) == wanted)
        wanted.door = .backchannel(AskingServer(showsNumber: false, isPush: true))
        #expect(Wanted(wanted.json) == wanted && wanted.device == nil)
        var json = wanted.json.object ?? JSONObject()
        json["backchannel"] = "x"
        #expect(Wanted(.object(json)) == nil)
    }

    @Test("The person sees on the account page what a client got so, and ends it")
    func account() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        let begun = try await asked(scene)
        try await scene.shop.approve(try await scene.shop.signIn(begun))
        let given = try await scene.shop.tokens(.authRequest(begun.authRequestID))
        #expect(try await scene.show(session)?.withoutSession.map { $0.family.id } == [given.family.id])
        #expect(try await scene.end(.family(given.family.id), by: session) == .done(nil))
        #expect(try await scene.show(session)?.withoutSession.isEmpty == true)
    }

    @Test("Whoever ends what a client may have, while its server has them asked, is asked no more")
    func accessEnded() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        let begun = try await asked(scene)
        let challenge = try #require(try await scene.shop.signIn(begun).ask?.challenge)
        func state() async throws -> String? {
            try await scene.world.store.read { try $0.challenges.find(challenge)?.state.status.state }
        }
        #expect(try await state() == "pending")
        let shop = scene.shop.shop
        #expect(try await scene.end(.client(shop.id), by: session) == .done(shop.name))
        #expect(try await state() == "cancelled")
        #expect(try await scene.shop.poll(.authRequest(begun.authRequestID), after: 5) == .denied)
    }

    // Spec: CIBA Core 1.0 §12.
    @Test("Whoever ends what a client may have, before it is brought: its server is told", arguments: [false, true])
    func accessEndedBeforePush(_ isApproved: Bool) async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        let begun = try await asked(scene, BackchannelScene.push)
        let signIn = try await scene.shop.signIn(begun)
        if isApproved { try await scene.shop.approve(signIn) }
        #expect(try await scene.end(.client(signIn.client), by: session) == .done(scene.shop.shop.name))
        let now = scene.world.time.now
        let leased = try await scene.world.store.lease(.backchannel, limit: 100, now: now, until: now)
        let events = leased.compactMap { leased -> BackchannelEvent? in
            guard case .backchannel(_, signIn.client, signIn.id, let event) = leased.message.content else {
                return nil
            }
            return event
        }
        #expect(events.contains(.decided))
        let outcome = try await TellBackchannel.notification(
            of: signIn.id, .decided, to: signIn.client, ports: scene.world.ports)
        guard case .posted(let told) = outcome else { throw World.Broken("\(outcome)") }
        #expect(try JSONValue(parsing: told.body.reveal())["error"] == "access_denied")
    }

    /// What the server of an account's shop has its customer asked.
    private func asked(
        _ scene: AccountScene, _ delivery: RelyingParty.Backchannel.Delivery = .poll
    ) async throws -> BeginBackchannel.Begun {
        let client = scene.shop.shop.id
        let party = RelyingParty(
            client: client, profile: .web, redirectURIs: [], ways: [.device, .qr, .email], registration: .open,
            backchannel: RelyingParty.Backchannel(delivery: delivery))
        #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
        try await scene.world.store.refreshKeys()
        var request = BeginBackchannel.Request(by: client, for: .name(BackchannelScene.name))
        request.scopes = ["openid"]
        request.notificationToken = NotificationToken(BackchannelScene.token)
        let begun = try await scene.shop.begin(request)
        try await scene.shop.put(try await scene.shop.signIn(begun))
        return begun
    }
}
