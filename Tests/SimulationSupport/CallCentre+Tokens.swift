import CountersignCore
import CountersignWire
import Encodings
import JOSE

/// How the tokens come, what becomes of them, and what is taken back.
extension CallCentre {
    /// What the client has got.
    struct Tokens: Sendable {
        let family: TokenFamilyID
        let access: Secret<String>
        let refresh: Secret<String>?
    }

    /// What the client has learned by a poll.
    private enum Look: Sendable {
        /// It polls again after some seconds.
        case waits(Int64)
        case tokens(Tokens)
        /// There are no tokens any more.
        case over
    }

    /// Polls as often as it may, sometimes too soon, and sometimes only when it may be too late.
    func poll(_ request: Request) async {
        let end = world.scheduler.elapsed + request.lifetime + .seconds(60)
        if world.happens(percent: 15) { try? await world.pause(.seconds(world.draw(60...200))) }
        while world.scheduler.elapsed < end, !client.isGone {
            let pause = Duration.seconds(request.interval) + world.milliseconds(0...900)
            try? await world.pause(world.happens(percent: 10) ? world.milliseconds(200...3000) : pause)
            if await look(request) { return }
        }
    }

    /// Waits until it is told that it can poll; if it is not told, it polls before the end.
    func waitForPing(_ request: Request) async {
        let bell = request.bell
        let end = world.scheduler.elapsed + request.lifetime - .seconds(world.draw(1...10))
        world.scheduler.at(end) { bell.end(.success(())) }
        try? await withCheckedThrowingContinuation { bell.wait($0) }
        await fetch(request)
    }

    private func fetch(_ request: Request) async {
        for _ in 0..<4 where !client.isGone {
            if await look(request) { return }
            try? await world.pause(.seconds(request.interval))
        }
    }

    /// Polls once.
    ///
    /// - Returns: whether it need not poll again.
    private func look(_ request: Request) async -> Bool {
        let (name, id) = (proofName(), client.client.id)
        let look = await client.call(tries: 1) { [self] services, _ in
            let ended = end(of: request)
            let family = request.family
            let key = try await proved(request.keyPair, for: "/oauth2/token", named: name, services.ports)
            let outcome = try await RedeemDecision.redeem(
                RedeemDecision.Request(.authRequest(request.text), by: id, with: key), ports: services.ports)
            if let ended, outcome.isOpen {
                world.violate(15, "\(request.id) is open, and its client had been told \(ended)")
            }
            if outcome == .invalid, mode == .poll, let family, try !world.watch.isOver(family) {
                world.violate(15, "\(family) goes on, though its request came again")
            }
            return try await hear(outcome, of: request, boundTo: key?.thumbprint, services)
        }
        switch look {
        case .waits(let interval)?:
            request.interval = interval
            return false
        case .tokens(let tokens)?:
            world.scheduler.start { [self] in await use(tokens, of: request) }
            return true
        case .over?: return true
        case nil: return false
        }
    }

    private func end(of request: Request) -> String? {
        world.ledger.servers.end(
            of: "\(request.id)", at: world.scheduler.elapsed, areClocksRight: world.ledger.clockSteps == 0)
    }

    private func hear(
        _ outcome: RedeemDecision.Outcome, of request: Request, boundTo thumbprint: KeyThumbprint?,
        _ services: Node.Services
    ) async throws -> Look {
        switch outcome {
        case .redeemed(let given):
            request.family = given.family.id
            if given.family.keyThumbprint != thumbprint {
                world.violate(15, "\(given.family.id) is bound to another key than its client has proved")
            }
            let tokens = try await SignTokens.sign(given, ports: services.ports)
            try world.watch.areStored(.object(tokens.members), for: request.id)
            return .tokens(Tokens(family: given.family.id, access: tokens.access, refresh: tokens.refresh))
        case .pending(let interval): return .waits(interval.value)
        case .slowDown(let interval):
            world.ledger.counts.slowedDown += 1
            return .waits(interval.value)
        case .denied: isTold("that nobody agrees", of: request.id, isWritten: true)
        case .expired: isTold("that its time is over", of: request.id, isWritten: false)
        case .invalid, .clientGone: break
        // The copy of the message that came twice was faster.
        case .unproved(.replayed): return .waits(request.interval)
        case .unknownResource, .unproved:
            world.violate(0, "\(client.name) may not poll: \(outcome)")
        }
        return .over
    }

    /// Records that the client is told that a request has ended.
    private func isTold(_ words: String, of id: AuthorizationID, isWritten: Bool) {
        world.ledger.servers.end("\(id)", words, at: world.scheduler.elapsed, isWritten: isWritten)
    }

    // Being told

