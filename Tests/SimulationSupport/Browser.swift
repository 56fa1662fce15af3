import CountersignCore
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport

/// A person's browser, with the portals' apps behind it: it signs in, goes on in its session, redeems codes, refreshes
/// tokens, signs out, and sometimes shows a second time what works once.
final class Browser: @unchecked Sendable {
    /// How long a person waits for the phone.
    private static let patience = Duration.seconds(150)

    let id: BrowserID
    private let stranger: BrowserID
    unowned let user: User
    unowned let world: SimulatedWorld
    private(set) var session: Secret<String>?
    /// Who has signed in last.
    private(set) var person: UserID?
    /// The latest session that was ended, as a copy of the cookie would hold it.
    private var endedSession: Secret<String>?
    private(set) var visits = 0

    var name: String { "browser \(user.number)" }

    init(of user: User, in world: SimulatedWorld) {
        let names = ["own", "strangers"].compactMap { BrowserID("\($0)-browser-of-person-\(user.number)") }
        guard names.count == 2 else { preconditionFailure("the names are long enough") }
        (id, stranger) = (names[0], names[1])
        self.user = user
        self.world = world
    }

    func begin() {
        world.scheduler.start { [self] in
            while !world.isCalm {
                try? await world.pause(.seconds(world.draw(20...600)))
                let portals = world.portals.filter { user.id(at: $0) != nil && !$0.isGone }
                guard !world.isCalm, let portal = world.pick(portals) else { continue }
                await visit(portal)
                guard let shop = world.thirdParty, !world.isCalm, world.happens(percent: 60) else { continue }
                await haveConfirmed(user.phones)
                await visit(shop)
            }
        }
        guard let shop = world.thirdParty else { return }
        world.scheduler.start { [self] in await endAccessAgainAndAgain(of: shop) }
    }

    private func visit(_ portal: Portal) async {
        visits += 1
        guard let finished = await signIn(at: portal) else { return }
        if let opened = finished.session {
            endedSession = session ?? endedSession
            session = opened.secret
        }
        person = finished.user
        endAccessMeanwhile(of: portal)
        if !world.callCentres.isEmpty, world.happens(percent: 30) { await changeAskingCode() }
        let details = finished.wanted.details
        let request = RedeemCode.Request(
            code: finished.code, redirectURI: portal.app, verifier: Secret(verifier))
        // Whoever has seen the address that the browser returned to tries the code, too.
        if world.happens(percent: 15) {
            world.scheduler.start { [self] in
                try? await world.pause(world.milliseconds(0...3000))
                if let tokens = await redeem(request, details, at: portal) { await use(tokens, at: portal) }
            }
        }
        let tokens = await redeem(request, details, at: portal)
        if let tokens { world.scheduler.start { [self] in await use(tokens, at: portal) } }
        if world.happens(percent: 20) { await signOut() }
    }

    /// Calls a node, and repeats the call some times until it is answered.
    ///
    /// - Returns: nil if there was no answer.
    func call<Reply: Sendable>(
        tries: Int = 3, _ body: @escaping @Sendable (Node.Services) async throws -> Reply
    ) async -> Reply? {
        await Network(world: world).answer(for: name, tries: tries, body)
    }

    // Signing in

    private var verifier: String { "verifier-of-visit-\(visits)-by-person-\(user.number)-and-so-on-and-so-on" }

