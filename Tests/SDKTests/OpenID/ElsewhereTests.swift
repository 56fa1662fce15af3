import Countersign
import CountersignWire
import Encodings
import Foundation
import Synchronization
import Testing

@Suite("A device signs its user in by an approval elsewhere", .timeLimit(.minutes(15)))
struct ElsewhereTests {
    /// What was shown.
    private final class Screen: Sendable {
        private let shown = Mutex<[SignInPrompt]>([])

        var prompts: [SignInPrompt] { shown.withLock { $0 } }

        func show(_ prompt: SignInPrompt) { shown.withLock { $0.append(prompt) } }
    }

    /// Remembers the task that a request cancels.
    private final class Holder: Sendable {
        private let task = Mutex<Task<String, Never>?>(nil)

        func hold(_ task: Task<String, Never>) { self.task.withLock { $0 = task } }

        /// Cancels the task, as soon as it is known.
        func cancel() async throws {
            while true {
                if let task = task.withLock({ $0 }) { return task.cancel() }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    private static func refused(_ error: String, status: Int = 400) -> TransportResponse {
        StubIssuer.reply(["error": .string(error)], status: status)
    }

    private static let pending = refused("authorization_pending")

    // Spec: RFC 8628 §3.1, §3.2, §3.3, §3.3.1, §3.4; RFC 7240 §4.3.
    @Test("RFC 8628 §3.5: the number is shown once, and asking goes on until there are tokens, which are kept")
    func approved() async throws {
        let (issuer, vault, screen) = (StubIssuer(), MemoryVault(), Screen())
        issuer.answerPolls([Self.pending, Self.pending])
        let app = try issuer.app(vault)
        let start = ContinuousClock.now
        let signedIn = try await app.signInElsewhere(loginHint: "a b&c@example.com") { screen.show($0) }
        #expect(start.duration(to: .now) > .seconds(2), "the issuer's interval is kept")
        #expect(signedIn.identity.subject == "usr_1" && signedIn.scopes == ["openid", "offline_access"])
        let prompt = try #require(screen.prompts.first)
        #expect(screen.prompts.count == 1)
        #expect(prompt.number == "042917" && prompt.userCode == "WDJB-MJHT" && prompt.expiresIn == .seconds(60))
        #expect(prompt.verificationURI.absoluteString == "\(StubIssuer.url)/device")
        let whole = prompt.verificationURIComplete?.absoluteString
        #expect(whole == "\(StubIssuer.url)/device?user_code=WDJB-MJHT")
        #expect(
            issuer.forms("/device_authorization") == [
                [
                    "client_id": StubIssuer.client, "scope": "openid offline_access",
                    "login_hint": "a b&c@example.com", "requested_expiry": "60",
                ]
            ])
        let poll = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "the-device-code",
            "client_id": StubIssuer.client,
        ]
        #expect(issuer.forms("/token") == [poll, poll, poll])
        #expect(issuer.headers("/token").map { $0["Prefer"] } == ["wait=20", "wait=20", "wait=20"])
        #expect(issuer.headers("/device_authorization").first?["Prefer"] == nil)
        // The next process finds who signed in.
        #expect(try await issuer.app(vault).signedIn()?.identity.subject == "usr_1")
        #expect(issuer.count("/revoke") == 0)
    }

    @Test("Without a hint nobody's devices are asked, and the person has as long as the issuer gives")
    func plain() async throws {
        let (issuer, screen) = (StubIssuer(), Screen())
        issuer.lie { lies in
            lies.authorization = { reply in
                for name in ["number", "verification_uri_complete", "interval"] { reply[name] = nil }
                reply["expires_in"] = .integer(.max)
            }
        }
        _ = try await issuer.app().signInElsewhere { screen.show($0) }
        let prompt = try #require(screen.prompts.first)
        #expect(prompt.number == nil && prompt.verificationURIComplete == nil)
        #expect(prompt.expiresIn == .seconds(1800), "nobody waits for ever")
        let form = try #require(issuer.forms("/device_authorization").first)
        #expect(form["login_hint"] == nil && form["requested_expiry"] == nil)
        #expect(form["verification_uri_complete"] == "true", "our server gives it to nobody else")
    }

    @Test("Who signs in elsewhere takes the place of whoever was signed in, whose tokens are taken back")
    func replaces() async throws {
        let issuer = StubIssuer()
        let app = try issuer.app()
        _ = try await app.authorize(in: issuer)
        // The browser's nonce belongs to its own sign-in.
        issuer.lie { $0.claims = { $0["nonce"] = nil } }
        _ = try await app.signInElsewhere { _ in }
        #expect(issuer.forms("/revoke").map { $0["token"] } == ["r0"])
        #expect(try await app.signedIn() != nil)
    }

