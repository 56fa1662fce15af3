import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// The shop, asked by mail from browsers that nobody knows, with a limit on how many of them need no work.
private struct WorkScene: Sendable {
    let scene: SignInScene
    let ports: Ports

    init(_ limit: WorkLimit, _ scene: SignInScene? = nil, log: LogBook? = nil) async throws {
        if let scene {
            self.scene = scene
        } else {
            self.scene = try await SignInScene()
            try await self.scene.set(ways: [.device, .qr, .email])
        }
        ports = Self.ports(limit, self.scene.world, log: log)
    }

    static func ports(_ limit: WorkLimit, _ world: World, mails: Int? = nil, log: LogBook? = nil) -> Ports {
        var limits = ClientLimits()
        if let mails { limits.mails = mails }
        limits.work = limit
        return world.ports(limits: limits, loggingTo: log?.logger)
    }

    /// Asks for what a page carries.
    func ask(
        _ carried: CarriedSignIn, by way: SignInWay = .email, in browser: String = "one", nonce: UInt32? = nil,
        from network: [UInt8]? = nil, at node: Ports? = nil
    ) async throws -> AskSignIn.Outcome {
        let request = AskSignIn.Request(
            carried, by: way, browser: try SignInScene.browser(browser), place: nil, network: network, nonce: nonce)
        return try await AskSignIn.ask(request, ports: node ?? ports)
    }

    /// Asks for a name from a page that has given no work.
    func ask(
        _ name: String, by way: SignInWay = .email, in browser: String = "one", at node: Ports? = nil
    ) async throws -> AskSignIn.Outcome {
        try await ask(CarriedSignIn(wanted: try scene.wanted(name)), by: way, in: browser, at: node)
    }

    /// What comes back with the form of a page that gives work.
    func page(
        _ name: String, _ work: SignInWork, for signIn: AuthorizationID? = nil, in browser: String = "one"
    ) throws -> CarriedSignIn {
        let browser = try SignInScene.browser(browser)
        let carried = CarriedSignIn(wanted: try scene.wanted(name), signIn: signIn)
        let text = try SealedSignIn.seal(carried, with: work, for: browser, ports: ports)
        return try #require(SealedSignIn.open(text, in: browser, ports: ports))
    }

    /// The work that is given for a name.
    func work(_ name: String, by way: SignInWay = .email, in browser: String = "one") async throws -> SignInWork {
        guard case .needsWork(let work, nil) = try await ask(name, by: way, in: browser) else {
            throw World.Broken("work")
        }
        return work
    }

    /// What solves the puzzle of a page, or what would solve it for fewer bits only.
    static func solution(of page: CarriedSignIn, exactly bits: Int? = nil) throws -> UInt32 {
        let (work, seed) = try #require(page.work)
        var message = seed + [0, 0, 0, 0]
        for nonce in UInt32(0)... {
            for place in 0..<4 { message[32 + place] = UInt8(truncatingIfNeeded: nonce >> UInt32(24 - 8 * place)) }
            let zeros = SHA256.hash(data: message).withUnsafeBytes {
                UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self)).leadingZeroBitCount
            }
            if bits.map({ zeros == $0 }) ?? (zeros >= work.bits) { return nonce }
        }
        throw World.Broken("solution")
    }

    func raise(by steps: Int) async throws {
        try await ports.commit(at: ports.time.now, as: .system) { work in
            for _ in 0..<steps { _ = try work.count(.workSteps) }
        }
    }
}

extension AskSignIn.Outcome {
    fileprivate var isAsked: Bool { if case .asked = self { true } else { false } }
    /// The level of the work that is needed.
    fileprivate var level: Int? { if case .needsWork(let work, nil) = self { work.level } else { nil } }
}

