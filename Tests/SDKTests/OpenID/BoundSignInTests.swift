import Countersign
import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import TestSupport
import Testing

// Spec: docs/protocol/signing-in.md, *Tokens that are bound to a key*; RFC 9449 §5, §7.1, §8.1, §8.2, §9, §10.
@Suite("The tokens of a sign-in are bound to a key of its own", .timeLimit(.minutes(15)))
struct BoundSignInTests {
    /// What a proof says, after its verification by the key in it.
    private struct Shown {
        let claims: JSONValue
        let thumbprint: String

        init(_ proof: String?) throws {
            let verified = try JWS.verifyProof(
                try #require(proof), algorithms: [.es256], type: "dpop+jwt")
            claims = try JSONValue(parsing: verified.payload)
            thumbprint = verified.key.thumbprint
        }
    }

    /// An issuer that binds tokens.
    private func bindingIssuer() -> StubIssuer {
        let issuer = StubIssuer()
        issuer.lie { lies in
            lies.document = { $0["dpop_signing_alg_values_supported"] = ["ES256"] }
            lies.reply = { $0["token_type"] = "DPoP" }
        }
        return issuer
    }

    private func proofs(_ issuer: StubIssuer, _ path: String = "/token") throws -> [Shown] {
        try issuer.fields("DPoP", path).map { try Shown($0) }
    }

    /// Has the issuer want a nonce in each proof.
    private func wantNonce(_ nonce: String, _ issuer: StubIssuer, at date: String? = nil) {
        issuer.lie { lies in
            lies.instead = { request in
                guard let proof = request.headers["DPoP"] else { return nil }
                let shown = try Shown(proof)
                guard shown.claims["nonce"] != .string(nonce) else { return nil }
                var reply = StubIssuer.reply(["error": "use_dpop_nonce"], status: 400)
                reply.headers["dpop-nonce"] = nonce
                reply.headers["date"] = date
                return reply
            }
        }
    }

    @Test("Code, tokens and refresh are proved by one key, kept with them; the next sign-in has another")
    func bound() async throws {
        let (issuer, vault, clock) = (bindingIssuer(), MemoryVault(), MovedClock())
        let app = try issuer.app(vault, clock: clock)
        _ = try await app.authorize(in: issuer)
        let first = try #require(try proofs(issuer).first)
        #expect(issuer.asked["dpop_jkt"] == first.thumbprint)
        #expect(first.claims["htm"] == "POST" && first.claims["htu"] == .string("\(StubIssuer.url)/token"))
        #expect(first.claims["ath"] == nil && first.claims["nonce"] == nil)
        #expect(try await app.accessToken().isBound)
        _ = try await app.userInfo()
        #expect(issuer.fields("Authorization", "/userinfo") == ["DPoP access-0"])
        let shown = try #require(try proofs(issuer, "/userinfo").first)
        #expect(shown.claims["ath"] == .string(KeyProof.hash(of: "access-0")))
        #expect(shown.thumbprint == first.thumbprint && shown.claims["htm"] == "GET")
        clock.advance(seconds: 600)
        let again = try issuer.app(vault, clock: clock)
        #expect(try await again.accessToken().reveal() == "access-1")
        let all = try proofs(issuer)
        #expect(all.count == 2 && all.allSatisfy { $0.thumbprint == first.thumbprint })
        #expect(all[0].claims["jti"] != all[1].claims["jti"])
        _ = try await again.authorize(in: issuer)
        let last = try #require(try proofs(issuer).last)
        #expect(last.thumbprint != first.thumbprint && issuer.asked["dpop_jkt"] == last.thumbprint)
    }

    @Test("RFC 9449 §8.2: a nonce is taken up at once, and in all later proofs; a stubborn server is asked twice")
    func nonce() async throws {
        let issuer = bindingIssuer()
        let app = try issuer.app()
        wantNonce("n-1", issuer)
        _ = try await app.authorize(in: issuer)
        #expect(try proofs(issuer).map { $0.claims["nonce"] } == [nil, "n-1"])
        #expect(Set(issuer.forms("/token").map { $0["code"] }) == ["the-code"])
        _ = try await app.userInfo()
        #expect(try proofs(issuer, "/userinfo").map { $0.claims["nonce"] } == ["n-1"])
        wantNonce("n-2", issuer)
        _ = try await app.userInfo()
        #expect(try proofs(issuer, "/userinfo").map { $0.claims["nonce"] } == ["n-1", "n-1", "n-2"])
        issuer.lie { lies in
            lies.instead = { request in
                guard request.url.path == "/token" else { return nil }
                var reply = StubIssuer.reply(["error": "use_dpop_nonce"], status: 400)
                reply.headers["dpop-nonce"] = "another"
                return reply
            }
        }
        let before = issuer.count("/token")
        #expect(await code { _ = try await app.authorize(in: issuer) } == "sign_in_refused")
        #expect(issuer.count("/token") == before + 2)
        // What no nonce may be is none.
        for nonce in ["", "a b", "a\"b", String(repeating: "a", count: 1025)] {
            issuer.lie { lies in
                lies.instead = { request in
                    guard request.url.path == "/token" else { return nil }
                    var reply = StubIssuer.reply(["error": "use_dpop_nonce"], status: 400)
                    reply.headers["dpop-nonce"] = nonce
                    return reply
                }
            }
            let before = issuer.count("/token")
            #expect(await code { _ = try await app.authorize(in: issuer) } == "sign_in_refused")
            #expect(issuer.count("/token") == before + 1)
        }
    }

