import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import NIOHTTP1
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 8705 §2, §2.1.2, §2.2.2, §3.3, §5; RFC 9440 §2.2, §3.
@Suite("Clients that authenticate by a certificate")
struct CertificateClientTests {
    private static let asking = "/oauth2/introspect"

    private func expect(
        _ reply: Reply, _ status: Int, _ error: String, _ description: String? = nil,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(reply.status == status, "\(reply)", sourceLocation: location)
        #expect(reply.json["error"] == .string(error), "\(reply)", sourceLocation: location)
        if let description {
            #expect(reply.json["error_description"] == .string(description), "\(reply)", sourceLocation: location)
        }
    }

    private func read(_ scene: SignInPageScene, _ name: String = "openid-configuration") async throws -> JSONValue {
        try await scene.server.send(.GET, "/.well-known/\(name)", isContract: false).json
    }

    /// Asks about a token: 200 if the client is authenticated.
    private func ask(_ scene: SignInPageScene, _ certificate: TestCertificate?) async throws -> Reply {
        try await scene.send([("token", "x")] + scene.id, with: certificate, at: Self.asking)
    }

    @Test("RFC 8705 §2.1: the code flow by a certificate with the registered subject, and by no other")
    func subject() async throws {
        let settings: JSONObject = ["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"]
        try await SignInPageScene.withCertificates(settings) { scene in
            let (shop, other) = (try TestCertificate(named: "shop"), try TestCertificate(named: "shop2"))
            let code = try #require(try await scene.signIn().result["code"])
            let fields = scene.redeemFields(code) + scene.id
            expect(
                try await scene.send(fields, with: nil), 401, "invalid_client",
                "the client must authenticate by its certificate in TLS")
            expect(
                try await scene.send(fields, with: other), 401, "invalid_client",
                "the certificate is not the client's")
            let reply = try await scene.send(fields, with: shop)
            #expect(reply.status == 200 && reply.json["id_token"] != nil, "\(reply)")
            // It has not asked for bound tokens.
            #expect(reply.json["token_type"] == "Bearer")
            let access = try #require(reply.json["access_token"]?.string)
            #expect(try await scene.userinfo(access).status == 200)
            // Whoever the authority renews it for is the same client.
            #expect(try await ask(scene, try TestCertificate(named: "shop")).status == 200)
        }
    }

    // Spec: RFC 8705 §2.2.
    @Test("RFC 8705 §2.2: a registered certificate is enough, old and new, until it is registered no more")
    func selfSigned() async throws {
        try await SignInPageScene.withCertificates(from: .unverified) { scene in
            let (old, new) = (try TestCertificate(named: "shop"), try TestCertificate(named: "shop"))
            func register(_ certificates: [TestCertificate]) async throws {
                try await scene.set([
                    "asked_browsers": "all",
                    "self_signed_tls_client_auth_thumbprints": .array(certificates.map { .string($0.thumbprint) }),
                ])
            }
            try await register([old])
            #expect(try await ask(scene, old).status == 200)
            expect(try await ask(scene, new), 401, "invalid_client", "the certificate is not the client's")
            try await register([old, new])
            #expect(try await ask(scene, old).status == 200)
            #expect(try await ask(scene, new).status == 200)
            try await register([new])
            expect(try await ask(scene, old), 401, "invalid_client")
        }
    }

    @Test("RFC 8705 §2.2: nobody looks at the dates of a registered certificate; those of others the proxy has seen")
    func expired() async throws {
        try await SignInPageScene.withCertificates(from: .unverified) { scene in
            let over = try TestCertificate(named: "shop", until: Date(timeIntervalSince1970: 1_100_000_000))
            try await scene.set([
                "asked_browsers": "all", "self_signed_tls_client_auth_thumbprints": [.string(over.thumbprint)],
            ])
            #expect(try await ask(scene, over).status == 200)
            // By a name, this proxy's word is not enough.
            try await scene.set(["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"])
            expect(try await ask(scene, over), 401, "invalid_client", "the certificate is not the client's")
            expect(try await ask(scene, try TestCertificate(named: "shop")), 401, "invalid_client")
        }
    }

