import CountersignCore
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@Suite("Clients")
struct ClientTests {
    @Test(
        "A callback is https, or http to this machine in development, without user, password and fragment",
        arguments: [
            ("https://shop.example.com/hook", true, true), ("https://shop.example.com:8443/hook?a=b", true, true),
            ("http://localhost:8080/hook", false, true), ("http://127.0.0.1/hook", false, true),
            ("http://[::1]:9/", false, true), ("http://shop.example.com/", false, false),
            ("http://localhost.example.com/", false, false), ("http://127.0.0.1.example.com/", false, false),
            ("https://user@shop.example.com/", false, false), ("https://user:p@shop.example.com/", false, false),
            ("https://shop.example.com/#f", false, false), ("https:///hook", false, false), ("/hook", false, false),
            ("ftp://shop.example.com/", false, false), ("javascript:alert(1)", false, false), ("", false, false),
            ("https://shop.example.com/" + String(repeating: "a", count: 1975), true, true),
            ("https://shop.example.com/" + String(repeating: "a", count: 1976), false, false),
        ])
    func callbacks(_ uri: String, _ isAllowed: Bool, _ isAllowedInDevelopment: Bool) {
        #expect((CallbackURI(uri, isDevelopment: false) != nil) == isAllowed)
        #expect((CallbackURI(uri, isDevelopment: true) != nil) == isAllowedInDevelopment)
    }

    @Test(
        "RFC 3986 §2: a callback holds no character that a URI cannot hold, so one cannot hide a second",
        arguments: [
            "https://shop.example.com/\nhttp://internal.example.com/", "https://shop.example.com/\r\nX-A: b",
            "https://shop.example.com/a b", "https://shop.example.com/é", "https://shop.example.com/\u{0}",
            "https://shop.example.com/\u{202E}", "https://shop.example.com/%zz", "https://shöp.example.com/",
            " https://shop.example.com/", "https://shop.example.com/ ",
        ])
    func malformedCallbacks(_ uri: String) {
        #expect(CallbackURI(uri, isDevelopment: false) == nil)
        #expect(CallbackURI(uri, isDevelopment: true) == nil)
    }

    @Test("A client is let in by its own secret alone")
    func secrets() async throws {
        let world = try await World()
        let created = try await world.makeClient()
        let other = try await world.makeClient("Rival")
        let secret = created.secret.reveal()
        func authenticate(_ id: String, _ secret: String) async throws -> ClientID? {
            try await AuthenticateClient.authenticate(id, secret: Secret(secret), ports: world.ports).caller?.client
                .id
        }
        let id = created.client.id
        #expect(try await authenticate("\(id)", secret) == id)
        let wrong = [
            other.secret.reveal(), "", secret + " ", String(secret.dropLast()), created.callbackSecret.reveal(),
        ]
        for secret in wrong { #expect(try await authenticate("\(id)", secret) == nil) }
        for name in ["", "\(other.client.id)", "\(id)x", "\(id)".uppercased()] {
            #expect(try await authenticate(name, secret) == nil)
        }
    }

    @Test("The operator's client has no secret, so no secret lets anybody in as it")
    func operatorHasNoSecret() async throws {
        let world = try await World()
        _ = try await FirstStart.prepare(store: world.ports.store, time: world.time, random: world.random)
        let client = try #require(try await world.ports.store.read { try $0.clients.operatorClient() })
        #expect(client.secretHash == nil)
        #expect(client.rights == Set(Right.allCases))
        for secret in ["", "null", "\(client.id)"] {
            #expect(
                try await AuthenticateClient.authenticate("\(client.id)", secret: Secret(secret), ports: world.ports)
                    == .refused)
        }
    }

