import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("The audit")
struct AuditTests {
    private static let message = "Transfer-marker-one"
    private static let secureMessage = "Transfer-marker-two"
    private static let payee = "Payee-marker-three"
    private static let signingData = "Data-marker-four"
    private static let clientState = "State-marker-five"
    private static let shopName = "Shop"
    private static let email = "marker-twelve@example.com"
    private static let pushToken = "push-marker-eight"
    private static let callbackPassword = "password-marker-nine"
    private static let callbackPath = "path-marker-ten?token=eleven"

    /// Asks with a marker in everything that a client writes.
    private func ask(_ user: UserID, by client: Client, in world: World) async throws -> AskedChallenge {
        var request = try world.request(for: user)
        request.message = try DisplayMessage(Self.message)
        request.secureMessage = try DisplayMessage(Self.secureMessage)
        request.details = [try Detail(label: "Payee", value: Self.payee)]
        request.signingData = SigningData(Self.signingData)
        request.clientState = Self.clientState
        request.callbackURI = CallbackURI(stored: World.callback)
        return try await world.ask(request, by: client)
    }

    /// Has a further device approved and removed, whose number is returned.
    private func approve(by device: TestDevice, _ shop: Client, in world: World) async throws -> [String] {
        let second = try await TestDevice(
            try await world.makeTicket(for: device.invitation.user, by: shop), in: world)
        guard case .enrolled(let made, let approval?) = try await second.enroll(), let id = made.approval,
            let number = approval.number
        else { throw World.Broken("waits") }
        try await device.open(id)
        let challenge = try await world.store.read { try $0.challenges.find(id) }
        let receipt = try await device.receipt(of: try #require(challenge), .approved(.confirm, number: number))
        _ = try await device.answer(id, with: receipt)
        #expect(
            try await RemoveEnrollment.remove(made.id, of: .id(made.user), by: shop.caller, ports: world.ports)
                == .removed)
        return [number.digits]
    }

    /// Has a challenge claimed by its code, whose one-time password is returned.
    private func claim(by device: TestDevice, _ shop: Client, in world: World) async throws -> [String] {
        try await world.makeType("scan", channel: .code)
        let asked = try await world.ask(try world.request(for: nil, type: "scan"), by: shop)
        let code = try #require(asked.code).code
        guard case .claimed = try await ClaimChallenge.claim(code, by: try await device.call(), ports: world.ports)
        else { throw World.Broken("claim") }
        return [code.otp.reveal(), try await returnCode(by: device, shop, in: world)]
    }

    /// Has a challenge approved by a link, whose code is returned.
    private func returnCode(by device: TestDevice, _ shop: Client, in world: World) async throws -> String {
        let uri = try #require(ReturnURI("https://shop.example.com/back", isDevelopment: false))
        let changes = ClientChanges(returnURIs: [uri])
        let updated = try await UpdateClient.update(shop.id, changes, by: shop.actor, ports: world.ports).get()
        try await world.makeType("link", numberEntry: false, channel: .code)
        var request = try world.request(for: nil, type: "link")
        request.returnURI = uri
        let asked = try await world.ask(request, by: updated)
        let code = try #require(asked.code).code
        _ = try await ClaimChallenge.claim(code, by: try await device.call(), ports: world.ports)
        let claimed = try await world.store.read { try $0.challenges.find(asked.challenge.id) }
        try await device.open(asked.challenge.id)
        let receipt = try await device.receipt(of: try #require(claimed), .approved(.confirm, number: nil))
        let outcome = try await device.answer(asked.challenge.id, with: receipt)
        guard let code = try await device.returnCode(in: outcome),
            case .released = try await ReturnChallenge.present(
                code, for: asked.challenge.id, by: shop.caller, ports: world.ports)
        else { throw World.Broken("return") }
        return code.reveal()
    }

    /// Gives a client another place to be called back, and another secret, which is returned.
    private func renewCallbacks(of shop: Client, in world: World) async throws -> String {
        let uri = try #require(
            CallbackURI("https://other.example.com/" + Self.callbackPath, isDevelopment: false))
        let basic = try #require(BasicCredentials(username: "acme", password: Secret(Self.callbackPassword)))
        let changes = ClientChanges(
            callbackURIs: [uri] + shop.callbackURIs, basic: .set(basic), waivesEnrollmentApproval: false)
        #expect(try await UpdateClient.update(shop.id, changes, by: shop.actor, ports: world.ports) != .notFound)
        return try await world.renewCallbackSecret(of: shop).secret.reveal()
    }