    @Test("A client that forges the header is nobody: it does not come from a trusted proxy, or none is to be believed")
    func forged() async throws {
        let certificate = try TestCertificate(named: "shop")
        let settings: JSONObject = [
            "asked_browsers": "all", "self_signed_tls_client_auth_thumbprints": [.string(certificate.thumbprint)],
        ]
        let doors: [(CertificateSource, [String])] = [
            (.proxy, ["192.0.2.0/24"]), (.unverified, ["192.0.2.0/24"]), (.off, ["127.0.0.0/8"]),
        ]
        for (source, networks) in doors {
            try await SignInPageScene.withCertificates(from: source, trusting: networks, settings) { scene in
                expect(
                    try await ask(scene, certificate), 401, "invalid_client",
                    "the client must authenticate by its certificate in TLS")
                // Nobody else reads it either, so that it harms nobody.
                let odd = try await scene.server.send(
                    .GET, "/oauth2/jwks", headers: [("Client-Cert", "odd")], isContract: false)
                #expect(odd.status == 200)
            }
        }
    }

    @Test("A field of the proxy that is malformed, or that stands twice, is refused for whoever it is")
    func malformed() async throws {
        let certificate = try TestCertificate(named: "shop")
        let settings: JSONObject = ["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"]
        try await SignInPageScene.withCertificates(settings) { scene in
            let form = [("token", "x")] + scene.id
            let good = ClientCertificateField.value(of: certificate.bytes)
            let other = ClientCertificateField.value(of: try TestCertificate(named: "other").bytes)
            for fields in [["odd"], [""], ["\(other), \(good)"], [other, good], [good, good]] {
                let reply = try await scene.send(
                    form, with: nil, at: Self.asking, fields.map { ("Client-Cert", $0) })
                expect(reply, 400, "invalid_request", "the request is malformed")
            }
            // A byte sequence that is no certificate has no name.
            let bytes = try await scene.send(form, with: nil, at: Self.asking, [("Client-Cert", ":AQID:")])
            expect(bytes, 401, "invalid_client", "the certificate is not the client's")
        }
    }

    @Test("Whoever has a certificate authenticates by nothing else: neither a secret nor keys, which sign requests")
    func oneWay() async throws {
        try await SignInPageScene.withCertificates { scene in
            let (key, shop) = (P256.Signing.PrivateKey(), try TestCertificate(named: "shop"))
            let keys = JWKSet([JWK(key.publicKey)]).json
            func asserted() async throws -> Reply {
                let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
                let claims: JSONValue = [
                    "iss": .string(id), "sub": .string(id), "aud": .string("\(scene.server.issuer)"),
                    "jti": .string("\(UInt64.random(in: 0...(.max)))"), "exp": .integer(now + 60),
                ]
                let assertion = try await JWS.sign(
                    claims.encoded, type: nil, by: key, keyID: key.jwsPublicKey.thumbprint)
                let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                return try await scene.send(
                    [("token", "x"), ("client_assertion_type", type), ("client_assertion", assertion)], with: shop,
                    at: Self.asking)
            }
            try await scene.set(["asked_browsers": "all", "jwks": keys])
            #expect(try await asserted().status == 200)
            try await scene.set(["asked_browsers": "all", "jwks": keys, "tls_client_auth_subject_dn": "CN=shop"])
            expect(try await asserted(), 401, "invalid_client")
            #expect(try await ask(scene, shop).status == 200)
            func bySecret() async throws -> Reply {
                try await scene.send([("token", "x")], with: shop, at: Self.asking, [scene.basic])
            }
            let certificateMissing = "the client must authenticate by its certificate in TLS"
            expect(try await bySecret(), 401, "invalid_client", certificateMissing)
            try await scene.set(["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"])
            expect(try await bySecret(), 401, "invalid_client", certificateMissing)
            // A certificate is nothing for a client that has none registered.
            try await scene.set(["asked_browsers": "all"])
            expect(try await ask(scene, shop), 401, "invalid_client", "the client must authenticate")
            let unknown = try await scene.send(
                [("token", "x"), ("client_id", "cli_00000000000000000000000000")], with: shop, at: Self.asking)
            expect(unknown, 401, "invalid_client", "the client must authenticate")
        }
    }

    @Test("A client that is disabled is not authenticated by its certificate")
    func disabled() async throws {
        let settings: JSONObject = ["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"]
        try await SignInPageScene.withCertificates(settings) { scene in
            let shop = try TestCertificate(named: "shop")
            #expect(try await ask(scene, shop).status == 200)
            let path = "/v1/admin/clients/\(scene.credential.id)/disable"
            _ = try await scene.scene.administrator.call(.POST, path).success()
            expect(try await ask(scene, shop), 401, "invalid_client", "the certificate is not the client's")
        }
    }

