import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A person enrolls a device by signing in")
struct EnrollBySignInTests {
    /// What a client gets in a session for the scope `enroll`.
    private func given(
        _ scene: AccountScene, by secret: Secret<String>, at client: Client? = nil, named name: String = "customer-1",
        besides scopes: [String] = []
    ) async throws -> UnsignedTokens {
        var wanted = try scene.shop.wanted(name, at: client ?? scene.shop.shop)
        wanted.scopes = ["openid", Ticket.scope] + scopes
        func goOn(_ answer: ConsentAnswer) async throws -> FinishSignIn.Outcome {
            try await FinishSignIn.goOn(
                wanted, in: secret, browser: scene.shop.browser, answer: answer, ports: scene.world.ports)
        }
        var outcome = try await goOn(.none)
        if case .asks(let question) = outcome { outcome = try await goOn(.allows(question.user)) }
        guard case .finished(let finished) = outcome,
            case .redeemed(let given) = try await scene.shop.redeem(finished.code, by: wanted.client)
        else { throw World.Broken("\(outcome)") }
        return given
    }

    /// The same as an access token.
    private func token(_ given: UnsignedTokens, in scene: AccountScene) async throws -> Secret<String> {
        try await SignTokens.sign(given, ports: scene.world.ports).access
    }

    private func token(
        _ scene: AccountScene, by secret: Secret<String>, named name: String = "customer-1"
    ) async throws -> Secret<String> {
        try await token(try await given(scene, by: secret, named: name), in: scene)
    }

    private func exchange(
        _ token: Secret<String>, in scene: AccountScene
    ) async throws -> ExchangeForTicket.Outcome {
        try await ExchangeForTicket.exchange(token, ports: scene.world.ports)
    }

    private func device(_ token: Secret<String>, in scene: AccountScene) async throws -> TestDevice {
        guard case .created(let created) = try await exchange(token, in: scene) else { throw World.Broken("ticket") }
        return try await TestDevice(created.invitation, in: scene.world)
    }

