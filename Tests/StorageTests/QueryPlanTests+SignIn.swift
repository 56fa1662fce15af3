import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import TestSupport
import Testing

/// The hot paths of signing in.
extension QueryPlanTests {
    @Test("Signing in by a device, going on in a session, redeeming codes, and what ends all that")
    func signIns() async throws {
        let (client, user, device) = try await scene()
        try await world.store.commit { try $0.types.put(.confirm) }
        let uri = "https://shop.example.com/callback"
        let party = RelyingParty(
            client: client.id, profile: .native, redirectURIs: [try #require(RedirectURI(uri))], askedBrowsers: .all,
            logoutReceiver: LogoutReceiver(uri: CallbackURI(stored: "https://shop.example.com/logout")),
            deviceGrant: .byCode)
        #expect(try await SetRelyingParty.set(party, by: client.actor, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
        let browser = try #require(BrowserID("browser-0123456789"))
        var wanted = Wanted(client: client.id, redirectURI: uri, scopes: ["openid"])
        let email = try #require(EmailAddress("customer@example.com"))
        wanted.identifier = .address(.email(email))
        _ = try await UpdateUser.update(
            .id(user), .init(addresses: ClaimedAddresses(email: email)), by: client.caller, ports: world.ports)
        func ask(_ signIn: AuthorizationID?) async throws -> Authorization {
            let request = AskSignIn.Request(
                CarriedSignIn(wanted: wanted, signIn: signIn), by: .device, browser: browser, place: nil,
                network: [192, 0, 2, 1])
            guard case .asked(let asked) = try await AskSignIn.ask(request, ports: world.ports) else {
                throw World.Broken("sign-in")
            }
            try await PutSignIn.put(asked.id, by: try #require(asked.ask?.challenge), ports: world.ports)
            return asked
        }
        func redeem(_ code: Secret<String>) async throws -> RedeemCode.Outcome {
            let request = RedeemCode.Request(code: code, redirectURI: uri, verifier: nil)
            return try await RedeemCode.redeem(request, by: client.id, ports: world.ports)
        }
        let look = SetLook.Request(logo: PNGFile.picture(width: 1, height: 1), accent: nil)
        guard
            case .set(let set) = try await SetLook.set(look, of: client.id, by: client.actor, ports: world.ports)
        else { throw World.Broken("look") }
        _ = recorder.take()
        _ = try await ShowLook.look(of: client.id, ports: world.ports)
        _ = try await ShowLook.logo(try #require(set.logo).hash, ports: world.ports)
        _ = try await OfferWays.ways(for: wanted, in: browser, ports: world.ports)
        let asked = try await ask(try await ask(nil).id)
        let challenge = try #require(asked.ask?.challenge)
        try await device.open(challenge)
        let kept = try #require(try await world.store.read { try $0.challenges.find(challenge) })
        let receipt = try await device.receipt(of: kept, .approved(.confirm, number: asked.ask?.number))
        guard case .decided = try await device.answer(challenge, with: receipt),
            case .shown(_, .authenticated) = try await WatchAuthorization.show(
                asked.id, in: browser, ports: world.ports),
            case .finished(let first) = try await FinishSignIn.finish(
                asked.id, in: browser, former: nil, ports: world.ports)
        else { throw World.Broken("sign-in") }
        let session = try #require(first.session).secret
        guard
            case .finished(let second) = try await FinishSignIn.goOn(
                wanted, in: session, browser: browser, ports: world.ports)
        else { throw World.Broken("session") }
        guard case .redeemed(let redeemed) = try await redeem(first.code),
            case .redeemed = try await redeem(second.code), case .invalid = try await redeem(first.code)
        else { throw World.Broken("redeem") }
        let tokens = try await SignTokens.sign(redeemed, ports: world.ports)
        #expect(try await ShowClaims.show(tokens.access, ports: world.ports) == .invalidToken)
        _ = try await CancelSignIn.cancel(try await ask(nil).id, in: browser, ports: world.ports)
        guard
            case .begun(let begun) = try await BeginDeviceGrant.begin(
                BeginDeviceGrant.Request(by: client.id, isAuthenticated: true), ports: world.ports),
            case .asks(let found, _) = try await FindDeviceGrant.find(
                .init(typed: "\(begun.userCode)", browser: browser, session: session, network: nil),
                ports: world.ports),
            case .asked = try await ConfirmDeviceGrant.confirm(
                .init(found.id, by: user, browser: browser, session: session), ports: world.ports),
            case .pending = try await RedeemDecision.redeem(
                .init(.deviceCode(begun.deviceCode), by: client.id), ports: world.ports)
        else { throw World.Broken("device grant") }
        try await SignOut.signOut(session, .session, ports: world.ports)
        try await expectIndexed([
            "DELETE FROM session_clients WHERE session_id = $1 RETURNING",
            "INSERT INTO authorizations", "FROM authorizations WHERE id", "UPDATE authorizations SET user_id",
            "UPDATE authorizations SET state", "UPDATE authorizations SET browser",
            "SELECT authorization_id FROM codes WHERE hash", "INSERT INTO codes",
            "FROM codes c JOIN authorizations a ON a.id = c.authorization_id WHERE c.hash", "UPDATE codes",
            "INSERT INTO sessions", "WHERE secret_hash", "UPDATE sessions SET idle_until",
            "session_clients", "INSERT INTO token_families", "FROM token_families WHERE id",
            "UPDATE token_families SET ended_at", "FROM relying_parties", "FROM looks WHERE client_id",
            "FROM looks WHERE logo_hash",
            "FROM identifiers WHERE kind = $1 AND name = $2 AND client_id IS NULL", "FROM identifiers WHERE client_id",
            "FROM identifiers i JOIN known_browsers", "UPDATE authorizations SET user_id = $3",
        ])
        // A client that knows the user no more, and a user who is deleted with the last one.
        guard case .unlinked = try await UnlinkUser.unlink(.id(user), from: client.caller, ports: world.ports) else {
            throw World.Broken("unlink")
        }
        try await expectIndexed([
            "UPDATE sessions SET ended_at", "DELETE FROM authorizations", "DELETE FROM sessions",
            "DELETE FROM session_clients WHERE session_id IN", "WHERE client_id = $2 AND session_id IN",
            "DELETE FROM token_families", "DELETE FROM identifiers WHERE user_id",
        ])
        for table in ["authorizations", "sessions", "session_clients", "token_families"] {
            #expect(try await world.count(table) == 0, "\(table)")
        }
    }
}