    @Test("Wrong certificates meet the limit of their network, which shuts out no right one")
    func limit() async throws {
        let settings: JSONObject = ["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"]
        try await SignInPageScene.withCertificates(settings) { scene in
            let (shop, other) = (try TestCertificate(named: "shop"), try TestCertificate(named: "other"))
            for _ in 0..<100 { expect(try await ask(scene, other), 401, "invalid_client") }
            let refused = try await ask(scene, other)
            expect(refused, 429, "temporarily_unavailable")
            #expect(refused.headers["retry-after"] != nil)
            #expect(try await ask(scene, shop).status == 200)
        }
    }

    @Test("The settings are told as they were set, one way to name a certificate, for a client that keeps a secret")
    func settings() async throws {
        try await SignInPageScene.with { scene in
            let path = "/v1/admin/clients/\(scene.credential.id)/openid"
            let thumbprint = JSONValue.string(Base64URL.encode(Array(repeating: UInt8(1), count: 32)))
            let members: [(String, JSONValue)] = [
                ("tls_client_auth_subject_dn", "CN=shop, O=Example,C=DE"),
                ("tls_client_auth_san_dns", "shop.example.com"), ("tls_client_auth_san_uri", "https://shop.example/a"),
                ("tls_client_auth_san_ip", "2001:DB8::1"), ("tls_client_auth_san_email", "shop@example.com"),
                ("self_signed_tls_client_auth_thumbprints", [thumbprint]),
            ]
            func body(_ changes: [(String, JSONValue)], _ profile: String = "web") -> JSONValue {
                var body: JSONObject = [
                    "profile": .string(profile), "redirect_uris": ["https://shop.example.com/callback"],
                ]
                for (name, value) in changes { body[name] = value }
                return .object(body)
            }
            func refused(_ changes: [(String, JSONValue)], _ profile: String = "web", at pointer: String) async throws {
                let reply = try await scene.scene.administrator.call(.PUT, path, body(changes, profile))
                expectRefusal(reply, 422, "invalid_member", at: pointer)
            }
            let binds = ("tls_client_certificate_bound_access_tokens", JSONValue.bool(true))
            for member in members {
                let set = try await scene.scene.administrator.call(.PUT, path, body([member, binds])).success()
                #expect(set[member.0] == member.1 && set[binds.0] == true, "\(set)")
                #expect(set["dpop_bound_access_tokens"] == nil)
                #expect(try await scene.scene.administrator.call(.GET, path).success() == set)
                try await refused([member], "native", at: "/\(member.0)")
                for other in members where other.0 != member.0 {
                    let last = members.map(\.0).last { $0 == member.0 || $0 == other.0 } ?? ""
                    try await refused([member, other], at: "/\(last)")
                }
            }
            try await refused([binds], "native", at: "/\(binds.0)")
            try await refused([binds, ("dpop_bound_access_tokens", true)], at: "/\(binds.0)")
            for (name, value): (String, JSONValue) in [
                ("tls_client_auth_subject_dn", "shop"), ("tls_client_auth_subject_dn", "C = DE, CN = shop"),
                ("tls_client_auth_subject_dn", ["CN=shop"]), ("tls_client_auth_san_dns", ""),
                ("tls_client_auth_san_dns", "shop example"), ("tls_client_auth_san_uri", "https://shöp.example"),
                ("tls_client_auth_san_ip", "192.0.2"), ("tls_client_auth_san_email", 1), (binds.0, "yes"),
            ] {
                try await refused([(name, value)], at: "/\(name)")
            }
            let list = "self_signed_tls_client_auth_thumbprints"
            try await refused([(list, [])], at: "/\(list)")
            try await refused([(list, ["AQID"])], at: "/\(list)/0")
            try await refused([(list, [thumbprint, thumbprint])], at: "/\(list)")
        }
    }

