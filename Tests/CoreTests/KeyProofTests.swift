import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: RFC 9449 §4.1, §4.2, §4.3, §8, §8.1, §11.1, §11.5; RFC 7515 §4.1.3; RFC 7519 §4.1.4, §4.1.5; RFC 7638
// §3.
@Suite("Proofs of a key")
struct KeyProofTests {
    private func refusal(
        _ text: String, _ world: World, _ method: String = "POST", _ uri: String = Prover.tokenURI,
        for token: Secret<String>? = nil, at ports: Ports? = nil
    ) -> KeyProofRefusal? {
        do throws(KeyProofRefusal) {
            _ = try ProvedKey.verify(text, method: method, uri: uri, for: token, ports: ports ?? world.ports)
            return nil
        } catch {
            return error
        }
    }

    @Test("A proof names the key that has signed it, by ES256 or EdDSA")
    func good() async throws {
        let world = try await World()
        let prover = Prover(world)
        #expect(try await prover.proved().thumbprint == prover.binding)
        #expect(refusal(try prover.forged(), world) == nil)
        let other = Curve25519.Signing.PrivateKey()
        let proof = KeyProof(
            method: "POST", uri: Prover.tokenURI, named: "a", at: world.time.now,
            nonce: ProvedKey.nonce(ports: world.ports), for: nil)
        let proved = try ProvedKey.verify(
            try await proof.signed(by: other), method: "POST", uri: Prover.tokenURI, ports: world.ports)
        #expect(proved.thumbprint == .key(other.jwsPublicKey.thumbprint))
    }

    // Modules: dpop-negative-tests
    @Test("RFC 9449 §4.3: another kind of JWT, another algorithm, and a key that is private, weak or absent")
    func malformed() async throws {
        let world = try await World()
        let prover = Prover(world)
        var privateKey = try #require(prover.jwk.object)
        privateKey["d"] = .string(Base64URL.encode(prover.key.rawRepresentation))
        let symmetric: JSONValue = ["kty": "oct", "k": .string(Base64URL.encode(Array("secret".utf8)))]
        let headers: [[String: JSONValue]] = [
            ["typ": .null], ["typ": "JWT"], ["typ": "at+jwt"], ["alg": .null], ["alg": "none"], ["alg": "HS256"],
            ["alg": "RS256"], ["alg": "EdDSA"], ["jwk": .null], ["jwk": .object(privateKey)], ["jwk": symmetric],
            ["jwk": "key"], ["jwk": Prover(world).jwk], ["crit": ["b64"]],
        ]
        for header in headers {
            #expect(refusal(try prover.forged(header: header), world) == .invalid(.malformed), "\(header)")
        }
        for name in ["jti", "htm", "htu", "iat"] {
            let missing = refusal(try prover.forged([name: .null]), world)
            #expect(missing == .invalid(name == "htm" ? .method : .malformed), "\(name)")
        }
        let claims: [[String: JSONValue]] = [["jti": 1], ["iat": "1"], ["htu": ["https://login.example.com"]]]
        for claims in claims {
            #expect(refusal(try prover.forged(claims), world) == .invalid(.malformed), "\(claims)")
        }
        let good = try await prover.proof()
        let stolen = try prover.forged(by: P256.Signing.PrivateKey())
        for text in ["", "a.b.c", "\(good), \(good)", "\(good)x", good.replacing(".", with: ""), stolen] {
            #expect(refusal(text, world) == .invalid(.malformed), "\(text)")
        }
    }

    // Modules: dpop-negative-tests
    @Test("RFC 9449 §4.3: htm is the method of the request, byte for byte")
    func method() async throws {
        let world = try await World()
        let prover = Prover(world)
        for method in ["GET", "post", "POST ", ""] {
            #expect(refusal(try prover.forged(["htm": .string(method)]), world) == .invalid(.method), "\(method)")
        }
        #expect(refusal(try await prover.proof("GET"), world, "GET") == nil)
    }

    // Modules: dpop-negative-tests
    // Spec: RFC 3986 §6.2.2.1, §6.2.3.
    @Test("RFC 9449 §4.3: htu is the address of the request, whatever its query, its letters and the usual port")
    func place() async throws {
        let world = try await World()
        let prover = Prover(world)
        for uri in [
            "https://login.example.com/oauth2/token?a=b", "https://login.example.com/oauth2/token#c",
            "HTTPS://Login.Example.com/oauth2/token", "https://login.example.com:443/oauth2/token",
        ] {
            #expect(refusal(try prover.forged(["htu": .string(uri)]), world) == nil, "\(uri)")
        }
        for uri in [
            "http://login.example.com/oauth2/token", "https://login.example.com:8443/oauth2/token",
            "https://login.example.com:80/oauth2/token", "https://other.example.com/oauth2/token",
            "https://login.example.com.evil.example/oauth2/token", "https://login.example.com/oauth2/Token",
            "https://login.example.com/oauth2/token/", "https://login.example.com/oauth2/userinfo",
            "https://login.example.com", "https://login.example.com/", "/oauth2/token", "oauth2/token", "", "https://",
            "https://login.example.com/?/oauth2/token", "https://user@login.example.com/oauth2/token",
            "https:/login.example.com/oauth2/token",
        ] {
            #expect(refusal(try prover.forged(["htu": .string(uri)]), world) == .invalid(.place), "\(uri)")
        }
        #expect(refusal(try await prover.proof(), world, "POST", "\(Prover.tokenURI)?resource=x") == nil)
    }

