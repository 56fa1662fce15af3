import Countersign
import CountersignWire
import Crypto
import Encodings
import Foundation
import TestSupport
import Testing

@Suite("Tokens are kept, refreshed once, and given up", .timeLimit(.minutes(15)))
struct TokenKeepingTests {
    /// For requests that wait for others: one that lasted too long on a busy machine would be sent again.
    private static let patient = Duration.seconds(600)

    @Test("A token that is good is not refreshed, and the next process finds it")
    func kept() async throws {
        let (issuer, vault, clock) = (StubIssuer(), MemoryVault(), MovedClock())
        let app = try issuer.app(vault, clock: clock)
        #expect(await code { _ = try await app.accessToken() } == "not_signed_in")
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 500)
        let again = try issuer.app(vault, clock: clock)
        #expect(try await again.accessToken().reveal() == "access-0")
        #expect(try await again.signedIn()?.identity.subject == "usr_1")
        #expect(issuer.count("/token") == 1)
        clock.advance(seconds: 100)
        #expect(try await again.accessToken().reveal() == "access-1")
        #expect(issuer.forms("/token").last?["refresh_token"] == "r0")
        #expect(try await app.accessToken().reveal() == "access-1")
    }

    @Test("A token does not print, whichever way")
    func silent() async throws {
        let issuer = StubIssuer()
        let app = try issuer.app()
        _ = try await app.authorize(in: issuer)
        let token = try await app.accessToken()
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token) \(String(reflecting: token)) \(dumped)".contains("access-0"))
    }

    @Test("Ten callers at once share one refresh, also when one of them is cancelled")
    func single() async throws {
        let (issuer, clock) = (StubIssuer(), MovedClock())
        let app = try issuer.app(clock: clock)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 600)
        issuer.lie { lies in
            lies.instead = { request in
                if request.url.path == "/token" { try await Task.sleep(for: .milliseconds(100)) }
                return nil
            }
        }
        let impatient = Task { await code { _ = try await app.accessToken() } }
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<10 { group.addTask { try await app.accessToken().reveal() } }
            impatient.cancel()
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens == ["access-1"] && issuer.count("/token") == 2)
        _ = await impatient.value
    }

    @Test("A lost reply is fetched again, with the same token and the same successor")
    func lostReply() async throws {
        let (issuer, clock, vault) = (StubIssuer(), MovedClock(), MemoryVault())
        let app = try issuer.app(vault, clock: clock)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 600)
        let transport = LosingTransport(base: issuer)
        let (url, place) = (
            try #require(URL(string: StubIssuer.url)), try #require(URL(string: StubIssuer.redirectURI))
        )
        let lossy = try OpenIDClient(
            OpenIDRegistration(issuer: url, clientID: StubIssuer.client, redirectURI: place), vault: vault,
            transport: transport, clock: clock)
        #expect(try await lossy.accessToken().reveal() == "access-1")
        #expect(issuer.forms("/token").dropFirst().map { $0["refresh_token"] } == ["r0", "r0"])
    }

    /// Loses the first reply of the token endpoint after the issuer has done its work.
    private actor LosingTransport: Transport {
        let base: StubIssuer
        var hasLost = false

        init(base: StubIssuer) { self.base = base }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let response = try await base.send(request)
            guard request.url.path == "/token", !hasLost else { return response }
            hasLost = true
            throw FaultyTransport.Lost()
        }
    }

    // Spec: RFC 8707 §2.2.
    @Test("Callers for several APIs spend one refresh token after the other, and no token reaches another API")
    func apis() async throws {
        let (issuer, clock, vault) = (StubIssuer(), MovedClock(), FaultyVault())
        let names = ["urn:orders", "urn:mail"]
        let apis = names.map { OpenIDRegistration.API($0, scopes: ["read"]) }
        let app = try issuer.app(vault, clock: clock, apis: apis)
        _ = try await app.authorize(in: issuer)
        #expect(issuer.asked["scope"] == "openid offline_access read read")
        #expect(await code { _ = try await app.accessToken(for: "urn:other") } == "configuration_invalid")
        let tokens = try await withThrowingTaskGroup(of: (String, String).self) { group in
            for name in names + names {
                group.addTask { (name, try await app.accessToken(for: name).reveal()) }
            }
            return try await group.reduce(into: [String: Set<String>]()) { $0[$1.0, default: []].insert($1.1) }
        }
        let given = names.compactMap { tokens[$0]?.first }
        #expect(tokens.values.allSatisfy { $0.count == 1 } && Set(given) == ["access-1", "access-2"], "\(tokens)")
        let forms = issuer.forms("/token")
        #expect(forms.map { $0["refresh_token"] } == [nil, "r0", "r1"])
        #expect(forms.first?["resource"] == StubIssuer.url)
        #expect(Set(forms.dropFirst().map { $0["resource"] }) == Set(names))
        // The issuer's own token is what it was, and is refreshed for the issuer.
        #expect(try await app.accessToken().reveal() == "access-0")
        clock.advance(seconds: 600)
        // A token whose successor cannot be stored is handed out to nobody.
        vault.failOnce(at: .write("app record"))
        #expect(await code { _ = try await app.accessToken(for: names[0]) } == "vault")
        #expect(try await app.accessToken(for: names[0]).reveal() == "access-4")
        #expect(try await app.accessToken().reveal() == "access-5")
        #expect(issuer.forms("/token").suffix(3).map { $0["resource"] } == [names[0], names[0], StubIssuer.url])
        #expect(issuer.forms("/token").suffix(3).map { $0["refresh_token"] } == ["r2", "r3", "r4"])
        // Whoever signs in next gets none of these: the issuer is asked, which has ended everything meanwhile.
        _ = try await app.authorize(in: issuer)
        #expect(await code { _ = try await app.accessToken(for: names[0]) } == "sign_in_ended")
        #expect(await code { _ = try await app.accessToken(for: names[0]) } == "not_signed_in")
        let place = try #require(URL(string: StubIssuer.redirectURI))
        let url = try #require(URL(string: StubIssuer.url))
        #expect(
            await code {
                _ = try OpenIDClient(
                    OpenIDRegistration(
                        issuer: url, clientID: "x", redirectURI: place, scopes: ["openid"], apis: apis),
                    vault: vault)
            } == "configuration_invalid")
    }

    @Test("A token for an API is the signed-in person's, also when another process signed that person in")
    func apiTokenOfAnother() async throws {
        let (issuer, vault) = (StubIssuer(), MemoryVault())
        let apis = [OpenIDRegistration.API("urn:orders", scopes: ["read"])]
        let (app, other) = (try issuer.app(vault, apis: apis), try issuer.app(vault, apis: apis))
        _ = try await app.authorize(in: issuer)
        #expect(try await app.accessToken(for: "urn:orders").reveal() == "access-1")
        #expect(try await app.accessToken(for: "urn:orders").reveal() == "access-1", "kept")
        // The same person by the stub's word, but another sign-in: its tokens are others.
        _ = try await other.authorize(in: issuer)
        #expect(await code { _ = try await app.accessToken(for: "urn:orders") } == "sign_in_ended")
    }

    @Test("A token is handed out only after its successor was stored; until then the vault gets it again")
    func fullDisk() async throws {
        let (issuer, clock, vault) = (StubIssuer(), MovedClock(), FaultyVault())
        let app = try issuer.app(vault, clock: clock)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 600)
        vault.failOnce(at: .write("app record"))
        #expect(await code { _ = try await app.accessToken() } == "vault")
        #expect(try await app.accessToken().reveal() == "access-1")
        #expect(issuer.count("/token") == 2, "no second refresh")
        clock.advance(seconds: 600)
        #expect(try await issuer.app(vault, clock: clock).accessToken().reveal() == "access-2")
        #expect(issuer.forms("/token").last?["refresh_token"] == "r1")
    }

    @Test("A process that ends between the refresh and the store gets the same successor the next time")
    func crash() async throws {
        let (issuer, clock, vault) = (StubIssuer(), MovedClock(), FaultyVault())
        _ = try await issuer.app(vault, clock: clock).authorize(in: issuer)
        clock.advance(seconds: 600)
        vault.failOnce(at: .write("app record"))
        let ended = try issuer.app(vault, clock: clock)
        #expect(await code { _ = try await ended.accessToken() } == "vault")
        let next = try issuer.app(vault, clock: clock)
        #expect(try await next.accessToken().reveal() == "access-1")
        #expect(issuer.forms("/token").dropFirst().map { $0["refresh_token"] } == ["r0", "r0"])
    }

    @Test("A sign-in that cannot be stored is none, and is taken back")
    func unstored() async throws {
        let (issuer, vault) = (StubIssuer(), FaultyVault())
        let app = try issuer.app(vault)
        vault.failOnce(at: .write("app record"))
        #expect(await code { _ = try await app.authorize(in: issuer) } == "vault")
        #expect(try await app.signedIn() == nil)
        #expect(issuer.forms("/revoke").map { $0["token"] } == ["r0"])
    }

    @Test("RFC 6749 §5.2: invalid_grant ends the sign-in on the device, once and for all")
    func ended() async throws {
        let (issuer, clock) = (StubIssuer(), MovedClock())
        let app = try issuer.app(clock: clock)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 600)
        issuer.lie { lies in
            lies.instead = { request in
                request.url.path == "/token" ? StubIssuer.reply(["error": "invalid_grant"], status: 400) : nil
            }
        }
        #expect(await code { _ = try await app.accessToken() } == "sign_in_ended")
        #expect(await code { _ = try await app.accessToken() } == "not_signed_in")
        #expect(try await app.signedIn() == nil)
    }

    @Test("A refresh that is too late, since another process has signed in without a refresh token, ends nothing")
    func replaced() async throws {
        let (issuer, clock, vault) = (StubIssuer(), MovedClock(), MemoryVault())
        let app = try issuer.app(vault, clock: clock, timeout: Self.patient)
        let other = try issuer.app(vault, clock: clock, timeout: Self.patient)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 600)
        issuer.lie { lies in
            lies.reply = { $0["refresh_token"] = nil }
            lies.instead = { request in
                let form = StubIssuer.fields(String(decoding: request.body ?? [], as: UTF8.self))
                guard form["grant_type"] == "refresh_token" else { return nil }
                _ = try await other.authorize(in: issuer)
                return StubIssuer.reply(["error": "invalid_grant"], status: 400)
            }
        }
        #expect(try await app.accessToken().reveal() == "access-0")
        #expect(try await app.signedIn()?.isLasting == false)
        #expect(issuer.forms("/revoke").map { $0["token"] } == ["r0"])
    }

    @Test("An issuer that is away or refuses otherwise ends nothing")
    func away() async throws {
        let (issuer, clock) = (StubIssuer(), MovedClock())
        let app = try issuer.app(clock: clock)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 600)
        for (status, body, expected) in [
            (503, #"{"error":"temporarily_unavailable"}"#, "server_unreachable"),
            (429, #"{"error":"temporarily_unavailable"}"#, "sign_in_unavailable"), (500, "", "server_unreachable"),
        ] {
            issuer.lie { lies in
                lies.instead = { request in
                    request.url.path != "/token"
                        ? nil : TransportResponse(status: status, headers: [:], body: Array(body.utf8))
                }
            }
            #expect(await code { _ = try await app.accessToken() } == expected)
        }
        issuer.lie { $0.instead = { _ in nil } }
        #expect(try await app.accessToken().reveal() == "access-1")
    }

    static let refreshLies: [(String, JSONValue?, String)] = [
        ("sub", "usr_2", "id_token_subject"), ("nonce", "another", "id_token_nonce"),
        ("auth_time", 1_700_000_001, "id_token_auth_time"), ("aud", "cli_other", "id_token_audience"),
        ("iss", "https://evil.example.com", "id_token_issuer"), ("exp", 1, "id_token_expired"),
    ]

    @Test("OpenID Connect Core 1.0 §12.2: a refresh is about the same person and sign-in", arguments: refreshLies)
    func others(_ name: String, _ value: JSONValue?, _ expected: String) async throws {
        let (issuer, clock) = (StubIssuer(), MovedClock())
        let app = try issuer.app(clock: clock)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 590)
        issuer.lie { $0.claims = { $0[name] = value } }
        #expect(await code { _ = try await app.accessToken() } == expected)
        #expect(await code { _ = try await app.accessToken() } == expected, "nor is the token given later")
        issuer.lie { $0.claims = { _ in } }
        #expect(try await app.accessToken().reveal() == "access-3")
    }

    @Test("Without a refresh token the sign-in ends with its access token, and a sign-out takes that back")
    func brief() async throws {
        let (issuer, clock) = (StubIssuer(), MovedClock())
        issuer.lie { $0.reply = { $0["refresh_token"] = nil } }
        let app = try issuer.app(clock: clock)
        #expect(try await !app.authorize(in: issuer).isLasting)
        clock.advance(seconds: 600)
        #expect(await code { _ = try await app.accessToken() } == "not_signed_in")
        guard case .complete = try await app.signOut() else { throw CancellationError() }
        #expect(issuer.forms("/revoke").map { $0["token"] } == ["access-0"])
    }

    @Test("RFC 7009 §2: a sign-out takes the tokens back, and a refresh of an old copy ends that one")
    func signOut() async throws {
        let (issuer, clock, vault, copy) = (StubIssuer(), MovedClock(), MemoryVault(), MemoryVault())
        let app = try issuer.app(vault, clock: clock)
        guard case .nobody = try await app.signOut() else { throw CancellationError() }
        _ = try await app.authorize(in: issuer)
        let name = "tokens-\(Self.name)"
        let record = try #require(await vault.appRecord(name))
        await copy.writeAppRecord(record, as: name)
        guard case .complete = try await app.signOut() else { throw CancellationError() }
        #expect(issuer.forms("/revoke").first?["token"] == "r0")
        #expect(issuer.forms("/revoke").first?["client_id"] == StubIssuer.client)
        #expect(await code { _ = try await app.accessToken() } == "not_signed_in")
        #expect(await vault.appRecord(name) == nil)
        clock.advance(seconds: 600)
        let other = try issuer.app(copy, clock: clock)
        #expect(await code { _ = try await other.accessToken() } == "sign_in_ended")
        #expect(await copy.appRecord(name) == nil)
    }

    /// The first half of SHA-256 of the issuer, a line feed and the client's id.
    private static var name: String {
        Hex.encode(Array(SHA256.hash(data: Array("\(StubIssuer.url)\n\(StubIssuer.client)".utf8)).prefix(16)))
    }

    @Test("A sign-out ends the sign-in here also when the issuer cannot be told, and says so")
    func signOutAlone() async throws {
        let issuer = StubIssuer()
        let app = try issuer.app()
        _ = try await app.authorize(in: issuer)
        issuer.lie { lies in
            lies.instead = { request in
                if request.url.path == "/revoke" { throw FaultyTransport.Lost() }
                return nil
            }
        }
        guard case .onlyOnThisDevice(let error) = try await app.signOut() else { throw CancellationError() }
        #expect(error.code == "network")
        #expect(try await app.signedIn() == nil)
    }

    @Test("A refresh that has read the vault before a sign-out ends brings nothing back, and is not sent")
    func signOutBesideRefresh() async throws {
        let (issuer, clock, vault) = (StubIssuer(), MovedClock(), FaultyVault())
        let app = try issuer.app(vault, clock: clock, timeout: Self.patient)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 600)
        let (reads, read) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let (results, result) = AsyncStream.makeStream(of: String.self)
        issuer.lie { lies in
            lies.instead = { request in
                guard request.url.path == "/revoke" else { return nil }
                // The first look is the caller's, and the second one that of the refresh.
                vault.delay(read: 2) {
                    read.yield()
                    for await _ in ends { break }
                }
                Task { _ = result.yield(await code { _ = try await app.accessToken() }) }
                for await _ in reads { break }
                return StubIssuer.reply(["error": "server_error"], status: 503)
            }
        }
        guard case .onlyOnThisDevice = try await app.signOut() else { throw CancellationError() }
        end.yield()
        for await refusal in results {
            #expect(refusal == "not_signed_in")
            break
        }
        #expect(try await app.signedIn() == nil)
        #expect(issuer.count("/token") == 1)
    }

    @Test("A refresh whose ID token is still looked at when a sign-out ends brings nothing back")
    func signOutBesideCheck() async throws {
        let (issuer, clock, vault) = (StubIssuer(), MovedClock(), MemoryVault())
        _ = try await issuer.app(vault, clock: clock, timeout: Self.patient).authorize(in: issuer)
        clock.advance(seconds: 600)
        // This one has not fetched the issuer's keys yet.
        let app = try issuer.app(vault, clock: clock, timeout: Self.patient)
        let (fetches, fetch) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let (results, result) = AsyncStream.makeStream(of: String.self)
        issuer.lie { lies in
            lies.instead = { request in
                switch request.url.path {
                case "/revoke":
                    Task { _ = result.yield(await code { _ = try await app.accessToken() }) }
                    for await _ in fetches { break }
                    return StubIssuer.reply(["error": "server_error"], status: 503)
                case "/keys":
                    fetch.yield()
                    for await _ in ends { break }
                    return nil
                default: return nil
                }
            }
        }
        guard case .onlyOnThisDevice = try await app.signOut() else { throw CancellationError() }
        end.yield()
        for await refusal in results {
            #expect(refusal == "not_signed_in")
            break
        }
        #expect(try await app.signedIn() == nil)
        #expect(issuer.count("/token") == 2)
    }

    @Test("A refresh whose reply comes after another process has signed somebody in stores nothing over that")
    func overtaken() async throws {
        let (issuer, clock, vault) = (StubIssuer(), MovedClock(), MemoryVault())
        let app = try issuer.app(vault, clock: clock, timeout: Self.patient)
        let other = try issuer.app(vault, clock: clock, timeout: Self.patient)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 600)
        issuer.lie { lies in
            lies.instead = { request in
                // What the other one replaces cannot be taken back, so that the refresh succeeds.
                if request.url.path == "/revoke" { return StubIssuer.reply(["error": "server_error"], status: 503) }
                let form = StubIssuer.fields(String(decoding: request.body ?? [], as: UTF8.self))
                guard form["grant_type"] == "refresh_token" else { return nil }
                issuer.lie { $0.reply = { $0["refresh_token"] = nil } }
                _ = try await other.authorize(in: issuer)
                issuer.lie { $0.reply = { _ in } }
                return nil
            }
        }
        #expect(try await app.accessToken().reveal() == "access-0")
        #expect(try await app.signedIn()?.isLasting == false)
        #expect(issuer.count("/token") == 3)
    }

    /// Holds one request until it is opened.
    private final class Gate: Sendable {
        private let (arrivals, arrive) = AsyncStream.makeStream(of: Void.self)
        private let (openings, opening) = AsyncStream.makeStream(of: Void.self)

        /// Waits until it is opened.
        func hold() async {
            arrive.yield()
            for await _ in openings { break }
        }

        /// Waits until a request is held.
        func isReached() async { for await _ in arrivals { break } }

        func open() { opening.finish() }
    }

    @Test("Whoever signs in while the issuer is told of a sign-out stays signed in")
    func signInDuringSignOut() async throws {
        let (issuer, vault, telling) = (StubIssuer(), MemoryVault(), Gate())
        let app = try issuer.app(vault, timeout: Self.patient)
        _ = try await app.authorize(in: issuer)
        issuer.lie { lies in
            lies.instead = { request in
                // The next sign-in takes the same tokens back, and is not held.
                if request.url.path == "/revoke", issuer.count("/revoke") == 1 { await telling.hold() }
                return nil
            }
        }
        let leaving = Task { try await app.signOut() }
        await telling.isReached()
        _ = try await app.authorize(in: issuer)
        telling.open()
        guard case .complete = try await leaving.value else { throw CancellationError() }
        #expect(issuer.count("/revoke") == 2)
        #expect(try await app.signedIn()?.identity.subject == "usr_1")
        #expect(await vault.appRecord("tokens-\(Self.name)") != nil)
    }

    @Test("A refresh that began while the issuer was told of a sign-out brings nobody back")
    func refreshDuringSignOut() async throws {
        let (issuer, clock, vault) = (StubIssuer(), MovedClock(), MemoryVault())
        _ = try await issuer.app(vault, clock: clock, timeout: Self.patient).authorize(in: issuer)
        clock.advance(seconds: 600)
        // A process that has just begun fetches the keys when the refresh is answered.
        let (app, telling, keys) = (try issuer.app(vault, clock: clock, timeout: Self.patient), Gate(), Gate())
        issuer.lie { lies in
            lies.instead = { request in
                if request.url.path == "/revoke" { await telling.hold() }
                if request.url.path == "/keys" { await keys.hold() }
                return nil
            }
        }
        let leaving = Task { try await app.signOut() }
        await telling.isReached()
        let refreshing = Task { await code { _ = try await app.accessToken() } }
        await keys.isReached()
        telling.open()
        guard case .complete = try await leaving.value else { throw CancellationError() }
        keys.open()
        #expect(await refreshing.value == "not_signed_in")
        #expect(try await app.signedIn() == nil)
        #expect(await vault.appRecord("tokens-\(Self.name)") == nil)
    }

    @Test("OpenID Connect Core 1.0 §5.3.2: userinfo is about the same person, and a token that is over is refreshed")
    func userInfo() async throws {
        let issuer = StubIssuer()
        let app = try issuer.app()
        _ = try await app.authorize(in: issuer)
        #expect(try await app.userInfo().email == "a@example.com")
        issuer.lie { $0.userInfo = ["sub": "usr_2", "email": "b@example.com"] }
        #expect(await code { _ = try await app.userInfo() } == "id_token_subject")
        issuer.lie { $0.userInfo = ["email": "b@example.com"] }
        #expect(await code { _ = try await app.userInfo() } == "provider_invalid")
        issuer.lie { lies in
            lies.userInfo = nil
            lies.instead = { request in
                request.headers["Authorization"] == "Bearer access-0"
                    ? StubIssuer.reply(["error": "invalid_token"], status: 401) : nil
            }
        }
        #expect(try await app.userInfo().subject == "usr_1")
        #expect(issuer.count("/token") == 2)
    }

    @Test("A record that is damaged or newer is told of, and can be signed out of")
    func damaged() async throws {
        let (issuer, vault) = (StubIssuer(), MemoryVault())
        await vault.writeAppRecord(Array(#"{"v":2}"#.utf8), as: "tokens-\(Self.name)")
        let app = try issuer.app(vault)
        #expect(await code { _ = try await app.accessToken() } == "vault")
        guard case .onlyOnThisDevice = try await app.signOut() else { throw CancellationError() }
        #expect(await code { _ = try await app.accessToken() } == "not_signed_in")
    }

    @Test("On disk the tokens are sealed, as the records of enrollments are")
    func sealed() async throws {
        let folder = try TemporaryFolder()
        let issuer = StubIssuer()
        let vault = try FileVault(at: folder.url.appending(path: "vault"))
        _ = try await issuer.app(vault).authorize(in: issuer)
        let file = folder.url.appending(path: "vault/app/tokens-\(Self.name)")
        let bytes = try Data(contentsOf: file)
        #expect(!bytes.isEmpty && bytes.range(of: Data("access-0".utf8)) == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try await issuer.app(try FileVault(at: folder.url.appending(path: "vault"))).signedIn() != nil)
    }
}
