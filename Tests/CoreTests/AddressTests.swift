import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/decisions/0079-addresses-on-the-account-page.md; OWASP ASVS 7.5.1.
@Suite("On the account page a person adds addresses and removes them")
struct AddressTests {
    private static let wait = Client.standardCoolingOff

    @Test(
        "An address is added by the code that is sent there; it signs in, and the others are told",
        arguments: Engine.allCases)
    func added(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let session = try await scene.byMail()
        let sent = try await scene.sent("new", by: session)
        #expect(try await scene.show(session)?.addresses.count == 1, "nothing is written before the code is typed")
        #expect(try await scene.enter(sent, by: session) == .done)
        let account = try #require(try await scene.show(session))
        #expect(account.addresses.map(\.address) == [try address("customer-1"), try address("new")])
        #expect(account.events.first?.event.kind == .identifierVerified)
        #expect(account.events.first?.event.actor == .user(scene.user))
        let mails = try await scene.mails()
        #expect(mails.map(\.to) == [try address("new"), try address("customer-1")])
        #expect(mails[0].message.values["code"]?.reveal() == scene.code(of: sent).digits)
        #expect(mails[0].message.values["adding"] != nil)
        #expect(mails[0].message.values["place"]?.reveal() == "192.0.2.7")
        #expect(mails[1].message.template == .address && mails[1].message.values["added"] != nil)
        #expect(mails[1].message.values["address"]?.reveal() == "new@example.com")
        #expect(mails[1].message.values["place"]?.reveal() == "192.0.2.7")
        // It says at every client who somebody is.
        #expect(try await scene.shop.signedInByMail("new", at: scene.shop.shop).user == scene.user)
        #expect(try await scene.ask("new", by: try await scene.byMail()) == .yours)
    }

