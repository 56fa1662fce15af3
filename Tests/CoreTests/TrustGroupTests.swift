import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A device is believed by whom its user let it be")
struct TrustGroupTests {
    /// A shop of the operator's, a third party that also signs people in, and somebody who uses both.
    private struct Scene: Sendable {
        let shop: SignInScene
        let third: Client
        let victim: UserID

        var world: World { shop.world }

        /// - Parameter hasDevice: whether the victim has a device of the shop's before the third party knows them.
        init(_ engine: Engine = .sqlite, hasDevice: Bool = false) async throws {
            shop = try await SignInScene(engine)
            let world = shop.world
            let ways: Set<SignInWay> = [.device, .qr, .email]
            try await shop.set(ways: ways, registration: .open)
            try await world.makeType(numberEntry: false)
            third = try await world.makeClient("Third", waives: true, isThirdParty: true).client
            try await Self.set(third, ways, registration: .open, in: world)
            if hasDevice {
                victim = shop.user
                try await world.link(victim, to: third)
            } else {
                let asked = try await shop.askedByMail("victim")
                #expect(
                    try await shop.enter(try #require(try await shop.sent(for: asked)), for: asked) == .authenticated)
                guard case .finished(let finished) = try await shop.finish(asked),
                    case .finished = try await shop.goOn(finished, at: third)
                else { throw World.Broken("sign-in") }
                victim = try #require(
                    try await world.store.read {
                        try $0.identifiers.verified(world.ports.hasher.identifier(.email(SignInScene.email("victim"))))
                    }?.user)
            }
        }