    /// Renews a client's secret, disables and enables the client, and deletes it; returns the secret.
    private func passingClient(by shop: Client, in world: World) async throws -> String {
        let ports = world.ports
        let client = try await world.makeClient("Passing").client.id
        let renewed = try await RenewClientSecret.renew(of: client, by: shop.actor, ports: ports)
        guard case .done(.renewed(let secret)) = renewed else { throw World.Broken("secret") }
        #expect(try await DisableClient.disable(client, by: shop.actor, ports: ports) != .notFound)
        #expect(try await EnableClient.enable(client, by: shop.actor, ports: ports) != .notFound)
        #expect(try await DeleteClient.delete(client, by: shop.actor, ports: ports) == .deleted)
        _ = try await RotateIssuerKey.begin(.push, isAtOnce: false, by: shop.actor, ports: ports)
        return secret.secret.reveal()
    }

    /// Lets everything happen that is audited and returns what must not stand in the audit.
    private func everything(in world: World) async throws -> [String] {
        let ports = world.ports
        let renewed = try await RenewBootstrapToken.renew(
            store: world.ports.store, time: world.time, random: world.random
        ).token
        let created = try await world.makeClient(Self.shopName)
        let shop = created.client
        let renewedSecret = try await renewCallbacks(of: shop, in: world)
        let passed = try await passingClient(by: shop, in: world)
        try await SetType.set(try await world.makeType(), by: shop.actor, ports: ports)
        let user = try await world.makeUser("external-marker-six", of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        try await device.register(.fcm, token: Self.pushToken)
        var numbers = try await approve(by: device, shop, in: world)
        for isSuspended in [true, false] {
            _ = try await SuspendEnrollment.suspend(device.enrollment, isSuspended, by: shop.actor, ports: ports)
        }
        let waived = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
        _ = try await waived.enroll()
        _ = try await WaiveWait.waive(waived.enrollment, waived.certificate.fingerprint, by: shop.actor, ports: ports)
        #expect(
            try await RemoveEnrollment.remove(waived.enrollment, of: .id(user), by: shop.caller, ports: ports)
                == .removed)
        for isBlocked in [true, false] {
            let changes = UpdateUser.Changes(isEnrollmentBlocked: isBlocked)
            _ = try await UpdateUser.update(.id(user), changes, by: shop.caller, ports: ports)
        }
        let claims = UserClaims(["groups": "claim-marker-nine"])
        _ = try await UpdateUser.update(.id(user), .init(claims: claims), by: shop.caller, ports: ports)
        // A PIN, a change that makes no sense, and wrong ones to the limit.
        _ = try await device.setPIN()
        _ = try await device.send(MethodChangeRequest(message: [1]))
        for _ in 0..<5 { _ = try await PINChange(of: device, from: device.newPINKey(), to: nil).send() }
        numbers += try await claim(by: device, shop, in: world)
        for decision in ["approved", "denied", "reported", "wrong", "refused", "cancelled", "removed"] {
            let asked = try await ask(user, by: shop, in: world)
            let number = try #require(asked.number)
            numbers += [number.digits, "\(try await world.challenge(asked).question.nonce)"]
            let id = asked.challenge.id
            switch decision {
            case "approved": _ = try await device.answer(asked, .approved(.confirm, number: number))
            case "denied": _ = try await device.answer(asked, .denied)
            case "reported":
                _ = try await device.answer(asked, .reported)
                #expect(try await EndLock.end(id, by: shop.actor, ports: ports) == .ended)
            case "wrong":
                let other = EntryNumber(number.digits == "000000" ? "000001" : "000000")
                _ = try await device.answer(asked, .approved(.confirm, number: other))
            case "refused":
                try await device.open(id)
                _ = try await device.answer(id, with: try await device.seal("Refused-marker-seven"))
                world.time.advance(seconds: 120)
                try await ExpireChallenges.sweep(ports: ports)
            case "cancelled": _ = try await CancelChallenge.cancel(id, by: shop.caller, ports: ports)
            default: #expect(try await UnlinkUser.unlink(.id(user), from: shop.caller, ports: ports) == .unlinked)
            }
        }
        // Of the user who is deleted an operator sees what is left.
        #expect(try await ExportUser.begin(.id(user), in: .all, by: shop.caller, ports: ports).export != nil)
        try await world.makeType("spare")
        #expect(try await RemoveType.remove(try #require(TypeName("spare")), by: shop.actor, ports: ports) == .removed)
        // Something that was given up is sent again.
        let leased = try await world.store.lease(limit: 100, now: world.time.now, until: world.time.now)
        let message = try #require(leased.map(\.message).last { $0.expiresAt > world.time.now })
        try await world.record(.abandoned("gone"), of: message, at: world.time.now)
        _ = try await RetryMessage.retry(message.id, by: shop.actor, ports: ports)
        let address = try #require(EmailAddress(Self.email))
        _ = try await SendTestMessage.send(
            .code, to: .email(address), in: nil, by: shop.caller, idempotency: nil, ports: ports
        )
        return [
            renewed.reveal(), passed, created.secret.reveal(), created.callbackSecret.reveal(), renewedSecret,
            Self.callbackPassword, Self.callbackPath,
            device.invitation.ticket.reveal(),
            Self.message,
            Self.secureMessage, Self.payee, Self.signingData, Self.clientState, "external-marker-six",
            "Refused-marker-seven", World.callback, Self.pushToken, Self.email, SendTestMessage.code.digits,
        ] + numbers
    }

