import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("What a pushed request is worth, and how often")
struct PushedRequestUseTests {
    private static let parameters = "client_id=x&scope=openid"

    /// A `request_uri` of the shop's.
    private func sealed(_ scene: SignInScene) throws -> String {
        try #require(try PushedRequest.seal(Self.parameters, of: scene.shop.id, ports: scene.world.ports))
    }

    private func open(_ uri: String, _ scene: SignInScene, by client: ClientID? = nil) async throws
        -> PushedRequest.Opened
    {
        try await PushedRequest.open(uri, of: client ?? scene.shop.id, ports: scene.world.ports)
    }

    /// What the shop wants by a request that it has just pushed.
    private func wanted(_ scene: SignInScene) async throws -> Wanted {
        guard case .good(let request) = try await open(try sealed(scene), scene) else { throw World.Broken("push") }
        var wanted = try scene.wanted()
        wanted.pushed = request.use
        return wanted
    }

    // Spec: RFC 9126 §2.2, §7.3; docs/decisions/0088-pushed-requests.md.
    @Test("A request opens for its client alone, on every node, for five minutes, as often as a page is loaded")
    func opens() async throws {
        let scene = try await SignInScene()
        let uri = try sealed(scene)
        #expect(uri.hasPrefix("urn:ietf:params:oauth:request_uri:"))
        #expect(try sealed(scene) != uri)
        guard case .good(let request) = try await open(uri, scene) else { throw World.Broken("open") }
        #expect(request.parameters == Self.parameters)
        #expect(try await open(uri, scene) == .good(request))
        let node = try await scene.world.reopened()
        #expect(try await PushedRequest.open(uri, of: scene.shop.id, ports: node.ports) == .good(request))
        #expect(try await open(uri, scene, by: try await scene.otherClient()) == .unknown)
        var changed = Array(uri.utf8)
        changed[60] = changed[60] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let texts = [
            String(decoding: changed, as: UTF8.self), String(uri.dropLast(4)), "\(uri)AAAA", PushedRequest.prefix, "",
            String(uri.dropFirst(PushedRequest.prefix.count)), "https://shop.example.com/request",
        ]
        for text in texts { #expect(try await open(text, scene) == .unknown, "\(text)") }
        scene.world.time.advance(milliseconds: 299_999)
        #expect(try await open(uri, scene) == .good(request))
        scene.world.time.advance(milliseconds: 1)
        #expect(try await open(uri, scene) == .over(request))
        #expect(try await scene.world.count("nonces", where: "key_id = 'pushed'") == 0)
    }

    @Test("A request that is too long for a link is not sealed")
    func tooLong() async throws {
        let scene = try await SignInScene()
        func seal(_ length: Int) throws -> String? {
            try PushedRequest.seal(String(repeating: "a", count: length), of: scene.shop.id, ports: scene.world.ports)
        }
        #expect(try seal(5000) != nil)
        #expect(try seal(5500) == nil)
    }

    @Test("Its use travels with a page, and stays in a row")
    func travels() async throws {
        let scene = try await SignInScene()
        let wanted = try await wanted(scene)
        #expect(wanted.pushed != nil && Wanted(wanted.json) == wanted)
        let asked = try await scene.ask(wanted, by: .device)
        guard case .asked(let row) = asked else { throw World.Broken("ask") }
        #expect(row.wanted.pushed == wanted.pushed)
    }

    // Spec: RFC 9126 §7.3.
    @Test("Of two sign-ins by one request, in two browsers, the first that is finished gives a code")
    func once() async throws {
        let scene = try await SignInScene()
        let uri = try sealed(scene)
        guard case .good(let request) = try await open(uri, scene) else { throw World.Broken("push") }
        var wanted = try scene.wanted()
        wanted.pushed = request.use
        let other = try SignInScene.browser("two")
        guard case .asked(let first) = try await scene.ask(wanted, by: .device) else { throw World.Broken("ask") }
        try await scene.approve(first)
        guard case .asked(let second) = try await scene.ask(wanted, by: .device, in: other) else {
            throw World.Broken("ask")
        }
        try await scene.approve(second)
        // Nothing is spent yet.
        #expect(try await open(uri, scene) == .good(request))
        guard case .finished = try await scene.finish(second, in: other) else { throw World.Broken("finish") }
        #expect(try await open(uri, scene) == .over(request))
        guard case .spent(let refused) = try await scene.finish(first) else { throw World.Broken("spent") }
        #expect(refused.pushed == request.use)
        #expect(try await scene.finish(first) == .notReady)
        let row = try await scene.world.store.read { try $0.authorizations.find(first.id) }
        #expect(row?.state == .refused)
        let node = try await scene.world.reopened()
        #expect(try await PushedRequest.open(uri, of: scene.shop.id, ports: node.ports) == .over(request))
    }

    // Spec: RFC 9126 §7.3.
    @Test("In a session a request gives one code; one that was not pushed gives more")
    func inSession() async throws {
        let scene = try await SignInScene()
        let secret = try #require(try await scene.signedIn().session).secret
        func goOn(_ wanted: Wanted) async throws -> FinishSignIn.Outcome {
            try await FinishSignIn.goOn(wanted, in: secret, browser: scene.browser, ports: scene.world.ports)
        }
        let wanted = try await wanted(scene)
        guard case .finished = try await goOn(wanted) else { throw World.Broken("first") }
        #expect(try await goOn(wanted) == .spent(wanted))
        for _ in 0..<2 {
            guard case .finished = try await goOn(try scene.wanted()) else { throw World.Broken("plain") }
        }
        guard case .finished = try await goOn(try await self.wanted(scene)) else { throw World.Broken("next") }
    }

    @Test("Whom a client does not take spends none of its requests, neither at the end of a sign-in nor in a session")
    func strangers() async throws {
        let scene = try await AccountScene()
        let ports = scene.world.ports
        let other = try await scene.world.makeClient("Other").client
        try await AccountScene.set(other, at: SignInScene.redirectURI, .open, in: scene.world)
        let uri = try #require(try PushedRequest.seal(Self.parameters, of: other.id, ports: ports))
        guard case .good(let request) = try await PushedRequest.open(uri, of: other.id, ports: ports) else {
            throw World.Broken("push")
        }
        var wanted = try scene.shop.wanted(nil, at: other)
        wanted.pushed = request.use
        let session = try await scene.byPIN()
        let (soft, _) = try await scene.passkey(by: session)
        let ceremony = try scene.ceremony()
        let answered = EnterPasskey.Request(
            try soft.signIn(ceremony.requestOptions), in: ceremony, CarriedSignIn(wanted: wanted),
            browser: scene.shop.browser, place: nil, network: nil)
        guard case .authenticated(let id) = try await EnterPasskey.enter(answered, ports: ports) else {
            throw World.Broken("passkey")
        }
        try await AccountScene.set(other, at: SignInScene.redirectURI, .closed, in: scene.world)
        let finished = try await FinishSignIn.finish(id, in: scene.shop.browser, former: nil, ports: ports)
        #expect(finished == .notReady)
        #expect(try await PushedRequest.open(uri, of: other.id, ports: ports) == .good(request))
        let inSession = try await FinishSignIn.goOn(wanted, in: session, browser: scene.shop.browser, ports: ports)
        #expect(inSession == .notReady)
        #expect(try await PushedRequest.open(uri, of: other.id, ports: ports) == .good(request))
    }

    @Test("Of many uses at once, on two nodes, one gives a code", arguments: Engine.allCases)
    func atOnceOnTwoNodes(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let node = try await scene.world.reopened()
        try await node.store.refreshKeys()
        let secret = try #require(try await scene.signedIn().session).secret
        let wanted = try await wanted(scene)
        let outcomes = try await atOnce(8) { number in
            try await FinishSignIn.goOn(
                wanted, in: secret, browser: scene.browser,
                ports: number.isMultiple(of: 2) ? scene.world.ports : node.ports)
        }
        let finished = outcomes.count { if case .finished = $0 { true } else { false } }
        #expect(finished == 1)
        #expect(outcomes.count { $0 == .spent(wanted) } == 7)
    }

    // Spec: RFC 9449 §11.1.
    @Test("Of many pushes at once with one proof, on two nodes, one is taken", arguments: Engine.allCases)
    func proofOnTwoNodes(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let node = try await scene.world.reopened()
        let key = try await Prover(scene.world).proved("POST", "\(World.issuer)/oauth2/par")
        let taken = try await atOnce(8) { number in
            try await PushedRequest.spend(
                key, of: scene.shop.id, ports: number.isMultiple(of: 2) ? scene.world.ports : node.ports)
        }
        #expect(taken.count { $0 } == 1, "\(taken)")
        for ports in [scene.world.ports, node.ports] {
            #expect(try await !PushedRequest.spend(key, of: scene.shop.id, ports: ports))
        }
    }

    @Test("What was begun with a request gives nothing an hour after it could be begun")
    func tooLate() async throws {
        let scene = try await SignInScene()
        let secret = try #require(try await scene.signedIn().session).secret
        func goOn(until end: Timestamp) async throws -> FinishSignIn.Outcome {
            var wanted = try scene.wanted()
            wanted.pushed = PushedRequest.Use(id: "a", until: end)
            return try await FinishSignIn.goOn(
                wanted, in: secret, browser: scene.browser, ports: scene.world.ports)
        }
        let now = scene.world.time.now
        guard case .spent = try await goOn(until: now) else { throw World.Broken("late") }
        guard case .finished = try await goOn(until: now.adding(seconds: 1)) else { throw World.Broken("in time") }
        let pushed = try #require(try await wanted(scene).pushed)
        #expect(pushed.until == now.adding(.minutes(65)))
    }

    @Test("An error after a deed of the person's ends a request, once or twice; one that was not pushed is nothing")
    func ends() async throws {
        let scene = try await SignInScene()
        let uri = try sealed(scene)
        guard case .good(let request) = try await open(uri, scene) else { throw World.Broken("push") }
        var wanted = try scene.wanted()
        try await PushedRequest.end(wanted, ports: scene.world.ports)
        #expect(try await open(uri, scene) == .good(request))
        wanted.pushed = request.use
        for _ in 0..<2 {
            try await PushedRequest.end(wanted, ports: scene.world.ports)
            #expect(try await open(uri, scene) == .over(request))
        }
    }

    // Spec: RFC 9126 §2.3.
    @Test("A client that authenticates pushes so many a minute, and otherwise a network, on whichever node")
    func limits() async throws {
        let scene = try await SignInScene(profile: .web)
        let node = try await scene.world.reopened()
        let (home, away): ([UInt8], [UInt8]) = ([192, 0, 2, 1], [198, 51, 100, 7])
        let other = try await scene.otherClient()
        let now = scene.world.time.now
        try await scene.world.ports.commit(at: now, as: .system) { [id = scene.shop.id] work in
            for _ in 0..<5999 { _ = try work.count(.pushedRequests(id)) }
            for _ in 0..<599 { _ = try work.count(.pushedRequestsFrom(home)) }
        }
        func count(_ client: ClientID, _ network: [UInt8]?, _ ports: Ports) async throws -> Seconds? {
            try await PushedRequest.count(by: client, from: network, ports: ports)
        }
        #expect(try await count(scene.shop.id, home, scene.world.ports) == nil)
        for network in [home, away, nil] { #expect(try await count(scene.shop.id, network, node.ports) == 60) }
        #expect(try await count(other, home, node.ports) == nil)
        #expect(try await count(other, home, scene.world.ports) == 60)
        for network in [away, nil] { #expect(try await count(other, network, scene.world.ports) == nil) }
        scene.world.time.advance(seconds: 60)
        #expect(try await count(scene.shop.id, home, scene.world.ports) == nil)
        #expect(try await count(other, home, scene.world.ports) == nil)
    }
}
