import Countersign
import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import Testing

@Suite("Nobody is signed in unless everything is what was asked for", .timeLimit(.minutes(15)))
struct HostileIssuerTests {
    /// The code of a sign-in's error, after which nobody is signed in.
    private func refusal(
        _ request: SignInRequest = SignInRequest(), _ lie: @Sendable (inout StubIssuer.Lies) -> Void
    ) async throws -> String {
        let issuer = StubIssuer()
        issuer.lie(lie)
        let app = try issuer.app()
        let found = await code { _ = try await app.authorize(in: issuer, request) }
        #expect(try await app.signedIn() == nil)
        return found
    }

    // Spec: RFC 7636 §4.3 and §7.1; RFC 6749 Appendix B.
    @Test("An honest issuer signs in, with PKCE, a state and a nonce that are never the same")
    func honest() async throws {
        let issuer = StubIssuer()
        let app = try issuer.app()
        let signedIn = try await app.authorize(
            in: issuer, SignInRequest(loginHint: "a b&c", acrValues: ["urn:countersign:acr:device"]))
        #expect(signedIn.identity.subject == "usr_1" && signedIn.identity.amr == ["swk", "user"])
        #expect(signedIn.isLasting && signedIn.scopes == ["openid", "offline_access"])
        let (asked, form) = (issuer.asked, try #require(issuer.forms("/token").first))
        let verifier = try #require(form["code_verifier"])
        #expect(verifier.utf8.count == 43 && Base64URL.decode(verifier)?.count == 32)
        #expect(asked["code_challenge"] == Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8)))))
        #expect(asked["code_challenge_method"] == "S256" && asked["login_hint"] == "a b&c")
        #expect(form["redirect_uri"] == StubIssuer.redirectURI && form["code"] == "the-code")
        #expect(form["client_id"] == StubIssuer.client && form["client_secret"] == nil)
        _ = try await app.authorize(in: issuer)
        for name in ["state", "nonce", "code_challenge"] { #expect(asked[name] != issuer.asked[name]) }
        #expect(issuer.count("/revoke") == 1, "what the first sign-in gave is taken back")
    }

    static let responseLies: [(String, String?, String)] = [
        ("state", "another", "response_wrong_state"), ("state", nil, "response_wrong_state"),
        ("iss", nil, "response_no_issuer"), ("iss", "https://evil.example.com", "response_other_issuer"),
        ("iss", "https://login.example.com/", "response_other_issuer"), ("code", nil, "response_malformed"),
        ("code", "", "response_malformed"), ("error", "access_denied", "sign_in_declined"),
        ("error", "login_required", "sign_in_login_required"),
        ("error", "temporarily_unavailable", "sign_in_unavailable"), ("error", "invalid_scope", "sign_in_refused"),
        ("error", "\u{1B}[2J", "sign_in_refused"),
    ]

    // Spec: RFC 9700 §4.4 and §4.7.1; RFC 6749 Appendix A.7.
    @Test(
        "RFC 6749 §4.1.2, RFC 9207 §2.4: a response of another request or issuer goes nowhere", arguments: responseLies)
    func responses(_ name: String, _ value: String?, _ expected: String) async throws {
        let issuer = StubIssuer()
        issuer.lie { lies in
            lies.response = { fields in
                fields.removeAll { $0.0 == name }
                if let value { fields.append((name, value)) }
            }
        }
        let app = try issuer.app()
        #expect(await code { _ = try await app.authorize(in: issuer) } == expected)
        #expect(issuer.count("/token") == 0, "no code leaves the app")
    }

    @Test("A state that somebody made up is found before an error that they made up")
    func forgedError() async throws {
        let found = try await refusal {
            $0.response = { $0 = [("error", "access_denied"), ("state", "x"), ("iss", StubIssuer.url)] }
        }
        #expect(found == "response_wrong_state")
        let other = try await refusal {
            $0.response = { fields in
                fields.removeAll { $0.0 != "state" }
                fields += [("error", "access_denied"), ("iss", "https://evil.example.com")]
            }
        }
        #expect(other == "response_other_issuer")
    }

    @Test(
        "A response at another address, or with a parameter twice, is malformed",
        arguments: [
            ("127.0.0.1:50123", "127.0.0.1:50124"), ("/callback", "/other"), ("http:", "https:"),
            ("code=the-code", "code=the-code&code=other"), ("?", "#"),
        ])
    func addresses(_ from: String, _ to: String) async throws {
        let found = try await refusal { $0.address = { $0.replacing(from, with: to) } }
        #expect(found == "response_malformed")
    }

    static let claimLies: [(String, JSONValue?, String)] = [
        ("iss", "https://evil.example.com", "id_token_issuer"), ("iss", nil, "id_token_issuer"),
        ("aud", "cli_other", "id_token_audience"), ("aud", ["cli_app", "cli_other"], "id_token_audience"),
        ("aud", [], "id_token_audience"), ("aud", nil, "id_token_audience"),
        ("azp", "cli_other", "id_token_audience"), ("sub", nil, "id_token_malformed"),
        ("sub", "", "id_token_malformed"),
        ("exp", nil, "id_token_malformed"), ("iat", nil, "id_token_malformed"), ("iat", "1", "id_token_malformed"),
        ("exp", 1_700_000_000, "id_token_expired"), ("exp", .integer(.min), "id_token_expired"),
        ("iat", .integer(.max), "id_token_future"), ("at_hash", "AAAAAAAAAAAAAAAAAAAAAA", "id_token_access_token"),
        ("at_hash", 1, "id_token_access_token"), ("nonce", "another", "id_token_nonce"),
        ("nonce", nil, "id_token_nonce"),
        ("acr", "urn:countersign:acr:address", "id_token_acr"), ("acr", nil, "id_token_acr"),
        ("auth_time", nil, "id_token_auth_time"), ("auth_time", 1_600_000_000, "id_token_auth_time"),
        ("auth_time", .integer(.max), "id_token_auth_time"), ("auth_time", .integer(.min), "id_token_auth_time"),
    ]

    @Test("OpenID Connect Core 1.0 §3.1.3.7 and §3.1.3.8: each claim that is wrong is found", arguments: claimLies)
    func claims(_ name: String, _ value: JSONValue?, _ expected: String) async throws {
        let age = StubServer.now.seconds - 1_700_000_000 + 60
        let request = SignInRequest(maxAge: age, acrValues: ["phr", "urn:countersign:acr:device"])
        #expect(try await refusal(request) { $0.claims = { $0[name] = value } } == expected)
    }

    @Test("What may be missing or come as a list is taken so")
    func optional() async throws {
        let issuer = StubIssuer()
        issuer.lie { lies in
            lies.type = nil
            lies.claims = { claims in
                for name in ["at_hash", "acr", "amr", "auth_time"] { claims[name] = nil }
                claims["aud"] = ["cli_app"]
                claims["azp"] = "cli_app"
            }
        }
        _ = try await issuer.app().authorize(in: issuer)
    }

    @Test("RFC 8725 §3.1: unsigned tokens, changed ones and those of another kind are refused")
    func signatures() async throws {
        let none = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
        let symmetric = Base64URL.encode(Array(#"{"alg":"HS256"}"#.utf8))
        for header in [none, symmetric] {
            let found = try await refusal { $0.token = { "\(header).\($0.split(separator: ".")[1])." } }
            #expect(found == "id_token_algorithm")
        }
        let signature = try await refusal { lies in
            lies.token = { token in
                let parts = token.split(separator: ".")
                return "\(parts[0]).\(parts[1]).\(Base64URL.encode([UInt8](repeating: 1, count: 64)))"
            }
        }
        #expect(signature == "id_token_signature")
        #expect(try await refusal { $0.token = { _ in "x" } } == "id_token_malformed")
        #expect(try await refusal { $0.type = "at+jwt" } == "id_token_malformed")
        #expect(try await refusal { $0.reply = { $0["id_token"] = nil } } == "id_token_malformed")
        // ES256, where the issuer says that it signs by RS256 alone.
        let unlisted = try await refusal {
            $0.document = { $0["id_token_signing_alg_values_supported"] = ["RS256"] }
        }
        #expect(unlisted == "id_token_algorithm")
    }

    @Test("A key for another use, or of another name, signs nobody in")
    func keys() async throws {
        let issuer = StubIssuer()
        var encrypting = try #require(JWK(issuer.key.publicKey).json.object)
        encrypting["use"] = "enc"
        let set = JSONValue.members(["keys": [.object(encrypting)]])
        issuer.lie { $0.keys = set }
        let app = try issuer.app()
        #expect(await code { _ = try await app.authorize(in: issuer) } == "id_token_key")
        #expect(try await refusal { $0.keys = ["keys": []] } == "id_token_key")
        #expect(try await refusal { $0.keys = "none" } == "provider_invalid")
    }

    @Test("OpenID Connect Core 1.0 §10.1.1: an unknown key is looked for once, and found where there is a new one")
    func rotation() async throws {
        let issuer = StubIssuer()
        let app = try issuer.app()
        issuer.lie { $0.keys = ["keys": []] }
        #expect(await code { _ = try await app.authorize(in: issuer) } == "id_token_key")
        #expect(issuer.count("/keys") == 1, "those were fetched just now")
        #expect(await code { _ = try await app.authorize(in: issuer) } == "id_token_key")
        #expect(issuer.count("/keys") == 2)
        issuer.lie { $0.keys = nil }
        _ = try await app.authorize(in: issuer)
        _ = try await app.authorize(in: issuer)
        #expect(issuer.count("/keys") == 3)
    }

    static let documentLies: [(String, JSONValue?)] = [
        ("issuer", "https://evil.example.com"), ("issuer", "https://login.example.com/"), ("issuer", nil),
        ("token_endpoint", "http://login.example.com/token"), ("token_endpoint", nil), ("token_endpoint", 1),
        ("jwks_uri", "ftp://login.example.com/keys"), ("authorization_endpoint", "javascript:alert(1)"),
        ("authorization_endpoint", "https://user@login.example.com/authorize"),
        ("revocation_endpoint", "http://127.0.0.1/revoke"), ("code_challenge_methods_supported", ["plain"]),
        ("code_challenge_methods_supported", nil), ("response_types_supported", ["token"]),
        ("token_endpoint_auth_methods_supported", nil), ("authorization_response_iss_parameter_supported", false),
        ("id_token_signing_alg_values_supported", ["none", "HS256"]),
    ]

    // Spec: OpenID Connect Discovery 1.0 §3 and §4.3; RFC 8414 §2 and §3.3; RFC 9207 §3.
    @Test(
        "A document of another issuer, or without what apps need, signs nobody in",
        arguments: documentLies)
    func documents(_ name: String, _ value: JSONValue?) async throws {
        let found = try await refusal { $0.document = { $0[name] = value } }
        #expect(found == "provider_invalid")
    }

    @Test("An endpoint that sends 1 MB, no JSON or an error of its own signs nobody in")
    func replies() async throws {
        let large = try await refusal { lies in
            lies.instead = { request in
                guard request.url.path == "/token" else { return nil }
                return TransportResponse(status: 200, headers: [:], body: [UInt8](repeating: 0x20, count: 1 << 20))
            }
        }
        #expect(large == "provider_invalid")
        for (status, body, expected) in [
            (200, "hello", "provider_invalid"), (200, #"{"access_token":"a","token_type":"mac"}"#, "provider_invalid"),
            (200, #"{"access_token":"a b","token_type":"Bearer"}"#, "provider_invalid"),
            (400, #"{"error":"invalid_grant"}"#, "sign_in_ended"),
            (401, #"{"error":"invalid_client"}"#, "sign_in_refused"), (502, "bad gateway", "server_unreachable"),
            (302, "", "server_unreachable"),
        ] {
            let found = try await refusal { lies in
                lies.instead = { request in
                    guard request.url.path == "/token" else { return nil }
                    return TransportResponse(status: status, headers: [:], body: Array(body.utf8))
                }
            }
            #expect(found == expected, "\(status) \(body)")
        }
    }

    @Test("An endpoint that hangs is left after the limit, and a code is sent once")
    func hanging() async throws {
        let issuer = StubIssuer()
        issuer.lie { lies in
            lies.instead = { request in
                if request.url.path == "/token" { try await Task.sleep(for: .seconds(3600)) }
                return nil
            }
        }
        let app = try issuer.app(timeout: .milliseconds(50))
        #expect(await code { _ = try await app.authorize(in: issuer) } == "network")
        #expect(issuer.count("/token") == 1)
    }

    /// A browser that fails in its own way.
    private struct FailingBrowser: BrowserSession {
        let failure: any Error
        func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL { throw failure }
    }

    // Spec: RFC 8252 §6 and §8.12.
    @Test("A browser that is closed or does not come back is told apart")
    func browser() async throws {
        let app = try StubIssuer().app()
        let closed = FailingBrowser(failure: CancellationError())
        #expect(await code { _ = try await app.authorize(in: closed) } == "cancelled")
        let gone = FailingBrowser(failure: FaultyTransport.Lost())
        #expect(await code { _ = try await app.authorize(in: gone) } == "browser_failed")
    }

    // Spec: RFC 6749 §3.3, Appendix A.1; RFC 8252 §8.5.
    @Test(
        "A registration of a wrong form is refused before anything is sent",
        arguments: [
            ("http://login.example.com", "cli_app", "http://127.0.0.1/callback", "openid"),
            ("https://login.example.com/a", "cli_app", "http://127.0.0.1/callback", "openid"),
            ("https://login.example.com", "", "http://127.0.0.1/callback", "openid"),
            ("https://login.example.com", "cli_app", "http://example.com/callback", "openid"),
            ("https://login.example.com", "cli_app", "shop:/callback", "openid"),
            ("https://login.example.com", "cli_app", "http://127.0.0.1/callback", "a b"),
        ])
    func registrations(_ issuer: String, _ client: String, _ place: String, _ scope: String) async throws {
        let registration = OpenIDRegistration(
            issuer: try #require(URL(string: issuer)), clientID: client,
            redirectURI: try #require(URL(string: place)), scopes: [scope])
        let found = await code {
            _ = try OpenIDClient(registration, vault: MemoryVault(), transport: StubIssuer())
        }
        #expect(found == "configuration_invalid")
    }
}