    @Test("A proof is made by the time of the server that wanted a nonce, if the device's clock is off")
    func clock() async throws {
        let issuer = bindingIssuer()
        let app = try issuer.app()
        wantNonce("n-1", issuer, at: "Thu, 01 Jan 1970 00:00:00 GMT")
        _ = try await app.authorize(in: issuer)
        let now = SystemClock().millisecondsSince1970 / 1000
        // A clock cannot be off by more than a day.
        let far = try #require(try proofs(issuer).last?.claims["iat"]?.integer)
        #expect(abs(far - now) < 60)
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        wantNonce("n-2", issuer, at: format.string(from: Date(timeIntervalSince1970: TimeInterval(now - 300))))
        _ = try await app.authorize(in: issuer)
        let corrected = try #require(try proofs(issuer).last?.claims["iat"]?.integer)
        #expect(abs(corrected - (now - 300)) < 60)
    }

    @Test("Where the issuer binds nothing, all is as it was")
    func bearer() async throws {
        let issuer = StubIssuer()
        let app = try issuer.app()
        _ = try await app.authorize(in: issuer)
        #expect(issuer.asked["dpop_jkt"] == nil && issuer.fields("DPoP", "/token") == [nil])
        _ = try await app.userInfo()
        #expect(issuer.fields("Authorization", "/userinfo") == ["Bearer access-0"])
        let token = try await app.accessToken()
        let url = try #require(URL(string: "https://api.example.com/orders"))
        #expect(!token.isBound)
        #expect(try await token.headerFields(for: "GET", url) == ["Authorization": "Bearer access-0"])
    }

    @Test("RFC 9449 §5: a token of the other type than was asked for is none, and nobody is signed in by it")
    func otherType() async throws {
        let binding = bindingIssuer()
        binding.lie { $0.reply = { $0["token_type"] = "Bearer" } }
        let app = try binding.app()
        #expect(await code { _ = try await app.authorize(in: binding) } == "provider_invalid")
        #expect(try await app.signedIn() == nil)
        let plain = StubIssuer()
        plain.lie { $0.reply = { $0["token_type"] = "DPoP" } }
        let other = try plain.app()
        #expect(await code { _ = try await other.authorize(in: plain) } == "provider_invalid")
    }

    @Test("A sign-in from before there were keys goes on without one, until the person signs in anew")
    func earlier() async throws {
        let (issuer, vault, clock) = (StubIssuer(), MemoryVault(), MovedClock())
        _ = try await issuer.app(vault, clock: clock).authorize(in: issuer)
        issuer.lie { $0.document = { $0["dpop_signing_alg_values_supported"] = ["ES256"] } }
        clock.advance(seconds: 600)
        let app = try issuer.app(vault, clock: clock)
        #expect(try await !app.accessToken().isBound)
        #expect(issuer.fields("DPoP", "/token") == [nil, nil])
        issuer.lie { $0.reply = { $0["token_type"] = "DPoP" } }
        _ = try await app.authorize(in: issuer)
        #expect(try await app.accessToken().isBound)
    }

    @Test("An app shows the token to its own API by fields for one request, with the nonce that the API wants")
    func ownAPI() async throws {
        let issuer = bindingIssuer()
        let app = try issuer.app()
        _ = try await app.authorize(in: issuer)
        let token = try await app.accessToken()
        let url = try #require(URL(string: "https://api.example.com/orders?page=2#top"))
        let fields = try await token.headerFields(for: "PUT", url, nonce: "api-1")
        #expect(fields["Authorization"] == "DPoP access-0" && fields.count == 2)
        let shown = try Shown(fields["DPoP"])
        #expect(shown.claims["htm"] == "PUT" && shown.claims["htu"] == "https://api.example.com/orders")
        #expect(shown.claims["nonce"] == "api-1")
        #expect(shown.claims["ath"] == .string(KeyProof.hash(of: "access-0")))
        let other = try Shown(try await token.headerFields(for: "PUT", url)["DPoP"])
        #expect(other.claims["nonce"] == nil && other.claims["jti"] != shown.claims["jti"])
        #expect(other.thumbprint == shown.thumbprint)
    }

    @Test("A lost reply, and a request that the system has sent twice, are sent again with a proof of their own")
    func again() async throws {
        let (issuer, clock) = (bindingIssuer(), MovedClock())
        let app = try issuer.app(clock: clock)
        _ = try await app.authorize(in: issuer)
        clock.advance(seconds: 600)
        let failures = Failures()
        issuer.lie { lies in
            lies.instead = { request in
                guard request.url.path == "/token" else { return nil }
                switch await failures.next() {
                case 0: throw FaultyTransport.Lost()
                case 1: return StubIssuer.reply(["error": "invalid_dpop_proof"], status: 400)
                default: return nil
                }
            }
        }
        #expect(try await app.accessToken().reveal() == "access-1")
        let names = try proofs(issuer).map { $0.claims["jti"] }
        #expect(names.count == 4 && Set(names).count == 4)
    }

    private actor Failures {
        private var count = 0

        func next() -> Int {
            defer { count += 1 }
            return count
        }
    }

    @Test("A record whose key is damaged is told of, and is not taken for one without a key")
    func damaged() async throws {
        let (issuer, vault) = (bindingIssuer(), MemoryVault())
        let app = try issuer.app(vault)
        _ = try await app.authorize(in: issuer)
        let place = Array("\(StubIssuer.url)\n\(StubIssuer.client)".utf8)
        let name = "tokens-\(Hex.encode(Array(SHA256.hash(data: place).prefix(16))))"
        let bytes = try #require(await vault.appRecord(name))
        var record = try #require(try JSONValue(parsing: bytes).object)
        #expect(record["dpop_key"]?["d"]?.string?.isEmpty == false)
        record["dpop_key"] = ["kty": "EC"]
        await vault.writeAppRecord(JSONValue.object(record).encoded, as: name)
        #expect(await code { _ = try await app.accessToken() } == "vault")
    }
}
