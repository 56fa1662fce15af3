import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/decisions/0078-passkeys-on-pages.md; NIST SP 800-63B-4 §4.1.2; WebAuthn Level 3 §14.6.1.
@Suite("Passkeys on the pages")
struct PasskeyTests {
    @Test(
        "Whoever has signed in by their phone and its PIN registers a passkey, and signs in by it",
        arguments: Engine.allCases)
    func registers(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let options = try scene.ceremony().creationOptions(for: scene.user, named: "customer-1", excluding: [])
        let handle = try #require(options["user"]?["id"]?.string)
        #expect(handle == Base64URL.encode(Array("\(scene.user)".utf8)), "the user's id, and nothing of the person")
        let (passkey, row) = try await scene.passkey(by: try await scene.byPIN())
        #expect(row.countsFrom == scene.world.time.now && !row.isConfirmed)
        let session = try #require(try await scene.byPasskey(passkey).session).secret
        let account = try #require(try await scene.show(session))
        let authentication = account.visit.session.authentication
        #expect(authentication.methods == ["hwk", "user", "pop"] && authentication.strength == .hardwareBound)
        #expect(authentication.evidence == .passkey(row.id))
        #expect(account.passkeys.map(\.id) == [row.id] && account.passkeys[0].usedAt == scene.world.time.now)
        #expect(account.sessions.first { $0.session.id == account.visit.session.id }?.by == row.name)
        #expect(account.events.map(\.event.kind).contains(.passkeyCreated))
        let told = try await scene.told()
        #expect(told.isEmpty, "the address is only a claim: \(told.map(\.template))")
        // Spec: NIST SP 800-63B-4 §2.2.3 (the same as after AAL2).
        #expect(account.visit.session.idleUntil == scene.world.time.now.adding(.hours(1)))
    }

    // Spec: WebAuthn Level 3 §6.1.3; RFC 8176 §2; OpenID Connect EAP ACR Values 1.0.
    @Test(
        "A passkey that may leave its device is `swk` and `phr`, whether it has left it or not",
        arguments: [false, true])
    func synced(_ isBackedUp: Bool) async throws {
        let scene = try await AccountScene()
        var soft = SoftPasskey(at: World.issuer)
        (soft.isBackupEligible, soft.isBackedUp) = (true, isBackedUp)
        guard case .done(let row) = try await scene.register(&soft, by: try await scene.byPIN()) else {
            throw World.Broken("passkey")
        }
        #expect(row.isBackupEligible && row.isBackedUp == isBackedUp)
        let session = try #require(try await scene.byPasskey(soft).session).secret
        let visit = try #require(try await scene.show(session)).visit
        let authentication = visit.session.authentication
        #expect(authentication.methods == ["swk", "user", "pop"] && authentication.strength == .phishingResistant)
        // Spec: NIST SP 800-63B-4 §2.2.3 (the same as after AAL2).
        #expect(visit.session.idleUntil == scene.world.time.now.adding(.hours(1)))
        soft.isBackedUp = !isBackedUp
        _ = try await scene.byPasskey(soft)
        let used = try #require(try await scene.row(row.id))
        #expect(used.isBackupEligible && used.isBackedUp == !isBackedUp)
    }

    // Spec: WebAuthn Level 3 §7.2.
    @Test(
        "A passkey that says another time whether it may leave its device is refused, and changes nothing",
        arguments: [false, true])
    func eligibilityChanged(_ wasEligible: Bool) async throws {
        let scene = try await AccountScene()
        var soft = SoftPasskey(at: World.issuer)
        soft.isBackupEligible = wasEligible
        guard case .done(let row) = try await scene.register(&soft, by: try await scene.byPIN()) else {
            throw World.Broken("passkey")
        }
        var changed = soft
        changed.isBackupEligible = !wasEligible
        #expect(try await scene.enter(changed) == .refused)
        let refused = try #require(try await scene.row(row.id))
        #expect(refused.isBackupEligible == wasEligible && refused.usedAt == nil)
        guard case .authenticated = try await scene.enter(soft) else { throw World.Broken("as before") }
    }

