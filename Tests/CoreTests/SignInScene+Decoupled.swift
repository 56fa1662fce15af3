import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// Does something as soon as a request waits, which then looks again.
struct Meanwhile: ChangeNotifier {
    private struct Subscription: ChangeSubscription {
        let body: @Sendable () async throws -> Void

        func wait(until deadline: Timestamp) async throws { try await body() }

        func interrupt() {}
    }

    let body: @Sendable () async throws -> Void

    init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

    func subscribe(to topic: ChangeTopic) -> any ChangeSubscription { Subscription(body: body) }
}

/// What a device or a client's server begins without a browser, and the customer decides about on their phone.
extension SignInScene {
    /// What the shop's server gets; nobody has looked for the person yet.
    func begin(_ request: BeginBackchannel.Request) async throws -> BeginBackchannel.Begun {
        let outcome = try await BeginBackchannel.begin(request, ports: world.ports)
        guard case .begun(let begun) = outcome else { throw World.Broken("\(outcome)") }
        return begun
    }

    /// The sign-in as it is now.
    func signIn(_ begun: BeginBackchannel.Begun) async throws -> Authorization {
        try await signIn(world.ports.hasher.signIn(ofAuthRequest: begun.authRequestID))
    }

    /// The sign-in as it is now.
    func signIn(_ begun: BeginDeviceGrant.Begun) async throws -> Authorization {
        try await signIn(world.ports.hasher.signIn(ofDeviceCode: begun.deviceCode))
    }

    private func signIn(_ found: AuthorizationID?) async throws -> Authorization {
        let id = try #require(found)
        return try #require(try await world.store.read { try $0.authorizations.find(id) })
    }

    /// Lets the outbox look for the person, and ask their devices.
    func put(_ asked: Authorization) async throws {
        try await PutSignIn.put(asked.id, by: try #require(asked.ask?.challenge), ports: world.ports)
    }

    /// Polls, after a pause.
    func poll(
        _ way: RedeemDecision.Way, after seconds: Int64 = 5, by client: ClientID? = nil, with key: ProvedKey? = nil
    ) async throws -> RedeemDecision.Outcome {
        world.time.advance(seconds: seconds)
        return try await RedeemDecision.redeem(
            try await redemption(way, by: client, with: key), ports: world.ports)
    }

    /// What the shop, or another client, sends, with its rows as its authentication has read them.
    func redemption(
        _ way: RedeemDecision.Way, by client: ClientID? = nil, with key: ProvedKey? = nil
    ) async throws -> RedeemDecision.Request {
        let id = client ?? shop.id
        let (found, party) = try await world.store.read { reader in
            (try reader.clients.find(id), try reader.relyingParties.find(id))
        }
        return RedeemDecision.Request(way, by: try #require(found), party, with: key)
    }

    /// The wait of a request about which nobody has decided.
    func waiting(
        _ request: RedeemDecision.Request, at node: World? = nil, changes: any ChangeNotifier
    ) async throws -> RedeemDecision.Wait {
        let ports = (node ?? world).ports
        guard case .waiting(let wait) = try await RedeemDecision.redeem(request, changes: changes, ports: ports) else {
            throw World.Broken("wait")
        }
        return wait
    }

    /// The tokens of the next poll.
    func tokens(_ way: RedeemDecision.Way) async throws -> UnsignedTokens {
        let outcome = try await poll(way)
        guard case .redeemed(let given) = outcome else { throw World.Broken("\(outcome)") }
        return given
    }

    /// Of two requests that wait, also at two nodes, one gets the tokens, and they stay good.
    ///
    /// The time of one is up, and the other one is told.
    func expectTokensOnce(
        _ way: RedeemDecision.Way, of asked: Authorization, at other: World? = nil
    ) async throws {
        let request = try await redemption(way)
        let (one, two) = (world, other ?? world)
        let wait = try await waiting(request, at: one, changes: Meanwhile {})
        // Not too soon after the other one.
        world.time.advance(seconds: 5)
        let another = try await waiting(request, at: two, changes: Meanwhile {})
        try await approve(asked)
        let now = world.time.now
        async let first = wait.outcome(until: now, ports: one.ports)
        async let second = another.outcome(until: now.adding(seconds: 30), ports: two.ports)
        let outcomes = try await [first, second]
        let given = outcomes.compactMap { outcome -> UnsignedTokens? in
            if case .redeemed(let given) = outcome { given } else { nil }
        }
        #expect(given.count == 1 && outcomes.contains(.invalid), "\(outcomes)")
        let tokens = try await SignTokens.sign(try #require(given.first), ports: world.ports)
        #expect(try await isGood(tokens))
    }

    /// The shop gives up, twice, which ends the question.
    func expectCancelled(_ code: Secret<String>, of asked: Authorization) async throws {
        for _ in 0..<2 {
            let outcome = try await CancelDeviceGrant.cancel(code, by: shop.id, ports: world.ports)
            #expect(outcome == .cancelled)
        }
        let challenge = try #require(asked.ask?.challenge)
        let ended = try await world.store.read { try $0.challenges.find(challenge)?.state.status.state }
        #expect(ended == "cancelled")
    }
}

extension SignInScene.Ending {
    /// What whoever polls gets afterwards.
    var polled: RedeemDecision.Outcome {
        switch self {
        case .device, .link: .invalid
        case .clientDisabled, .settings: .clientGone
        }
    }
}