        static func set(
            _ client: Client, _ ways: Set<SignInWay>, registration: RelyingParty.Registration, in world: World
        ) async throws {
            let party = RelyingParty(
                client: client.id, profile: .native, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))],
                askedBrowsers: .all, ways: ways, registration: registration)
            #expect(try await SetRelyingParty.set(party, by: client.actor, ports: world.ports) == .set(party))
            try await world.store.refreshKeys()
        }

        /// Whether a client may ask the victim by their devices, and which are asked.
        func asked(by client: Client) async throws -> Set<EnrollmentID>? {
            let result = try await AskChallenge.ask(
                try world.request(for: victim), by: client.credential, idempotency: nil, ports: world.ports)
            switch result {
            case .done(.asked(let asked)): return Set(asked.enrollments)
            case .done(.refused(.noEnrollment)): return nil
            default: throw World.Broken("\(result)")
            }
        }

        func others(of device: TestDevice) async throws -> Set<EnrollmentID> {
            guard
                case .list(let list) = try await ShowOtherDevices.show(to: try await device.call(), ports: world.ports)
            else { throw World.Broken("list") }
            return Set(list.enrollments.map(\.id))
        }

        func remove(_ other: TestDevice, by device: TestDevice) async throws -> ActOnDevice.Outcome {
            try await ActOnDevice.act(
                .remove, on: other.enrollment, nil, by: try await device.call(), ports: world.ports)
        }

        func enrollment(_ device: TestDevice) async throws -> Enrollment {
            try #require(try await world.store.read { try $0.enrollments.find(device.enrollment) })
        }

        func confirm(_ device: TestDevice) async throws {
            #expect(
                try await ConfirmEnrollment.confirm(device.enrollment, by: .system, ports: world.ports) == .done)
        }

        /// What a client is shown of the victim's devices: of one user, in a list, and in an export.
        func shown(to client: Client) async throws -> [EnrollmentID] {
            guard
                case .enrollments(let shown) = try await ShowEnrollments.show(
                    of: .id(victim), to: client, ports: world.ports)
            else { throw World.Broken("shown") }
            guard
                case .page(let page) = try await ListEnrollments.list(
                    ListEnrollments.Filter(), in: .client(client.id), cursor: nil, ports: world.ports),
                var export = try await ExportUser.begin(
                    .id(victim), in: .client(client.id), by: client.caller, ports: world.ports
                ).export
            else { throw World.Broken("lists") }
            var exported: [EnrollmentID] = []
            while let parts = try await export.next(ports: world.ports) {
                for case .enrollment(let enrollment) in parts { exported.append(enrollment.id) }
            }
            #expect(Set(page.elements.filter { $0.user == victim }.map(\.id)) == Set(shown.map(\.id)))
            #expect(Set(exported) == Set(shown.map(\.id)))
            return shown.map(\.id)
        }
    }

    @Test(
        "A hostile client enrolls a device for a shared user who has none: it is asked, seen and told nowhere else",
        arguments: Engine.allCases)
    func planted(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let (world, shop) = (scene.world, scene.shop)
        let planted = try await world.makeDevice(of: scene.victim, by: scene.third)
        #expect(try await scene.asked(by: scene.third) == [planted.enrollment])
        #expect(try await scene.asked(by: shop.shop) == nil)
        #expect(
            try await AvailableMethods.list(for: .id(scene.victim), client: shop.shop, ports: world.ports) == .types([])
        )
        #expect(try await !shop.isAsked("victim"))
        #expect(try await shop.scan(try await shop.askedByCode(), with: planted) == .notConfirmed)
        // The first device of the shop's has nobody to wait for, and the planted one no say in it.
        let own = try await TestDevice(try await world.makeTicket(for: scene.victim, by: shop.shop), in: world)
        guard case .enrolled(let made, nil) = try await own.enroll() else { throw World.Broken("waits") }
        #expect(made.counts(at: world.time.now) && !made.isConfirmed)
        #expect(try await scene.asked(by: shop.shop) == [own.enrollment])
        #expect(try await scene.asked(by: scene.third) == [planted.enrollment])
        #expect(try await scene.others(of: planted).isEmpty)
        #expect(try await scene.others(of: own).isEmpty)
        #expect(try await scene.remove(own, by: planted) == .notFound)
        #expect(try await scene.remove(planted, by: own) == .notFound)
        #expect(try await scene.shown(to: shop.shop) == [own.enrollment])
        #expect(try await scene.shown(to: scene.third) == [planted.enrollment])
        // Once it is confirmed, all of this is otherwise.
        try await scene.confirm(planted)
        #expect(try await scene.asked(by: shop.shop) == [own.enrollment, planted.enrollment])
        #expect(try await scene.others(of: planted) == [own.enrollment])
        #expect(try await scene.others(of: own) == [planted.enrollment])
        #expect(try await scene.shown(to: shop.shop).count == 2)
        #expect(try await shop.scan(try await shop.askedByCode(), with: planted) == .claimed)
        #expect(try await scene.remove(own, by: planted) == .done)
    }

    @Test("A session that a planted device opens is good at its client alone, whatever is asked for")
    func sessions() async throws {
        let scene = try await Scene()
        let shop = scene.shop
        let planted = try await scene.world.makeDevice(of: scene.victim, by: scene.third)
        let session = try await shop.signedIn(with: planted, as: "victim", at: scene.third)
        guard case .finished = try await shop.goOn(session, at: scene.third) else { throw World.Broken("own") }
        #expect(try await shop.goOn(session, at: shop.shop) == .notReady)
        try await scene.confirm(planted)
        guard case .finished = try await shop.goOn(session, at: shop.shop) else { throw World.Broken("confirmed") }
    }

    @Test("Of two devices it is the one that is believed that lets a further one in; only a confirmed one confirms it")
    func approvals() async throws {
        let scene = try await Scene(hasDevice: true)
        let world = scene.world
        let planted = try await world.makeDevice(of: scene.victim, by: scene.third)
        let cautious = try await world.makeClient("Cautious").client
        try await world.link(scene.victim, to: cautious)
        func enroll() async throws -> (device: TestDevice, question: Challenge) {
            let device = try await TestDevice(try await world.makeTicket(for: scene.victim, by: cautious), in: world)
            guard case .enrolled(let made, .some) = try await device.enroll() else { throw World.Broken("no wait") }
            let id = try #require(made.approval)
            return (device, try #require(try await world.store.read { try $0.challenges.find(id) }))
        }
        func answer(_ question: Challenge, by device: TestDevice) async throws -> String {
            let id = question.id
            guard case .message = try await OpenChallenge.open(id, for: try await device.call(), ports: world.ports)
            else { return "not asked" }
            let number = world.ports.hasher.approvalNumber(of: id)
            return try await device.answer(
                id, with: try await device.receipt(of: question, .approved(.confirm, number: number))
            ).summary
        }
        let (second, first) = try await enroll()
        #expect(try await answer(first, by: planted) == "not asked")
        #expect(try await answer(first, by: scene.shop.device) == "decided approved -")
        #expect(try await scene.enrollment(second).counts(at: world.time.now))
        #expect(try await !scene.enrollment(second).isConfirmed)
        try await scene.confirm(second)
        let (third, another) = try await enroll()
        #expect(try await answer(another, by: second) == "decided approved -")
        #expect(try await scene.enrollment(third).isConfirmed)
        #expect(try await scene.asked(by: scene.third)?.contains(third.enrollment) == true)
        #expect(try await scene.asked(by: scene.third)?.contains(scene.shop.device.enrollment) == false)
        // A wait that ends by itself, and a waiver, confirm nothing.
        let (fourth, _) = try await enroll()
        world.time.advance(Client.standardCoolingOff)
        try await TellWaits.sweep(ports: world.ports)
        let waited = try await scene.enrollment(fourth)
        #expect(waited.counts(at: world.time.now) && !waited.isConfirmed)
        #expect(try await !scene.enrollment(planted).isConfirmed)
    }

    @Test("What a planted device leaves behind makes nobody wait elsewhere, and at its own client it does")
    func leftBehind() async throws {
        for isConfirmed in [false, true] {
            let scene = try await Scene()
            let world = scene.world
            let planted = try await world.makeDevice(of: scene.victim, by: scene.third)
            if isConfirmed { try await scene.confirm(planted) }
            guard case .removed = try await RemoveOwnEnrollment.remove(by: try await planted.call(), ports: world.ports)
            else { throw World.Broken("removed") }
            let groups: [(TrustGroup, Bool)] = [(.thirdParty(scene.third.id), true), (.firstParty, isConfirmed)]
            for (group, waits) in groups {
                let trust = try await world.ports.commit(at: world.time.now, as: .system) { work in
                    try work.trustState(of: scene.victim, in: group)
                }
                #expect((trust.newEnrollmentCounts != nil) == waits, "\(group), confirmed: \(isConfirmed)")
            }
        }
    }

    @Test("A third party removes and waives only what was enrolled through it, a client of the operator's likewise")
    func clients() async throws {
        let scene = try await Scene(hasDevice: true)
        let world = scene.world
        let planted = try await world.makeDevice(of: scene.victim, by: scene.third)
        func remove(_ device: TestDevice, by client: Client) async throws -> RemoveEnrollment.Outcome {
            try await RemoveEnrollment.remove(
                device.enrollment, of: .id(scene.victim), by: client.caller, ports: world.ports)
        }
        func waive(_ device: TestDevice, by client: Client) async throws -> WaiveWait.Outcome {
            try await WaiveWait.waive(
                device.enrollment, device.certificate.fingerprint, of: .id(scene.victim), by: client.caller,
                ports: world.ports)
        }
        let own = scene.shop.device
        try await scene.confirm(own)
        #expect(try await waive(own, by: scene.third) == .notFound)
        #expect(try await waive(planted, by: scene.shop.shop) == .notFound)
        #expect(try await remove(own, by: scene.third) == .notFound)
        #expect(try await remove(planted, by: scene.shop.shop) == .notFound)
        // Tickets are authority over the methods of the same devices.
        for (device, client, isGood) in [
            (own, scene.shop.shop, true), (own, scene.third, false), (planted, scene.third, true),
            (planted, scene.shop.shop, false),
        ] {
            #expect(try await isAuthority(of: client, over: device) == isGood, "\(client.name)")
        }
        // Once it is confirmed, a waiver of the third party's would count for all, and the shop may take it away.
        try await scene.confirm(planted)
        #expect(try await waive(planted, by: scene.third) == .notFound)
        #expect(try await !isAuthority(of: scene.third, over: planted))
        #expect(try await remove(planted, by: scene.shop.shop) == .removed)
        #expect(try await remove(own, by: scene.shop.shop) == .removed)

        func isAuthority(of client: Client, over device: TestDevice) async throws -> Bool {
            let secret = try await world.makeTicket(for: scene.victim, by: client).ticket
            let enrollment = try await scene.enrollment(device)
            return try await world.ports.commit(at: world.time.now, as: .system) { work in
                guard case .ticket = try ChangeMethods.authority(secret, for: enrollment, in: work) else {
                    return false
                }
                return true
            }
        }
    }

    @Test("A tap that would not do elsewhere lets a third party's device in, and does not confirm it")
    func weakApproval() async throws {
        for isGuarded in [false, true] {
            let scene = try await Scene(hasDevice: true)
            let world = scene.world
            let confirmed = scene.shop.device
            try await scene.confirm(confirmed)
            let guarded = try await world.makeDevice(of: scene.victim, by: scene.shop.shop)
            if isGuarded { _ = try await guarded.setPIN() }
            let cautious = try await world.makeClient("Cautious", isThirdParty: true).client
            try await world.link(scene.victim, to: cautious)
            let device = try await TestDevice(try await world.makeTicket(for: scene.victim, by: cautious), in: world)
            guard case .enrolled(let made, .some) = try await device.enroll() else { throw World.Broken("no wait") }
            let id = try #require(made.approval)
            let question = try #require(try await world.store.read { try $0.challenges.find(id) })
            #expect(question.question.message.text.contains("for everything that you use it for"))
            try await confirmed.open(id)
            let decision = Decision.approved(.confirm, number: world.ports.hasher.approvalNumber(of: id))
            let outcome = try await confirmed.answer(id, with: try await confirmed.receipt(of: question, decision))
            #expect(outcome.summary == "decided approved -")
            let approved = try await scene.enrollment(device)
            #expect(approved.counts(at: world.time.now) && approved.isConfirmed == !isGuarded, "\(isGuarded)")
        }
    }

    @Test("That a device is confirmed no longer makes nobody wait less")
    func unconfirmedWaits() async throws {
        let scene = try await Scene()
        let world = scene.world
        let planted = try await world.makeDevice(of: scene.victim, by: scene.third)
        func waits() async throws -> Bool {
            try await world.ports.commit(at: world.time.now, as: .system) { work in
                try work.trustState(of: scene.victim, in: .firstParty).newEnrollmentCounts != nil
            }
        }
        #expect(try await !waits())
        try await scene.confirm(planted)
        #expect(try await waits())
        // The third party claims an address that it reads itself, and proves it.
        try await world.claim("attacker", of: scene.victim, by: scene.third)
        #expect(try await scene.shop.signedInByMail("attacker", at: scene.third).user == scene.victim)
        #expect(try await !scene.enrollment(planted).isConfirmed)
        #expect(try await waits())
        world.time.advance(Client.standardCoolingOff)
        #expect(try await !waits())
    }

    @Test("A third party's sign-ins neither stand in the way of others nor use up their asks")
    func inTheWay() async throws {
        let scene = try await Scene(hasDevice: true)
        let (world, shop) = (scene.world, scene.shop)
        try await world.claim("customer-1", of: scene.victim, by: scene.third)
        let planted = try await world.makeDevice(of: scene.victim, by: scene.third)
        for _ in 0..<11 {
            _ = try await shop.signedIn(with: planted, as: "customer-1", at: scene.third)
        }
        guard case .asked(let open) = try await shop.ask(try shop.wanted("customer-1", at: scene.third), by: .device)
        else { throw World.Broken("asked") }
        #expect(try await !shop.isPut(open))
        world.time.advance(.hours(1))
        guard case .asked(let last) = try await shop.ask(try shop.wanted("customer-1", at: scene.third), by: .device)
        else { throw World.Broken("asked") }
        #expect(try await shop.isPut(last))
        #expect(try await shop.isAsked())
        let id = try #require(last.ask?.challenge)
        #expect(try await world.store.read { try $0.challenges.find(id) }?.state == .pending)
    }

    @Test("A third party does not learn from a claim what was proved elsewhere, and knows nobody who refuses it")
    func probing() async throws {
        let scene = try await Scene()
        let (world, shop, third) = (scene.world, scene.shop, scene.third)
        try await world.claim("victim", of: scene.victim, by: third)
        guard case .user(_, let known, _) = try await ShowUser.show(.id(scene.victim), to: third, ports: world.ports)
        else {
            throw World.Broken("user")
        }
        #expect(known[.email]?.isVerified == false)
        // Somebody new proves an address there, and allows nothing.
        let asked = try await shop.askedByMail("newcomer", at: third)
        #expect(try await shop.enter(try #require(try await shop.sent(for: asked)), for: asked) == .authenticated)
        guard case .asks(let question) = try await shop.finish(asked) else { throw World.Broken("asks") }
        #expect(try await ShowUser.show(.id(question.user), to: third, ports: world.ports) == .notFound)
        #expect(try await CancelSignIn.cancel(asked.id, in: shop.browser, ports: world.ports))
        let left = try await world.store.read {
            (try $0.users.find(question.user)?.deletedAt, try $0.identifiers.verified(of: question.user))
        }
        #expect(left.0 != nil && left.1.isEmpty)
        #expect(try await shop.signedInByMail("newcomer", at: third).user != question.user)
    }

    @Test("An operator deletes somebody who has proved an address at a third party and has decided nothing there")
    func undecided() async throws {
        let scene = try await Scene()
        let (world, shop) = (scene.world, scene.shop)
        let asked = try await shop.askedByMail("newcomer", at: scene.third)
        #expect(try await shop.enter(try #require(try await shop.sent(for: asked)), for: asked) == .authenticated)
        guard case .asks(let question) = try await shop.finish(asked) else { throw World.Broken("asks") }
        let operatorClient = shop.shop.caller
        #expect(
            try await DeleteUser.delete(.id(question.user), by: operatorClient, ports: world.ports) == .deleted)
        let left = try await world.store.read {
            (try $0.users.find(question.user)?.deletedAt, try $0.identifiers.verified(of: question.user))
        }
        #expect(left.0 != nil && left.1.isEmpty)
        #expect(try await shop.finish(asked) == .notReady)
        #expect(
            try await DeleteUser.delete(.id(question.user), by: operatorClient, ports: world.ports) == .notFound)
    }

    @Test(
        "Whoever proves an address at a third party, and says neither yes nor no, is forgotten after a day",
        arguments: Engine.allCases)
    func forgotten(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let (world, shop) = (scene.world, scene.shop)
        let asked = try await shop.askedByMail("newcomer", at: scene.third)
        #expect(try await shop.enter(try #require(try await shop.sent(for: asked)), for: asked) == .authenticated)
        guard case .asks(let question) = try await shop.finish(asked) else { throw World.Broken("asks") }
        func isThere(_ user: UserID) async throws -> Bool {
            try await world.store.read { try $0.users.find(user)?.deletedAt } == nil
        }
        func sweep() async throws {
            let now = world.time.now
            try await ForgetUndecided.sweep(at: now, ports: world.ports)
            _ = try await world.store.commit { try $0.retention.sweep(now: now, limit: 500) }
        }
        world.time.advance(.hours(24))
        try await sweep()
        #expect(try await isThere(question.user), "what was begun half an hour before its end is kept for a day")
        world.time.advance(.hours(1))
        try await sweep()
        #expect(try await !isThere(question.user))
        #expect(try await world.store.read { try $0.identifiers.verified(of: question.user) }.isEmpty)
        #expect(try await isThere(scene.victim), "whom a client knows stays")
        #expect(try await world.count("authorizations") == 0)
    }

    @Test(
        "A device that is confirmed no longer answers nothing that it was asked elsewhere, and refreshes no tokens there"
    )
    func unconfirmed() async throws {
        let scene = try await Scene()
        let (world, shop) = (scene.world, scene.shop)
        let planted = try await world.makeDevice(of: scene.victim, by: scene.third)
        try await scene.confirm(planted)
        let earlier = try await shop.signedIn(with: planted, as: "victim", at: shop.shop)
        var lasting = try shop.wanted("victim", at: shop.shop)
        lasting.scopes.append(TokenFamily.offlineAccess)
        guard
            case .finished(let more) = try await FinishSignIn.goOn(
                lasting, in: try #require(earlier.session).secret, browser: shop.browser, ports: world.ports),
            case .redeemed(let given) = try await shop.redeem(more.code)
        else { throw World.Broken("redeem") }
        let tokens = try await SignTokens.sign(given, ports: world.ports)
        world.time.advance(seconds: 121)
        let finished = try await shop.signedIn(with: planted, as: "victim", at: shop.shop)
        let asked = try await world.ask(try world.request(for: scene.victim), by: shop.shop)
        #expect(asked.enrollments == [planted.enrollment])
        try await world.ports.commit(at: world.time.now, as: .system) { work in
            try work.unconfirmEnrollments(of: scene.victim, by: scene.third.id)
        }
        #expect(
            try await planted.answer(asked, .approved(.confirm, number: nil)) == .invalid(.notConfirmed))
        #expect(try await shop.redeem(finished.code) == .invalid)
        #expect(try await shop.refresh(tokens.refresh) == .invalid)
        #expect(try await shop.goOn(finished, at: shop.shop) == .notReady)
        let own = try await world.ask(try world.request(for: scene.victim), by: scene.third)
        let answered = try await planted.answer(own, .approved(.confirm, number: nil))
        #expect(answered.summary == "decided approved -", "\(answered)")
        let kinds = try await world.audit().map(\.kind).filter {
            [.enrollmentConfirmed, .enrollmentUnconfirmed].contains($0)
        }
        #expect(kinds == [.enrollmentConfirmed, .enrollmentUnconfirmed])
    }

    @Test(
        "A hostile client claims an address and enrolls; its owner verifies there first: elsewhere they are somebody else",
        arguments: Engine.allCases)
    func claimed(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let (world, shop, third) = (scene.world, scene.shop, scene.third)
        let ways: Set<SignInWay> = [.device, .qr, .email]
        try await Scene.set(third, ways, registration: .closed, in: world)
        let trap = try await world.makeUser("trap", of: third)
        let address = PersonalAddress.email(try SignInScene.email("owner"))
        try await world.claim("owner", of: trap, by: third)
        let planted = try await world.makeDevice(of: trap, by: third)
        try await scene.confirm(planted)
        // The owner signs in there, and is the trap's user there.
        let there = try await shop.signedInByMail("owner", at: third)
        #expect(there.user == trap)
        #expect(try await !scene.enrollment(planted).isConfirmed)
        #expect(try await shop.goOn(there.finished, at: shop.shop) == .notReady)
        // The planted device is not asked elsewhere, and the owner is a person of their own.
        #expect(try await !shop.isAsked("owner"))
        let here = try await shop.signedInByMail("owner", at: shop.shop)
        #expect(here.user != trap)
        #expect(try await !shop.isAsked("owner"))
        // At the third party they go on as before.
        #expect(try await shop.signedInByMail("owner", at: third).user == trap)
        let name = world.ports.hasher.identifier(address)
        let (verified, claim) = try await world.store.read {
            (try $0.identifiers.verified(name), try $0.identifiers.claim(name, by: third.id))
        }
        #expect(verified?.user == here.user && verified?.client == nil)
        #expect(claim?.proved?.user == trap && claim?.proved?.client == third.id)
        // The claim as it was keeps the proof; another address takes it back.
        func claimAgain(_ name: String) async throws -> Bool {
            try await world.claim(name, of: trap, by: third)
            return try await world.store.read { try $0.identifiers.claims(of: trap) }.contains { $0.proved != nil }
        }
        #expect(try await claimAgain("owner"))
        #expect(try await !claimAgain("other"))
    }

    @Test("A third party that claims its own address for a shared user is led into their account nowhere else")
    func foreignAddress() async throws {
        let scene = try await Scene(hasDevice: true)
        let (world, shop, third) = (scene.world, scene.shop, scene.third)
        try await world.claim("attacker", of: scene.victim, by: third)
        let there = try await shop.signedInByMail("attacker", at: third)
        #expect(there.user == scene.victim)
        #expect(try await shop.goOn(there.finished, at: shop.shop) == .notReady)
        #expect(try await shop.signedInByMail("attacker", at: shop.shop).user != scene.victim)
        #expect(try await !shop.isAsked("attacker"))
        // The shop does not learn the address as the victim's, and the third party does not learn the victim's own as its.
        let known = try await world.store.read { try $0.addresses(of: scene.victim, for: shop.shop.id) }
        #expect(known.entries.allSatisfy { $0.address != .email(try! SignInScene.email("attacker")) })
    }

    @Test(
        "An address that a client of the operator's only claims: proving it takes back that its devices were confirmed")
    func ownClaim() async throws {
        let scene = try await Scene()
        let (world, shop) = (scene.world, scene.shop)
        try await scene.confirm(shop.device)
        let session = try await shop.signedIn()
        #expect(try await shop.signedInByMail("customer-1", at: shop.shop).user == shop.user)
        #expect(try await !scene.enrollment(shop.device).isConfirmed)
        #expect(try await world.store.read { try $0.identifiers.verified(of: shop.user) }.map(\.client) == [nil])
        // Nothing has ended by it.
        guard case .finished = try await shop.goOn(session, at: shop.shop) else { throw World.Broken("ended") }
        guard case .notReady = try await shop.goOn(session, at: scene.third) else { throw World.Broken("third party") }
    }

    @Test("Clients are told of the devices that they believe, and all of them when one is confirmed")
    func notices() async throws {
        let scene = try await Scene(hasDevice: true)
        let world = scene.world
        var uris: [ClientID: CallbackURI] = [:]
        for client in [scene.shop.shop, scene.third] {
            let uri = try #require(CallbackURI("https://\(client.id).example.com/notices", isDevelopment: false))
            _ = try await UpdateClient.update(
                client.id, ClientChanges(notices: .set(uri)), by: .system, ports: world.ports)
            uris[client.id] = uri
        }
        func told(_ client: Client) async throws -> [String] {
            let now = world.time.now
            let leased = try await world.store.lease(.callback, limit: 100, now: now, until: now.adding(seconds: 1))
            world.time.advance(seconds: 1)
            return try leased.map(\.message).sorted { $0.id < $1.id }.compactMap { message in
                guard case .notice(let uri, _, let body) = message.content, uri == uris[client.id] else { return nil }
                return try JSONValue(parsing: body)["type"]?.string
            }
        }
        let planted = try await world.makeDevice(of: scene.victim, by: scene.third)
        #expect(try await told(scene.third) == ["enrollment.created"])
        #expect(try await told(scene.shop.shop) == [])
        try await scene.confirm(planted)
        #expect(try await told(scene.third) == ["enrollment.created", "enrollment.confirmed"])
        #expect(try await told(scene.shop.shop) == ["enrollment.confirmed"])
    }
}