@Suite("While there are many sign-ins, a browser that nobody knows must work before a page reaches somebody")
struct SignInWorkTests {
    // Spec: docs/decisions/0082-proof-of-work.md.
    @Test("After so many in a minute the next ones need work, for ten minutes; more of them make it harder, to a limit")
    func threshold() async throws {
        let work = try await WorkScene(.after(3))
        for number in 1...3 { #expect(try await work.ask("stranger-\(number)").isAsked) }
        let asked = try await work.ask("customer-1", in: "two")
        #expect(asked == .needsWork(SignInWork(way: .email, level: 1, givenAt: work.ports.time.now), nil))
        #expect(try await work.ask("customer-1", by: .device).level == 1)
        // A code on the page reaches nobody.
        #expect(try await work.ask("customer-1", by: .qr).isAsked)
        // Who waits is counted, too, and each minute with as many makes it harder.
        for level in 1...4 {
            let pages = try (1...3).map { try work.page("other-\(level)-\($0)", given(work, min(level, 3))) }
            work.scene.world.time.advance(seconds: 90)
            for page in pages { #expect(try await work.ask(page).isAsked) }
            #expect(try await work.ask("customer-1").level == min(level + 1, 3))
        }
        work.scene.world.time.advance(seconds: 239)
        #expect(try await work.ask("customer-1").level == 3)
        work.scene.world.time.advance(seconds: 1)
        #expect(try await work.ask("customer-1").isAsked)
    }

    private func given(_ work: WorkScene, _ level: Int) -> SignInWork {
        SignInWork(way: .email, level: level, givenAt: work.ports.time.now)
    }

    @Test("However many sign-ins come, at once and on two nodes, the work gets no harder than this, and ends as soon")
    func hardest() async throws {
        let work = try await WorkScene(.after(3), try await Self.scene(.chosen))
        let world = work.scene.world
        let other = try await world.makeClient("Other", waives: true).client
        let party = RelyingParty(
            client: other.id, profile: .native, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))],
            askedBrowsers: .all, ways: [.device, .qr, .email])
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        let second = try await world.reopened()
        try await second.store.refreshKeys()
        let nodes = [work.ports, WorkScene.ports(.after(3), second)]
        func flood() async throws {
            _ = try await atOnce(30) { number in
                try await nodes[number % 2].commit(at: world.time.now, as: .system) { try $0.countForWork(.after(3)) }
            }
        }
        try await flood()
        world.time.advance(seconds: 300)
        try await flood()
        // No step of those at once is lost, and seventeen of twenty make nothing harder.
        let steps = try await nodes[1].read(at: world.time.now, as: .system) { try $0.counted(.workSteps).number }
        #expect(steps == 20)
        for (place, node) in nodes.enumerated() {
            for client in [work.scene.shop.id, other.id] {
                for name in ["customer-1", "CUSTOMER-1", "customer-1+x", "nobody"] {
                    var wanted = try work.scene.wanted(name)
                    wanted.client = client
                    for way in [SignInWay.device, .email] {
                        let outcome = try await work.ask(
                            CarriedSignIn(wanted: wanted), by: way, in: "\(place)", from: [198, 51, 100, UInt8(place)],
                            at: node)
                        #expect(outcome.level == 3, "\(client) \(name) \(way) on \(place)")
                    }
                }
            }
        }
        // What came later has not prolonged it.
        world.time.advance(seconds: 299)
        for node in nodes { #expect(try await work.ask("customer-1", at: node).level == 3) }
        world.time.advance(seconds: 1)
        for node in nodes { #expect(try await work.ask("customer-1", at: node).isAsked) }
    }

    @Test("Below that rate, the second half of a client's mails of an hour needs work, also for names that nobody has")
    func halfOfTheMails() async throws {
        let work = try await WorkScene(.after(600))
        let node = WorkScene.ports(.after(600), work.scene.world, mails: 5)
        for number in 1...2 {
            #expect(try await work.ask("stranger-\(number)", at: node).isAsked)
            work.scene.world.time.advance(seconds: 61)
        }
        for name in ["customer-1", "nobody"] { #expect(try await work.ask(name, in: "two", at: node).level == 1) }
        #expect(try await work.ask("customer-1", by: .device, at: node).isAsked, "no message is sent by it")
        let page = try work.page("customer-1", given(work, 1))
        let solution = try WorkScene.solution(of: page)
        #expect(try await work.ask(page, nonce: solution, at: node).isAsked)
        let off = WorkScene.ports(.off, work.scene.world, mails: 5)
        #expect(try await work.ask("stranger-3", at: off).isAsked)
        work.scene.world.time.advance(seconds: 3600)
        #expect(try await work.ask("stranger-4", at: node).isAsked)
    }

    @Test("It can be switched off, and on for each")
    func settings() async throws {
        let off = try await WorkScene(.off)
        try await off.raise(by: 3)
        #expect(try await off.ask("customer-1").isAsked)
        #expect(try await SignInWork.level(ports: off.ports) == 0)
        let always = try await WorkScene(.always)
        #expect(try await always.ask("customer-1").level == 1)
        #expect(try await SignInWork.level(ports: always.ports) == 1)
        try await always.raise(by: 2)
        #expect(try await always.ask("customer-1").level == 2)
    }

    @Test("All nodes count together")
    func nodes() async throws {
        let work = try await WorkScene(.after(4))
        let other = WorkScene.ports(.after(4), work.scene.world)
        for number in 1...4 {
            #expect(try await work.ask("stranger-\(number)", at: number.isMultiple(of: 2) ? other : nil).isAsked)
        }
        #expect(try await work.ask("stranger-5").level == 1)
        #expect(try await work.ask("stranger-5", at: other).level == 1)
    }

    @Test("An ask by which nobody can be reached needs no work, and has nobody else work")
    func reachesNobody() async throws {
        let scene = try await SignInScene()
        try await scene.set(asking: .known, ways: [.device, .email])
        let work = try await WorkScene(.after(2), scene)
        for number in 1...3 { #expect(try await work.ask("stranger-\(number)", by: .device).isAsked) }
        try await scene.set(ways: [.device, .email])
        var unnamed = try scene.wanted()
        unnamed.identifier = nil
        for _ in 1...3 { #expect(try await work.ask(CarriedSignIn(wanted: unnamed), by: .device).isAsked) }
        #expect(try await SignInWork.level(ports: work.ports) == 0)
        for number in 1...2 { #expect(try await work.ask("stranger-\(number)", by: .device).isAsked) }
        #expect(try await SignInWork.level(ports: work.ports) == 1)
    }

    @Test("A network's sign-ins are counted when it answers, and not when it is given a puzzle")
    func network() async throws {
        let work = try await WorkScene(.always)
        let network: [UInt8] = [192, 0, 2, 1]
        let carried = CarriedSignIn(wanted: try work.scene.wanted())
        for _ in 1...70 { #expect(try await work.ask(carried, from: network).level == 1) }
        let page = try work.page("customer-1", try await work.work("customer-1"))
        #expect(try await work.ask(page, nonce: try WorkScene.solution(of: page), from: network).isAsked)
        // Answers that are wrong are counted.
        for _ in 2...60 { #expect(try await work.ask(page, nonce: 0, from: network) != .tooMany(retryAfter: 60)) }
        #expect(try await work.ask(page, nonce: 0, from: network) == .tooMany(retryAfter: 60))
    }

    @Test("A browser in which the person has signed in is spared, for that person alone")
    func known() async throws {
        let scene = try await SignInScene()
        try await scene.set(ways: [.device, .qr, .email])
        _ = try await scene.signedIn()
        let work = try await WorkScene(.always, scene)
        for way in [SignInWay.device, .email] {
            #expect(try await work.ask("customer-1", by: way).isAsked)
            #expect(try await work.ask("customer-2", by: way).level == 1)
            #expect(try await work.ask("customer-1", by: way, in: "two").level == 1)
        }
    }

    // The seed is the SHA-256 of "sealed request"; found and counted with another program.
    @Test(
        "A number solves a puzzle by the zero bits of one hash",
        arguments: [(18, 346_793), (19, 408_168), (20, 597_427)])
    func bits(_ bits: Int, _ nonce: UInt32) {
        let seed = SignInWork.seed(of: "sealed request")
        for level in 1...3 {
            let work = SignInWork(way: .email, level: level, givenAt: Timestamp(seconds: 0))
            #expect(work.bits == 17 + level)
            #expect(work.isSolved(by: nonce, seed: seed) == (work.bits <= bits))
            #expect(!work.isSolved(by: 902_980, seed: seed), "17 bits")
            #expect(!work.isSolved(by: nonce, seed: SignInWork.seed(of: "sealed request.")))
        }
    }

    @Test("A solution is good once, and goes on where the sign-in was")
    func replayed() async throws {
        let work = try await WorkScene(.always)
        let page = try work.page("customer-1", try await work.work("customer-1"))
        let nonce = try WorkScene.solution(of: page)
        #expect(try await work.ask(page, nonce: nonce).isAsked)
        #expect(try await work.ask(page, nonce: nonce).level == 1)
        // At another node at the same time, too.
        let next = try work.page("stranger", try await work.work("stranger"))
        let solution = try WorkScene.solution(of: next)
        let other = WorkScene.ports(.always, work.scene.world)
        async let first = work.ask(next, nonce: solution)
        async let second = work.ask(next, nonce: solution, at: other)
        #expect(try await [first, second].count { $0.isAsked } == 1)
    }

    @Test("A number that does not solve the puzzle, or an easier one, is refused and uses up nobody's codes")
    func wrong() async throws {
        let work = try await WorkScene(.always)
        try await work.raise(by: 2)
        let page = try work.page("customer-1", try await work.work("customer-1"))
        let given = try #require(page.work).given
        let easier = try WorkScene.solution(of: page, exactly: 18)
        for nonce in [easier, easier + 1] {
            #expect(try await work.ask(page, nonce: nonce) == .needsWork(given, .wrong))
        }
        for _ in 0..<10 { #expect(try await work.ask(page, nonce: easier) == .needsWork(given, .wrong)) }
        let name = work.ports.hasher.name(of: .email(try SignInScene.email("customer-1")))
        let sent = try await work.ports.read(at: work.ports.time.now, as: .system) {
            try $0.counted(.signInMessages(to: name, inOwnBrowser: false)).number
        }
        #expect(sent == 0)
    }

    @Test("A solution is of no use for another name, another visit, or a page that was not there yet")
    func otherPage() async throws {
        let work = try await WorkScene(.always)
        let given = try await work.work("customer-1")
        let page = try work.page("customer-1", given)
        let nonce = try WorkScene.solution(of: page)
        for other in [try work.page("customer-2", given), try work.page("customer-1", given)] {
            #expect(try await work.ask(other, nonce: nonce) == .needsWork(given, .wrong))
        }
        let two = try work.page("customer-1", given, in: "two")
        #expect(try await work.ask(two, in: "two", nonce: nonce) == .needsWork(given, .wrong))
        // What one browser was given does not open in another one.
        let text = try SealedSignIn.seal(
            CarriedSignIn(wanted: try work.scene.wanted()), with: given, for: try SignInScene.browser("one"),
            ports: work.ports)
        #expect(SealedSignIn.open(text, in: try SignInScene.browser("two"), ports: work.ports) == nil)
    }

    @Test("A solution is of no use for another way")
    func otherWay() async throws {
        let work = try await WorkScene(.always)
        let page = try work.page("customer-1", try await work.work("customer-1"))
        let nonce = try WorkScene.solution(of: page)
        #expect(try await work.ask(page, by: .device, nonce: nonce).level == 1)
        #expect(try await work.ask(page, by: .email, nonce: nonce).isAsked)
    }

    @Test("A solution is good for five minutes after the puzzle was given")
    func expired() async throws {
        let work = try await WorkScene(.always)
        let page = try work.page("customer-1", try await work.work("customer-1"))
        let nonce = try WorkScene.solution(of: page)
        work.scene.world.time.advance(seconds: 300)
        #expect(try await work.ask(page, nonce: nonce).level == 1)
        #expect(try await work.ask(page).level == 1)
    }

    @Test("A browser without scripts waits, by the level, for one name; a wait that is not over is refused")
    func waits() async throws {
        let work = try await WorkScene(.always)
        for (level, wait) in [(1, Int64(30)), (2, 60), (3, 90)] {
            let given = try await work.work("customer-\(level)")
            #expect(given.level == level)
            let page = try work.page("customer-\(level)", given)
            #expect(try await work.ask(page) == .needsWork(given, .early(Seconds(wait))))
            work.scene.world.time.advance(seconds: wait - 1)
            #expect(try await work.ask(page) == .needsWork(given, .early(1)))
            work.scene.world.time.advance(seconds: 1)
            #expect(try await work.ask(page).isAsked)
            #expect(try await work.ask(page).level == level, "one wait is for one sign-in")
            try await work.raise(by: level == 1 ? 2 : 1)
        }
        // No other page carries the work on, so that one wait does not serve for many names.
        let page = try work.page("customer-1", try await work.work("customer-1"))
        let browser = try SignInScene.browser("one")
        let text = try SealedSignIn.seal(page, for: browser, ports: work.ports)
        #expect(SealedSignIn.open(text, in: browser, ports: work.ports)?.work == nil)
    }

    @Test("A network waits ten times an hour, and all together as often in a minute as needs no work without a flood")
    func fewWaits() async throws {
        let work = try await WorkScene(.after(12))
        try await work.raise(by: 1)
        let pages = try (0..<14).map { try work.page("stranger-\($0)", given(work, 1)) }
        work.scene.world.time.advance(seconds: 30)
        for page in pages[..<10] { #expect(try await work.ask(page, from: [192, 0, 2, 1]).isAsked) }
        #expect(try await work.ask(pages[10], from: [192, 0, 2, 1]) == .tooMany(retryAfter: 3600))
        for page in pages[10..<12] { #expect(try await work.ask(page, from: [192, 0, 2, 2]).isAsked) }
        #expect(try await work.ask(pages[12], from: [192, 0, 2, 3]) == .tooMany(retryAfter: 60))
        // Who solves the puzzle goes on.
        #expect(try await work.ask(pages[13], nonce: try WorkScene.solution(of: pages[13])).isAsked)
    }

    @Test("Neither other browsers and names nor a second node have a network wait more often, nor do requests at once")
    func waitsAtOnce() async throws {
        let (work, pages, other) = try await waited(.after(600), 16)
        let gone = try await atOnce(15) { number in
            try await work.ask(
                pages[number], in: "\(number)", from: [192, 0, 2, 1], at: number.isMultiple(of: 2) ? other : nil
            ).isAsked
        }
        #expect(gone.count { $0 } == 10)
        let late = try await work.ask(pages[15], in: "15", from: [192, 0, 2, 1], at: other)
        #expect(late == .tooMany(retryAfter: 3600))
        #expect(try await work.ask(pages[15], in: "15", from: [192, 0, 2, 2]).isAsked, "another network")
    }

    @Test("Of waits from many networks at once, on two nodes, as many go on as need no work without a flood")
    func allWaitsAtOnce() async throws {
        let (work, pages, other) = try await waited(.after(6), 12)
        let gone = try await atOnce(12) { number in
            try await work.ask(
                pages[number], in: "\(number)", from: [192, 0, 2, UInt8(number)],
                at: number.isMultiple(of: 2) ? other : nil
            ).isAsked
        }
        #expect(gone.count { $0 } == 6)
    }

    /// The pages of strangers who have waited as long as they must, each in a browser of its own, and a second node.
    private func waited(
        _ limit: WorkLimit, _ count: Int
    ) async throws -> (work: WorkScene, pages: [CarriedSignIn], other: Ports) {
        let work = try await WorkScene(limit, try await Self.scene(.chosen))
        try await work.raise(by: 1)
        let pages = try (0..<count).map { try work.page("stranger-\($0)", given(work, 1), in: "\($0)") }
        work.scene.world.time.advance(seconds: 30)
        let node = try await work.scene.world.reopened()
        try await node.store.refreshKeys()
        return (work, pages, WorkScene.ports(limit, node))
    }

    private static func scene(_ engine: Engine) async throws -> SignInScene {
        let scene = try await SignInScene(engine)
        try await scene.set(ways: [.device, .qr, .email])
        return scene
    }

    @Test("A further code of the same sign-in needs work of its own, and goes on with that sign-in")
    func again() async throws {
        let work = try await WorkScene(.after(1))
        guard case .asked(let first) = try await work.ask("customer-1") else { throw World.Broken("sign-in") }
        let carried = CarriedSignIn(wanted: try work.scene.wanted(), signIn: first.id)
        guard case .tooEarly = try await work.ask(carried) else { throw World.Broken("early") }
        work.scene.world.time.advance(seconds: 60)
        guard case .needsWork(let given, nil) = try await work.ask(carried) else { throw World.Broken("work") }
        let page = try work.page("customer-1", given, for: first.id)
        guard case .asked(let second) = try await work.ask(page, nonce: try WorkScene.solution(of: page)) else {
            throw World.Broken("sign-in")
        }
        #expect(second.id == first.id && second.ask?.verification != first.ask?.verification)
        #expect(second.expiresAt == first.expiresAt)
    }

    @Test(
        "With work and without, the same statements are made for somebody whom nobody knows",
        arguments: [
            SignInWay.device, .email,
        ])
    func sameStatements(_ way: SignInWay) async throws {
        let (world, recorder) = try await World.recorded()
        let scene = try await SignInScene(in: world)
        try await scene.set(ways: [.device, .qr, .email])
        let work = try await WorkScene(.after(2), scene)
        func statements(_ body: () async throws -> AskSignIn.Outcome) async throws -> (Bool, [String]) {
            _ = recorder.takeTexts()
            let outcome = try await body()
            return (outcome.isAsked, recorder.takeTexts())
        }
        /// One that is free, one that gets work, one that has not solved it, one that has waited, and that again.
        func play(_ name: String) async throws -> [(Bool, [String])] {
            var played = [try await statements { try await work.ask(name, by: way, in: name) }]
            try await work.raise(by: 1)
            played.append(try await statements { try await work.ask(name, by: way, in: name) })
            let given = SignInWork(way: way, level: 1, givenAt: world.time.now)
            let page = try work.page(name, given, in: name)
            played.append(try await statements { try await work.ask(page, by: way, in: name, nonce: 0) })
            world.time.advance(seconds: 30)
            for _ in 0..<2 {
                played.append(
                    try await statements { try await work.ask(page, by: way, in: name, from: [192, 0, 2, 1]) })
            }
            world.time.advance(seconds: 7200)
            return played
        }
        let (known, unknown) = (try await play("customer-1"), try await play("customer-0"))
        #expect(known.map(\.0) == [true, false, false, true, false])
        #expect(known.map(\.0) == unknown.map(\.0) && known.map(\.1) == unknown.map(\.1))
    }

    @Test("The log says when work begins and ends to be needed")
    func log() async throws {
        let book = LogBook()
        let work = try await WorkScene(.after(2), log: book)
        for _ in 0..<3 { _ = try await work.ask("customer-1") }
        work.scene.world.time.advance(seconds: 600)
        for _ in 0..<2 { _ = try await work.ask("customer-1") }
        #expect(
            book.entries == [
                "warning There are many sign-ins from unknown browsers: the next ones need a proof of work. level=1",
                "warning Sign-ins from unknown browsers need no proof of work any more. level=0",
            ])
    }
}