    /// Somebody new, signed in by mail.
    private func stranger(_ scene: AccountScene) async throws -> (user: UserID, session: Secret<String>) {
        let signedIn = try await scene.shop.signedInByMail("customer-2", at: scene.shop.shop)
        return (signedIn.user, try #require(signedIn.finished.session).secret)
    }

    @Test(
        "Each sign-in enrolls one device, which waits and is asked about as with a ticket", arguments: Engine.allCases)
    func once(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let given = try await given(scene, by: try await scene.byTap())
        #expect(given.scopes == ["openid", "enroll"])
        let token = try await token(given, in: scene)
        let both = try await atOnce(2) { _ in try await exchange(token, in: scene) }
        guard case .created(let created) = both[0] else { throw World.Broken("\(both[0])") }
        #expect(both[0] == both[1], "a lost reply can be fetched again")
        #expect(created.invitation.user == scene.user)
        #expect(created.expiresAt == given.family.authentication.at.adding(Ticket.lifetime))
        // Other tokens of the same sign-in give the same ticket.
        #expect(try await exchange(try await self.token(given, in: scene), in: scene) == both[0])
        let enrolled = try await atOnce(2) { _ in
            try await TestDevice(created.invitation, in: scene.world).enroll().summary
        }
        #expect(enrolled.count { $0 == "ticket used" } == 1, "\(enrolled)")
        #expect(try await exchange(token, in: scene) == .spent)
        // The shop's own tickets waive the wait; a person's sign-in does not.
        let made = try await scene.enrollment(created.invitation.enrollment)
        #expect(!made.isLetIn(at: scene.world.time.now) && !made.isConfirmed && made.client == scene.shop.shop.id)
        #expect(made.approval != nil)
        // The next sign-in enrolls another one.
        let next = try await self.token(scene, by: try await scene.byTap())
        guard case .created = try await exchange(next, in: scene) else { throw World.Broken("next") }
    }

    @Test("All tokens of one session are of one sign-in, and give one ticket, which ends with those that came first")
    func families() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        let (first, second) = (try await given(scene, by: session), try await given(scene, by: session))
        #expect(first.family.id != second.family.id)
        let one = try await exchange(try await token(first, in: scene), in: scene)
        let other = try await token(second, in: scene)
        guard case .created = one else { throw World.Broken("\(one)") }
        #expect(try await exchange(other, in: scene) == one)
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            try work.endFamilies(
                .family(first.family.id, of: scene.user, at: scene.shop.shop.id), because: .revoked)
        }
        #expect(try await exchange(other, in: scene) == .ended)
    }

    @Test("A token that came by refresh after the ticket has ended with its session is told that, and of no use")
    func refreshed() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        let first = try await given(scene, by: session)
        let kept = try await given(scene, by: session, besides: [TokenFamily.offlineAccess])
        let device = try await device(try await token(first, in: scene), in: scene)
        let refresh = try await SignTokens.sign(kept, ports: scene.world.ports).refresh
        try await SignOut.signOut(session, .session, ports: scene.world.ports)
        let later = try await scene.shop.refreshed(refresh)
        #expect(try await exchange(later.access, in: scene) == .ended)
        #expect(try await device.enroll().summary == "ticket invalid")
    }

    @Test("Whoever has no device enrolls the first one by a code that was sent to them, and it counts at once")
    func first() async throws {
        let scene = try await AccountScene()
        let (user, session) = try await stranger(scene)
        let device = try await device(try await token(scene, by: session, named: "customer-2"), in: scene)
        guard case .enrolled(let made, nil) = try await device.enroll() else { throw World.Broken("enrolled") }
        #expect(made.user == user && made.isLetIn(at: scene.world.time.now) && !made.isConfirmed)
    }

    @Test("Whoever has a device enrolls none by a code that was sent to them, not even by a ticket of before")
    func weak() async throws {
        let scene = try await AccountScene()
        #expect(try await given(scene, by: try await scene.byMail()).scopes == ["openid"])
        let (user, session) = try await stranger(scene)
        let token = try await token(scene, by: session, named: "customer-2")
        let late = try await device(token, in: scene)
        let phone = try await scene.world.makeDevice(of: user, by: scene.shop.shop)
        #expect(try await exchange(token, in: scene) == .tooWeak)
        #expect(try await late.enroll().summary == "ticket invalid")
        // A suspended device stands in the way, too.
        #expect(
            try await SuspendEnrollment.suspend(phone.enrollment, true, by: .system, ports: scene.world.ports) == .done)
        #expect(try await late.enroll().summary == "ticket invalid")
        // A device that waits, or was removed, does not: what the removal left behind makes the next one wait.
        _ = try await RemoveEnrollment.remove(
            phone.enrollment, of: .id(user), by: scene.shop.shop.caller, ports: scene.world.ports)
        guard case .enrolled(let made, _?) = try await late.enroll() else { throw World.Broken("enrolled") }
        #expect(!made.isLetIn(at: scene.world.time.now))
        let (_, again) = try await stranger(scene)
        #expect(try await given(scene, by: again, named: "customer-2").scopes == ["openid", "enroll"])
    }

    @Test("Whoever has a passkey, or had one a moment ago, enrolls none by a code that was sent to them")
    func passkey() async throws {
        let scene = try await AccountScene()
        let (soft, row) = try await scene.passkey(by: try await scene.byPIN())
        _ = try await RemoveEnrollment.remove(
            scene.phone, of: .id(scene.user), by: scene.shop.shop.caller, ports: scene.world.ports)
        #expect(try await given(scene, by: try await scene.byMail()).scopes == ["openid"])
        let session = try #require(try await scene.byPasskey(soft).session).secret
        #expect(try await given(scene, by: session).scopes == ["openid", "enroll"])
        #expect(try await scene.act(.remove, on: row.id, by: session) == .done(row.name))
        #expect(try await given(scene, by: try await scene.byMail()).scopes == ["openid"])
        scene.world.time.advance(seconds: 86_400)
        #expect(try await given(scene, by: try await scene.byMail()).scopes == ["openid", "enroll"])
    }

    @Test("A token without the scope, or that is none of ours, gives no ticket")
    func scope() async throws {
        let scene = try await AccountScene()
        let (family, tokens) = try await scene.shop.tokens()
        #expect(try await exchange(tokens.access, in: scene) == .scopeMissing)
        let other = try await SignTokens.sign(
            UnsignedTokens(
                family: family, target: AccessTarget(resource: nil, scopes: ["enroll"]), isIdentified: false,
                nonce: nil,
                party: try #require(
                    try await scene.world.store.read { try $0.relyingParties.find(scene.shop.shop.id) })),
            ports: scene.world.ports)
        guard case .created = try await exchange(other.access, in: scene) else { throw World.Broken("scope") }
        let own = try await GiveClientToken.give(scopes: nil, to: scene.shop.shop.id, ports: scene.world.ports)
        guard case .given(let client) = own else { throw World.Broken("own") }
        for token in [client.access, Secret("a.b.c"), Secret("")] {
            #expect(try await exchange(token, in: scene) == .invalidToken)
        }
        _ = try await RevokeToken.revoke(other.access, by: scene.shop.shop.id, ports: scene.world.ports)
        #expect(try await exchange(other.access, in: scene) == .invalidToken)
    }

    @Test("The sign-in, not the token, is ten minutes old at the most")
    func old() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        scene.world.time.advance(seconds: 599)
        let token = try await token(scene, by: session)
        let device = try await device(token, in: scene)
        scene.world.time.advance(seconds: 1)
        #expect(try await exchange(token, in: scene) == .tooOld)
        #expect(try await device.enroll().summary == "ticket expired")
    }

    /// What ends a ticket that follows from a sign-in.
    enum Ending: CaseIterable { case session, device, access, link, right, disabled }

    @Test("A ticket ends with what it follows from, and so does the token", arguments: Ending.allCases)
    func ended(_ ending: Ending) async throws {
        let scene = try await AccountScene()
        let (shop, world) = (scene.shop.shop, scene.world)
        let session = try await scene.byTap()
        let token = try await token(scene, by: session)
        let device = try await device(token, in: scene)
        var refusal = ExchangeForTicket.Outcome.invalidToken
        switch ending {
        case .session:
            try await world.ports.commit(at: world.time.now, as: .system) { work in
                try work.endSession(
                    try #require(try work.sessions.find(SecretHash(of: session), at: work.now)))
            }
        case .device:
            _ = try await RemoveEnrollment.remove(scene.phone, of: .id(scene.user), by: shop.caller, ports: world.ports)
        case .access:
            let tap = try await scene.byTap()
            #expect(try await scene.end(.client(shop.id), by: tap) == .done(shop.name))
        case .link: _ = try await UnlinkUser.unlink(.id(scene.user), from: shop.caller, ports: world.ports)
        case .right:
            _ = try await UpdateClient.update(
                shop.id, ClientChanges(rights: [.challenges]), by: .system, ports: world.ports)
            refusal = .scopeMissing
        case .disabled: _ = try await DisableClient.disable(shop.id, by: .system, ports: world.ports)
        }
        #expect(try await device.enroll().summary == "ticket invalid")
        #expect(try await exchange(token, in: scene) == refusal)
    }

    @Test("A user whom the client blocks enrolls nothing")
    func blocked() async throws {
        let scene = try await AccountScene()
        let token = try await token(scene, by: try await scene.byTap())
        let device = try await device(token, in: scene)
        _ = try await UpdateUser.update(
            .id(scene.user), UpdateUser.Changes(isEnrollmentBlocked: true), by: scene.shop.shop.caller,
            ports: scene.world.ports)
        #expect(try await exchange(token, in: scene) == .blocked)
        #expect(try await device.enroll().summary == "blocked")
    }

    @Test("A client without the right to enroll devices gives no ticket, and the scope is not given")
    func right() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        let token = try await token(scene, by: session)
        _ = try await UpdateClient.update(
            scene.shop.shop.id, ClientChanges(rights: [.challenges]), by: .system, ports: scene.world.ports)
        #expect(try await exchange(token, in: scene) == .scopeMissing)
        #expect(try await given(scene, by: session).scopes == ["openid"])
    }

    @Test(
        "A sign-in lets a first PIN be set, but not count before the wait; and only as long as it is good",
        arguments: [false, true])
    func method(byPasskey: Bool) async throws {
        let scene = try await AccountScene()
        let phone = scene.shop.device
        // The phone in the thief's hand lets a passkey in, too.
        let passkey = byPasskey ? try await scene.passkey(by: try await scene.byTap()).0 : nil
        scene.world.time.advance(byPasskey ? Client.standardCoolingOff : .hours(1))
        func signedIn() async throws -> Secret<String> {
            guard let passkey else { return try await scene.byTap() }
            return try #require(try await scene.byPasskey(passkey).session).secret
        }
        let session = try await signedIn()
        func change(_ ticket: Secret<String>?) async throws -> ChangeMethods.Outcome {
            var change = try await PINChange(of: phone, to: phone.newPINKey())
            change.ticket = ticket
            return try await change.send()
        }
        #expect(try await change(nil) == .notAuthorized(needs: .ticket))
        func ticket(by session: Secret<String>) async throws -> Secret<String> {
            try await device(try await token(scene, by: session), in: scene).invitation.ticket
        }
        let ended = try await ticket(by: session)
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            try work.endSession(try #require(try work.sessions.find(SecretHash(of: session), at: work.now)))
        }
        #expect(try await change(ended) == .notAuthorized(needs: .ticket))
        // A passkey's sign-in is told from the next one by its time.
        scene.world.time.advance(seconds: 1)
        let good = try await ticket(by: try await signedIn())
        #expect(try await change(good) == .changed(payload: nil))
        let pin = try #require(try await scene.enrollment(scene.phone).pin)
        #expect(pin.countsFrom == scene.world.time.now.adding(Client.standardCoolingOff))
    }

    @Test("What a third party's sign-in enrolls counts in its group alone")
    func thirdParty() async throws {
        let scene = try await AccountScene()
        try await scene.confirm(scene.phone)
        let session = try await scene.byTap()
        let token = try await token(try await given(scene, by: session, at: scene.third), in: scene)
        let device = try await device(token, in: scene)
        guard case .enrolled(let made, _?) = try await device.enroll() else { throw World.Broken("enrolled") }
        #expect(made.isByThirdParty && !made.isConfirmed && made.client == scene.third.id)
    }
}
