import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: RFC 7523 §2.1 and §3; docs/protocol/signing-in.md, *The assertion*.
@Suite("A device signs its user in by its own signature")
struct SignInDeviceTests {
    private func assertion(
        _ scene: SignInScene, of device: TestDevice? = nil, for client: ClientID? = nil, at time: Timestamp? = nil
    ) -> DeviceAssertion {
        let device = device ?? scene.device
        return DeviceAssertion(
            enrollment: device.enrollment, user: device.invitation.user, issuer: scene.world.ports.issuer,
            client: "\(client ?? scene.shop.id)", named: Hex.encode(scene.world.random.bytes(16)),
            at: time ?? scene.world.time.now)
    }

    private func signIn(
        _ text: String, _ scene: SignInScene, scopes: [String] = ["openid"], at client: ClientID? = nil
    ) async throws -> SignInDevice.Outcome {
        try await SignInDevice.signIn(
            by: Secret(text), scopes: scopes, at: client ?? scene.shop.id, ports: scene.world.ports)
    }

    private func signIn(
        _ scene: SignInScene, by device: TestDevice? = nil, scopes: [String] = ["openid"], at client: ClientID? = nil
    ) async throws -> SignInDevice.Outcome {
        let device = device ?? scene.device
        let text = try await assertion(scene, of: device, for: client).signed(by: device.authentication)
        return try await signIn(text, scene, scopes: scopes, at: client)
    }

    /// The words of an outcome.
    private func word(_ outcome: SignInDevice.Outcome) -> String {
        switch outcome {
        case .signedIn: "signed in"
        case .invalid: "invalid"
        case .scopeMissing: "scope missing"
        case .notAllowed: "not allowed"
        case .unknownResource: "unknown resource"
        case .scopeOfAnother(let scope): "scope of another: \(scope)"
        case .unproved: "unproved"
        case .tooMany: "too many"
        case .clientGone: "client gone"
        }
    }

    /// An assertion with other claims, without those that are null, or with another header.
    private func forged(
        _ scene: SignInScene, _ changes: [String: JSONValue] = [:], type: String = "countersign-assertion+jwt",
        by key: P256.Signing.PrivateKey? = nil
    ) async throws -> String {
        let good = try await assertion(scene).signed(by: scene.device.authentication)
        let payload = try #require(Base64URL.decode(good.split(separator: ".")[1]))
        var claims = try JSONValue(parsing: payload).object ?? JSONObject()
        for (name, value) in changes { claims[name] = value == .null ? nil : value }
        return try await JWS.sign(
            JSONValue.object(claims).encoded, type: type, by: key ?? scene.device.authentication, keyID: nil)
    }

    @Test(
        "It says what it shows: possession, nobody was asked; and it ends with the device", arguments: Engine.allCases)
    func signsIn(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        guard case .signedIn(let given) = try await signIn(scene, scopes: ["openid", "email"]) else {
            throw World.Broken("signed in")
        }
        let authentication = given.family.authentication
        #expect(authentication.methods == ["swk"] && authentication.strength == .device)
        #expect(authentication.evidence == .approval(nil, scene.device.enrollment))
        #expect(given.family.session == nil && given.family.sid == nil)
        let kept = try await scene.world.store.read { try $0.families.find(given.family.id) }
        #expect(kept == given.family)
        let tokens = try await SignTokens.sign(given, ports: scene.world.ports)
        #expect(try await scene.isGood(tokens) && tokens.refresh == nil)
        let payload = try #require(tokens.identity).reveal().split(separator: ".")[1]
        let claims = try JSONValue(parsing: try #require(Base64URL.decode(payload)))
        #expect(claims["sub"] == .string("\(scene.user)") && claims["sid"] == nil && claims["nonce"] == nil)
        #expect(claims["amr"] == ["swk"] && claims["acr"] == "urn:countersign:acr:device")
        // The end of any session is not its end; the end of the device is.
        let session = try #require(try await scene.signedIn().session).secret
        _ = try await SignOut.signOut(session, .everything, ports: scene.world.ports)
        #expect(try await scene.isGood(tokens))
        try await scene.end(.device)
        #expect(try await !scene.isGood(tokens))
        #expect(try await signIn(scene) == .invalid)
    }

    @Test("It gives no refresh token and enrolls nothing, whatever is asked for")
    func enroll() async throws {
        let scene = try await SignInScene()
        let scopes = ["openid", TokenFamily.offlineAccess, Ticket.scope]
        guard case .signedIn(let given) = try await signIn(scene, scopes: scopes) else {
            throw World.Broken("signed in")
        }
        #expect(given.scopes == ["openid"] && given.family.scopes == ["openid"] && !given.family.isOffline)
        let mayEnroll = try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            try work.mayEnroll(by: given.family.authentication, at: scene.shop.id)
        }
        #expect(!mayEnroll)
    }