    static let endings: [(Int, String, String)] = [
        (400, "access_denied", "sign_in_declined"), (400, "expired_token", "sign_in_expired"),
        (400, "invalid_grant", "sign_in_refused"), (400, "unauthorized_client", "sign_in_refused"),
        (401, "invalid_client", "sign_in_refused"), (400, "\u{1B}[2J", "sign_in_refused"),
        (404, "", "server_unreachable"), (302, "", "server_unreachable"),
    ]

    @Test("RFC 8628 §3.5: denial, expiry and every other end are told apart, and asking ends", arguments: endings)
    func ends(_ status: Int, _ error: String, _ expected: String) async throws {
        let issuer = StubIssuer()
        let end =
            error.isEmpty
            ? TransportResponse(status: status, headers: [:], body: []) : Self.refused(error, status: status)
        issuer.answerPolls([Self.pending, end])
        let app = try issuer.app()
        #expect(await code { _ = try await app.signInElsewhere(loginHint: "a") { _ in } } == expected)
        #expect(try await app.signedIn() == nil)
        #expect(issuer.count("/token") == 2)
        // Whatever else has ended here may still be open there.
        let taken = issuer.forms("/revoke").map { $0["token"] }
        #expect(taken == (expected == "sign_in_declined" ? [] : ["the-device-code"]))
        // The next sign-in is another one.
        _ = try await app.signInElsewhere(loginHint: "a") { _ in }
        #expect(try await app.signedIn() != nil)
    }

    @Test("A request that the issuer refuses shows nothing, and is not repeated: each would ask the person")
    func refusedAtOnce() async throws {
        for (status, error, expected) in [
            (400, "unauthorized_client", "sign_in_refused"), (400, "invalid_scope", "sign_in_refused"),
            (429, "temporarily_unavailable", "sign_in_unavailable"), (503, "", "server_unreachable"),
        ] {
            let (issuer, screen) = (StubIssuer(), Screen())
            issuer.lie { lies in
                lies.instead = { request in
                    guard request.url.path == "/device_authorization" else { return nil }
                    return Self.refused(error, status: status)
                }
            }
            let app = try issuer.app()
            #expect(await code { _ = try await app.signInElsewhere { screen.show($0) } } == expected)
            #expect(screen.prompts.isEmpty && issuer.count("/device_authorization") == 1)
            #expect(issuer.count("/token") == 0 && issuer.count("/revoke") == 0)
        }
        let issuer = StubIssuer()
        issuer.lie { lies in
            lies.instead = { request in
                if request.url.path == "/device_authorization" { throw FaultyTransport.Lost() }
                return nil
            }
        }
        let app = try issuer.app()
        #expect(await code { _ = try await app.signInElsewhere { _ in } } == "network")
        #expect(issuer.count("/device_authorization") == 1)
    }

    @Test(
        "RFC 8628 §3.2: nobody who approves in time is one end, too, by this device's own clock",
        arguments: [1, Int64.max])
    func tooLate(_ interval: Int64) async throws {
        let issuer = StubIssuer()
        issuer.lie { lies in
            lies.authorization = { reply in
                reply["expires_in"] = 1
                reply["interval"] = .integer(interval)
            }
            lies.instead = { $0.url.path == "/token" ? Self.pending : nil }
        }
        let app = try issuer.app()
        let start = ContinuousClock.now
        #expect(await code { _ = try await app.signInElsewhere { _ in } } == "sign_in_expired")
        #expect(start.duration(to: .now) >= .seconds(1))
        #expect(issuer.count("/token") == 1)
        #expect(issuer.forms("/revoke").map { $0["token"] } == ["the-device-code"])
    }

    // Spec: RFC 9110 §10.2.3.
    @Test("RFC 8628 §3.5: a network that fails, and an issuer that cannot answer now, end nothing")
    func failures() async throws {
        let issuer = StubIssuer()
        let lost = Mutex(2)
        var busy = Self.refused("temporarily_unavailable", status: 429)
        busy.headers["retry-after"] = "2"
        let broken = TransportResponse(status: 502, headers: [:], body: Array("bad gateway".utf8))
        issuer.answerPolls([busy, broken])
        let fails: @Sendable () -> Bool = {
            lost.withLock { left in
                left -= 1
                return left >= 0
            }
        }
        issuer.lie { lies in
            lies.instead = { request in
                if request.url.path == "/token", fails() { throw FaultyTransport.Lost() }
                return nil
            }
        }
        let app = try issuer.app()
        let start = ContinuousClock.now
        let signedIn = try await app.signInElsewhere(loginHint: "a") { _ in }
        #expect(signedIn.identity.subject == "usr_1")
        #expect(issuer.count("/token") == 5 && issuer.count("/device_authorization") == 1)
        // 1.35 and 1.6 s after the failures, what the issuer says or more, and 3.1 s.
        #expect(start.duration(to: .now) > .seconds(7))
        #expect(issuer.count("/revoke") == 0)
    }

