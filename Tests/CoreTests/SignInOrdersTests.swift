import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Steps of a sign-in that come at once, or in another order")
struct SignInOrdersTests {
    /// What two operations have given that ran at the same time.
    private func both<First: Sendable, Second: Sendable>(
        _ first: @escaping @Sendable () async throws -> First, _ second: @escaping @Sendable () async throws -> Second
    ) async throws -> (First, Second) {
        async let one = first()
        async let two = second()
        return try await (one, two)
    }

    private func isFinished(_ outcome: FinishSignIn.Outcome) -> Bool {
        if case .finished = outcome { true } else { false }
    }

    @Test("Two tabs with one page finish once", arguments: 0..<5)
    func finishes(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen)
        let asked = try await scene.asked()
        try await scene.approve(asked)
        let (one, two) = try await both({ try await scene.finish(asked) }, { try await scene.finish(asked) })
        #expect([one, two].filter(isFinished).count == 1 && [one, two].contains(.notReady), "\(one) \(two)")
        #expect(try await scene.world.audit().filter { $0.kind == .signedIn }.count == 1)
    }

    @Test("A sign-in is cancelled or finished, and never both", arguments: 0..<5)
    func cancels(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen)
        let asked = try await scene.asked()
        try await scene.approve(asked)
        let ports = scene.world.ports
        let (finish, isCancelled) = try await both(
            { try await scene.finish(asked) },
            { try await CancelSignIn.cancel(asked.id, in: scene.browser, ports: ports) })
        #expect(isFinished(finish) != isCancelled, "\(finish)")
        let found = try #require(try await scene.world.store.read { try $0.authorizations.find(asked.id) })
        #expect(found.state.name == (isCancelled ? "refused" : "granted"))
    }

    @Test("Of two tabs one cancels as the phone approves for the other: nobody is signed in", arguments: 0..<5)
    func cancelsApproved(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen)
        let node = try await scene.world.reopened()
        let asked = try await scene.asked()
        let id = try #require(asked.ask?.challenge)
        try await scene.device.open(id)
        let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
        let receipt = try await scene.device.receipt(
            of: challenge, .approved(.confirm, number: asked.ask?.number))
        let (_, isCancelled) = try await both(
            { try await scene.device.answer(id, with: receipt) },
            { try await CancelSignIn.cancel(asked.id, in: scene.browser, ports: node.ports) })
        #expect(isCancelled)
        #expect(try await scene.finish(asked) == .notReady)
        let found = try await scene.world.store.read { try $0.authorizations.find(asked.id) }
        #expect(found?.state == .refused)
    }

    @Test(
        "Of two tabs one cancels as a code is typed in the other: nobody stays whom no client knows",
        arguments: 0..<5)
    func cancelsCode(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen, isThirdParty: true)
        let node = try await scene.world.reopened()
        try await scene.set(ways: [.email], registration: .open)
        guard case .asked(let asked) = try await scene.ask(try scene.wanted("newcomer"), by: .email),
            let sent = asked.ask?.verification
        else { throw World.Broken("sign-in") }
        let hasher = scene.world.ports.hasher
        let (entered, isCancelled) = try await both(
            { try await scene.enter(hasher.code(of: sent), for: asked) },
            { try await CancelSignIn.cancel(asked.id, in: scene.browser, ports: node.ports) })
        #expect(isCancelled && [.authenticated, .notFound].contains(entered), "\(entered)")
        let known = try await scene.world.store.read { try $0.identifiers.verified(hasher.identifier(sent.address)) }
        #expect(known == nil)
    }

    @Test("A link that is pressed twice at once signs in once, and leaves no second user", arguments: 0..<5)
    func link(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen)
        try await scene.set(ways: [.email], registration: .open)
        guard case .asked(let asked) = try await scene.ask(try scene.wanted("newcomer"), by: .email),
            let sent = asked.ask?.verification
        else { throw World.Broken("sign-in") }
        let ports = scene.world.ports
        @Sendable func press() async throws -> EnterSignInCode.Outcome {
            try await EnterSignInCode.enter(
                .link(ports.hasher.link(of: sent)), for: asked.id, in: scene.browser, ports: ports)
        }
        let before = try await scene.world.audit().filter { $0.kind == .userCreated }.count
        let (one, two) = try await both(press, press)
        #expect([one, two].filter { $0 == .authenticated }.count == 1, "\(one) \(two)")
        #expect(try await scene.world.audit().filter { $0.kind == .userCreated }.count == before + 1)
    }

    @Test("Whatever comes first, a new ask or a new language: the page names whom it asks for", arguments: 0..<5)
    func language(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen)
        let asked = try await scene.asked("somebody")
        let ports = scene.world.ports
        let (again, _) = try await both(
            { try await scene.ask("customer-1", again: asked.id) },
            { try await ChangePageLanguage.change(asked.id, to: "de", in: scene.browser, ports: ports) })
        guard case .asked = again else { throw World.Broken("\(again)") }
        let found = try #require(try await scene.world.store.read { try $0.authorizations.find(asked.id) })
        #expect(found.wanted.identifier == .address(.email(try SignInScene.email("customer-1"))))
        // What is over or another browser's keeps its language.
        let other = try SignInScene.browser("two")
        #expect(try await ChangePageLanguage.change(asked.id, to: "fr", in: other, ports: ports) == nil)
        _ = try await CancelSignIn.cancel(asked.id, in: scene.browser, ports: ports)
        #expect(try await ChangePageLanguage.change(asked.id, to: "fr", in: scene.browser, ports: ports) == nil)
        let last = try await scene.world.store.read { try $0.authorizations.find(asked.id) }
        #expect(last?.wanted.languages == found.wanted.languages)
    }

    @Test(
        "The language of one sign-in changes twenty times an hour, and no further change is written",
        arguments: Engine.allCases)
    func languages(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let asked = try await scene.asked()
        let ports = scene.world.ports
        func change(_ languages: String) async throws -> Seconds? {
            try await ChangePageLanguage.change(asked.id, to: languages, in: scene.browser, ports: ports)
        }
        func language() async throws -> String? {
            try await scene.world.store.read { try $0.authorizations.find(asked.id) }?.wanted.languages
        }
        // Nobody changes it in another browser.
        let other = try SignInScene.browser("two")
        #expect(try await ChangePageLanguage.change(asked.id, to: "fr", in: other, ports: ports) == nil)
        #expect(try await language() != "fr")
        for number in 1...20 {
            #expect(try await change("x-\(number)") == nil)
            // The same again is no change.
            #expect(try await change("x-\(number)") == nil)
        }
        #expect(try await language() == "x-20")
        for _ in 0..<3 { #expect(try await change("de") == 3600) }
        #expect(try await language() == "x-20")
        let counted = try await scene.world.store.read { stores in
            try stores.counted(.pageLanguages(asked.id), at: scene.world.time.now).number
        }
        #expect(counted == 20)
    }

    @Test("Whose user is deleted between the approval and the finish is not signed in", arguments: 0..<3)
    func deletes(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen)
        let asked = try await scene.asked()
        try await scene.approve(asked)
        let (finish, _) = try await both({ try await scene.finish(asked) }, { try await scene.end(.link) })
        if case .finished(let finished) = finish {
            // It was finished first: then the code is worth nothing.
            let redeemed = try await scene.redeem(finished.code)
            if case .redeemed = redeemed { Issue.record("a code of somebody whom the client does not know") }
        } else {
            #expect(finish == .notReady, "\(finish)")
        }
    }
}