    @Test(
        "The bootstrap token works from loopback for 24 hours, until it is made anew")
    func bootstrapToken() async throws {
        let world = try await World()
        let token = try #require(
            try await FirstStart.prepare(store: world.ports.store, time: world.time, random: world.random).token
        ).reveal()
        func isLetIn(_ token: String, isFromLoopback: Bool = true) async throws -> Bool {
            try await AuthenticateClient.authenticate(
                bootstrapToken: Secret(token), isFromLoopback: isFromLoopback, ports: world.ports
            ).caller?.client.isOperator == true
        }
        #expect(try await isLetIn(token))
        #expect(try await !isLetIn(token, isFromLoopback: false))
        #expect(try await !isLetIn(token + "x"))
        #expect(try await !isLetIn(""))
        world.time.advance(milliseconds: 24 * 3600 * 1000 - 1)
        #expect(try await isLetIn(token))
        world.time.advance(milliseconds: 1)
        #expect(try await !isLetIn(token))
        let renewed = try await RenewBootstrapToken.renew(
            store: world.ports.store, time: world.time, random: world.random
        ).token
        #expect(try await isLetIn(renewed.reveal()))
        #expect(try await !isLetIn(token))
    }

    @Test("Two first starts at once make one operator and one token")
    func firstStarts() async throws {
        let world = try await World()
        let tokens = try await withThrowingTaskGroup(of: Secret<String>?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    try await FirstStart.prepare(store: world.ports.store, time: world.time, random: world.random).token
                }
            }
            return try await group.reduce(into: [Secret<String>]()) { list, token in
                if let token { list.append(token) }
            }
        }
        #expect(tokens.count == 1)
        let token = try #require(tokens.first)
        #expect(try await world.ports.store.read { try $0.keys.bootstrapToken()?.hash.matches(token) } == true)
        #expect(try await world.count("clients") == 1)
    }

    @Test("Rights are kept as granted")
    func rights() async throws {
        let world = try await World()
        let all = Right.allCases
        for rights in [[], [all[0]], [all[1], all[2]], Set(all)] as [Set<Right>] {
            let client = try await world.makeClient(rights: rights).client
            #expect(try await world.ports.store.read { try $0.clients.find(client.id)?.rights } == rights)
        }
    }

    @Test("What is another client's is the same as what does not exist")
    func foreign() async throws {
        let world = try await World()
        try await world.makeType()
        let shop = try await world.makeClient().client
        let rival = try await world.makeClient("Rival").client
        let user = try await world.makeUser("customer-1", of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let asked = try await world.ask(try world.request(for: user), by: shop)
        let ports = world.ports
        let id = asked.challenge.id
        #expect(
            try await WatchChallenge.shown(id, to: rival, ports: ports)?.challenge.id == nil)
        guard case .notFound = try await CancelChallenge.cancel(id, by: rival.caller, ports: ports) else {
            Issue.record("another client's challenge was cancelled")
            return
        }
        _ = try await device.answer(asked, .approved(.confirm, number: asked.number))
        guard case .challengeNotFound = try await ShowReceipt.receipt(of: id, to: rival.id, ports: ports) else {
            Issue.record("another client's receipt was shown")
            return
        }
        #expect(try await ShowUser.show(.id(user), to: rival, ports: ports) == .notFound)
        #expect(try await ShowEnrollments.show(of: .id(user), to: rival, ports: ports) == .userNotFound)
        #expect(
            try await RemoveEnrollment.remove(device.enrollment, of: .id(user), by: rival.caller, ports: ports)
                == .notFound)
        #expect(try await UnlinkUser.unlink(.id(user), from: rival.caller, ports: ports) == .notFound)
        #expect(try await AvailableMethods.list(for: .id(user), client: rival, ports: ports).types.isEmpty)
        #expect(try await AvailableMethods.list(for: .id(user), client: shop, ports: ports).types.count == 1)
        #expect(
            try await WatchChallenge.shown(id, to: shop, ports: ports)?.challenge.id == id)
    }

    @Test("A device of one's own user cannot be removed under another user's name")
    func otherUser() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let other = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        #expect(
            try await RemoveEnrollment.remove(device.enrollment, of: .id(other), by: shop.caller, ports: world.ports)
                == .notFound)
        #expect(try await world.ports.store.read { try $0.enrollments.state(device.enrollment) } == .active)
    }
}
