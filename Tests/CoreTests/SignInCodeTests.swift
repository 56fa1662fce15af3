import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A person signs in by a code that is sent to an address")
struct SignInCodeTests {
    private func scene(
        _ engine: Engine = .sqlite, registration: RelyingParty.Registration = .closed
    ) async throws -> SignInScene {
        let scene = try await SignInScene(engine)
        try await scene.set(ways: [.device, .qr, .email], registration: registration)
        return scene
    }

    private func asked(
        _ scene: SignInScene, _ name: String = "customer-1", again signIn: AuthorizationID? = nil,
        in browser: BrowserID? = nil
    ) async throws -> Authorization {
        let outcome = try await scene.ask(try scene.wanted(name), by: .email, again: signIn, in: browser)
        guard case .asked(let asked) = outcome else { throw World.Broken("\(outcome)") }
        return asked
    }

    /// A code that is not the one that was sent.
    private func wrong(_ scene: SignInScene, _ asked: Authorization) throws -> EntryNumber {
        let right = scene.world.ports.hasher.code(of: try #require(asked.ask?.verification))
        return EntryNumber(value: (try #require(UInt32(right.digits)) + 1) % 1_000_000)
    }

    /// Signs somebody in, and returns the user.
    @discardableResult
    private func signIn(_ scene: SignInScene, _ name: String = "customer-1") async throws -> UserID {
        let asked = try await asked(scene, name)
        let code = try #require(try await scene.sent(for: asked))
        #expect(try await scene.enter(code, for: asked) == .authenticated)
        guard case .finished(let finished) = try await scene.finish(asked),
            case .redeemed(let redeemed) = try await scene.redeem(finished.code)
        else { throw World.Broken("finish") }
        return redeemed.family.user
    }

    @Test("The code from the mail signs in, once, with the weakest acr; the address is the user's own from then on")
    func signsIn() async throws {
        let scene = try await scene()
        let asked = try await asked(scene)
        let code = try #require(try await scene.sent(for: asked))
        #expect(try await scene.enter(code, for: asked) == .authenticated)
        #expect(try await scene.enter(code, for: asked) == .notFound)
        guard case .finished(let finished) = try await scene.finish(asked),
            case .redeemed(let redeemed) = try await scene.redeem(finished.code)
        else { throw World.Broken("finish") }
        let authentication = redeemed.family.authentication
        #expect(authentication.user == scene.user && authentication.strength == .address)
        #expect(authentication.methods == ["otp"] && authentication.evidence.enrollment == nil)
        let verified = try await scene.world.store.read { try $0.identifiers.verified(of: scene.user) }
        #expect(verified.map(\.address) == [.email(try SignInScene.email("customer-1"))])
        // Whoever reads a mailbox does not make a browser the person's.
        try await scene.set(asking: .known, ways: [.device, .qr, .email])
        #expect(try await !scene.isAsked())
    }

    @Test("Five tries, whoever it is: then the code is over, and only a new one can be typed")
    func tries() async throws {
        let scene = try await scene()
        for name in ["customer-1", "nobody"] {
            let browser = try SignInScene.browser(name)
            let asked = try await asked(scene, name, in: browser)
            let wrong = try wrong(scene, asked)
            for left in [4, 3, 2, 1] {
                #expect(try await scene.enter(wrong, for: asked, in: browser) == .wrong(asked, triesLeft: left))
            }
            #expect(try await scene.enter(wrong, for: asked, in: browser) == .over(asked))
            let right = scene.world.ports.hasher.code(of: try #require(asked.ask?.verification))
            for _ in 0..<120 { #expect(try await scene.enter(right, for: asked, in: browser) == .over(asked)) }
        }
        // What was typed in vain afterwards has not locked the address.
        scene.world.time.advance(seconds: 60)
        try await signIn(scene)
    }

    @Test("A node whose clock is an hour ahead gives no further tries, whichever node has asked")
    func clocks() async throws {
        let scene = try await scene()
        // The node that is ahead has asked: for the others there is more than an hour.
        let asked = try await asked(scene)
        let wrong = try wrong(scene, asked)
        scene.world.time.advance(seconds: -3600)
        for left in [4, 3, 2, 1] {
            #expect(try await scene.enter(wrong, for: asked) == .wrong(asked, triesLeft: left))
        }
        scene.world.time.advance(seconds: 3610)
        #expect(try await scene.enter(wrong, for: asked) == .over(asked))
        let right = scene.world.ports.hasher.code(of: try #require(asked.ask?.verification))
        #expect(try await scene.enter(right, for: asked) == .over(asked))
    }

    @Test("A mailbox has one name and one budget, however its domain is spelled")
    func spellings() async throws {
        let scene = try await scene()
        let hasher = scene.world.ports.hasher
        func address(_ text: String) throws -> PersonalAddress { .email(try #require(EmailAddress(text))) }
        for (one, other) in [
            ("anna@gmail.com", "Anna@GMAIL.com"), ("anna@gmail.com", "anna@\u{FF47}mail.com"),
            ("anna@b\u{FC}cher.example", "anna@xn--bcher-kva.example"),
        ] {
            #expect(hasher.identifier(try address(one)) == hasher.identifier(try address(other)), "\(other)")
            #expect(hasher.name(of: try address(one)) == hasher.name(of: try address(other)), "\(other)")
        }
        #expect(hasher.identifier(try address("anna+x@gmail.com")) != hasher.identifier(try address("anna@gmail.com")))
    }

    @Test("A way that the operator takes away finishes no sign-in that has begun, and a removed device links nobody")
    func takenAway() async throws {
        let scene = try await scene()
        let asked = try await asked(scene)
        #expect(try await scene.enter(try #require(try await scene.sent(for: asked)), for: asked) == .authenticated)
        try await scene.set()
        #expect(try await scene.finish(asked) == .notReady)
        // A user of another client, whose device is removed after the approval, does not become this one's user.
        try await scene.set(ways: SignInWay.usual, registration: .open)
        let other = try await scene.world.makeClient("Other", waives: true).client
        let stranger = try await scene.world.makeUser("stranger", of: other)
        let device = try await scene.world.makeDevice(of: stranger, by: other)
        let shown = try await scene.askedByCode()
        #expect(try await scene.scan(shown, with: device) == .claimed)
        let id = try #require(shown.ask?.challenge)
        try await device.open(id)
        let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
        _ = try await device.answer(id, with: try await device.receipt(of: challenge, .approved(.confirm, number: nil)))
        _ = try await RemoveEnrollment.remove(
            device.enrollment, of: .id(stranger), by: other.caller, ports: scene.world.ports)
        #expect(try await scene.finish(shown) == .notReady)
        #expect(
            try await ShowUser.show(.id(stranger), to: scene.shop, ports: scene.world.ports) == .notFound)
    }

    @Test("Somebody whom nobody knows is sent nothing, and cannot sign in by any code; with open registration they can")
    func unknown() async throws {
        let scene = try await scene()
        let asked = try await asked(scene, "nobody")
        #expect(try await scene.sent(for: asked) == nil)
        let right = scene.world.ports.hasher.code(of: try #require(asked.ask?.verification))
        #expect(try await scene.enter(right, for: asked) == .wrong(asked, triesLeft: 4))
        try await scene.set(ways: [.email], registration: .open)
        let user = try await signIn(scene, "nobody")
        #expect(user != scene.user)
        #expect(try await signIn(scene, "nobody") == user)
        guard
            case .user = try await ShowUser.show(.id(user), to: scene.shop, ports: scene.world.ports)
        else { throw World.Broken("user") }
    }

    // Spec: NIST SP 800-63B-4 §3.2.2.
    @Test("After eighty wrong codes in a row for an address no more are sent, and none is taken")
    func wrongInARow() async throws {
        let scene = try await scene()
        try await typeWrong(80, scene, in: scene.browser)
        let last = try await asked(scene)
        #expect(try await scene.sent(for: last) == nil)
        let right = scene.world.ports.hasher.code(of: try #require(last.ask?.verification))
        #expect(try await scene.enter(right, for: last) == .wrong(last, triesLeft: 4))
        // A device still signs in.
        _ = try await scene.signedIn()
    }

    @Test("Wrong codes keep nobody from signing in by the link of a mail, which ends the row")
    func linkAfterWrong() async throws {
        let scene = try await scene()
        let ports = scene.world.ports
        try await typeWrong(80, scene, in: try SignInScene.browser("attacker"))
        let asked = try await asked(scene)
        let sent = try #require(asked.ask?.verification)
        let mail = try #require(try await SignInCode.message(of: asked.id, sent.id, ports: ports))
        #expect(mail.message.values["code"] == nil)
        let secret = Secret(String(try #require(mail.message.values["link"]).reveal().split(separator: "/").last ?? ""))
        // Elsewhere it could only show a code, and none is taken.
        #expect(try await OpenSignInLink.open(asked.id, secret, in: nil, ports: ports) == .onlyThere)
        #expect(try await OpenSignInLink.open(asked.id, secret, in: scene.browser, ports: ports) == .here(asked))
        let entered = try await EnterSignInCode.enter(.link(secret), for: asked.id, in: scene.browser, ports: ports)
        #expect(entered == .authenticated)
        scene.world.time.advance(seconds: 60)
        try await signIn(scene)
    }

    @Test("A text message has no link, so that none is sent after too many wrong codes")
    func textAfterWrong() async throws {
        let scene = try await SignInScene(profile: .native)
        try await scene.set(ways: [.qr, .text], callingCodes: [try #require(CallingCode("+49"))])
        let phone = try #require(PhoneNumber("+4915112345678"))
        let name = scene.world.ports.hasher.exactName(of: .phone(phone))
        let update = try await UpdateUser.update(
            .id(scene.user), .init(addresses: ClaimedAddresses(phone: phone)), by: scene.shop.caller,
            ports: scene.world.ports)
        guard case .updated = update else { throw World.Broken("claim") }
        var wanted = try scene.wanted()
        wanted.identifier = .address(.phone(phone))
        func sent(_ wanted: Wanted) async throws -> PersonalMessage? {
            guard case .asked(let asked) = try await scene.ask(wanted, by: .text) else { throw World.Broken("ask") }
            let id = try #require(asked.ask?.verification?.id)
            return try await SignInCode.message(of: asked.id, id, ports: scene.world.ports)?.message
        }
        #expect(try await sent(wanted)?.values["code"] != nil)
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            for _ in 0..<80 { _ = try work.count(.wrongSignInCodes(for: name, inOwnBrowser: false)) }
        }
        #expect(try await sent(wanted) == nil)
    }

    @Test("What others ask for and type wrongly leaves the person their own browser, where they have signed in before")
    func ownBrowser() async throws {
        let scene = try await scene()
        _ = try await scene.signedIn()
        let attacker = try SignInScene.browser("attacker")
        try await typeWrong(80, scene, in: attacker)
        try await askTooOften(scene, in: attacker)
        try await signIn(scene)
    }

    @Test(
        "In their own browser, too, nobody types or asks without end: twenty wrong codes in a row, five messages an hour"
    )
    func ownBrowserEnds() async throws {
        let scene = try await scene()
        _ = try await scene.signedIn()
        try await typeWrong(20, scene, in: scene.browser)
        let last = try await asked(scene)
        #expect(try await scene.sent(for: last) == nil)
        let right = scene.world.ports.hasher.code(of: try #require(last.ask?.verification))
        #expect(try await scene.enter(right, for: last) == .wrong(last, triesLeft: 4))
        scene.world.time.advance(seconds: 3600)
        try await askTooOften(scene, in: scene.browser)
        // Others are not kept from anything by that.
        let other = try SignInScene.browser("other")
        let asked = try await asked(scene, in: other)
        #expect(try await scene.sent(for: asked) != nil)
    }

    @Test("A browser is not the person's because a client says that their address is somebody else's")
    func claimedBrowser() async throws {
        let scene = try await scene(registration: .open)
        let world = scene.world
        // The person has proved the address elsewhere; then the shop says that it is its customer's, who has signed in.
        let email = try SignInScene.email("customer-1")
        try await world.ports.commit(at: world.time.now, as: .system) { work in
            let victim: UserID = work.nextID()
            try work.users.insert(victim, at: work.now)
            _ = try work.verify(.email(email), of: victim)
        }
        let update = try await UpdateUser.update(
            .id(scene.user), .init(addresses: ClaimedAddresses(email: email)), by: scene.shop.caller, ports: world.ports
        )
        guard case .updated = update else { throw World.Broken("claim") }
        let hasher = world.ports.hasher
        let browser = hasher.hash(of: scene.browser, client: scene.shop.id)
        try await world.ports.commit(at: world.time.now, as: .system) {
            [shop = scene.shop.id, user = scene.user] work in
            try work.browsers.put(browser, of: user, by: shop, at: work.now)
        }
        let claims = try await world.store.read { try $0.identifiers.claims(of: scene.user) }
        #expect(claims.map(\.provedAt) == [nil])
        let known = try await world.store.read { reader in
            try reader.browsers.isKnown(browser, named: .address(.email(email)), by: scene.shop.id, hasher)
        }
        #expect(known == false)
    }

    /// Asks from one browser as often as codes are sent in an hour, and once more.
    private func askTooOften(_ scene: SignInScene, in browser: BrowserID) async throws {
        for _ in 0..<5 {
            scene.world.time.advance(seconds: 60)
            _ = try await asked(scene, in: browser)
        }
        guard case .tooMany = try await scene.ask(try scene.wanted(), by: .email, in: browser) else {
            throw World.Broken("too many")
        }
    }

    /// Types wrong codes in a row in a browser, as fast as codes are sent; then an hour goes by.
    private func typeWrong(_ count: Int, _ scene: SignInScene, in browser: BrowserID) async throws {
        for number in 0..<count / 5 {
            scene.world.time.advance(seconds: 3600)
            let asked = try await asked(scene, in: browser)
            #expect(try await scene.sent(for: asked) != nil, "\(number)")
            for _ in 0..<5 { _ = try await scene.enter(try wrong(scene, asked), for: asked, in: browser) }
        }
        scene.world.time.advance(seconds: 3600)
    }

    @Test("A new code makes the earlier one worthless; it can be asked for after half a minute, five times an hour")
    func resend() async throws {
        let scene = try await scene()
        let first = try await asked(scene)
        let code = try #require(try await scene.sent(for: first))
        let early = try await scene.ask(try scene.wanted(), by: .email, again: first.id)
        #expect(early == .tooEarly(first, retryAfter: 30))
        scene.world.time.advance(seconds: 30)
        let second = try await asked(scene, again: first.id)
        #expect(second.id == first.id && second.ask?.verification != first.ask?.verification)
        #expect(
            try await SignInCode.message(
                of: first.id, try #require(first.ask?.verification?.id), ports: scene.world.ports) == nil)
        #expect(try await scene.enter(code, for: second) == .wrong(second, triesLeft: 4))
        for _ in 0..<3 { _ = try await asked(scene) }
        guard case .tooMany = try await scene.ask(try scene.wanted(), by: .email) else { throw World.Broken("sixth") }
        // Another spelling is the same mailbox.
        var wanted = try scene.wanted()
        wanted.identifier = .address(.email(try SignInScene.email("Customer-1+shop")))
        guard case .tooMany = try await scene.ask(wanted, by: .email) else { throw World.Broken("spelling") }
    }

    @Test("The code of another browser, of an earlier way, and after ten minutes is worth nothing")
    func elsewhere() async throws {
        let scene = try await scene()
        let asked = try await asked(scene)
        let code = try #require(try await scene.sent(for: asked))
        let other = try SignInScene.browser("two")
        #expect(try await scene.enter(code, for: asked, in: other) == .notFound)
        let number = try await scene.asked(again: asked.id)
        #expect(try await scene.enter(code, for: asked) == .over(number))
        let again = try await self.asked(scene, again: asked.id)
        let late = try #require(try await scene.sent(for: again))
        scene.world.time.advance(seconds: 600)
        #expect(try await scene.enter(late, for: again) == .over(again))
        #expect(try await scene.sent(for: again) == nil)
    }

    @Test("The link signs in the browser that asked, and elsewhere it shows the code")
    func link() async throws {
        let scene = try await scene()
        let asked = try await asked(scene)
        let sent = try #require(asked.ask?.verification)
        let made = try #require(try await SignInCode.message(of: asked.id, sent.id, ports: scene.world.ports))
        let link = try #require(made.message.values["link"]).reveal()
        #expect(link.hasPrefix("\(scene.world.ports.issuer)/signin/\(asked.id)/link/"))
        let secret = Secret(String(link.split(separator: "/").last ?? ""))
        func open(_ secret: Secret<String>, in browser: BrowserID?) async throws -> OpenSignInLink.Outcome {
            try await OpenSignInLink.open(asked.id, secret, in: browser, ports: scene.world.ports)
        }
        let code = scene.world.ports.hasher.code(of: sent)
        #expect(try await open(secret, in: nil) == .elsewhere(asked, code))
        #expect(try await open(secret, in: try SignInScene.browser("two")) == .elsewhere(asked, code))
        #expect(try await open(Secret("0\(secret.reveal().dropFirst())x"), in: scene.browser) == .over)
        #expect(try await open(secret, in: scene.browser) == .here(asked))
        // Opening it has done nothing.
        #expect(try await scene.finish(asked) == .notReady)
        let entered = try await EnterSignInCode.enter(
            .link(secret), for: asked.id, in: scene.browser, ports: scene.world.ports)
        #expect(entered == .authenticated)
        #expect(try await open(secret, in: scene.browser) == .over)
        guard case .finished = try await scene.finish(asked) else { throw World.Broken("finish") }
    }

    @Test("Typed five times at once, the right code signs in once; a wrong one uses up no more than five tries")
    func atOnce() async throws {
        let scene = try await scene(.chosen)
        let asked = try await asked(scene)
        let code = try #require(try await scene.sent(for: asked))
        let outcomes = try await withThrowingTaskGroup(of: EnterSignInCode.Outcome.self) { group in
            for _ in 0..<5 { group.addTask { try await scene.enter(code, for: asked) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == .authenticated }.count == 1)
        let other = try await self.asked(scene)
        let wrong = try wrong(scene, other)
        let refused = try await StorageTestSupport.atOnce(10) { _ in try await scene.enter(wrong, for: other) }
        #expect(refused.filter { $0 == .over(other) }.count == 6)
        for left in 1..<5 { #expect(refused.contains(.wrong(other, triesLeft: left)), "\(left)") }
        let right = try #require(try await scene.sent(for: other))
        #expect(try await scene.enter(right, for: other) == .over(other))
    }

    @Test(
        "What a client claims counts for it alone; who proves the address elsewhere is another user, and the claim ends"
    )
    func hostileClaim() async throws {
        let scene = try await scene(registration: .open)
        let world = scene.world
        let hostile = try await world.makeClient("Hostile", waives: true).client
        let planted = try await world.makeUser("victim", of: hostile)
        let email = try SignInScene.email("victim")
        let update = try await UpdateUser.update(
            .id(planted), .init(addresses: ClaimedAddresses(email: email)), by: hostile.caller, ports: world.ports)
        guard case .updated = update else { throw World.Broken("claim") }
        _ = try await world.makeDevice(of: planted, by: hostile)
        // At the shop the claim is nothing.
        let victim = try await signIn(scene, "victim")
        #expect(victim != planted)
        #expect(try await world.store.read { try $0.identifiers.claims(of: planted) }.isEmpty)
        #expect(try await world.audit().contains { $0.kind == .claimEnded && $0.client == hostile.id })
        // The planted device is asked nothing, whoever asks for the victim.
        #expect(try await !scene.isAsked("victim"))
        // A claim after that does not count against the proof, and tells the client nothing.
        let again = try await UpdateUser.update(
            .id(planted), .init(addresses: ClaimedAddresses(email: email)), by: hostile.caller, ports: world.ports)
        guard case .updated = again else { throw World.Broken("claim") }
        #expect(try await signIn(scene, "victim") == victim)
        guard
            case .user(_, let shown, _) = try await ShowUser.show(.id(planted), to: hostile, ports: world.ports)
        else { throw World.Broken("user") }
        #expect(shown[.email]?.isVerified == false)
    }

    @Test("A session by a code is good only where codes are, and ends with the address")
    func sessions() async throws {
        let scene = try await scene()
        let asked = try await asked(scene)
        let code = try #require(try await scene.sent(for: asked))
        #expect(try await scene.enter(code, for: asked) == .authenticated)
        guard case .finished(let finished) = try await scene.finish(asked) else { throw World.Broken("finish") }
        let secret = try #require(finished.session).secret
        func goOn() async throws -> FinishSignIn.Outcome {
            try await FinishSignIn.goOn(
                try scene.wanted(), in: secret, browser: scene.browser, ports: scene.world.ports)
        }
        guard case .finished = try await goOn() else { throw World.Broken("session") }
        try await scene.set()
        #expect(try await goOn() == .notReady)
        try await scene.set(ways: [.email])
        guard case .finished = try await goOn() else { throw World.Broken("session") }
        try await scene.world.store.commit { try $0.identifiers.deleteIdentifiers(of: scene.user, claimedBy: nil) }
        #expect(try await goOn() == .notReady)
    }

    // Spec: OpenID Connect Core 1.0 §5.5 and §5.5.1.1.
    @Test(
        "A client that wants a device is offered no code, and a session by a code does not do; what it needs is met or refused"
    )
    func strength() async throws {
        let scene = try await scene()
        let asked = try await asked(scene)
        #expect(try await scene.enter(try #require(try await scene.sent(for: asked)), for: asked) == .authenticated)
        guard case .finished(let finished) = try await scene.finish(asked) else { throw World.Broken("finish") }
        let secret = try #require(finished.session).secret
        func wanted(_ strength: Authentication.Strength, isEssential: Bool) throws -> Wanted {
            var wanted = try scene.wanted()
            (wanted.strength, wanted.isStrengthEssential) = (strength, isEssential)
            return wanted
        }
        for isEssential in [false, true] {
            let wanted = try wanted(.device, isEssential: isEssential)
            let ways = try await OfferWays.ways(for: wanted, in: scene.browser, ports: scene.world.ports)
            #expect(ways == .ways([.device, .qr]))
            let goOn = try await FinishSignIn.goOn(
                wanted, in: secret, browser: scene.browser, ports: scene.world.ports)
            #expect(goOn == .notReady)
        }
        let enough = try await FinishSignIn.goOn(
            try wanted(.address, isEssential: true), in: secret, browser: scene.browser, ports: scene.world.ports)
        guard case .finished = enough else { throw World.Broken("\(enough)") }
        // A code that was asked for all the same is not enough for a client that needs more.
        let needed = try wanted(.device, isEssential: true)
        guard case .asked(let weak) = try await scene.ask(needed, by: .email) else { throw World.Broken("ask") }
        scene.world.time.advance(seconds: 31)
        #expect(try await scene.enter(try #require(try await scene.sent(for: weak)), for: weak) == .authenticated)
        #expect(try await scene.finish(weak) == .tooWeak(weak.wanted))
        #expect(try await scene.finish(weak) == .notReady)
        // By the phone it is. Two factors are liked, and what there is is given.
        for (strength, isEssential) in [(Authentication.Strength.device, true), (.twoFactors, false)] {
            scene.world.time.advance(seconds: 121)
            let wanted = try wanted(strength, isEssential: isEssential)
            guard case .asked(let asked) = try await scene.ask(wanted, by: .device) else { throw World.Broken("ask") }
            try await scene.approve(asked)
            let outcome = try await scene.finish(asked)
            guard case .finished = outcome else { throw World.Broken("\(outcome)") }
        }
    }

    @Test("A client does not send by a way that it does not have, nor to numbers of other calling codes")
    func closedWays() async throws {
        let scene = try await SignInScene()
        #expect(try await scene.ask(try scene.wanted(), by: .email) == .clientGone)
        try await scene.set(ways: [.qr, .text], callingCodes: [try #require(CallingCode("+49"))])
        for (number, isSent) in [("+4930123456", true), ("+15551234567", false)] {
            var wanted = try scene.wanted()
            wanted.identifier = .address(.phone(try #require(PhoneNumber(number))))
            guard case .asked = try await scene.ask(wanted, by: .text) else {
                #expect(!isSent)
                continue
            }
            #expect(isSent)
        }
        #expect(try await scene.ask(try scene.wanted(), by: .device) == .clientGone)
    }

    @Test(
        "The same statements are made for somebody whom nobody knows, by each way in which a person is asked",
        arguments: SignInWay.allCases.filter { $0 != .passkey })
    func sameStatements(_ way: SignInWay) async throws {
        let (world, recorder) = try await World.recorded()
        let scene = try await SignInScene(in: world)
        let code = try #require(CallingCode("+1"))
        try await scene.set(ways: Set(SignInWay.allCases), callingCodes: [code])
        let phone = try #require(PhoneNumber("+15551234567"))
        _ = try await UpdateUser.update(
            .id(scene.user), .init(addresses: ClaimedAddresses(phone: phone)), by: scene.shop.caller, ports: world.ports
        )
        func wanted(_ isKnown: Bool) throws -> Wanted {
            var wanted = try scene.wanted(isKnown ? "customer-1" : "customer-0")
            if way == .text {
                wanted.identifier = .address(.phone(try #require(PhoneNumber(isKnown ? "\(phone)" : "+15551234568"))))
            }
            return wanted
        }
        /// What is done while the browser waits: texts of statements, the sizes of what they write, and how many rows they
        /// bring back. Where these are the same, so are the hashes that are computed, which nobody counts.
        func play(_ isKnown: Bool) async throws -> [[String]] {
            var parts: [[String]] = []
            func take() { parts.append(recorder.takeTexts(withRows: true)) }
            let wanted = try wanted(isKnown)
            let browser = try SignInScene.browser(isKnown ? "known" : "never")
            _ = recorder.takeTexts()
            _ = try await OfferWays.ways(for: wanted, in: browser, ports: world.ports)
            take()
            let request = AskSignIn.Request(
                CarriedSignIn(wanted: wanted), by: way, browser: browser, place: nil, network: [192, 0, 2, 1])
            guard case .asked(let asked) = try await AskSignIn.ask(request, ports: world.ports) else {
                throw World.Broken("sign-in")
            }
            take()
            _ = try await WatchAuthorization.show(asked.id, in: browser, ports: world.ports)
            take()
            if asked.ask?.verification != nil {
                _ = try await scene.enter(try wrong(scene, asked), for: asked, in: browser)
                take()
            }
            return parts
        }
        // The first one counts in windows that are not there yet.
        _ = try await play(false)
        let (known, unknown) = (try await play(true), try await play(false))
        #expect(known == unknown)
        #expect(known.count >= 3 && known[1].contains { $0.contains("INSERT INTO authorizations") })
        #expect(known[1].filter { $0.contains("INSERT INTO outbox") }.count == (way == .qr ? 0 : 1))
    }
}