    /// Lets a custom authenticator want another try, and then be satisfied.
    private func customs(in scene: CustomScene) async throws -> [String] {
        try await scene.register()
        let asked = try await scene.ask()
        for result in [HookVerdict.Result.retry, .ok] {
            scene.world.hooks.say(HookVerdict(result, payload: "Payload-marker-ten"))
            _ = try await scene.send(try await scene.approval(of: asked, "Data-marker-nine"), to: asked)
        }
        return ["Data-marker-nine", "Payload-marker-ten"]
    }

    /// Plays what signing in audits; returns what no event may hold.
    private func signIns(in scene: SignInScene) async throws -> [String] {
        let first = try await scene.signedIn()
        for _ in 0..<2 { _ = try await scene.redeem(first.code) }
        let former = try #require(first.session).secret
        // What a person allows is audited, and what they confirm and prove.
        _ = try await ConfirmEnrollment.confirm(scene.device.enrollment, by: .system, ports: scene.world.ports)
        var wanted = try scene.wanted()
        wanted.asksConsent = true
        _ = try await FinishSignIn.goOn(
            wanted, in: former, browser: scene.browser, answer: .allows(scene.user), ports: scene.world.ports)
        let asked = try await scene.asked()
        try await scene.approve(asked)
        guard case .finished(let second) = try await scene.finish(asked, former: former) else {
            throw World.Broken("finish")
        }
        try await SignOut.signOut(try #require(second.session).secret, .session, ports: scene.world.ports)
        let (code, link) = try await signInByMail(in: scene)
        let now = scene.world.time.now
        try await scene.world.ports.commit(at: now, as: .user(scene.user)) { work in
            try work.raise(.accessEnded(scene.user, scene.shop.id))
            try work.raise(.constantValues(["nonce"], of: scene.shop.id))
            guard let device = try work.enrollments.find(scene.device.enrollment) else { throw World.Broken("device") }
            try work.raise(.enrollmentConfirming(device, from: now))
        }
        let colours = SetLook.Request.Colours(light: "#8a1538", dark: nil)
        _ = try await SetLook.set(
            .init(logo: nil, accent: colours), of: scene.shop.id, by: scene.shop.actor, ports: scene.world.ports)
        _ = try await RemoveLook.remove(of: scene.shop.id, by: scene.shop.actor, ports: scene.world.ports)
        guard
            case .removed = try await RemoveRelyingParty.remove(
                scene.shop.id, by: scene.shop.actor, ports: scene.world.ports)
        else { throw World.Broken("settings") }
        return [
            first.code.reveal(), former.reveal(), second.code.reveal(), try #require(second.session).secret.reveal(),
            try #require(asked.ask?.number).digits, scene.browser.text.reveal(), SignInScene.verifier,
            code, link,
        ]
    }

    /// Signs in by a code, against what another client claims of the address; returns the code and the link's secret.
    private func signInByMail(in scene: SignInScene) async throws -> (code: String, link: String) {
        let ports = scene.world.ports
        try await scene.set(ways: [.email])
        let other = try await scene.world.makeClient("Other").client
        let stranger = try await scene.world.makeUser("stranger", of: other)
        let claim = ClaimedAddresses(email: try SignInScene.email("customer-1"))
        _ = try await UpdateUser.update(.id(stranger), .init(addresses: claim), by: other.caller, ports: ports)
        guard case .asked(let asked) = try await scene.ask(try scene.wanted(), by: .email),
            let sent = asked.ask?.verification
        else { throw World.Broken("sign-in") }
        let code = ports.hasher.code(of: sent)
        #expect(
            try await EnterSignInCode.enter(.code(code), for: asked.id, in: scene.browser, ports: ports)
                == .authenticated)
        return (code.digits, ports.hasher.link(of: sent).reveal())
    }