    @Test(
        "A removed address signs nobody in, ends what it gave, and is no client's word any more",
        arguments: Engine.allCases)
    func removed(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        _ = try await scene.byMail()
        try await scene.add("new", by: try await scene.byMail())
        scene.world.time.advance(Self.wait)
        let old = try await scene.byMail()
        let new = try await scene.byMail("new")
        let given = try await scene.shop.signedInByMail("customer-1", at: scene.shop.shop)
        _ = try await scene.mails()
        let id = try await scene.identifier("customer-1")
        #expect(try await scene.remove(id, by: old) == .done(try address("customer-1")))
        #expect(try await scene.show(old) == nil)
        let account = try #require(try await scene.show(new))
        #expect(account.addresses.map(\.address) == [try address("new")] && account.claims.isEmpty)
        #expect(account.events.map(\.event.kind).contains(.identifierRemoved))
        let families = try await scene.world.store.read { try $0.families.families(of: given.user) }
        #expect(families.contains { $0.endedAt == scene.world.time.now })
        for family in families {
            let isItsOwn = family.authentication.evidence == .code(id, .email)
            #expect(!isItsOwn || !family.isActive(at: scene.world.time.now))
        }
        let mails = try await scene.mails()
        #expect(
            Set(mails.map(\.to)) == [try address("customer-1"), try address("new")], "the one that was removed too")
        #expect(mails.allSatisfy { $0.message.template == .address && $0.message.values["removed"] != nil })
        // Whoever reads what is sent there is somebody else from now on, also at the client that named the address.
        #expect(try await scene.shop.signedInByMail("customer-1", at: scene.shop.shop).user != scene.user)
        #expect(try await scene.remove(id, by: new) == .notFound)
    }

    @Test("Whoever reads one mailbox locks out nobody who has two, and what they added goes at once")
    func mailbox() async throws {
        let scene = try await AccountScene()
        _ = try await scene.byMail()
        try await scene.add("second", by: try await scene.byMail())
        scene.world.time.advance(Self.wait)
        let thief = try await scene.byMail()
        let owner = try await scene.byMail("second")
        let second = try await scene.identifier("second")
        #expect(try await scene.remove(second, by: thief) == .refused(.tooWeak))
        try await scene.add("thief", by: thief)
        let planted = try await scene.identifier("thief")
        let byPlanted = try await scene.byMail("thief")
        for id in [second, try await scene.identifier("customer-1")] {
            #expect(try await scene.remove(id, by: byPlanted) == .refused(.tooWeak))
        }
        #expect(try await scene.show(owner)?.addressRemovals[planted] == .now)
        let fresh = try await scene.byMail("second")
        #expect(try await scene.remove(planted, by: fresh) == .done(try address("thief")))
        #expect(try await scene.show(byPlanted) == nil)
    }

    @Test("An address removes itself only beside one as old as a new device waits; the last one stays")
    func last() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        let id = try await scene.identifier("customer-1")
        #expect(try await scene.remove(id, by: session) == .refused(.never))
        scene.world.time.advance(Self.wait)
        let mailbox = try await scene.byMail()
        try await scene.add("thief", by: mailbox)
        let due = scene.world.time.now.adding(Self.wait)
        #expect(try await scene.remove(id, by: mailbox) == .refused(.from(due)))
        scene.world.time.advance(due - scene.world.time.now - 60)
        #expect(try await scene.remove(id, by: try await scene.byMail()) == .done(try address("customer-1")))
    }

    @Test("A confirmed device and a passkey remove any address, but not those that came a moment ago")
    func strong() async throws {
        for way in ["device", "passkey"] {
            let scene = try await AccountScene()
            let world = scene.world
            _ = try await scene.byMail()
            try await scene.add("second", by: try await scene.byMail())
            world.time.advance(Self.wait)
            let id = try await scene.identifier("customer-1")
            #expect(try await scene.remove(id, by: try await scene.byPIN()) == .refused(.tooWeak))
            try await scene.confirm(scene.phone)
            let due = world.time.now.adding(Self.wait)
            var session = try await scene.byPIN()
            let (soft, _) = try await scene.passkey(by: session)
            if way == "passkey" { session = try #require(try await scene.byPasskey(soft).session).secret }
            #expect(try await scene.remove(id, by: session) == .refused(.from(due)), "\(way)")
            world.time.advance(Self.wait)
            session = try await scene.byPIN()
            if way == "passkey" { session = try #require(try await scene.byPasskey(soft).session).secret }
            #expect(try await scene.remove(id, by: session) == .done(try address("customer-1")), "\(way)")
        }
    }

    @Test("Whatever somebody has signed in by, an old address is removed only beside another one that is old")
    func beside() async throws {
        let scene = try await AccountScene()
        try await scene.confirmPhone()
        scene.world.time.advance(Self.wait)
        let session = try await scene.byPIN()
        try await scene.add("thief", by: session)
        let due = scene.world.time.now.adding(Self.wait)
        #expect(try await scene.remove(try await scene.identifier("customer-1"), by: session) == .refused(.from(due)))
    }

    @Test("An address removes itself also where there is a confirmed device")
    func itself() async throws {
        let scene = try await AccountScene()
        try await scene.confirmPhone()
        try await scene.add("second", by: try await scene.byPIN())
        scene.world.time.advance(Self.wait)
        let session = try await scene.byMail("second")
        #expect(try await scene.remove(try await scene.identifier("customer-1"), by: session) == .refused(.tooWeak))
        let id = try await scene.identifier("second")
        #expect(try await scene.remove(id, by: session) == .done(try address("second")))
    }

    @Test("With a confirmed device neither an address nor an unconfirmed device adds one, not even in between")
    func weak() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        let sent = try await scene.sent("new", by: session)
        try await scene.confirm(scene.phone)
        #expect(try await scene.enter(sent, by: session) == .tooWeak)
        #expect(try await scene.ask("other", by: session) == .tooWeak)
        #expect(try await scene.show(session)?.mayAddAddresses == false)
        let second = try await scene.world.makeDevice(of: scene.user, by: scene.shop.shop)
        #expect(try await scene.ask("other", by: try await scene.byPIN(second.enrollment)) == .tooWeak)
        try await scene.add("new", by: try await scene.byPIN())
    }

    @Test("Nor does an address that has suspended or removed the device, or the passkey, a moment ago")
    func lately() async throws {
        for act in ["suspend", "remove", "passkey"] {
            let scene = try await AccountScene()
            try await scene.confirmPhone()
            let (_, row) = try await scene.passkey(by: try await scene.byPIN())
            #expect(row.isConfirmed)
            let thief = try await scene.byMail()
            if act == "suspend" { _ = try await scene.act(.suspend, on: scene.phone, by: thief) }
            if act == "remove" { _ = try await scene.act(.remove, on: scene.phone, by: thief) }
            if act != "passkey" {
                // The passkey is one, too.
                #expect(try await scene.ask("thief", by: thief) == .tooWeak, "\(act)")
            } else {
                _ = try await scene.act(.remove, on: scene.phone, by: thief)
                scene.world.time.advance(Self.wait)
            }
            let later = try await scene.byMail()
            #expect(try await scene.act(.remove, on: row.id, by: later) == .done(row.name))
            #expect(try await scene.ask("thief", by: later) == .tooWeak, "\(act)")
            scene.world.time.advance(Self.wait)
            let outcome = try await scene.ask("mine", by: try await scene.byMail())
            guard act == "suspend" else {
                guard case .sent = outcome else { throw World.Broken(act) }
                continue
            }
            #expect(outcome == .tooWeak, "it is suspended, and still confirmed")
        }
    }

    @Test(
        "Whoever has no address yet adds the first by a device and its PIN, and removes it at once if it is not theirs")
    func first() async throws {
        let scene = try await AccountScene()
        #expect(try await scene.show(try await scene.byPIN())?.addresses.isEmpty == true)
        try await scene.add("planted", by: try await scene.byPIN())
        // Now there is an address, by which others know the person as well; the device alone adds no further one.
        let session = try await scene.byPIN()
        #expect(try await scene.ask("other", by: session) == .tooWeak)
        let planted = try await scene.identifier("planted")
        #expect(try await scene.remove(planted, by: session) == .done(try address("planted")))
        try await scene.add("customer-1", by: session)
        scene.world.time.advance(Self.wait)
        let last = try await scene.identifier("customer-1")
        #expect(try await scene.remove(last, by: try await scene.byPIN()) == .refused(.never))
    }

    @Test("A tap adds no first address, with a PIN on the device or without")
    func tap() async throws {
        let scene = try await AccountScene()
        let tap = try await scene.byTap()
        #expect(try await scene.ask("new", by: tap) == .tooWeak)
        #expect(try await scene.show(tap)?.mayAddAddresses == false)
        _ = try await scene.shop.device.setPIN()
        #expect(try await scene.ask("new", by: tap) == .tooWeak)
    }

    @Test(
        "Nor does a device where a third party has one of its own for the user, or the user a passkey that all believe")
    func foreign() async throws {
        let scene = try await AccountScene()
        try await scene.world.link(scene.user, to: scene.third)
        _ = try await scene.world.makeDevice(of: scene.user, by: scene.third)
        #expect(try await scene.ask("new", by: try await scene.byPIN()) == .tooWeak)
        let other = try await AccountScene()
        try await other.confirm(other.phone)
        _ = try await other.passkey(by: try await other.byPIN())
        let second = try await other.world.makeDevice(of: other.user, by: other.shop.shop)
        #expect(try await other.ask("new", by: try await other.byPIN(second.enrollment)) == .tooWeak)
        // Nor after it has removed what was in its way.
        let last = try await AccountScene()
        try await last.confirm(last.phone)
        let planted = try await last.world.makeDevice(of: last.user, by: last.shop.shop)
        let session = try await last.byPIN(planted.enrollment)
        #expect(try await last.ask("new", by: session) == .tooWeak)
        _ = try await last.act(.remove, on: last.phone, by: session)
        #expect(try await last.ask("new", by: session) == .tooWeak)
    }

    @Test("A young address is removed at once by what was there before it, not by what a younger one has brought in")
    func young() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        let (user, finished) = try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop)
        let owner = try #require(finished.session).secret
        let sent = try await scene.sent("second", by: owner, shownTo: user)
        #expect(try await scene.enter(sent, by: owner, shownTo: user) == .done)
        let thief = try #require(try await scene.shop.signedInByMail("second", at: scene.shop.shop).finished.session)
        var soft = SoftPasskey(at: World.issuer)
        guard case .done(let row) = try await scene.register(&soft, by: thief.secret, shownTo: user) else {
            throw World.Broken("passkey")
        }
        #expect(row.isConfirmed)
        let session = try #require(try await scene.byPasskey(soft).session).secret
        let addresses = try await world.store.read { try $0.identifiers.verified(of: user) }
        let (first, second) = (addresses[0], addresses[1])
        let due = row.createdAt.adding(Self.wait)
        #expect(try await scene.remove(first.id, by: session, shownTo: user) == .refused(.from(due)))
        #expect(try await scene.remove(second.id, by: session, shownTo: user) == .refused(.from(due)))
        let again = try #require(try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop).finished.session)
        #expect(try await scene.remove(second.id, by: again.secret, shownTo: user) == .done(second.address))
    }

    @Test("With an address goes a passkey that waits, which it may have brought in")
    func waiting() async throws {
        let scene = try await AccountScene()
        try await scene.confirmPhone()
        scene.world.time.advance(Self.wait)
        try await scene.add("second", by: try await scene.byPIN())
        scene.world.time.advance(Self.wait)
        let (_, row) = try await scene.passkey(by: try await scene.byMail())
        #expect(!row.counts(at: scene.world.time.now))
        let session = try await scene.byPIN()
        let (_, counting) = try await scene.passkey(by: session, "owner")
        let id = try await scene.identifier("customer-1")
        #expect(try await scene.remove(id, by: session) == .done(try address("customer-1")))
        #expect(try await scene.row(row.id)?.isPresent != true)
        #expect(try await scene.row(counting.id)?.isPresent == true)
    }

    @Test("An address that its user has removed is theirs by no client's word, only by adding it again")
    func synced() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        _ = try await scene.byMail()
        try await scene.add("new", by: try await scene.byMail())
        world.time.advance(Self.wait)
        let id = try await scene.identifier("customer-1")
        #expect(try await scene.remove(id, by: try await scene.byMail()) == .done(try address("customer-1")))
        try await world.claim("customer-1", of: scene.user, by: scene.shop.shop)
        let asked = try await scene.shop.askedByMail("customer-1")
        #expect(try await scene.shop.sent(for: asked) == nil)
        let code = scene.code(of: try #require(asked.ask?.verification))
        #expect(try await scene.shop.enter(code, for: asked) == .wrong(asked, triesLeft: 4))
        try await scene.add("customer-1", by: try await scene.byMail("new"))
        #expect(try await scene.shop.signedInByMail("customer-1", at: scene.shop.shop).user == scene.user)
    }

    @Test("Ten addresses are the most, since all are told of each")
    func full() async throws {
        let scene = try await AccountScene()
        for number in 2..<VerifiedIdentifier.maximumCount {
            try await scene.add("address-\(number)", by: try await scene.byMail())
            scene.world.time.advance(.minutes(12))
        }
        let session = try await scene.byMail()
        let pending = try await scene.sent("pending", by: session)
        try await scene.add("last", by: session)
        #expect(try await scene.enter(pending, by: session) == .full)
        #expect(try await scene.ask("further", by: try await scene.byMail()) == .full)
    }

    @Test("Of codes for several addresses at once, in two sessions, on two nodes, one brings the tenth, and none more")
    func fullAtOnce() async throws {
        let scene = try await AccountScene(.chosen)
        let (sessions, nodes) = try await twoNodes(scene)
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { [user = scene.user] work in
            for number in 2..<VerifiedIdentifier.maximumCount {
                _ = try work.verify(.email(try SignInScene.email("address-\(number)")), of: user)
            }
        }
        var sent: [Verification] = []
        for number in 0..<6 { sent.append(try await scene.sent("pending-\(number)", by: sessions[number % 2])) }
        let outcomes = try await atOnce(6) { [sent] number in
            try await EnterAddressCode.enter(
                scene.code(of: sent[number]), of: sent[number], by: sessions[number % 2], shownTo: scene.user,
                from: nil, in: .english, ports: nodes[number / 2 % 2])
        }
        #expect(outcomes.count { $0 == .done } == 1)
        #expect(outcomes.count { $0 == .full } == 5)
        #expect(try await scene.show(sessions[0])?.addresses.count == VerifiedIdentifier.maximumCount)
        for (session, ports) in zip(sessions, nodes) {
            // Another spelling of what there is makes no room, nor takes any.
            #expect(try await ask("CUSTOMER-1", by: session, scene, on: ports) == .yours)
            for name in ["customer-1+x", "further"] {
                #expect(try await ask(name, by: session, scene, on: ports) == .full, "\(name)")
            }
        }
    }

    // Spec: docs/reference/limits.md, "What no limit stops".
    @Test("An eleventh address that an own client names is proved: the person could not sign in by it otherwise")
    func eleventh() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        try await world.ports.commit(at: world.time.now, as: .system) { [user = scene.user] work in
            for number in 0..<VerifiedIdentifier.maximumCount {
                _ = try work.verify(.email(try SignInScene.email("address-\(number)")), of: user)
            }
        }
        let claims = ClaimedAddresses(email: try SignInScene.email("eleventh"))
        _ = try await UpdateUser.update(
            .id(scene.user), .init(addresses: claims), by: scene.shop.shop.caller, ports: world.ports)
        let session = try await scene.byMail("eleventh")
        #expect(try await scene.show(session)?.addresses.count == VerifiedIdentifier.maximumCount + 1)
        #expect(try await scene.ask("further", by: session) == .full)
    }

    @Test("A code is good for ten minutes, in the account to whose page it belongs")
    func late() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        let sent = try await scene.sent("new", by: session)
        let stranger = try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop)
        let theirs = try #require(stranger.finished.session).secret
        #expect(try await scene.enter(sent, by: theirs) == .signIn)
        #expect(try await scene.enter(sent, by: nil) == .signIn)
        // Signing the stranger in took a minute.
        #expect(scene.world.time.now == sent.id.time.adding(.minutes(1)))
        scene.world.time.advance(.minutes(9))
        #expect(try await scene.enter(sent, by: session) == .over)
        scene.world.time.advance(.minutes(10))
        #expect(try await scene.enter(sent, by: session) == .signIn)
    }

    @Test("OWASP ASVS 7.5.1: a code is sent, and an address removed, after a sign-in of the last five minutes")
    func fresh() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        try await scene.add("new", by: session)
        let id = try await scene.identifier("new")
        scene.world.time.advance(.minutes(5))
        #expect(try await scene.ask("other", by: session) == .signIn)
        #expect(try await scene.remove(id, by: session) == .signIn)
        let again = try await scene.byMail()
        #expect(try await scene.remove(id, by: again) == .done(try address("new")))
    }

    @Test("A code is typed five times at most, wrong or right, and tells nothing then")
    func tries() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        let sent = try await scene.sent("new", by: session)
        let wrong = EntryNumber(value: (UInt32(scene.code(of: sent).digits) ?? 0) == 0 ? 1 : 0)
        for left in [4, 3, 2, 1] {
            #expect(try await scene.enter(sent, wrong, by: session) == .wrong(triesLeft: left))
        }
        #expect(try await scene.enter(sent, wrong, by: session) == .over)
        #expect(try await scene.enter(sent, by: session) == .over)
        // The code of one message is none for another address, nor that of another message.
        let other = try await scene.sent("other", by: session)
        let swapped = Verification(id: other.id, address: try address("third"))
        #expect(try await scene.enter(swapped, scene.code(of: other), by: session) == .wrong(triesLeft: 4))
    }

    @Test("Twenty codes that one typed to add an address in a month end its codes for them")
    func inARow() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        let sent = try await scene.sent("new", by: session)
        let name = scene.world.ports.hasher.name(of: try address("new"))
        let user = scene.user
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            for _ in 0..<20 { _ = try work.count(.addressCodeTries(of: user, for: name)) }
        }
        #expect(try await scene.enter(sent, by: session) == .wrong(triesLeft: 4))
        guard case .tooMany = try await scene.ask("new", by: session) else { throw World.Broken("too many") }
    }

    @Test("Nobody has codes sent without end, to one address or to many")
    func often() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        let first = try await scene.sent("new", by: session)
        guard case .tooEarly(first, let wait) = try await scene.ask("new", after: first, by: session) else {
            throw World.Broken("too early")
        }
        #expect(wait == Verification.pause)
        scene.world.time.advance(Verification.pause)
        guard case .sent(let second) = try await scene.ask("new", after: first, by: session) else {
            throw World.Broken("again")
        }
        #expect(second != first)
        for number in 0..<8 { _ = try await scene.sent("address-\(number)", by: session) }
        guard case .tooMany = try await scene.ask("address-9", by: session) else { throw World.Broken("many") }
        // Five an hour for one address, whoever asks.
        let other = try await AccountScene()
        let mailbox = try await other.byMail()
        for _ in 0..<5 { _ = try await other.sent("new", by: mailbox) }
        guard case .tooMany = try await other.ask("new", by: mailbox) else { throw World.Broken("one address") }
    }

    @Test("Neither another address, spelling, session nor node has a page send its next code before the pause is over")
    func pause() async throws {
        let scene = try await AccountScene(.chosen)
        let (sessions, nodes) = try await twoNodes(scene)
        let first = try await scene.sent("new", by: sessions[0])
        for (wait, left) in [(Seconds(0), Verification.pause), (Verification.pause - 1, Seconds(1))] {
            scene.world.time.advance(wait)
            for (session, ports) in zip(sessions, nodes) {
                for name in ["new", "NEW", "new+x", "other"] {
                    let outcome = try await ask(name, after: first, by: session, scene, on: ports)
                    #expect(outcome == .tooEarly(first, retryAfter: left), "\(name)")
                }
            }
        }
        scene.world.time.advance(seconds: 1)
        // A page that has waited can be sent several times; then the five an hour hold.
        let spellings = ["new", "NEW", "new+x", "n.e.w"]
        let outcomes = try await atOnce(8) { number in
            try await ask(
                spellings[number % 4], after: first, by: sessions[number % 2], scene, on: nodes[number / 2 % 2])
        }
        let refused = outcomes.filter { $0 == .tooMany(retryAfter: 3570) }
        let sent = outcomes.filter { outcome in
            if case .sent = outcome { true } else { false }
        }
        #expect(sent.count == 4 && refused.count == 4)
    }

    @Test("A code brings an address once; what was removed does not come back by it")
    func replay() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        let sent = try await scene.sent("new", by: session)
        #expect(try await scene.enter(sent, by: session) == .done)
        #expect(try await scene.enter(sent, by: session) == .done, "the reply may have been lost")
        #expect(try await scene.remove(try await scene.identifier("new"), by: session) == .done(try address("new")))
        #expect(try await scene.enter(sent, by: session) == .over)
    }

    @Test(
        "An address that two people prove at once is one's; a code that comes twice at once adds one",
        arguments: Engine.allCases)
    func twice(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let stranger = try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop)
        let theirs = try #require(stranger.finished.session).secret
        let session = try await scene.byMail()
        let mine = try await scene.sent("shared", by: session)
        let other = try await scene.sent("shared", by: theirs, shownTo: stranger.user)
        let outcomes = try await atOnce(4) { number in
            number.isMultiple(of: 2)
                ? try await scene.enter(mine, by: session)
                : try await scene.enter(other, by: theirs, shownTo: stranger.user)
        }
        #expect(outcomes.count { $0 == .done } == 2 && outcomes.count { $0 == .taken } == 2)
        var counts: [Int] = []
        for user in [scene.user, stranger.user] {
            counts.append(try await scene.world.store.read { try $0.identifiers.verified(of: user) }.count)
        }
        #expect(counts.sorted() == [1, 2])
    }

    @Test(
        "What clients said of an address for others ends by the proof, and what one said of it for its owner is no proof"
    )
    func claimed() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        _ = try await scene.byMail()
        #expect(try await scene.shop.signedInByMail("customer-1", at: scene.third).user == scene.user)
        let stranger = try await world.makeUser("stranger", of: scene.shop.shop)
        try await world.claim("mine", of: stranger, by: scene.shop.shop)
        try await world.claim("mine", of: scene.user, by: scene.third)
        let planted = try await world.makeDevice(of: scene.user, by: scene.third)
        let session = try await scene.byMail()
        guard case .later = try await scene.act(.confirm, on: planted.enrollment, by: session) else {
            throw World.Broken("later")
        }
        try await scene.add("mine", by: session)
        #expect(try await world.store.read { try $0.identifiers.claims(of: stranger) }.isEmpty)
        #expect(try await scene.enrollment(planted.enrollment).confirmingFrom == nil)
        // Whoever is here by a confirmed device leaves it as it is.
        try await scene.confirm(scene.phone)
        try await world.claim("other", of: scene.user, by: scene.shop.shop)
        try await scene.add("other", by: try await scene.byPIN())
        #expect(try await scene.enrollment(scene.phone).isConfirmed)
    }

    @Test("Nobody removes somebody else's address")
    func others() async throws {
        let scene = try await AccountScene()
        let stranger = try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop)
        let theirs = try #require(stranger.finished.session).secret
        let session = try await scene.byMail()
        try await scene.add("new", by: session)
        let mine = try await scene.identifier("new")
        #expect(try await scene.remove(mine, by: theirs, shownTo: stranger.user) == .notFound)
        #expect(try await scene.remove(mine, by: theirs) == .signIn)
        #expect(try await scene.remove(mine, by: nil) == .signIn)
        #expect(try await scene.identifier("new") == mine)
    }

    @Test("The page sends codes only where its client does")
    func notSent() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byMail()
        let number = try #require(PersonalAddress("+491701234567"))
        let outcome = try await AskAddressCode.ask(
            number, after: nil, by: session, shownTo: scene.user, from: nil, in: .english, ports: scene.world.ports)
        #expect(outcome == .notSent)
        #expect(try await scene.show(session)?.addressKinds == [.email])
        let mute = scene.world.ports(sendingBy: Transports(mail: false, text: false))
        let unsent = try await AskAddressCode.ask(
            try address("new"), after: nil, by: session, shownTo: scene.user, from: nil, in: .english, ports: mute)
        #expect(unsent == .notSent)
    }

    private func address(_ name: String) throws -> PersonalAddress { .email(try SignInScene.email(name)) }

    /// Two sessions of the customer, and two nodes.
    private func twoNodes(_ scene: AccountScene) async throws -> (sessions: [Secret<String>], nodes: [Ports]) {
        let sessions = [try await scene.byMail(), try await scene.byMail()]
        let other = try await scene.world.reopened()
        try await other.store.refreshKeys()
        return (sessions, [scene.world.ports, other.ports])
    }

    private func ask(
        _ name: String, after earlier: Verification? = nil, by session: Secret<String>, _ scene: AccountScene,
        on ports: Ports
    ) async throws -> AskAddressCode.Outcome {
        try await AskAddressCode.ask(
            try address(name), after: earlier, by: session, shownTo: scene.user, from: nil, in: .english, ports: ports)
    }
}