    // Spec: OpenID Connect Core 1.0 §5.5.1.1.
    @Test("A client that must have a key that cannot leave its device gets nothing by one that may")
    func hardwareBound() async throws {
        for isBackupEligible in [false, true] {
            let scene = try await AccountScene()
            var soft = SoftPasskey(at: World.issuer)
            soft.isBackupEligible = isBackupEligible
            guard case .done = try await scene.register(&soft, by: try await scene.byPIN()) else {
                throw World.Broken("passkey")
            }
            var wanted = try scene.shop.wanted("customer-1", at: scene.shop.shop)
            wanted.identifier = nil
            wanted.strength = .hardwareBound
            wanted.isStrengthEssential = true
            let ceremony = try scene.ceremony()
            let entered = try await EnterPasskey.enter(
                .init(
                    try soft.signIn(ceremony.requestOptions), in: ceremony, CarriedSignIn(wanted: wanted),
                    browser: scene.shop.browser, place: nil, network: nil), ports: scene.world.ports)
            guard case .authenticated(let id) = entered else { throw World.Broken("\(entered)") }
            switch try await FinishSignIn.finish(id, in: scene.shop.browser, former: nil, ports: scene.world.ports) {
            case .finished: #expect(!isBackupEligible)
            case .tooWeak: #expect(isBackupEligible)
            case let outcome: Issue.record("\(outcome)")
            }
        }
    }

    // Spec: NIST SP 800-63B-4 §4.1.2.1.
    @Test(
        "The clients that believe a passkey are told of it, with their own name for the user",
        arguments: Engine.allCases)
    func notices(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let world = scene.world
        let uri = try #require(CallbackURI("https://shop.example.com/notices", isDevelopment: false))
        let changes = ClientChanges(notices: .set(uri))
        for client in [scene.shop.shop, scene.third] {
            _ = try await UpdateClient.update(client.id, changes, by: client.actor, ports: world.ports).get()
        }
        // The third party knows the user as well, and believes nothing that is not confirmed.
        _ = try await scene.byMail()
        _ = try await scene.shop.signedInByMail("customer-1", at: scene.third)
        let session = try await scene.byPIN()
        let (_, row) = try await scene.passkey(by: session)
        world.time.advance(seconds: 1)
        #expect(try await scene.act(.remove, on: row.id, by: session) == .done(row.name))
        let now = world.time.now
        let leased = try await world.store.lease(.callback, limit: 100, now: now, until: now.adding(seconds: 1))
        let notices = try leased.map(\.message).sorted { $0.id < $1.id }.compactMap { message -> JSONValue? in
            guard case .notice(_, let client, let body) = message.content else { return nil }
            #expect(client == scene.shop.shop.id)
            return try JSONValue(parsing: body)
        }
        #expect(notices.map { $0["type"] } == ["passkey.created", "passkey.removed"])
        for notice in notices {
            #expect(notice["passkey"] == .string("\(row.id)") && notice["name"] == "Firefox on Windows")
            #expect(notice["user"]?["external_id"] == "customer-1" && notice["waiting_until"] == nil)
        }
    }

    @Test(
        "One answer that comes twice at once signs in once, and one key is registered once", arguments: Engine.allCases)
    func twice(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let session = try await scene.byPIN()
        let page = try scene.ceremony()
        let registered = try await atOnce(4) { _ in
            var soft = SoftPasskey(at: World.issuer)
            return try await scene.register(&soft, by: session, in: page)
        }
        #expect(registered.count { if case .done = $0 { true } else { false } } == 1)
        let (soft, _) = try await scene.passkey(by: session, "two")
        let ceremony = try scene.ceremony()
        let entered = try await atOnce(4) { _ in try await scene.enter(soft, in: ceremony) }
        #expect(entered.count { if case .authenticated = $0 { true } else { false } } == 1)
        #expect(entered.count { $0 == .refused } == 3)
    }

    @Test("What a tap brings in waits as a method does: it is stronger than the tap")
    func tap() async throws {
        let scene = try await AccountScene()
        let (soft, row) = try await scene.passkey(by: try await scene.byTap())
        let due = scene.world.time.now.adding(Client.standardCoolingOff)
        #expect(row.countsFrom == due)
        #expect(try await scene.enter(soft) == .waiting(until: due))
        scene.world.time.advance(Client.standardCoolingOff)
        guard case .authenticated = try await scene.enter(soft) else { throw World.Broken("entered") }
    }

