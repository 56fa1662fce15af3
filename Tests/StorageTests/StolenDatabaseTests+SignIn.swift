import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// A person who is signed in, with one sign-in more that is open, and a copy of the database.
private struct SignInTheft {
    static let uri = "https://shop.example.com/callback"
    static let verified = "verified-person@mail.example.com"
    static let claimed = "claimed-person@mail.example.com"
    static let state = "marker: the state of the client"
    static let claim = "marker: what the client says"
    static let place = "192.0.2.77"

    let world: World
    let client: Client
    let copy: StolenCopy
    let session: Secret<String>
    /// A code that is not redeemed.
    let code: Secret<String>
    let given: UnsignedTokens
    let tokens: SignedTokens

    init(by way: StolenCopy.Way) async throws {
        let world = try await World()
        try await world.store.commit { store in for type in ChallengeType.builtIn { try store.types.put(type) } }
        let client = try await world.makeClient(waives: true).client
        let user = try await world.makeUser("customer-1", of: client)
        let device = try await world.makeDevice(of: user, by: client)
        let party = RelyingParty(
            client: client.id, profile: .native, redirectURIs: [try #require(RedirectURI(Self.uri))],
            askedBrowsers: .all)
        #expect(try await SetRelyingParty.set(party, by: client.actor, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
        let claims: UserClaims = try #require(UserClaims(["groups": [.string(Self.claim)]]))
        let claimed = try #require(EmailAddress(Self.claimed))
        let changes = UpdateUser.Changes(addresses: ClaimedAddresses(email: claimed), claims: claims)
        guard case .updated = try await UpdateUser.update(.id(user), changes, by: client.caller, ports: world.ports)
        else { throw World.Broken("claims") }
        let address = PersonalAddress.email(try #require(EmailAddress(Self.verified)))
        let identifier = VerifiedIdentifier(
            id: world.newID(), user: user, address: address, verifiedAt: world.time.now)
        let name = world.ports.hasher.identifier(address)
        #expect(try await world.store.commit { try $0.identifiers.insert(identifier, as: name) })
        let browser = try #require(BrowserID("browser-one-0123456789"))
        var wanted = Wanted(
            client: client.id, redirectURI: Self.uri, scopes: ["openid", TokenFamily.offlineAccess])
        wanted.identifier = .address(address)
        wanted.clientState = Self.state
        let request = AskSignIn.Request(
            CarriedSignIn(wanted: wanted, signIn: nil), by: .device, browser: browser,
            place: ContextLine(address: Self.place, userAgent: nil), network: nil)
        guard case .asked(let asked) = try await AskSignIn.ask(request, ports: world.ports) else {
            throw World.Broken("sign-in")
        }
        let challenge = try #require(asked.ask?.challenge)
        try await PutSignIn.put(asked.id, by: challenge, ports: world.ports)
        try await device.open(challenge)
        let kept = try #require(try await world.store.read { try $0.challenges.find(challenge) })
        let receipt = try await device.receipt(of: kept, .approved(.confirm, number: asked.ask?.number))
        guard case .decided = try await device.answer(challenge, with: receipt),
            case .finished(let first) = try await FinishSignIn.finish(
                asked.id, in: browser, former: nil, ports: world.ports)
        else { throw World.Broken("approval") }
        let session = try #require(first.session).secret
        let redemption = RedeemCode.Request(code: first.code, redirectURI: Self.uri, verifier: nil)
        guard
            case .redeemed(let given) = try await RedeemCode.redeem(redemption, by: client.id, ports: world.ports),
            case .finished(let second) = try await FinishSignIn.goOn(
                wanted, in: session, browser: browser, ports: world.ports)
        else { throw World.Broken("redeem") }
        tokens = try await SignTokens.sign(given, ports: world.ports)
        copy = try await StolenCopy(of: world, by: way)
        self.world = world
        self.client = client
        self.session = session
        self.given = given
        code = second.code
    }
}

/// What a thief reads and forges of signing in.
extension StolenDatabaseTests {
    @Test(
        "Signing in: addresses, cookies, codes, tokens and what was wanted stand nowhere in a copy, in no form",
        arguments: StolenCopy.Way.allCases)
    func signInSealed(_ way: StolenCopy.Way) async throws {
        let theft = try await SignInTheft(by: way)
        let material = try await theft.world.store.read { try $0.keys.issuerKeys() }
        #expect(material.kept.contains { $0.use == .token })
        let keys = material.kept.map { SecretForms("\($0.use.rawValue) key", bytes: $0.secret.reveal()) }
        let search = SecretSearch(
            keys + [
                SecretForms("verified address", text: SignInTheft.verified),
                SecretForms("claimed address", text: SignInTheft.claimed),
                SecretForms("what was wanted", text: SignInTheft.state),
                SecretForms("what a client says", text: SignInTheft.claim),
                SecretForms("cookie", text: theft.session.reveal()), SecretForms("code", text: theft.code.reveal()),
                SecretForms("refresh token", text: try #require(theft.tokens.refresh).reveal()),
                SecretForms("access token", text: theft.tokens.access.reveal()),
                SecretForms("ID token", text: try #require(theft.tokens.identity).reveal()),
            ])
        #expect(search.names(in: theft.copy.bytes) == [])
        for value in theft.copy.everything { #expect(search.names(in: value) == []) }
        for (table, column, least) in [
            ("identifiers", "sealed", 2), ("authorizations", "wanted", 1), ("user_links", "claims", 1),
            ("sessions", "place", 1), ("sessions", "secret_hash", 1), ("codes", "hash", 1),
        ] {
            #expect(theft.copy.blobs(table, column).count >= least, "\(table).\(column)")
        }
        #expect(!theft.copy.blobs("sessions", "place").contains { $0.contains(Array(SignInTheft.place.utf8)) })
    }

    @Test(
        "Signing in: what rows hold is no cookie, no code and no refresh token; with the master key tokens are forged",
        arguments: StolenCopy.Way.allCases)
    func signInForged(_ way: StolenCopy.Way) async throws {
        let theft = try await SignInTheft(by: way)
        let ports = theft.world.ports
        let refresh = try #require(theft.tokens.refresh)
        let now = theft.world.time.now
        for hash in theft.copy.blobs("sessions", "secret_hash") + theft.copy.blobs("codes", "hash") {
            for form in [Hex.encode(hash), Base64URL.encode(hash), Base64.encode(hash)] {
                let secret = Secret(form)
                let found = try await ports.store.read { try $0.sessions.find(SecretHash(of: secret), at: now) }
                #expect(found == nil)
                let request = RedeemCode.Request(code: secret, redirectURI: SignInTheft.uri, verifier: nil)
                let redeemed = try await RedeemCode.redeem(request, by: theft.client.id, ports: ports)
                #expect(redeemed == .invalid)
            }
        }
        let (family, generation) = (theft.given.family.id, theft.given.family.generation)
        for hasher in theft.copy.guessedHashers {
            let isRight = hasher.refreshToken(generation, of: family).isSame(as: refresh)
            #expect(!isRight)
        }
        let own = KeyedHasher(key: SymmetricKey(size: .bits256)).refreshToken(generation, of: family)
        let ownRefresh = try await RefreshTokens.refresh(own, scopes: nil, by: theft.client.id, ports: ports)
        #expect(ownRefresh == .invalid)
        // With the master key: the addresses, a refresh token and an access token of the thief's making.
        let opened = try await theft.copy.opened(by: try World.masterKey(), like: theft.world)
        let user = theft.given.family.user
        let (verified, claims) = try await opened.store.read { try $0.identifiers.identifiers(of: user) }
        let address = PersonalAddress.email(try #require(EmailAddress(SignInTheft.verified)))
        let claimed = PersonalAddress.email(try #require(EmailAddress(SignInTheft.claimed)))
        #expect(verified.map { $0.address } == [address])
        #expect(claims.map { $0.address } == [claimed])
        let said = try await opened.store.read { try $0.links.claims(of: user, for: theft.client.id) }
        #expect(said?.json["groups"] == [.string(SignInTheft.claim)])
        let forged = try await SignTokens.sign(theft.given, ports: opened.ports)
        guard case .claims(let named, _, _, _) = try await ShowClaims.show(forged.access, ports: ports) else {
            Issue.record("an access token made by the master key was not taken")
            return
        }
        #expect(named == user)
        let made = opened.ports.hasher.refreshToken(generation, of: family)
        guard case .refreshed = try await RefreshTokens.refresh(made, scopes: nil, by: theft.client.id, ports: ports)
        else {
            Issue.record("a refresh token made by the master key was not taken")
            return
        }
    }
}