    // Modules: discovery-end-point-verification
    // Spec: RFC 9728 §2.
    @Test("RFC 8705 §3.3, §5: the metadata say which certificates are taken, and where, if not at the issuer")
    func metadata() async throws {
        let lists = [
            "token_endpoint_auth_methods_supported", "introspection_endpoint_auth_methods_supported",
            "revocation_endpoint_auth_methods_supported",
        ]
        let url = Issuer("https://mtls.example.com")
        for (source, methods, alias): (CertificateSource, [JSONValue], Issuer?) in [
            (.off, [], url), (.proxy, ["tls_client_auth", "self_signed_tls_client_auth"], nil),
            (.unverified, ["self_signed_tls_client_auth"], url),
        ] {
            try await SignInPageScene.withCertificates(from: source, at: alias) { scene in
                let metadata = try await read(scene)
                for list in lists {
                    let found = (metadata[list]?.array ?? []).filter { "\($0)".contains("tls_client_auth") }
                    #expect(found == methods, "\(list): \(found)")
                }
                let isOn: JSONValue? = source == .off ? nil : true
                #expect(metadata["tls_client_certificate_bound_access_tokens"] == isOn)
                let resource = try await read(scene, "oauth-protected-resource")
                #expect(resource["tls_client_certificate_bound_access_tokens"] == isOn)
                #expect(resource["mtls_endpoint_aliases"] == nil)
                let aliases = metadata["mtls_endpoint_aliases"]
                #expect((aliases != nil) == (source == .unverified))
                guard source == .unverified else { return }
                #expect(aliases?["token_endpoint"] == "https://mtls.example.com/oauth2/token")
                #expect(aliases?["userinfo_endpoint"] == "https://mtls.example.com/oauth2/userinfo")
                #expect(
                    aliases?["backchannel_authentication_endpoint"] == "https://mtls.example.com/oauth2/bc-authorize")
                #expect(aliases?["authorization_endpoint"] == nil && aliases?["end_session_endpoint"] == nil)
                #expect(metadata["token_endpoint"] == .string("\(scene.server.issuer)/oauth2/token"))
            }
        }
    }

    // Spec: RFC 7523 §3.
    @Test("RFC 8705 §5: an assertion is for either address of the token endpoint or of its own, and for no other one")
    func assertionAtAlias() async throws {
        let url = "https://mtls.example.com"
        try await SignInPageScene.withCertificates(at: Issuer(url)) { scene in
            let key = P256.Signing.PrivateKey()
            try await scene.set([
                "asked_browsers": "all", "jwks": JWKSet([JWK(key.publicKey)]).json,
                "tls_client_certificate_bound_access_tokens": true,
            ])
            func asserted(for audience: String) async throws -> Reply {
                let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
                let claims: JSONValue = [
                    "iss": .string(id), "sub": .string(id), "aud": .string(audience),
                    "jti": .string("\(UInt64.random(in: 0...(.max)))"), "exp": .integer(now + 60),
                ]
                let assertion = try await JWS.sign(
                    claims.encoded, type: nil, by: key, keyID: key.jwsPublicKey.thumbprint)
                let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                return try await scene.send(
                    [("token", "x"), ("client_assertion_type", type), ("client_assertion", assertion)],
                    with: try TestCertificate(named: "any"), at: Self.asking)
            }
            let issuer = "\(scene.server.issuer)"
            for audience in [issuer, "\(issuer)/oauth2/token", "\(url)/oauth2/token", "\(url)\(Self.asking)"] {
                let reply = try await asserted(for: audience)
                #expect(reply.status == 200, "\(audience): \(reply)")
            }
            // The address is no issuer.
            for audience in [url, "\(url)/", "\(url)/oauth2/par", "https://other.example.com/oauth2/token"] {
                expect(try await asserted(for: audience), 401, "invalid_client")
            }
        }
    }

    @Test("A DPoP proof is for either address of the token endpoint, and for no third one")
    func proofAtAlias() async throws {
        let settings: JSONObject = ["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"]
        let url = "https://mtls.example.com"
        try await SignInPageScene.withCertificates(at: Issuer(url), settings) { scene in
            let (key, shop) = (TestKey(scene.server), try TestCertificate(named: "shop"))
            let form = [("grant_type", "client_credentials")] + scene.id
            // It learns a nonce.
            let first = try await key.send(.POST, "/oauth2/token", form, headers: SignInPageScene.field(shop))
            #expect(first.status == 200 && first.json["token_type"] == "DPoP", "\(first)")
            for (issuer, status) in [(url, 200), ("https://other.example.com", 400)] {
                let proof = try await key.proof(.POST, "/oauth2/token", at: issuer)
                let reply = try await scene.send(form, with: shop, [("DPoP", proof)])
                #expect(reply.status == status, "\(issuer): \(reply)")
                if status == 400 { expect(reply, 400, "invalid_dpop_proof") }
            }
        }
    }
}