    @Test("A task that is cancelled while it waits takes the code back, and nobody is signed in")
    func givenUp() async throws {
        let (issuer, holder) = (StubIssuer(), Holder())
        issuer.lie { lies in
            lies.instead = { request in
                guard request.url.path == "/token" else { return nil }
                try await holder.cancel()
                try await Task.sleep(for: .seconds(3600))
                return nil
            }
        }
        let app = try issuer.app()
        let task = Task { await code { _ = try await app.signInElsewhere(loginHint: "a") { _ in } } }
        holder.hold(task)
        #expect(await task.value == "cancelled")
        #expect(issuer.forms("/revoke") == [["token": "the-device-code", "client_id": StubIssuer.client]])
        #expect(try await app.signedIn() == nil && issuer.count("/token") == 1)
    }

    @Test("A task that is cancelled while it shows the number or pauses takes the code back", arguments: [true, false])
    func givenUpEarly(_ isShowing: Bool) async throws {
        let (issuer, holder) = (StubIssuer(), Holder())
        issuer.lie { $0.instead = { $0.url.path == "/token" ? Self.pending : nil } }
        let app = try issuer.app()
        let task = Task {
            await code {
                _ = try await app.signInElsewhere(loginHint: "a") { _ in
                    if isShowing { try? await holder.cancel() }
                }
            }
        }
        holder.hold(task)
        if !isShowing {
            while issuer.count("/token") == 0 { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
        }
        #expect(await task.value == "cancelled")
        #expect(issuer.forms("/revoke").map { $0["token"] } == ["the-device-code"])
    }

    @Test("Tokens that come when nobody waits any more are taken back, and nobody is found signed in")
    func givenUpLate() async throws {
        let (issuer, holder) = (StubIssuer(), Holder())
        issuer.lie { lies in
            lies.instead = { request in
                if request.url.path == "/token" { try await holder.cancel() }
                return nil
            }
        }
        let app = try issuer.app()
        let task = Task { await code { _ = try await app.signInElsewhere(loginHint: "a") { _ in } } }
        holder.hold(task)
        #expect(await task.value == "cancelled")
        // Which of the two it is depends on who is faster; each ends what was given.
        let taken = issuer.forms("/revoke").compactMap { $0["token"] }
        #expect(taken == ["the-device-code"] || taken == ["r0"], "\(taken)")
        #expect(try await app.signedIn() == nil)
    }

    @Test("An issuer that does not answer, or cannot be told, keeps nobody who gives up for long")
    func deaf() async throws {
        let (issuer, holder) = (StubIssuer(), Holder())
        issuer.lie { lies in
            lies.instead = { request in
                switch request.url.path {
                case "/token":
                    try await holder.cancel()
                    return Self.pending
                case "/revoke": throw FaultyTransport.Lost()
                default: return nil
                }
            }
        }
        let app = try issuer.app()
        let task = Task { await code { _ = try await app.signInElsewhere(loginHint: "a") { _ in } } }
        holder.hold(task)
        let start = ContinuousClock.now
        #expect(await task.value == "cancelled")
        #expect(issuer.count("/revoke") == 3 && start.duration(to: .now) < .seconds(180))
    }

    @Test("Two sign-ins at once end each for itself")
    func two() async throws {
        let (issuer, screen) = (StubIssuer(), Screen())
        let app = try issuer.app()
        issuer.answerPolls([Self.pending, Self.refused("access_denied")])
        let ends = await withTaskGroup(of: String.self) { group in
            for _ in 0..<2 {
                group.addTask { await code { _ = try await app.signInElsewhere { screen.show($0) } } }
            }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ends == ["", "sign_in_declined"] && screen.prompts.count == 2)
        #expect(try await app.signedIn() != nil)
    }

    static let authorizationLies: [(String, JSONValue?)] = [
        ("user_code", nil), ("user_code", ""), ("user_code", 1), ("user_code", "AB\u{1B}[2J"), ("user_code", "A B"),
        ("user_code", "A\u{202E}B"), ("user_code", .string(String(repeating: "A", count: 65))),
        ("verification_uri", nil), ("verification_uri", "http://login.example.com/device"),
        ("verification_uri", "http://evil.example.com/device"), ("verification_uri", "javascript:alert(1)"),
        ("verification_uri", "https://user@login.example.com/device"), ("verification_uri", ["https://a.example"]),
        ("verification_uri_complete", "http://login.example.com/device?user_code=A"),
        ("verification_uri_complete", "https://login.example.com/\u{1B}[2J"), ("expires_in", nil), ("expires_in", 0),
        ("expires_in", -1), ("expires_in", .integer(.min)), ("expires_in", "60"), ("expires_in", .double(1e300)),
        ("number", ""), ("number", "12345"), ("number", "1234567"), ("number", "12345a"), ("number", 123_456),
        ("number", "\u{FF11}2"), ("number", "12 456"), ("number", .null),
    ]

    @Test(
        "What could harm a screen or a person, or cannot be used, is not shown, and is taken back",
        arguments: authorizationLies)
    func hostile(_ name: String, _ value: JSONValue?) async throws {
        let (issuer, screen) = (StubIssuer(), Screen())
        issuer.lie { lies in lies.authorization = { $0[name] = value } }
        let app = try issuer.app()
        #expect(await code { _ = try await app.signInElsewhere { screen.show($0) } } == "provider_invalid")
        #expect(screen.prompts.isEmpty && issuer.count("/token") == 0)
        #expect(issuer.forms("/revoke").map { $0["token"] } == ["the-device-code"])
        #expect(try await app.signedIn() == nil)
    }

    @Test("A device code that is none is no code", arguments: [nil, "", "a b", "\u{1B}", 1] as [JSONValue?])
    func noCode(_ value: JSONValue?) async throws {
        let issuer = StubIssuer()
        issuer.lie { lies in lies.authorization = { $0["device_code"] = value } }
        let app = try issuer.app()
        #expect(await code { _ = try await app.signInElsewhere { _ in } } == "provider_invalid")
        #expect(issuer.count("/token") == 0 && issuer.count("/revoke") == 0)
    }

    @Test("RFC 8628 §4: an issuer without the endpoint, or with one that is not https, asks nobody")
    func documents() async throws {
        for endpoint in [nil, "http://login.example.com/device", 1] as [JSONValue?] {
            let issuer = StubIssuer()
            issuer.lie { lies in lies.document = { $0["device_authorization_endpoint"] = endpoint } }
            let app = try issuer.app()
            #expect(await code { _ = try await app.signInElsewhere { _ in } } == "provider_invalid")
            #expect(issuer.count("/device_authorization") == 0)
        }
    }

    static let claimLies: [(String, JSONValue?, String)] = [
        ("iss", "https://evil.example.com", "id_token_issuer"), ("aud", "cli_other", "id_token_audience"),
        ("exp", 1_700_000_000, "id_token_expired"), ("nonce", "of-a-browser", "id_token_nonce"),
        ("at_hash", "AAAAAAAAAAAAAAAAAAAAAA", "id_token_access_token"), ("sub", nil, "id_token_malformed"),
    ]

    @Test(
        "The ID token is checked as after a browser's sign-in, and what came with a bad one is taken back",
        arguments: claimLies)
    func badToken(_ name: String, _ value: JSONValue?, _ expected: String) async throws {
        let issuer = StubIssuer()
        issuer.lie { lies in lies.claims = { $0[name] = value } }
        let app = try issuer.app()
        #expect(await code { _ = try await app.signInElsewhere { _ in } } == expected)
        #expect(try await app.signedIn() == nil)
        #expect(issuer.forms("/revoke").map { $0["token"] } == ["r0"])
    }

    @Test("Keys that cannot be fetched, and a vault that keeps nothing, sign nobody in")
    func broken() async throws {
        let issuer = StubIssuer()
        issuer.lie { $0.keys = "none" }
        let app = try issuer.app()
        #expect(await code { _ = try await app.signInElsewhere { _ in } } == "provider_invalid")
        #expect(issuer.count("/device_authorization") == 0, "it is found before anybody is asked")
        let vault = FaultyVault()
        vault.failOnce(at: .write("app record"))
        let other = StubIssuer()
        let full = try other.app(vault)
        #expect(await code { _ = try await full.signInElsewhere { _ in } } == "vault")
        #expect(try await full.signedIn() == nil)
        #expect(other.forms("/revoke").allSatisfy { $0["token"] == "r0" } && other.count("/revoke") > 0)
    }
}