    private func signIn(at portal: Portal) async -> FinishSignIn.Finished? {
        let challenge = Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8))))
        let isOffline = world.happens(percent: 70)
        var wanted = Wanted(
            client: portal.client.id, redirectURI: portal.app,
            scopes: isOffline ? [TokenFamily.openID, TokenFamily.offlineAccess] : [TokenFamily.openID])
        wanted.codeChallenge = challenge
        wanted.details = makeDetails()
        if let endedSession, case .finished? = await goOn(wanted, in: endedSession) {
            world.violate(15, "\(name) goes on in a session that has ended")
        }
        if portal.client.isThirdParty { wanted.isFresh = world.happens(percent: 30) }
        if let session {
            let outcome = await goOn(wanted, in: session)
            if case .finished(let finished)? = outcome {
                if wanted.details != nil { world.violate(15, "\(name) goes on with what must be signed") }
                return finished
            }
            // The person has not allowed it.
            if case .asks? = outcome { return nil }
        }
        wanted.identifier = .externalID(user.externalID)
        return await askAndWait(wanted)
    }

    private func goOn(_ wanted: Wanted, in session: Secret<String>) async -> FinishSignIn.Outcome? {
        let send: Sending = { [id] answer, ports in
            try await FinishSignIn.goOn(wanted, in: session, browser: id, answer: answer, ports: ports)
        }
        let outcome = await call { try await send(.none, $0.ports) }
        guard case .asks(let question)? = outcome, await allows() else { return outcome }
        return await answer(question, send)
    }

    private func askAndWait(_ wanted: Wanted) async -> FinishSignIn.Finished? {
        let request = AskSignIn.Request(
            CarriedSignIn(wanted: wanted), by: .device, browser: id,
            place: ContextLine(address: "192.0.2.\(user.number)", userAgent: nil), network: nil)
        let made = await call { try await AskSignIn.ask(request, ports: $0.ports) }
        guard case .asked(let asked)? = made, let ask = asked.ask, let number = ask.number,
            let challenge = ask.challenge
        else { return nil }
        world.trace.note(name, "asks \(challenge)")
        user.screen[challenge] = number
        world.ledger.keepSecret(number.digits)
        let end = world.scheduler.elapsed + Self.patience
        while world.scheduler.elapsed < end {
            try? await world.pause(.seconds(world.draw(1...4)))
            let seen = await call(tries: 1) { [id] in
                try await WatchAuthorization.show(asked.id, in: id, ports: $0.ports)
            }
            guard case .shown(_, let progress)? = seen else { continue }
            switch progress {
            case .authenticated: return await finish(asked.id)
            case .declined, .unanswered, .finished: return nil
            case .asking, .showing, .typing, .scanned: continue
            }
        }
        return nil
    }

    private func finish(_ signIn: AuthorizationID) async -> FinishSignIn.Finished? {
        if world.happens(percent: 10) {
            let stolen = await call { [stranger] in
                try await FinishSignIn.finish(signIn, in: stranger, former: nil, ports: $0.ports)
            }
            if case .finished? = stolen { world.violate(15, "\(signIn) was finished in another browser") }
        }
        let (former, id) = (session, id)
        let send: Sending = { answer, ports in
            try await FinishSignIn.finish(signIn, in: id, former: former, answer: answer, ports: ports)
        }
        var outcome = await call { try await send(.none, $0.ports) }
        if case .asks(let question)? = outcome {
            guard await allows() else {
                await refuse(signIn, question, send)
                return nil
            }
            outcome = await answer(question, send)
            // The button was pressed twice.
            if case .finished? = outcome, world.happens(percent: 20), case .finished? = await answer(question, send) {
                world.violate(15, "\(signIn) gave two codes")
            }
        }
        guard case .finished(let finished)? = outcome else { return nil }
        world.trace.note(name, "is signed in by \(signIn)")
        world.ledger.counts.signedIn += 1
        world.ledger.keepSecret(finished.code.reveal())
        return finished
    }

    private func signOut() async {
        guard let session else { return }
        let extent: SignOut.Extent = world.happens(percent: 50) ? .everything : .session
        let isDone: Void? = await call { try await SignOut.signOut(session, extent, ports: $0.ports) }
        self.session = nil
        if isDone != nil { endedSession = session }
    }

    // Tokens

    /// What a portal's app holds of a sign-in.
    private struct Tokens: Sendable {
        let family: TokenFamilyID
        let access: Secret<String>
        let refresh: Secret<String>?
        /// What the person has authorized in detail; nil for nothing.
        let details: AuthorizationDetails?
    }

    private func redeem(
        _ request: RedeemCode.Request, _ details: AuthorizationDetails?, at portal: Portal
    ) async -> Tokens? {
        let client = portal.client.id
        let outcome = await call { [self] services -> Tokens? in
            guard case .redeemed(let given) = try await RedeemCode.redeem(request, by: client, ports: services.ports)
            else { return nil }
            world.blame(world.ledger.redeem(request.code.reveal()))
            return try await signed(given, details, services)
        }
        return outcome ?? nil
    }

    private func signed(
        _ given: UnsignedTokens, _ details: AuthorizationDetails?, _ services: Node.Services
    ) async throws -> Tokens {
        let tokens = try await SignTokens.sign(given, ports: services.ports)
        check(tokens, of: given.family, have: details)
        return Tokens(family: given.family.id, access: tokens.access, refresh: tokens.refresh, details: details)
    }

    /// Uses the tokens until they end, as an app does whose user comes back from time to time.
    private func use(_ given: Tokens, at portal: Portal) async {
        var tokens = given
        var former: [Secret<String>] = []
        while !world.isCalm, !portal.isGone {
            try? await world.pause(.seconds(world.draw(10...400)))
            await show(tokens)
            if portal.client.isThirdParty { await introspect(tokens.access, of: tokens.family, by: portal) }
            guard let refresh = tokens.refresh else { return }
            if former.count > 1, world.happens(percent: 10) { return await tryAgain(former[0], before: tokens, portal) }
            endAccessMeanwhile(of: portal)
            guard let next = await refreshed(refresh, of: tokens, at: portal) else { return }
            world.ledger.counts.refreshed += 1
            former.append(refresh)
            tokens = next
        }
    }

    private func refreshed(
        _ token: Secret<String>, of tokens: Tokens, at portal: Portal
    ) async -> Tokens? {
        let (client, family, details) = (portal.client.id, tokens.family, tokens.details)
        let outcome = await call { [self] services -> Tokens? in
            let wasWithdrawn = world.ledger.withdrawn.contains("\(family)")
            guard
                case .refreshed(let given) = try await RefreshTokens.refresh(
                    token, scopes: nil, by: client, ports: services.ports)
            else { return nil }
            world.blame(world.ledger.use(family: "\(family)", wasWithdrawn: wasWithdrawn))
            return try await signed(given, details, services)
        }
        return outcome ?? nil
    }

    /// Shows a refresh token that was replaced twice, as somebody does who has copied it: that ends the family.
    private func tryAgain(_ old: Secret<String>, before tokens: Tokens, _ portal: Portal) async {
        let client = portal.client.id
        await call { [world] services in
            let outcome = try await RefreshTokens.refresh(old, scopes: nil, by: client, ports: services.ports)
            if case .refreshed = outcome { world.violate(15, "a refresh token of \(tokens.family) works again") }
            guard outcome == .invalid, try !world.watch.isOver(tokens.family) else { return }
            world.violate(15, "\(tokens.family) goes on, though a refresh token came again")
        }
    }

    /// Shows an access token to the server itself.
    private func show(_ tokens: Tokens) async {
        await call { [world] services in
            let isOver = try world.watch.isOver(tokens.family)
            let outcome = try await ShowClaims.show(tokens.access, ports: services.ports)
            if isOver, case .claims = outcome {
                world.violate(15, "an access token of \(tokens.family) is good, though the family is over")
            }
        }
    }
}