extension World {
    /// Has a client say that an address is a user's.
    func claim(_ name: String, of user: UserID, by client: Client) async throws {
        let addresses = ClaimedAddresses(email: try SignInScene.email(name))
        _ = try await UpdateUser.update(.id(user), .init(addresses: addresses), by: client.caller, ports: ports)
    }

    /// Makes a user known to a further client.
    func link(_ user: UserID, to client: Client) async throws {
        let isLinked = try await store.commit { try $0.links.put(user, to: client.id, externalID: nil) }
        #expect(isLinked)
    }
}

extension SignInScene {
    func wanted(_ name: String?, at client: Client) throws -> Wanted {
        let usual = try wanted(name ?? "nobody")
        var wanted = Wanted(client: client.id, redirectURI: usual.redirectURI, scopes: usual.scopes)
        wanted.codeChallenge = usual.codeChallenge
        if name != nil { wanted.identifier = usual.identifier }
        return wanted
    }

    func askedByMail(_ name: String, at client: Client? = nil) async throws -> Authorization {
        world.time.advance(seconds: 60)
        let outcome = try await ask(try wanted(name, at: client ?? shop), by: .email)
        guard case .asked(let asked) = outcome else { throw World.Broken("\(outcome)") }
        return asked
    }

    func signedInByMail(
        _ name: String, at client: Client
    ) async throws -> (user: UserID, finished: FinishSignIn.Finished) {
        let asked = try await askedByMail(name, at: client)
        #expect(try await enter(try #require(try await sent(for: asked)), for: asked) == .authenticated)
        guard case .finished(let finished) = try await finishAllowing(asked),
            case .redeemed(let tokens) = try await redeem(finished.code, by: client.id)
        else { throw World.Broken("finish") }
        return (tokens.family.user, finished)
    }