    @Test("A phone that came after a passkey, by an address alone, brings none in before the wait and is not confirmed")
    func young() async throws {
        for removesPasskey in [false, true] {
            let scene = try await AccountScene()
            let world = scene.world
            try await scene.confirmPhone()
            let (_, owners) = try await scene.passkey(by: try await scene.byPIN(), "owner")
            #expect(owners.isConfirmed)
            _ = try await scene.act(.remove, on: scene.phone, by: try await scene.byMail())
            world.time.advance(Client.standardCoolingOff)
            // Whoever reads the mailbox goes on alone.
            let mailbox = try await scene.byMail()
            if removesPasskey {
                #expect(try await scene.act(.remove, on: owners.id, by: mailbox) == .done(owners.name))
            }
            let planted = try await world.makeDevice(of: scene.user, by: scene.shop.shop).enrollment
            let device = try await scene.enrollment(planted)
            #expect(device.counts(at: world.time.now), "no passkey makes a first device wait")
            let due = device.countsFrom.adding(Client.standardCoolingOff)
            let (_, row) = try await scene.passkey(by: try await scene.byPIN(planted))
            #expect(row.countsFrom == due && !row.isConfirmed, "\(removesPasskey)")
            let confirmed = try await scene.act(.confirm, on: planted, by: mailbox)
            #expect(confirmed == (removesPasskey ? .later(device.device.name, from: due) : .tooWeak))
        }
    }

    @Test("Where an address is proved that a client only claimed, third parties believe the passkeys no longer")
    func claimed() async throws {
        let scene = try await AccountScene()
        try await scene.confirm(scene.phone)
        let (_, row) = try await scene.passkey(by: try await scene.byPIN())
        #expect(row.isConfirmed)
        _ = try await scene.byMail()
        #expect(try await scene.row(row.id)?.isConfirmed == false)
    }

