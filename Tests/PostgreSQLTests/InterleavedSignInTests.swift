import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

/// Somebody who has typed the code at a client that does not know them yet, and an operator who removes the address.
private struct ProvedElsewhere: Sendable {
    static let redirectURI = "https://shop.example.com/callback"

    let user: UserID
    let finish: Interleaving.Operation
    let removal: Interleaving.Operation

    init(in world: World, _ name: String) async throws {
        let address = PersonalAddress.email(try #require(EmailAddress("\(name)@example.com")))
        let known = try await Self.proved(address, at: try await Self.client(of: world), world)
        guard case .finished = try await known.finish(world.ports) else { throw World.Broken("sign-in") }
        user = try #require(
            try await world.store.read { try $0.identifiers.verified(world.ports.hasher.identifier(address)) }?.user)
        let other = try await Self.proved(address, at: try await Self.client(of: world), world)
        finish = { ports in
            try await other.finish(ports).told
        }
        let caller = try await world.makeClient("Operator").client.caller
        removal = { [user] ports in
            "\(try await RemoveAddress.remove(address, of: .id(user), by: caller, ports: ports))"
        }
    }

    /// A client that takes whoever signs in by a code.
    static func client(of world: World, isThirdParty: Bool = false) async throws -> ClientID {
        let client = try await world.makeClient(waives: true, isThirdParty: isThirdParty).client.id
        let party = RelyingParty(
            client: client, profile: .native, redirectURIs: [try #require(RedirectURI(redirectURI))],
            askedBrowsers: .all, ways: [.email], registration: .open, callingCodes: [])
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
        return client
    }

    struct Proved: Sendable {
        let id: AuthorizationID
        let browser: BrowserID

        func finish(former: Secret<String>? = nil, _ ports: Ports) async throws -> FinishSignIn.Outcome {
            try await FinishSignIn.finish(id, in: browser, former: former, ports: ports)
        }
    }

    /// Somebody to whom a code was sent.
    struct Asked: Sendable {
        let id: AuthorizationID
        let browser: BrowserID
        let code: EntryNumber

        func enter(_ ports: Ports) async throws -> EnterSignInCode.Outcome {
            try await EnterSignInCode.enter(.code(code), for: id, in: browser, ports: ports)
        }
    }

    static func asked(
        _ address: PersonalAddress, at client: ClientID, scopes: [String] = ["openid"], _ world: World
    ) async throws -> Asked {
        var wanted = Wanted(client: client, redirectURI: redirectURI, scopes: scopes)
        wanted.identifier = .address(address)
        let browser = try #require(BrowserID("browser-one-0123456789"))
        let request = AskSignIn.Request(
            CarriedSignIn(wanted: wanted), by: .email, browser: browser, place: nil, network: nil)
        guard case .asked(let asked) = try await AskSignIn.ask(request, ports: world.ports) else {
            throw World.Broken("ask")
        }
        let code = world.ports.hasher.code(of: try #require(asked.ask?.verification))
        return Asked(id: asked.id, browser: browser, code: code)
    }

    static func proved(
        _ address: PersonalAddress, at client: ClientID, scopes: [String] = ["openid"], _ world: World
    ) async throws -> Proved {
        let asked = try await asked(address, at: client, scopes: scopes, world)
        #expect(try await asked.enter(world.ports) == .authenticated)
        return Proved(id: asked.id, browser: asked.browser)
    }
}

extension FinishSignIn.Outcome {
    /// What the browser was told.
    fileprivate var told: String {
        switch self {
        case .finished: "finished"
        case .notReady: "not ready"
        case let outcome: "\(outcome)"
        }
    }
}

/// Who ends a session.
private enum Ending: CaseIterable { case thePerson, theNextPerson }

/// A client that has a code which it has not redeemed, and somebody who ends the session.
private struct Pending: Sendable {
    let session: Session
    let redeem: Interleaving.Operation
    let consent: Interleaving.Operation
    let end: Interleaving.Operation

    init(in world: World, _ name: String, ending: Ending) async throws {
        let address = PersonalAddress.email(try #require(EmailAddress("\(name)@example.com")))
        let nextAddress = PersonalAddress.email(try #require(EmailAddress("next-\(name)@example.com")))
        let client = try await ProvedElsewhere.client(of: world)
        let next = try await ProvedElsewhere.proved(nextAddress, at: client, world)
        let proved = try await ProvedElsewhere.proved(address, at: client, world)
        guard case .finished(let finished) = try await proved.finish(world.ports) else {
            throw World.Broken("sign-in")
        }
        let secret = try #require(finished.session).secret
        let now = world.time.now
        session = try #require(try await world.store.read { try $0.sessions.find(SecretHash(of: secret), at: now) })
        consent = { [session] ports in
            var wanted = finished.wanted
            wanted.asksConsent = true
            return try await FinishSignIn.goOn(
                wanted, in: secret, browser: proved.browser, answer: .allows(session.user), ports: ports
            ).told
        }
        redeem = { ports in
            let request = RedeemCode.Request(
                code: finished.code, redirectURI: ProvedElsewhere.redirectURI, verifier: nil)
            switch try await RedeemCode.redeem(request, by: client, ports: ports) {
            case .redeemed: return "redeemed"
            case let outcome: return "\(outcome)"
            }
        }
        end = { ports in
            switch ending {
            case .thePerson: try await SignOut.signOut(secret, .everything, ports: ports)
            case .theNextPerson:
                guard case .finished = try await next.finish(former: secret, ports) else { return "not finished" }
            }
            return "ended"
        }
    }
}

/// An app with a refresh token, which it uses and takes back.
private struct Refreshing: Sendable {
    let family: TokenFamilyID
    let refresh: Interleaving.Operation
    let revoke: Interleaving.Operation

    init(in world: World, _ name: String) async throws {
        let address = PersonalAddress.email(try #require(EmailAddress("\(name)@example.com")))
        let client = try await ProvedElsewhere.client(of: world)
        let proved = try await ProvedElsewhere.proved(
            address, at: client, scopes: ["openid", TokenFamily.offlineAccess], world)
        guard case .finished(let finished) = try await proved.finish(world.ports) else {
            throw World.Broken("sign-in")
        }
        let request = RedeemCode.Request(
            code: finished.code, redirectURI: ProvedElsewhere.redirectURI, verifier: nil)
        guard case .redeemed(let given) = try await RedeemCode.redeem(request, by: client, ports: world.ports) else {
            throw World.Broken("redeem")
        }
        family = given.family.id
        let token = try #require(try await SignTokens.sign(given, ports: world.ports).refresh)
        refresh = { ports in
            let outcome = try await RefreshTokens.refresh(token, scopes: nil, by: client, ports: ports)
            guard case .refreshed(let next) = outcome else { return "\(outcome)" }
            return "refreshed to \(next.family.generation)"
        }
        revoke = { ports in "\(try await RevokeToken.revoke(token, by: client, ports: ports))" }
    }
}

/// A sign-in that is put to somebody's phone, or shows a code, and an operator who makes its client strict.
private struct Switching: Sendable {
    let client: ClientID
    let ask: Interleaving.Operation
    let change: Interleaving.Operation

    init(in world: World, _ name: String, by way: SignInWay) async throws {
        let shop = try await world.makeClient(waives: true).client
        let address = try #require(EmailAddress("\(name)@example.com"))
        let user = try await world.makeUser(name, of: shop)
        _ = try await UpdateUser.update(
            .id(user), .init(addresses: ClaimedAddresses(email: address)), by: shop.caller, ports: world.ports)
        _ = try await world.makeDevice(of: user, by: shop)
        let uris = [try #require(RedirectURI(ProvedElsewhere.redirectURI))]
        let usual = RelyingParty(client: shop.id, profile: .web, redirectURIs: uris, askedBrowsers: .all)
        #expect(try await SetRelyingParty.set(usual, by: .system, ports: world.ports) == .set(usual))
        try await world.store.refreshKeys()
        var wanted = Wanted(client: shop.id, redirectURI: ProvedElsewhere.redirectURI, scopes: ["openid"])
        wanted.identifier = .address(.email(address))
        let request = AskSignIn.Request(
            CarriedSignIn(wanted: wanted), by: way, browser: try #require(BrowserID("browser-one-0123456789")),
            place: nil, network: nil)
        client = shop.id
        if way == .device {
            guard case .asked(let asked) = try await AskSignIn.ask(request, ports: world.ports) else {
                throw World.Broken("ask")
            }
            let challenge = try #require(asked.ask?.challenge)
            ask = { ports in
                try await PutSignIn.put(asked.id, by: challenge, ports: ports)
                return "put"
            }
        } else {
            ask = { ports in
                switch try await AskSignIn.ask(request, ports: ports) {
                case .asked: "put"
                case let outcome: "\(outcome)"
                }
            }
        }
        let strict = RelyingParty(
            client: shop.id, profile: .strict, redirectURIs: uris, askedBrowsers: .all,
            keySet: JWKSet([JWK(P256.Signing.PrivateKey().publicKey)]).json)
        change = { ports in
            guard case .set = try await SetRelyingParty.set(strict, by: .system, ports: ports) else { return "not set" }
            return "set"
        }
    }
}

@Suite("A sign-in by a code and what may come in between")
struct InterleavedSignInTests {
    /// Has the second operation done before each statement of the first in turn, each time for another person.
    private func everywhere<Scene: Sendable>(
        _ prepare: (World, String) async throws -> (
            scene: Scene, first: Interleaving.Operation, second: Interleaving.Operation
        ),
        judge: (World, Scene, (first: String, second: String), Comment) async throws -> Void
    ) async throws -> Int {
        let meeting = try await Interleaving()
        try await meeting.world.store.commit { store in
            for type in ChallengeType.builtIn { try store.types.put(type) }
        }
        var number = 0
        return try await meeting.everywhere { world in
            number += 1
            // Each scene has codes of its own limits.
            world.time.advance(seconds: 3601)
            return try await prepare(world, "person-\(number)")
        } judge: { scene, told, comment in
            try await judge(meeting.world, scene, told, comment)
        }
    }

    @Test("An address that an operator removes meanwhile leaves no session behind, whoever was first")
    func removedAddress() async throws {
        let places = try await everywhere { world, name in
            let scene = try await ProvedElsewhere(in: world, name)
            return (scene, scene.finish, scene.removal)
        } judge: { world, scene, told, comment in
            #expect(["finished", "not ready"].contains(told.first) && told.second == "removed", comment)
            let open = try await world.count("sessions", where: "user_id = '\(scene.user)' AND ended_at IS NULL")
            #expect(open == 0, comment)
        }
        #expect(places >= 3)
    }

    @Test(
        "A session that is ended meanwhile leaves no good tokens behind, whoever was first",
        arguments: Ending.allCases)
    fileprivate func endedSession(_ ending: Ending) async throws {
        let places = try await everywhere { world, name in
            let pending = try await Pending(in: world, name, ending: ending)
            return (pending, pending.redeem, pending.end)
        } judge: { world, pending, told, comment in
            #expect(["redeemed", "invalid"].contains(told.first) && told.second == "ended", comment)
            let good = try await world.count(
                "token_families", where: "session_id = '\(pending.session.id)' AND ended_at IS NULL")
            #expect(good == 0, comment)
        }
        #expect(places >= 10)
    }

    @Test("In a session that ends meanwhile nothing is allowed, unless it was allowed before")
    func consentInEndedSession() async throws {
        let places = try await everywhere { world, name in
            let pending = try await Pending(in: world, name, ending: .thePerson)
            return (pending, pending.consent, pending.end)
        } judge: { world, pending, told, comment in
            #expect(["finished", "not ready"].contains(told.first) && told.second == "ended", comment)
            let grants = try await world.count("grants", where: "user_id = '\(pending.session.user)'")
            #expect(grants == (told.first == "finished" ? 1 : 0), comment)
        }
        #expect(places >= 10)
    }

    @Test("Of two tabs one cancels, wherever the other has its code typed: nobody stays whom no client knows")
    func cancelledWhileTyped() async throws {
        let places = try await everywhere { world, name in
            let address = PersonalAddress.email(try #require(EmailAddress("\(name)@example.com")))
            let client = try await ProvedElsewhere.client(of: world, isThirdParty: true)
            let asked = try await ProvedElsewhere.asked(address, at: client, world)
            let cancel: Interleaving.Operation = { ports in
                "\(try await CancelSignIn.cancel(asked.id, in: asked.browser, ports: ports))"
            }
            let enter: Interleaving.Operation = { ports in "\(try await asked.enter(ports))" }
            return (address, cancel, enter)
        } judge: { world, address, told, comment in
            #expect(told.first == "true" && ["authenticated", "notFound"].contains(told.second), comment)
            let known = try await world.store.read { reader in
                try reader.identifiers.verified(world.ports.hasher.identifier(address))
            }
            #expect(known == nil, comment)
        }
        #expect(places >= 3)
    }

    @Test(
        "A client that becomes strict as somebody is asked leaves no question behind, whoever was first",
        arguments: [SignInWay.device, .qr])
    func strict(_ way: SignInWay) async throws {
        var cancelled: [Int64] = []
        let places = try await everywhere { world, name in
            let scene = try await Switching(in: world, name, by: way)
            return (scene, scene.ask, scene.change)
        } judge: { world, scene, told, comment in
            #expect(["put", "tooLate"].contains(told.first) && told.second == "set", comment)
            let open = try await world.count(
                "challenges", where: "client_id = '\(scene.client)' AND state = 'pending'")
            #expect(open == 0, comment)
            cancelled.append(try await world.count("challenges", where: "client_id = '\(scene.client)'"))
        }
        #expect(places >= 3)
        // Somebody was asked where the question came first, and nobody where it came last.
        #expect(Set(cancelled) == [0, 1])
    }

    @Test("A type is removed as a client's settings come to name it: one of the two is refused, whoever was first")
    func typeRemoved() async throws {
        for isRemovalFirst in [false, true] {
            let places = try await everywhere { world, name in
                let type = try #require(TypeName(name))
                let client = try await world.makeClient().client.id
                try await world.store.commit { try $0.types.put(ChallengeType(name: type, numberEntry: true)) }
                let uri = try #require(RedirectURI(ProvedElsewhere.redirectURI))
                let party = RelyingParty(client: client, profile: .native, redirectURIs: [uri], type: type)
                let set: Interleaving.Operation = { ports in
                    let outcome = try await SetRelyingParty.set(party, by: .system, ports: ports)
                    return outcome == .set(party) ? "named" : outcome == .typeNotUsable(type) ? "refused" : "\(outcome)"
                }
                let remove: Interleaving.Operation = { ports in
                    let outcome = try await RemoveType.remove(type, by: .system, ports: ports)
                    return outcome == .neededBy([], clients: [client]) ? "needed" : "\(outcome)"
                }
                let scene = (type: type, client: client)
                return isRemovalFirst ? (scene, remove, set) : (scene, set, remove)
            } judge: { world, scene, told, comment in
                let all = Set([told.first, told.second])
                #expect(all == ["named", "needed"] || all == ["refused", "removed"], comment)
                let (isThere, isNamed) = try await world.store.read { reader in
                    (try reader.types.find(scene.type) != nil, try reader.relyingParties.find(scene.client) != nil)
                }
                #expect(isThere == isNamed, comment)
            }
            #expect(places >= 3)
        }
    }

    @Test("A refresh token at two nodes: both get the same successor, or none once it is taken back")
    func refreshed() async throws {
        let twice = try await everywhere { world, name in
            let scene = try await Refreshing(in: world, name)
            return (scene, scene.refresh, scene.refresh)
        } judge: { _, _, told, comment in
            #expect(told.first == "refreshed to 1" && told.second == "refreshed to 1", comment)
        }
        #expect(twice >= 3)
        let ended = try await everywhere { world, name in
            let scene = try await Refreshing(in: world, name)
            return (scene, scene.refresh, scene.revoke)
        } judge: { world, scene, told, comment in
            #expect(["refreshed to 1", "invalid"].contains(told.first) && told.second == "revoked", comment)
            let good = try await world.count("token_families", where: "id = '\(scene.family)' AND ended_at IS NULL")
            #expect(good == 0, comment)
            #expect(try await scene.refresh(world.ports) == "invalid", comment)
        }
        #expect(ended >= 3)
    }
}