    /// Registers a passkey and removes it; returns its name.
    private func passkeys(in scene: AccountScene) async throws -> [String] {
        let session = try await scene.byPIN()
        let (_, row) = try await scene.passkey(by: session)
        #expect(try await scene.act(.remove, on: row.id, by: session) == .done(row.name))
        return [row.name.text]
    }

    /// Adds an address and removes it; returns the address, and the code that was sent there.
    private func addresses(in scene: AccountScene) async throws -> [String] {
        let session = try await scene.byMail()
        let sent = try await scene.sent("second", by: session)
        #expect(try await scene.enter(sent, by: session) == .done)
        #expect(try await scene.remove(try await scene.identifier("second"), by: session) == .done(sent.address))
        return ["\(sent.address)", scene.code(of: sent).digits]
    }

    /// Sets the code for what servers ask, and removes it after wrong ones; returns it, and a wrong one.
    private func userCodes(in account: AccountScene) async throws -> [String] {
        let scene = try await UserCodeScene(in: account)
        let session = try await account.byPIN()
        #expect(try await scene.set(UserCodeScene.code, by: session) == .done)
        for _ in 0..<10 { #expect(try await !scene.isAsked("wrong-marker-thirteen")) }
        #expect(try await scene.set(nil, by: session) == .done)
        return [UserCodeScene.code, "wrong-marker-thirteen"]
    }

    /// Signs in on a device without a browser; returns the codes that the device had, and the number.
    private func deviceGrant(in scene: DeviceGrantScene) async throws -> [String] {
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.approve(try await scene.signIn(begun))
        _ = try await scene.tokens(begun)
        return [begun.deviceCode.reveal(), "\(begun.userCode)", try #require(begun.number).digits]
    }

    @Test("Everything that is audited happens, and no event holds a number, a secret, a ticket or a message")
    func secrecy() async throws {
        let world = try await World()
        let custom = try await CustomScene()
        let signIn = try await SignInScene(.chosen)
        let account = try await AccountScene()
        let device = try await DeviceGrantScene()
        let secrets =
            try await everything(in: world) + (try await customs(in: custom)) + (try await signIns(in: signIn))
            + (try await passkeys(in: account)) + (try await addresses(in: account))
            + (try await deviceGrant(in: device)) + (try await userCodes(in: account))
        let events =
            try await world.audit() + (try await custom.world.audit()) + (try await signIn.world.audit())
            + (try await account.world.audit()) + (try await device.world.audit())
        #expect(Set(events.map(\.kind)) == Set(AuditEventKind.allCases))
        #expect(secrets.count == 55)
        for event in events {
            let text = "\(event) " + String(decoding: JSONValue.object(event.detail).encoded, as: UTF8.self)
            for secret in secrets {
                // Without its scheme's prefix, too: a part of a secret is one, unless it is a letter or two behind a `_` of
                // base64url's.
                let rest = secret.split(separator: "_", maxSplits: 1).last.map(String.init) ?? secret
                let part = rest.utf8.count < EntryNumber.length ? secret : rest
                #expect(!text.contains(part), "\(event.kind) holds \(secret)")
            }
        }
    }

    @Test("A sign-in on a device without a browser says so, and one in a browser does not")
    func door() async throws {
        let scene = try await DeviceGrantScene()
        _ = try await deviceGrant(in: scene)
        let doors = try await scene.world.audit().filter { $0.kind == .signedIn }.map { $0.detail["door"] }
        #expect(doors == [nil, "device_grant"])
    }

    @Test("Every end of a challenge is audited once, with who decided it and why")
    func ends() async throws {
        let world = try await World()
        _ = try await everything(in: world)
        let ends = try await world.audit().filter { event in
            [
                .challengeApproved, .challengeDenied, .challengeReported, .challengeFailed, .challengeCancelled,
                .challengeExpired,
            ].contains(event.kind)
        }
        let device = try #require(try await world.audit().first { $0.kind == .enrollmentCreated }?.enrollment)
        let told = ends.map { "\($0.kind.rawValue) \($0.detail["reason"]?.string ?? "-") \($0.enrollment == device)" }
        #expect(
            told == [
                // The second is the server's own question about a device that a waiver has let in.
                "challenge.approved - true", "challenge.cancelled - false", "challenge.approved - true",
                "challenge.approved - true",
                "challenge.denied declined true", "challenge.reported reported true",
                "challenge.failed wrong_number false", "challenge.expired - false", "challenge.expired - false",
                "challenge.cancelled - false",
                "challenge.cancelled - false",
            ])
        #expect(Set(ends.map(\.challenge)).count == 11)
        #expect(try await world.count("challenges", where: "state = 'pending'") == 0)
        #expect(try await world.count("outbox", where: "kind = 'callback'") == 7, "each end is called back once")
    }
}