    @Test("It is taken once, also by two requests at the same time", arguments: Engine.allCases)
    func once(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let text = try await assertion(scene).signed(by: scene.device.authentication)
        let both = try await atOnce(2) { _ in word(try await signIn(text, scene)) }
        #expect(both.sorted() == ["invalid", "signed in"])
        scene.world.time.advance(seconds: 59)
        #expect(try await signIn(text, scene) == .invalid)
    }

    @Test("It is for this server and this client alone, and nothing else that the key signs passes for it")
    func elsewhere() async throws {
        let scene = try await SignInScene()
        let other = try await scene.otherClient()
        let text = try await assertion(scene).signed(by: scene.device.authentication)
        #expect(try await signIn(text, scene, at: other) == .invalid)
        let changes: [[String: JSONValue]] = [
            ["aud": "https://other.example.com"], ["aud": ["https://login.example.com"]], ["aud": .null],
            ["client_id": .string("\(other)")], ["client_id": .null], ["jti": .null], ["jti": "short"],
            ["sub": .string("\(scene.world.newID() as UserID)")],
            ["iss": .string("\(scene.world.newID() as EnrollmentID)")],
        ]
        for change in changes {
            #expect(try await signIn(try await forged(scene, change), scene) == .invalid, "\(change)")
        }
        #expect(try await signIn(try await forged(scene, type: "JWT"), scene) == .invalid)
        #expect(try await signIn(try await forged(scene, by: P256.Signing.PrivateKey()), scene) == .invalid)
        for junk in ["", "a.b.c", "..", String(repeating: "x", count: 10_000)] {
            #expect(try await signIn(junk, scene) == .invalid)
        }
        #expect(word(try await signIn(try await forged(scene), scene)) == "signed in", "a copy without changes")
    }

    @Test("It is good for a minute, by a clock that is a minute off at the most")
    func times() async throws {
        let scene = try await SignInScene()
        let now = scene.world.time.now
        func at(_ seconds: Int64) async throws -> String {
            let signed = assertion(scene, at: now.adding(seconds: seconds))
            return word(try await signIn(try await signed.signed(by: scene.device.authentication), scene))
        }
        #expect(try await at(-60) == "invalid")
        #expect(try await at(-59) == "signed in")
        #expect(try await at(60) == "signed in")
        #expect(try await at(61) == "invalid")
        for (from, until) in [(-30, 0), (61, 70)] as [(Int64, Int64)] {
            let short = try await forged(
                scene, ["iat": .integer(now.seconds + from), "exp": .integer(now.seconds + until)])
            #expect(try await signIn(short, scene) == .invalid, "\(from)")
        }
        let long = try await forged(scene, ["exp": .integer(now.seconds + 61)])
        #expect(try await signIn(long, scene) == .invalid)
        let reversed = try await forged(
            scene, ["iat": .integer(now.seconds + 30), "exp": .integer(now.seconds + 20)])
        #expect(try await signIn(reversed, scene) == .invalid)
    }