    /// The result of a sign-in at a client that a device approves.
    func signedIn(
        with device: TestDevice, as name: String, at client: Client
    ) async throws -> FinishSignIn.Finished {
        guard case .asked(let asked) = try await ask(try wanted(name, at: client), by: .device) else {
            throw World.Broken("asked")
        }
        let id = try #require(asked.ask?.challenge)
        try await device.open(id)
        let challenge = try #require(try await world.store.read { try $0.challenges.find(id) })
        _ = try await device.answer(
            id, with: try await device.receipt(of: challenge, .approved(.confirm, number: asked.ask?.number)))
        guard case .finished(let finished) = try await finishAllowing(asked) else { throw World.Broken("finish") }
        return finished
    }

    /// Goes on at a client in the session that a sign-in opened; the person allows the client what it wants.
    func goOn(_ finished: FinishSignIn.Finished, at client: Client) async throws -> FinishSignIn.Outcome {
        func goOn(_ answer: ConsentAnswer) async throws -> FinishSignIn.Outcome {
            try await FinishSignIn.goOn(
                try wanted(nil, at: client), in: try #require(finished.session).secret, browser: browser,
                answer: answer, ports: world.ports)
        }
        let outcome = try await goOn(.none)
        guard case .asks(let question) = outcome else { return outcome }
        return try await goOn(.allows(question.user))
    }

    func finishAllowing(
        _ asked: Authorization, former: Secret<String>? = nil
    ) async throws -> FinishSignIn.Outcome {
        let outcome = try await finish(asked, former: former)
        guard case .asks(let question) = outcome else { return outcome }
        return try await finish(asked, former: former, answer: .allows(question.user))
    }
}
