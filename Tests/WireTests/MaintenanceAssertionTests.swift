import CountersignWire
import Crypto
import Encodings
import JOSE
import Testing

// Spec: RFC 7523 §3.
@Suite("What a device with JWKs signs for a token of its own")
struct MaintenanceAssertionTests {
    private static let possession = PrivateJWK(P256.Signing.PrivateKey(), keyID: "possession")
    private static let verification = PrivateJWK(P256.Signing.PrivateKey(), keyID: "verification")
    private static let sample = try? Sample()
    private static let now: Int64 = 1_790_000_000

    private func goodClaims() throws -> JSONObject {
        let sample = try #require(Self.sample)
        return [
            "iss": "urn:okta:devices:app:authenticator", "aud": "https://login.example.com",
            "sub": .string("\(sample.user)"), "methodEnrollmentId": .string("\(sample.enrollment)"),
            "iat": .integer(Self.now), "exp": .integer(Self.now + 300), "nbf": .integer(Self.now - 300), "jti": "one",
        ]
    }

    /// What is read of claims; nil if they are refused.
    private func read(
        _ claims: JSONObject, type: String = "JWT", by key: PrivateJWK = possession, at seconds: Int64 = now
    ) async throws -> MaintenanceAssertion? {
        let keys = try DeviceJWKs(
            proofOfPossession: Self.possession.publicKey.json, userVerification: Self.verification.publicKey.json)
        let token = try await JWS.sign(
            JSONValue.object(claims).encoded, type: type, by: key, keyID: key.keyID)
        let issuer = try #require(Issuer("https://login.example.com"))
        return MaintenanceAssertion(
            token, by: keys, at: issuer, now: Timestamp(seconds: seconds), tolerance: Seconds(60))
    }

    @Test("All that it says is read, and who it is by before it is verified")
    func reads() async throws {
        let sample = try #require(Self.sample)
        let assertion = try #require(try await read(try goodClaims()))
        #expect(assertion.enrollment == sample.enrollment && assertion.user == sample.user)
        #expect(assertion.name == "one" && assertion.expiresAt == Self.now + 300)
        let token = try await JWS.sign(
            JSONValue.object(try goodClaims()).encoded, type: "JWT", by: Self.possession, keyID: "x")
        #expect(MaintenanceAssertion.enrollment(namedBy: token) == sample.enrollment)
        for text in ["", "a.b.c", "\(token).x", String(repeating: "a", count: 20_000)] {
            #expect(MaintenanceAssertion.enrollment(namedBy: text) == nil, "\(text.prefix(20))")
        }
    }

    @Test("RFC 7523 §3: each claim is there, and is that of this device and this server; the key is that of possession")
    func claims() async throws {
        let good: JSONObject = try goodClaims()
        for name in ["iss", "aud", "sub", "methodEnrollmentId", "iat", "exp", "jti"] {
            var claims = good
            claims[name] = nil
            #expect(try await read(claims) == nil, "\(name)")
        }
        for (name, value) in [
            ("iss", "enr_01m7yfdvpt5prmr79m8dcgymep"), ("aud", "https://login.example.com/"),
            ("aud", ["https://login.example.com"]), ("jti", ""), ("sub", "anna"), ("methodEnrollmentId", "opf1"),
            ("nbf", "now"),
        ] as [(String, JSONValue)] {
            var claims = good
            claims[name] = value
            #expect(try await read(claims) == nil, "\(name)")
        }
        #expect(try await read(good, by: Self.verification) == nil)
        #expect(try await read(good, type: "okta-pushbind+jwt") == nil)
        let thief = PrivateJWK(P256.Signing.PrivateKey(), keyID: "possession")
        #expect(try await read(good, by: thief) == nil)
    }

    @Test("RFC 7523 §3: it is good for ten minutes at most, give or take a minute")
    func times() async throws {
        let good: JSONObject = try goodClaims()
        for (seconds, isGood) in [(-361, false), (-360, true), (359, true), (360, false)] as [(Int64, Bool)] {
            #expect(try await (read(good, at: Self.now + seconds) != nil) == isGood, "\(seconds)")
        }
        for (start, issued, end) in [
            (0, 0, 601), (1, 0, 300), (0, 300, 300), (-Self.now - 1, 0, 300), (0, 0, Int64.max - Self.now),
        ] as [(Int64, Int64, Int64)] {
            var claims = good
            claims["nbf"] = .integer(Self.now + start)
            claims["iat"] = .integer(Self.now + issued)
            claims["exp"] = .integer(Self.now + end)
            #expect(try await read(claims) == nil, "\(start) \(issued) \(end)")
        }
        var short = good
        short["nbf"] = nil
        #expect(try await read(short) != nil)
    }
}