    @Test("A device that waits, is suspended or not believed signs nobody in, nor does another user's")
    func waiting() async throws {
        let scene = try await SignInScene()
        let world = scene.world
        let strict = try await world.makeClient("Strict").client
        _ = try await world.ports.store.commit { try $0.links.put(scene.user, to: strict.id, externalID: nil) }
        let second = try await world.makeDevice(of: scene.user, by: strict)
        #expect(try await signIn(scene, by: second) == .invalid)
        world.time.advance(seconds: 86_400)
        #expect(word(try await signIn(scene, by: second)) == "signed in")
        let suspended = try await SuspendEnrollment.suspend(second.enrollment, true, by: .system, ports: world.ports)
        #expect(suspended == .done)
        #expect(try await signIn(scene, by: second) == .invalid)
        let third = try await world.makeClient("Third", waives: true, isThirdParty: true).client
        _ = try await world.ports.store.commit { try $0.links.put(scene.user, to: third.id, externalID: nil) }
        let planted = try await world.makeDevice(of: scene.user, by: third)
        #expect(try await signIn(scene, by: planted) == .invalid, "a third party's device at a first party")
        let stranger = try await world.makeUser("stranger", of: strict)
        let foreign = try await world.makeDevice(of: stranger, by: strict)
        #expect(try await signIn(scene, by: foreign) == .invalid, "a user whom the shop does not know")
        try await scene.set(registration: .open)
        #expect(word(try await signIn(scene, by: foreign)) == "signed in")
    }

    @Test("A client whose people do not sign in by devices, or that is gone, takes none")
    func ways() async throws {
        let scene = try await SignInScene()
        try await scene.set(ways: [.email])
        #expect(try await signIn(scene) == .invalid)
        try await scene.set()
        #expect(word(try await signIn(scene)) == "signed in")
        try await scene.end(.clientDisabled)
        #expect(try await signIn(scene) == .clientGone)
    }

    @Test("What the client's type demands of sign-ins, a device's own must show, too")
    func type() async throws {
        let scene = try await SignInScene()
        func set(_ type: ChallengeType) async throws {
            try await scene.world.store.commit { try $0.types.put(type) }
            let party = RelyingParty(
                client: scene.shop.id, profile: .native,
                redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], type: type.name)
            #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
        }
        try await set(ChallengeType(name: .pin, methods: [.pin]))
        #expect(try await signIn(scene) == .invalid, "possession, where a PIN is demanded")
        try await set(.confirm)
        #expect(word(try await signIn(scene)) == "signed in")
    }

    @Test("A third party gets what its user has allowed it before on a page, and no more")
    func consent() async throws {
        let scene = try await AccountScene()
        try await scene.confirm(scene.phone)
        func signIn(_ scopes: [String]) async throws -> SignInDevice.Outcome {
            try await self.signIn(scene.shop, scopes: scopes, at: scene.third.id)
        }
        #expect(try await signIn(["openid"]) == .notAllowed)
        let finished = try await scene.shop.signedIn(with: scene.shop.device, as: "customer-1", at: scene.shop.shop)
        guard case .finished = try await scene.shop.goOn(finished, at: scene.third) else { throw World.Broken("third") }
        #expect(word(try await signIn(["openid"])) == "signed in")
        #expect(try await signIn(["openid", "phone"]) == .notAllowed)
    }

    @Test("For no scope that a device gives there is nothing, so that no third party learns of a user for none")
    func nothing() async throws {
        let scene = try await AccountScene()
        try await scene.confirm(scene.phone)
        for scopes in [[], [Ticket.scope], [TokenFamily.offlineAccess, Ticket.scope]] {
            #expect(try await signIn(scene.shop, scopes: scopes, at: scene.third.id) == .scopeMissing)
            #expect(try await signIn(scene.shop, scopes: scopes) == .scopeMissing)
        }
        let links = try await scene.world.store.read { try $0.links.find(.id(scene.user), of: scene.third.id) }
        #expect(links == nil)
    }

    @Test("Sixty a minute are the most; what comes too soon is taken later, and what came before does not count")
    func many() async throws {
        let scene = try await SignInScene()
        let first = try await assertion(scene).signed(by: scene.device.authentication)
        #expect(word(try await signIn(first, scene)) == "signed in")
        #expect(try await signIn(first, scene) == .invalid)
        for _ in 1..<60 { #expect(word(try await signIn(scene)) == "signed in") }
        scene.world.time.advance(seconds: 30)
        let early = try await assertion(scene).signed(by: scene.device.authentication)
        for _ in 0..<2 { #expect(try await signIn(early, scene) == .tooMany(retryAfter: 30)) }
        scene.world.time.advance(seconds: 30)
        #expect(word(try await signIn(early, scene)) == "signed in")
        #expect(try await signIn(early, scene) == .invalid)
    }
}