    // Modules: dpop-negative-tests
    @Test("RFC 9449 §4.3: ath is the hash of the access token that is shown")
    func token() async throws {
        let world = try await World()
        let prover = Prover(world)
        let token = Secret("a.b.c")
        #expect(refusal(try await prover.proof(for: token), world, for: token) == nil)
        #expect(refusal(try await prover.proof(), world, for: token) == .invalid(.token))
        #expect(refusal(try await prover.proof(for: Secret("a.b.d")), world, for: token) == .invalid(.token))
        #expect(refusal(try prover.forged(["ath": "a.b.c"]), world, for: token) == .invalid(.token))
    }

    // Modules: dpop-negative-tests
    @Test("RFC 9449 §8: each proof has a nonce of ours, which is good for two minutes, at all servers")
    func nonce() async throws {
        let world = try await World()
        let prover = Prover(world)
        let first = ProvedKey.nonce(ports: world.ports)
        #expect(refusal(try prover.forged(["nonce": .null]), world) == .nonceMissing)
        let zeros = Base64URL.encode([UInt8](repeating: 0, count: 24))
        for nonce in ["", "x", "\(first)x", zeros, first.lowercased()] {
            #expect(refusal(try prover.forged(["nonce": .string(nonce)]), world) == .nonceMissing, "\(nonce)")
        }
        // The same until the next half minute, and then another one.
        world.time.set(Timestamp(seconds: world.time.now.seconds / 30 * 30 + 29))
        #expect(ProvedKey.nonce(ports: world.ports) == first)
        world.time.advance(seconds: 1)
        #expect(ProvedKey.nonce(ports: world.ports) != first)
        world.time.advance(seconds: 89)
        #expect(refusal(try await prover.proof(nonce: first), world) == nil)
        world.time.advance(seconds: 1)
        #expect(refusal(try await prover.proof(nonce: first), world) == .nonceMissing)
        // Another server, whose clock is a minute behind a nonce, takes it; one further behind does not.
        world.time.advance(seconds: 20)
        let given = ProvedKey.nonce(ports: world.ports)
        let other = try await world.reopened()
        // It is twenty seconds old: nonces are dated by half minutes.
        world.time.advance(seconds: -80)
        #expect(refusal(try await prover.proof(nonce: given), world, at: other.ports) == nil)
        world.time.advance(seconds: -1)
        #expect(refusal(try await prover.proof(nonce: given), world, at: other.ports) == .nonceMissing)
    }

    // Modules: check-dpop-proof-nbf-exp, ensure-dpopproof-with-iat-10seconds-before-succeeds,
    // ensure-dpopproof-with-iat-10seconds-after-succeeds, dpop-negative-tests
    @Test("RFC 9449 §11.1: a proof is of this minute, and within the times that it names itself")
    func times() async throws {
        let world = try await World()
        let prover = Prover(world)
        let now = world.time.now.seconds
        for (seconds, isGood) in [(-61, false), (-60, true), (60, true), (61, false)] as [(Int64, Bool)] {
            let refused = refusal(try prover.forged(["iat": .integer(now + seconds)]), world)
            #expect(refused == (isGood ? nil : .invalid(.time)), "\(seconds)")
        }
        for (name, value, isGood) in [
            ("exp", now + 1, true), ("exp", now, false), ("nbf", now + 60, true), ("nbf", now + 61, false),
            ("iat", Int64.max, false), ("iat", Int64.min, false),
        ] {
            let refused = refusal(try prover.forged([name: .integer(value)]), world)
            #expect(refused == (isGood ? nil : .invalid(.time)), "\(name) \(value)")
        }
        for name in ["exp", "nbf"] {
            #expect(refusal(try prover.forged([name: "soon"]), world) == .invalid(.time))
        }
        // Spec: RFC 7519 §2, NumericDate.
        for (seconds, isGood) in [(-60.5, false), (-59.5, true), (60.5, true), (61.5, false), (1e300, false)] {
            let refused = refusal(try prover.forged(["iat": .double(Double(now) + seconds)]), world)
            #expect(refused == (isGood ? nil : .invalid(seconds < 1e9 ? .time : .malformed)), "\(seconds)")
        }
    }
}