    /// Hears what is posted to the client.
    ///
    /// - Parameters:
    ///   - body: the body.
    ///   - authorization: the field Authorization.
    func hear(_ body: [UInt8], by authorization: String?) throws {
        guard let json = try? JSONValue(parsing: body), let text = json["auth_req_id"]?.string,
            let id = Self.signIn(of: text)
        else { return world.violate(9, "\(client.name) is told of no request") }
        let request = requests[id]
        if let request, authorization != "Bearer \(Self.token(of: request.key))" {
            world.violate(9, "\(client.name) is told of \(id) by another token")
        }
        world.trace.note(client.name, "is told of \(id)")
        world.ledger.servers.told.insert("\(id)")
        request?.notices += 1
        switch mode {
        case .poll: world.violate(9, "\(client.name) is told of \(id), though it polls")
        case .ping:
            if json.object?.members.count != 1 { world.violate(9, "a ping says more than that it is of \(id)") }
            guard let request else { return }
            request.bell.end(.success(()))
            // It was told twice, and polls after each.
            if request.notices > 1 { world.scheduler.start { [self] in await fetch(request) } }
        case .push: try isPushed(json, id, request)
        }
    }

    private func isPushed(_ json: JSONValue, _ id: AuthorizationID, _ request: Request?) throws {
        switch json["error"]?.string {
        case "access_denied"?: isTold("that nobody agrees", of: id, isWritten: true)
        case "expired_token"?: isTold("that its time is over", of: id, isWritten: false)
        // What the person has agreed by may be good again.
        case .some: break
        case nil:
            world.ledger.counts.pushedTokens += 1
            try world.watch.areStored(json, for: id, isPushed: true)
            guard let request, let access = json["access_token"]?.string,
                let claims = Watch.claims(of: access),
                let family = claims["jti"]?.string.flatMap({ TokenFamilyID(String($0.prefix { $0 != "." })) })
            else { return }
            if claims["cnf"]?["jkt"]?.string != request.keyPair?.jwsPublicKey.thumbprint {
                world.violate(15, "\(family) is bound to another key than its client has proved")
            }
            guard request.family == nil else { return }
            request.family = family
            let tokens = Tokens(
                family: family, access: Secret(access), refresh: json["refresh_token"]?.string.map { Secret($0) })
            world.scheduler.start { [self] in await use(tokens, of: request) }
        }
    }

    // Tokens

    /// Uses the tokens for a while; sometimes polls again, or takes all back.
    private func use(_ tokens: Tokens, of request: Request) async {
        if mode != .push, world.happens(percent: 20) {
            try? await world.pause(.seconds(world.draw(1...20)))
            _ = await look(request)
        }
        for _ in 0..<world.draw(1...3) where !world.isCalm && !client.isGone {
            try? await world.pause(.seconds(world.draw(10...300)))
            await show(tokens, of: request)
        }
        if world.happens(percent: 25) { await takeBack(request) }
    }

    /// Asks whether an access token is good, and refreshes.
    private func show(_ tokens: Tokens, of request: Request) async {
        let (name, id) = (proofName(), client.client.id)
        _ = await client.call(tries: 1) { [self] services, _ in
            let isOver = try world.watch.isOver(tokens.family)
            let outcome = try await IntrospectToken.introspect(tokens.access, by: id, ports: services.ports)
            if isOver, outcome != .inactive {
                world.violate(15, "an access token of \(tokens.family) is good, though the family is over")
            }
            guard let refresh = tokens.refresh else { return }
            let key = try await proved(request.keyPair, for: "/oauth2/token", named: name, services.ports)
            let refreshed = try await RefreshTokens.refresh(
                refresh, scopes: nil, by: id, with: key, ports: services.ports)
            if isOver, case .refreshed = refreshed {
                world.violate(15, "\(tokens.family) gives tokens, though it is over")
            }
        }
    }

    /// Takes a request back, or what was given for it.
    func takeBack(_ request: Request) async {
        let id = client.client.id
        _ = await client.call(tries: 3) { [self] services, _ in
            let outcome = try await CancelDeviceGrant.cancel(request.text, by: id, ports: services.ports)
            guard outcome == .cancelled else {
                return world.violate(15, "\(request.id) cannot be taken back: \(outcome)")
            }
            let isWritten = try world.watch.isTakenBack(request.id, at: services.ports.time.now)
            isTold("that it is taken back", of: request.id, isWritten: isWritten)
        }
        world.trace.note(client.name, "takes \(request.id) back")
    }
}

extension RedeemDecision.Outcome {
    /// Whether there are tokens, or may be.
    fileprivate var isOpen: Bool {
        switch self {
        case .redeemed, .pending, .slowDown: true
        case .expired, .denied, .invalid, .unknownResource, .unproved, .clientGone: false
        }
    }
}
