import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/decisions/0077-account-page.md.
@Suite("On the account page a person sees what is theirs, and ends it")
struct AccountTests {
    @Test(
        "Whoever has one device says by a code to their address that it is theirs, and is told",
        arguments: Engine.allCases)
    func confirmed(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let session = try await scene.byMail()
        let account = try #require(try await scene.show(session))
        #expect(account.confirmation == .byAddress)
        #expect(account.devices.map(\.enrollment.id) == [scene.phone] && account.addresses.count == 1)
        #expect(
            try await scene.act(.confirm, on: scene.phone, by: session)
                == .done(account.devices[0].enrollment.device.name))
        #expect(try await scene.enrollment(scene.phone).isConfirmed)
        let told = try await scene.told()
        #expect(told.count == 1 && told[0].template == .device && told[0].values["confirmed"] != nil)
        #expect(
            told[0].values["place"]?.reveal() == "192.0.2.7" && told[0].values["sender"]?.reveal() == "Acme account")
        let events = try #require(try await scene.show(session)).events.map(\.event)
        #expect(events.first?.kind == .enrollmentConfirmed && events.first?.actor == .user(scene.user))
    }

    @Test(
        "A mailbox alone brings no device in before the wait of a new one, whatever is removed meanwhile",
        arguments: Engine.allCases)
    func mailbox(_ engine: Engine) async throws {
        for removesPhone in [false, true] {
            let scene = try await AccountScene(engine)
            let world = scene.world
            // Whoever reads the mailbox becomes known to the third party, and enrolls a phone of their own there.
            _ = try await scene.byMail()
            #expect(try await scene.shop.signedInByMail("customer-1", at: scene.third).user == scene.user)
            let planted = try await world.makeDevice(of: scene.user, by: scene.third)
            let session = try await scene.byMail()
            if removesPhone {
                guard case .done = try await scene.act(.remove, on: scene.phone, by: session) else {
                    throw World.Broken("removed")
                }
            }
            let due = world.time.now.adding(Client.standardCoolingOff)
            let outcome = try await scene.act(.confirm, on: planted.enrollment, by: session)
            #expect(outcome == .later(try await scene.enrollment(planted.enrollment).device.name, from: due))
            // Asking again starts no new wait, and ends none.
            world.time.advance(seconds: 60)
            #expect(try await scene.act(.confirm, on: planted.enrollment, by: session) == outcome)
            #expect(try await scene.told().filter { $0.values["confirming"] != nil }.count == 1)
            world.time.advance(Client.standardCoolingOff - 61)
            try await ConfirmWaiting.sweep(ports: world.ports)
            #expect(try await !scene.enrollment(planted.enrollment).isConfirmed)
            world.time.advance(seconds: 1)
            try await ConfirmWaiting.sweep(ports: world.ports)
            #expect(try await scene.enrollment(planted.enrollment).isConfirmed)
            #expect(try await scene.enrollment(planted.enrollment).confirmingFrom == nil)
        }
    }

    @Test(
        "The operator's devices remove a device that is about to be confirmed, and nothing confirms it"
    )
    func objected() async throws {
        for way in ["device", "suspended", "claim"] {
            let scene = try await AccountScene()
            let world = scene.world
            _ = try await scene.byMail()
            _ = try await scene.shop.signedInByMail("customer-1", at: scene.third)
            let planted = try await world.makeDevice(of: scene.user, by: scene.third)
            let session = try await scene.byMail()
            guard case .later = try await scene.act(.confirm, on: planted.enrollment, by: session) else {
                throw World.Broken("at once")
            }
            switch way {
            case "device":
                let act = try await ActOnDevice.act(
                    .remove, on: planted.enrollment, nil, by: try await scene.shop.device.call(), ports: world.ports)
                #expect(act == .done)
            case "suspended":
                guard case .done = try await scene.act(.suspend, on: planted.enrollment, by: session) else {
                    throw World.Broken("suspended")
                }
            default:
                try await world.claim("attacker", of: scene.user, by: scene.third)
                #expect(try await scene.shop.signedInByMail("attacker", at: scene.third).user == scene.user)
            }
            world.time.advance(Client.standardCoolingOff)
            try await ConfirmWaiting.sweep(ports: world.ports)
            #expect(try await !scene.enrollment(planted.enrollment).isConfirmed, "\(way)")
        }
    }

    @Test("With a confirmed device neither an address nor an unconfirmed device nor a mere tap confirms another one")
    func weak() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        let second = try await world.makeDevice(of: scene.user, by: scene.shop.shop)
        // The first proof of the address takes back what was confirmed before.
        _ = try await scene.byMail()
        try await scene.confirm(scene.phone)
        #expect(try await scene.act(.confirm, on: second.enrollment, by: try await scene.byMail()) == .tooWeak)
        #expect(try await scene.act(.confirm, on: second.enrollment, by: try await scene.byTap(second)) == .tooWeak)
        let tap = try await scene.byTap()
        _ = try await second.setPIN()
        #expect(try await scene.act(.confirm, on: second.enrollment, by: tap) == .tooWeak)
        guard case .pin? = try await scene.enrollment(second.enrollment).methods.first else {
            throw World.Broken("PIN")
        }
        let third = try await world.makeDevice(of: scene.user, by: scene.shop.shop)
        #expect(try await scene.act(.remove, on: second.enrollment, by: tap) != .tooWeak)
        // What the removed device leaves behind guards for as long as a new one would wait.
        #expect(try await scene.act(.confirm, on: third.enrollment, by: tap) == .tooWeak)
        world.time.advance(Client.standardCoolingOff)
        let name = try await scene.enrollment(third.enrollment).device.name
        #expect(try await scene.act(.confirm, on: third.enrollment, by: try await scene.byTap()) == .done(name))
        #expect(try await scene.enrollment(third.enrollment).isConfirmed)
    }

    @Test(
        "By a proved address one signs in with the phone at a first party that takes whoever is a user, at no other client",
        arguments: Engine.allCases)
    func byNumber(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let world = scene.world
        let claimed = try await scene.shop.ask(try scene.shop.wanted("customer-1", at: scene.account), by: .device)
        guard case .asked(let nobody) = claimed else { throw World.Broken("asked") }
        #expect(try await !scene.shop.isPut(nobody), "the address is what the shop says")
        try await scene.confirmPhone()
        world.time.advance(seconds: 60)
        var wanted = try scene.shop.wanted("customer-1", at: scene.account)
        wanted.redirectURI = world.ports.issuer.accountPage
        guard case .asked(let asked) = try await scene.shop.ask(wanted, by: .device) else {
            throw World.Broken("asked")
        }
        #expect(try await scene.shop.isPut(asked))
        try await scene.shop.approve(asked)
        guard case .finished(let finished) = try await scene.shop.finish(asked) else { throw World.Broken("finished") }
        #expect(try await scene.show(try #require(finished.session).secret) != nil)
        world.time.advance(seconds: 60)
        let there = try scene.shop.wanted("customer-1", at: scene.third)
        guard case .asked(let third) = try await scene.shop.ask(there, by: .device) else { throw World.Broken("third") }
        #expect(try await !scene.shop.isPut(third))
        let closed = try await world.makeClient("Closed").client
        try await AccountScene.set(closed, at: SignInScene.redirectURI, .closed, in: world)
        let elsewhere = try scene.shop.wanted("customer-1", at: closed)
        guard case .asked(let last) = try await scene.shop.ask(elsewhere, by: .device) else {
            throw World.Broken("last")
        }
        #expect(try await !scene.shop.isPut(last))
    }

    @Test(
        "OWASP ASVS 7.5.1: an act on a device needs a sign-in of the last five minutes; an end needs none"
    )
    func fresh() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        let other = try await scene.byMail()
        scene.world.time.advance(.minutes(5))
        for act in ActOnOwnDevice.Act.allCases {
            #expect(try await scene.act(act, on: scene.phone, by: session) == .signIn, "\(act)")
        }
        #expect(try await scene.enrollment(scene.phone).state == .active)
        #expect(try await scene.end(.otherSessions, by: session) == .done(nil))
        #expect(try await scene.show(other) == nil)
        #expect(try await scene.show(session) != nil)
    }

    @Test("All others end what outlives a session, also of somebody who has signed out of it before")
    func signedOutBefore() async throws {
        let scene = try await AccountScene()
        func lasting(in session: Secret<String>) async throws -> Secret<String>? {
            var wanted = try scene.shop.wanted()
            wanted.scopes.append(TokenFamily.offlineAccess)
            guard
                case .finished(let finished) = try await FinishSignIn.goOn(
                    wanted, in: session, browser: scene.shop.browser, ports: scene.world.ports),
                case .redeemed(let given) = try await scene.shop.redeem(finished.code)
            else { throw World.Broken("offline") }
            return try await SignTokens.sign(given, ports: scene.world.ports).refresh
        }
        let thief = try await scene.byMail()
        let stolen = try await lasting(in: thief)
        try await SignOut.signOut(thief, .session, ports: scene.world.ports)
        let latest = try await scene.shop.refreshed(stolen)
        let session = try await scene.byTap()
        let own = try await lasting(in: session)
        #expect(try await scene.end(.otherSessions, by: session) == .done(nil))
        #expect(try await scene.shop.refresh(latest.refresh) == .invalid)
        _ = try await scene.shop.refreshed(own)
    }

    @Test("What waits on a device is undone by any one way to sign in; what counts is not")
    func undo() async throws {
        let scene = try await AccountScene()
        let (world, phone) = (scene.world, scene.shop.device)
        world.time.advance(seconds: 3600)
        // The shop's tickets waive waits.
        let strict = try await world.makeClient("Strict").client
        _ = try await world.ports.store.commit { try $0.links.put(scene.user, to: strict.id, externalID: nil) }
        func set() async throws {
            var change = try await PINChange(of: phone, to: phone.newPINKey())
            change.ticket = try await world.makeTicket(for: scene.user, by: strict).ticket
            #expect(try await change.send() == .changed(payload: nil))
        }
        func undo(_ method: AnswerMethod, by secret: Secret<String>?) async throws -> ActOnOwnDevice.Outcome {
            try await ActOnOwnDevice.undo(
                method, of: scene.phone, by: secret, shownTo: scene.user, ports: world.ports)
        }
        try await set()
        let name = try await scene.enrollment(scene.phone).device.name
        #expect(try await undo(.pin, by: nil) == .signIn)
        let mail = try await scene.byMail()
        for method in [AnswerMethod.biometric, .confirm] {
            #expect(try await undo(method, by: mail) == .notFound, "\(method)")
        }
        #expect(try await undo(.pin, by: mail) == .done(name))
        #expect(try await scene.enrollment(scene.phone).pin == nil)
        #expect(try await undo(.pin, by: mail) == .notFound)
        try await set()
        world.time.advance(.days(1))
        #expect(try await undo(.pin, by: try await scene.byMail()) == .notFound, "it counts")
        #expect(try await scene.enrollment(scene.phone).pin != nil)
    }

    @Test("A suspended device is resumed by a confirmed one alone, as well as it approves a new one, and all are told")
    func resume() async throws {
        let scene = try await AccountScene()
        let second = try await scene.world.makeDevice(of: scene.user, by: scene.shop.shop)
        try await scene.confirmPhone()
        let mail = try await scene.byMail()
        let name = try await scene.enrollment(second.enrollment).device.name
        func act(_ act: ActOnOwnDevice.Act, by secret: Secret<String>) async throws -> ActOnOwnDevice.Outcome {
            try await scene.act(act, on: second.enrollment, by: secret)
        }
        let tap = try await scene.byTap(second)
        #expect(try await act(.resume, by: mail) == .done(name), "it is not suspended")
        #expect(try await act(.suspend, by: mail) == .done(name))
        #expect(try await act(.resume, by: mail) == .tooWeak)
        #expect(try await act(.resume, by: tap) == .signIn, "a suspended device opens no page")
        #expect(try await act(.resume, by: try await scene.byTap()) == .done(name))
        #expect(try await scene.enrollment(second.enrollment).state == .active)
        let told = try await scene.told()
        #expect(told.filter { $0.values["resumed"] != nil }.count == 1 && told.last?.template == .device)
        // Where a device has a PIN that counts, a tap does not do.
        _ = try await scene.shop.device.setPIN()
        #expect(try await act(.suspend, by: mail) == .done(name))
        #expect(try await act(.resume, by: try await scene.byTap()) == .tooWeak)
        #expect(try await act(.resume, by: try await scene.byPIN()) == .done(name))
    }

    @Test("A passkey resumes a device only if it was there before the device could have brought it in")
    func resumeByPasskey() async throws {
        let scene = try await AccountScene()
        try await scene.confirmPhone()
        let second = try await scene.world.makeDevice(of: scene.user, by: scene.shop.shop)
        let (soft, _) = try await scene.passkey(by: try await scene.byPIN())
        func suspend() async throws {
            let done = try await SuspendEnrollment.suspend(
                second.enrollment, true, by: .system, ports: scene.world.ports)
            #expect(done == .done)
        }
        func resume() async throws -> ActOnOwnDevice.Outcome {
            let session = try #require(try await scene.byPasskey(soft).session).secret
            return try await scene.act(.resume, on: second.enrollment, by: session)
        }
        let name = try await scene.enrollment(second.enrollment).device.name
        try await suspend()
        #expect(try await resume() == .tooWeak)
        scene.world.time.advance(.days(1))
        #expect(try await resume() == .tooWeak, "it was suspended before")
        #expect(
            try await SuspendEnrollment.suspend(second.enrollment, false, by: .system, ports: scene.world.ports)
                == .done)
        try await suspend()
        #expect(try await resume() == .done(name))
    }

    @Test("Earlier events come page by page, each once, and only one's own")
    func earlier() async throws {
        let scene = try await AccountScene()
        for _ in 0..<23 {
            scene.world.time.advance(seconds: 400)
            _ = try await scene.byTap()
        }
        scene.world.time.advance(seconds: 400)
        let session = try await scene.byTap()
        func show(_ cursor: String?) async throws -> Account {
            guard
                case .shown(let account) = try await ShowAccount.show(
                    session, eventsAfter: cursor, ports: scene.world.ports)
            else { throw World.Broken("account") }
            return account
        }
        var seen: [EventID] = []
        var times: [Timestamp] = []
        var cursor: String?
        repeat {
            let page = try await show(cursor)
            #expect(page.events.count == 20 || page.cursor == nil)
            seen += page.events.map(\.event.id)
            times += page.events.map(\.event.at)
            cursor = page.cursor
        } while cursor != nil
        #expect(seen.count > 40 && Set(seen).count == seen.count && times == times.sorted(by: >))
        let first = try await show(nil)
        #expect(try await show("x").events.map(\.event.id) == first.events.map(\.event.id))
        let others = scene.world.ports.hasher.cursor("1", of: "account \(scene.world.newID() as UserID)")
        #expect(try await show(others).events.map(\.event.id) == first.events.map(\.event.id))
    }

    @Test("Nobody touches what is somebody else's, and a page that was shown to another person does nothing")
    func others() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        let stranger = try await world.makeUser("stranger", of: scene.shop.shop)
        let device = try await world.makeDevice(of: stranger, by: scene.shop.shop)
        let session = try await scene.byTap()
        for act in ActOnOwnDevice.Act.allCases {
            #expect(try await scene.act(act, on: device.enrollment, by: session) == .notFound)
            #expect(try await scene.act(act, on: device.enrollment, by: session, shownTo: stranger) == .signIn)
            #expect(try await scene.act(act, on: scene.phone, by: nil) == .signIn)
        }
        #expect(try await scene.enrollment(device.enrollment).state == .active)
    }

    @Test("Somebody else's session does not end, whoever knows its id")
    func othersSession() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        let newcomer = try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop)
        let theirs = try #require(newcomer.finished.session).secret
        let id = try #require(try await scene.show(theirs)).visit.session.id
        #expect(try await scene.end(.session(id), by: session) == .done(nil))
        #expect(try await scene.show(theirs) != nil)
        #expect(try await scene.end(.session(id), by: theirs) == .signIn)
    }

    @Test("A device that waits cannot be suspended, only removed")
    func suspendsNoneThatWaits() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        let strict = try await world.makeClient("Strict").client
        try await world.link(scene.user, to: strict)
        let waiting = try await world.makeDevice(of: scene.user, by: strict).enrollment
        let session = try await scene.byMail()
        let device = try await scene.enrollment(waiting)
        #expect(!device.counts(at: world.time.now))
        #expect(try await scene.act(.suspend, on: waiting, by: session) == .notFound)
        #expect(try await scene.enrollment(waiting).state == .active)
        #expect(try await scene.act(.remove, on: waiting, by: session) == .done(device.device.name))
    }

    @Test(
        "NIST SP 800-63B-4 §4.3: a lost phone is removed or suspended by a mere address, and no wait is shorter"
    )
    func lost() async throws {
        for act in [ActOnOwnDevice.Act.remove, .suspend] {
            let scene = try await AccountScene()
            let thief = try await scene.byTap()
            let session = try await scene.byMail()
            let name = try await scene.enrollment(scene.phone).device.name
            #expect(try await scene.act(act, on: scene.phone, by: session) == .done(name))
            #expect(try await scene.show(thief) == nil)
            #expect(try await scene.told().contains { $0.values[act == .remove ? "removed" : "suspended"] != nil })
            let trust = try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
                try work.trustState(of: scene.user, in: .firstParty)
            }
            #expect(trust.newEnrollmentCounts != nil)
            if act == .remove {
                guard case .removed(.account, _) = try await scene.enrollment(scene.phone).state else {
                    throw World.Broken("removed")
                }
                #expect(try await scene.act(act, on: scene.phone, by: session) == .notFound)
            } else {
                #expect(try await scene.act(act, on: scene.phone, by: session) == .done(name))
            }
        }
    }

    @Test("A session ends with all its tokens, also those that outlive it")
    func sessions() async throws {
        let scene = try await AccountScene()
        let (_, tokens) = try await scene.shop.offline()
        #expect(try await scene.shop.isGood(tokens))
        let session = try await scene.byMail()
        let others = try #require(try await scene.show(session)).sessions.filter { $0.session.place != nil }
        #expect(others.count == 2 && others[0].by != nil && others[1].by == nil)
        #expect(try await scene.end(.session(others[0].session.id), by: session) == .done(nil))
        #expect(try await !scene.shop.isGood(tokens))
        guard case .refused = Summary(try await scene.shop.refresh(tokens.refresh)) else {
            throw World.Broken("refreshed")
        }
        #expect(try await scene.show(session)?.sessions.count == 1)
    }

    /// Whether a refresh was refused.
    private enum Summary {
        case refreshed, refused

        init(_ outcome: RefreshTokens.Outcome) {
            if case .refreshed = outcome { self = .refreshed } else { self = .refused }
        }
    }

    @Test("What a client may have ends with its tokens and with the code that it has not redeemed; it asks anew")
    func access() async throws {
        let scene = try await AccountScene()
        let (shop, third) = (scene.shop, scene.third)
        _ = try await scene.byMail()
        let signedIn = try await shop.signedInByMail("customer-1", at: third)
        let session = try #require(signedIn.finished.session).secret
        guard case .finished(let pending) = try await shop.goOn(signedIn.finished, at: third) else {
            throw World.Broken("went on")
        }
        let before = try #require(try await scene.show(session)).access
        #expect(before.map(\.client) == [third.id] && before[0].scopes == ["openid"])
        #expect(try await scene.end(.client(third.id), by: session) == .done(third.name))
        #expect(try await scene.show(session)?.access.isEmpty == true)
        #expect(try await shop.redeem(pending.code, by: third.id) == .invalid)
        let again = try await FinishSignIn.goOn(
            try shop.wanted(nil, at: third), in: session, browser: shop.browser, ports: scene.world.ports)
        guard case .asks = again else { throw World.Broken("\(again)") }
        let kinds = try #require(try await scene.show(session)).events.map(\.event.kind)
        #expect(kinds.filter { $0 == .accessEnded }.count == 1)
    }

    @Test("Whoever is a user signs in to the page, unknown to its client until then; nobody becomes one by it")
    func signsIn() async throws {
        let scene = try await AccountScene()
        let (world, shop) = (scene.world, scene.shop)
        _ = try await scene.byMail()
        let asked = try await scene.askedForAccount("customer-1")
        #expect(try await shop.enter(try #require(try await shop.sent(for: asked)), for: asked) == .authenticated)
        guard case .finished(let finished) = try await shop.finish(asked) else { throw World.Broken("finish") }
        #expect(try await scene.show(finished.session?.secret)?.visit.user == scene.user)
        let nobody = try await scene.askedForAccount("nobody")
        #expect(try await shop.sent(for: nobody) == nil)
        let code = world.ports.hasher.code(of: try #require(nobody.ask?.verification))
        guard case .wrong = try await shop.enter(code, for: nobody) else { throw World.Broken("a new user") }
        // The page keeps nobody: when the last other client lets go, the user is deleted.
        let links = try await world.store.read { try $0.links.find(.id(scene.user), of: scene.account.id) }
        #expect(links != nil)
        #expect(try await UnlinkUser.unlink(.id(scene.user), from: shop.shop.caller, ports: world.ports) == .unlinked)
        let (left, link) = try await world.store.read {
            (try $0.users.find(scene.user), try $0.links.find(.id(scene.user), of: scene.account.id))
        }
        #expect(left?.deletedAt != nil && link == nil)
    }

    @Test("A user who is deleted leaves no link behind, also while the page is off; a third party keeps its users")
    func links() async throws {
        let scene = try await AccountScene()
        let (world, shop) = (scene.world, scene.shop)
        let toAccount = try await world.store.commit {
            try $0.links.put(scene.user, to: scene.account.id, externalID: nil)
        }
        #expect(toAccount)
        _ = try await DisableClient.disable(scene.account.id, by: .system, ports: world.ports)
        try await AccountScene.set(scene.third, at: world.ports.issuer.accountPage, .known, in: world)
        try await world.link(scene.user, to: scene.third)
        #expect(try await UnlinkUser.unlink(.id(scene.user), from: shop.shop.caller, ports: world.ports) == .unlinked)
        #expect(try await world.store.read { try $0.users.find(scene.user)?.deletedAt } == nil)
        #expect(
            try await UnlinkUser.unlink(.id(scene.user), from: scene.third.caller, ports: world.ports) == .unlinked)
        #expect(try await world.store.read { try $0.users.find(scene.user)?.deletedAt } != nil)
        #expect(try await world.count("user_links", where: "user_id = '\(scene.user)'") == 0)
    }

    @Test("A third party's device and word open nothing, and a third party is no account page")
    func thirdParty() async throws {
        let scene = try await AccountScene()
        let (world, shop) = (scene.world, scene.shop)
        try await world.link(scene.user, to: scene.third)
        let planted = try await world.makeDevice(of: scene.user, by: scene.third)
        try await world.claim("attacker", of: scene.user, by: scene.third)
        let byWord = try await shop.signedInByMail("attacker", at: scene.third)
        #expect(byWord.user == scene.user)
        #expect(try await scene.show(byWord.finished.session?.secret) == nil)
        let byDevice = try await shop.signedIn(with: planted, as: "attacker", at: scene.third)
        #expect(try await scene.show(byDevice.session?.secret) == nil)
        try await AccountScene.set(scene.third, at: world.ports.issuer.accountPage, .known, in: world)
        #expect(try await scene.show(nil) == nil)
        _ = try await DisableClient.disable(scene.account.id, by: .system, ports: world.ports)
        guard case .off = try await ShowAccount.show(nil, ports: world.ports) else { throw World.Broken("on") }
        #expect(try await !ShowAccount.isOpen(ports: world.ports))
    }

    @Test("The account page takes a client of its own, whose users may be nobody else's; a third party's is none")
    func alone() async throws {
        let scene = try await AccountScene()
        let uris = [SignInScene.redirectURI, scene.world.ports.issuer.accountPage].compactMap { RedirectURI($0) }
        for client in [scene.shop.shop, scene.account, scene.third] {
            let party = RelyingParty(client: client.id, profile: .native, redirectURIs: uris, registration: .open)
            let outcome = try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports)
            #expect(outcome == (client.id == scene.third.id ? .set(party) : .accountAmongOthers))
        }
        #expect(try await scene.world.store.read { try $0.relyingParties.account() } == scene.account.id)
    }

    @Test("A client that is deleted is the account page's no more, and another one that is takes its place")
    func deleted() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        let second = try await world.makeClient("Second").client
        try await AccountScene.set(second, at: world.ports.issuer.accountPage, .known, in: world)
        for left in [1, 0] {
            let id = try #require(try await world.store.read { try $0.relyingParties.account() })
            #expect(try await DeleteClient.delete(id, by: .system, ports: world.ports) == .deleted)
            let next = try await world.store.read { try $0.relyingParties.account() }
            #expect(next != id && (next == nil) == (left == 0))
            #expect(try await ShowAccount.isOpen(ports: world.ports) == (left == 1))
        }
        guard case .off = try await ShowAccount.show(nil, ports: world.ports) else { throw World.Broken("on") }
        #expect(try await !ShowAccount.isOpen(ports: world.ports))
    }
}