    @Test("Nobody registers passkeys and removes them without end, since all are told of each")
    func often() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byPIN()
        for number in 0..<RegisteredPasskey.maximumCount {
            let (_, row) = try await scene.passkey(by: session, "\(number)")
            #expect(try await scene.act(.remove, on: row.id, by: session) == .done(row.name))
        }
        var further = SoftPasskey(at: World.issuer, "further")
        guard case .tooMany = try await scene.register(&further, by: session) else { throw World.Broken("too many") }
        let another = try await scene.byPIN()
        guard case .tooMany = try await scene.register(&further, by: another) else { throw World.Broken("session") }
    }

    @Test("What waits takes no place of what counts, and the page takes none that its client does not")
    func places() async throws {
        let scene = try await AccountScene()
        let tap = try await scene.byTap()
        for number in 0..<RegisteredPasskey.maximumCount { _ = try await scene.passkey(by: tap, "\(number)") }
        var further = SoftPasskey(at: World.issuer, "further")
        guard case .full = try await scene.register(&further, by: tap) else { throw World.Broken("full") }
        scene.world.time.advance(.hours(1))
        let session = try await scene.byPIN()
        _ = try await scene.passkey(by: session, "counts")
        let party = RelyingParty(
            client: scene.account.id, profile: .native,
            redirectURIs: [try #require(RedirectURI(scene.world.ports.issuer.accountPage))], registration: .known)
        #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
        guard case .refused = try await scene.register(&further, by: session) else { throw World.Broken("off") }
    }

    @Test("All addresses of a person are told of a new passkey, and of its end")
    func told() async throws {
        let scene = try await AccountScene()
        _ = try await scene.byMail()
        let tap = try await scene.byPIN()
        let (_, row) = try await scene.passkey(by: tap)
        #expect(try await scene.act(.remove, on: row.id, by: tap) == .done(row.name))
        let told = try await scene.told()
        #expect(told.map(\.template) == [.passkey, .passkey])
        #expect(told[0].values["created"] != nil && told[1].values["removed"] != nil)
        #expect(told[0].values["passkey"]?.reveal() == "Firefox on Windows")
    }

    @Test("What a passkey signed for one page is good once, and for no other page", arguments: Engine.allCases)
    func replay(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let tap = try await scene.byPIN()
        var soft = SoftPasskey(at: World.issuer)
        let page = try scene.ceremony()
        guard case .done = try await scene.register(&soft, by: tap, in: page) else { throw World.Broken("done") }
        var other = SoftPasskey(at: World.issuer, "two")
        guard case .refused = try await scene.register(&other, by: tap, in: page) else { throw World.Broken("twice") }
        let ceremony = try scene.ceremony()
        guard case .authenticated = try await scene.enter(soft, in: ceremony) else { throw World.Broken("entered") }
        #expect(try await scene.enter(soft, in: ceremony) == .refused)
        // The answer to one page, sent with another.
        let wanted = try scene.shop.wanted("customer-1", at: scene.shop.shop)
        let request = EnterPasskey.Request(
            try soft.signIn(try scene.ceremony().requestOptions), in: try scene.ceremony(),
            CarriedSignIn(wanted: wanted), browser: scene.shop.browser, place: nil, network: nil)
        #expect(try await EnterPasskey.enter(request, ports: scene.world.ports) == .refused)
    }

    @Test("A passkey of somebody else, of another site, or without a check of its user signs nobody in")
    func others() async throws {
        let scene = try await AccountScene()
        let (soft, row) = try await scene.passkey(by: try await scene.byPIN())
        #expect(try await scene.enter(SoftPasskey(at: World.issuer, "unknown")) == .refused)
        // What a passkey signs on a false page names that page.
        let page = try scene.ceremony()
        let options = try #require(page.requestOptions.object)
        let relayed = EnterPasskey.Request(
            try soft.signIn(.object(options), at: "https://login.example.org"), in: page,
            CarriedSignIn(wanted: try scene.shop.wanted("customer-1", at: scene.shop.shop)),
            browser: scene.shop.browser, place: nil, network: nil)
        #expect(try await EnterPasskey.enter(relayed, ports: scene.world.ports) == .refused)
        var careless = soft
        careless.verifiesUser = false
        #expect(try await scene.enter(careless) == .refused)
        var elsewhere = SoftPasskey(at: "https://login.example.org")
        guard case .refused = try await scene.register(&elsewhere, by: try await scene.byPIN()) else {
            throw World.Broken("another site")
        }
        // Two people have no credential together, and nobody touches another one's.
        let stranger = try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop)
        let session = try #require(stranger.finished.session).secret
        var copy = soft
        guard case .refused = try await scene.register(&copy, by: session, shownTo: stranger.user) else {
            throw World.Broken("one id, two people")
        }
        for act in [ActOnOwnPasskey.Act.remove, .rename(row.name)] {
            #expect(try await scene.act(act, on: row.id, by: session, shownTo: stranger.user) == .notFound)
            #expect(try await scene.act(act, on: row.id, by: session) == .signIn)
        }
        guard case .authenticated = try await scene.enter(soft) else { throw World.Broken("still there") }
    }

    @Test("A mailbox brings no passkey in before the wait of a new device, whatever was removed before")
    func waits() async throws {
        for before in ["phone", "removed phone", "passkey", "removed passkey"] {
            let scene = try await AccountScene()
            let world = scene.world
            let owner = try await scene.byPIN()
            if before.hasSuffix("passkey") { _ = try await scene.passkey(by: owner, "owner") }
            if before != "phone" { _ = try await scene.act(.remove, on: scene.phone, by: try await scene.byMail()) }
            // Without the passkey nothing of the phone is left.
            if before.hasSuffix("passkey") { world.time.advance(Client.standardCoolingOff) }
            let thief = try await scene.byMail()
            if before == "removed passkey" {
                let row = try #require(try await scene.show(thief)?.passkeys.first)
                #expect(try await scene.act(.remove, on: row.id, by: thief) == .done(row.name))
            }
            let (soft, row) = try await scene.passkey(by: thief)
            let due = world.time.now.adding(Client.standardCoolingOff)
            #expect(row.countsFrom == due && !row.isConfirmed, "\(before)")
            #expect(try await scene.told().last?.values["waiting"] != nil)
            world.time.advance(Client.standardCoolingOff - 1)
            #expect(try await scene.enter(soft) == .waiting(until: due), "\(before)")
            world.time.advance(1)
            guard case .authenticated = try await scene.enter(soft) else { throw World.Broken(before) }
            #expect(try await scene.enter(soft, at: scene.third) == .refused)
        }
    }

    @Test("Whoever has nothing but their address has a passkey at once, and it counts everywhere")
    func first() async throws {
        let scene = try await AccountScene()
        let signedIn = try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop)
        let session = try #require(signedIn.finished.session).secret
        var soft = SoftPasskey(at: World.issuer)
        guard case .done(let row) = try await scene.register(&soft, by: session, shownTo: signedIn.user) else {
            throw World.Broken("done")
        }
        #expect(row.isConfirmed && row.countsFrom == scene.world.time.now)
        // What it gives confirms devices, and further passkeys.
        let finished = try #require(try await scene.byPasskey(soft).session).secret
        #expect(try await scene.show(finished)?.confirmation == .byDevice)
        var second = SoftPasskey(at: World.issuer, "two")
        guard case .done(let further) = try await scene.register(&second, by: finished, shownTo: signedIn.user) else {
            throw World.Broken("further")
        }
        #expect(further.isConfirmed)
    }

    @Test("A third party believes a passkey only if a confirmed device brought it in")
    func thirdParty() async throws {
        let scene = try await AccountScene()
        let (planted, row) = try await scene.passkey(by: try await scene.byPIN())
        #expect(!row.isConfirmed)
        #expect(try await scene.enter(planted, at: scene.third) == .refused)
        try await scene.confirmPhone()
        let (good, confirmed) = try await scene.passkey(by: try await scene.byPIN(), "two")
        #expect(confirmed.isConfirmed)
        guard case .authenticated = try await scene.enter(good, at: scene.third) else { throw World.Broken("third") }
        // A passkey that only the operator's clients believe makes none that others do.
        let weak = try #require(try await scene.byPasskey(planted).session).secret
        #expect(try await !scene.passkey(by: weak, "three").row.isConfirmed)
        #expect(try await scene.show(weak)?.confirmation == .refused)
    }

    @Test("A client that does not know the person and takes nobody takes no passkey, also once it was answered")
    func closed() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        try await scene.confirmPhone()
        let (soft, _) = try await scene.passkey(by: try await scene.byPIN())
        let other = try await world.makeClient("Other").client
        try await AccountScene.set(other, at: SignInScene.redirectURI, .open, in: world)
        // The third party asks first what the person allows it, and nobody whom it will not take.
        for client in [other, scene.third] {
            guard case .authenticated(let id) = try await scene.enter(soft, at: client) else {
                throw World.Broken("open")
            }
            try await AccountScene.set(client, at: SignInScene.redirectURI, .closed, in: world)
            let late = try await FinishSignIn.finish(id, in: scene.shop.browser, former: nil, ports: world.ports)
            #expect(late == .notReady, "\(client.name)")
            #expect(try await scene.enter(soft, at: client) == .refused, "\(client.name)")
        }
    }

    @Test("Where a device has a PIN, a tap brings no passkey in")
    func guarded() async throws {
        let scene = try await AccountScene()
        let tap = try await scene.byTap()
        _ = try await scene.shop.device.setPIN()
        var soft = SoftPasskey(at: World.issuer)
        guard case .tooWeak = try await scene.register(&soft, by: tap) else { throw World.Broken("tap") }
        #expect(try await scene.show(tap)?.passkeyOffer == .tooWeak)
    }

    @Test("OWASP ASVS 7.5.1: what is done with passkeys needs a sign-in of the last minutes")
    func fresh() async throws {
        let scene = try await AccountScene()
        let tap = try await scene.byPIN()
        let (_, row) = try await scene.passkey(by: tap)
        scene.world.time.advance(.minutes(5))
        for act in [ActOnOwnPasskey.Act.remove, .rename(row.name)] {
            #expect(try await scene.act(act, on: row.id, by: tap) == .signIn)
        }
        // The page was shown in time, and the person was busy with the browser.
        _ = try await scene.passkey(by: tap, "two")
        scene.world.time.advance(.minutes(5))
        var late = SoftPasskey(at: World.issuer, "three")
        guard case .signIn = try await scene.register(&late, by: tap) else { throw World.Broken("late") }
    }

    @Test("Twenty passkeys are the most")
    func full() async throws {
        let scene = try await AccountScene()
        let tap = try await scene.byPIN()
        for number in 0..<RegisteredPasskey.maximumCount { _ = try await scene.passkey(by: tap, "\(number)") }
        var further = SoftPasskey(at: World.issuer, "further")
        guard case .full = try await scene.register(&further, by: tap) else { throw World.Broken("full") }
        #expect(try await scene.show(tap)?.passkeyOffer == .full)
    }

    @Test("With a passkey end its sessions and tokens, and what it was about to give", arguments: Engine.allCases)
    func removed(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let world = scene.world
        let tap = try await scene.byPIN()
        let (soft, row) = try await scene.passkey(by: tap)
        let finished = try await scene.byPasskey(soft)
        let session = try #require(finished.session).secret
        // Tokens that outlive a session, which is over.
        var wanted = try scene.shop.wanted("customer-1", at: scene.shop.shop)
        wanted.scopes.append(TokenFamily.offlineAccess)
        let earlier = try #require(try await scene.byPasskey(soft).session).secret
        guard
            case .finished(let code) = try await FinishSignIn.goOn(
                wanted, in: earlier, browser: scene.shop.browser, ports: world.ports),
            case .redeemed(let offline) = try await scene.shop.redeem(code.code)
        else { throw World.Broken("offline") }
        try await world.ports.commit(at: world.time.now, as: .system) { work in
            if let ended = try work.sessions.find(SecretHash(of: earlier), at: work.now) { try work.endSession(ended) }
        }
        guard case .redeemed(let given) = try await scene.shop.redeem(finished.code),
            case .authenticated(let pending) = try await scene.enter(soft)
        else { throw World.Broken("tokens") }
        #expect(try await scene.act(.remove, on: row.id, by: tap) == .done(row.name))
        #expect(try await scene.act(.remove, on: row.id, by: tap) == .notFound)
        #expect(try await scene.enter(soft) == .refused)
        #expect(try await scene.show(session) == nil)
        for id in [given.family.id, offline.family.id] {
            let families = try await world.store.read { try $0.families.families(of: scene.user) }
            #expect(try #require(families.first { $0.id == id }).endedAt != nil)
        }
        let late = try await FinishSignIn.finish(pending, in: scene.shop.browser, former: nil, ports: world.ports)
        #expect(late == .notReady)
        #expect(try await scene.show(tap) != nil)
    }

    @Test("A passkey finishes a sign-in in which a number was shown, and takes the question back from the phone")
    func instead() async throws {
        let scene = try await AccountScene()
        let (soft, _) = try await scene.passkey(by: try await scene.byPIN())
        let asked = try await scene.shop.asked()
        #expect(try await scene.shop.isPut(asked))
        guard case .authenticated(let id) = try await scene.enter(soft, again: asked.id) else {
            throw World.Broken("entered")
        }
        #expect(id != asked.id)
        #expect(try await scene.enter(soft, again: asked.id) == .tooLate)
        let challenge = try #require(asked.ask?.challenge)
        let ended = try #require(try await scene.world.store.read { try $0.challenges.find(challenge) })
        #expect(!ended.isOpen(at: scene.world.time.now))
    }

    @Test("A client that must have a passkey is offered nothing else, and gets nothing by less")
    func strength() async throws {
        let scene = try await AccountScene()
        var wanted = try scene.shop.wanted("customer-1", at: scene.shop.shop)
        wanted.strength = .phishingResistant
        wanted.isStrengthEssential = true
        let ways = try await OfferWays.ways(for: wanted, in: scene.shop.browser, ports: scene.world.ports)
        #expect(ways == .ways([.passkey]))
        let session = try await scene.byPIN()
        let outcome = try await FinishSignIn.goOn(
            wanted, in: session, browser: scene.shop.browser, ports: scene.world.ports)
        #expect(outcome == .notReady)
        let (soft, _) = try await scene.passkey(by: session)
        let strong = try #require(try await scene.byPasskey(soft).session).secret
        guard
            case .finished = try await FinishSignIn.goOn(
                wanted, in: strong, browser: scene.shop.browser, ports: scene.world.ports)
        else { throw World.Broken("strong") }
    }

    @Test("A deleted user leaves no passkey")
    func deleted() async throws {
        let scene = try await AccountScene()
        let (soft, _) = try await scene.passkey(by: try await scene.byPIN())
        _ = try await DeleteUser.delete(.id(scene.user), by: scene.shop.shop.caller, ports: scene.world.ports)
        #expect(try await scene.world.store.read { try $0.passkeys.passkeys(of: scene.user) }.isEmpty)
        #expect(try await scene.enter(soft) == .refused)
    }
}
