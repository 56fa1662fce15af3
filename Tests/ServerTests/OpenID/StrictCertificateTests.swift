import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignServer

/// A strict client with a certificate, which uses it in one of the ways that FAPI 2.0 has.
struct CertifiedClient: Sendable {
    /// How it authenticates, and to what its tokens are bound.
    enum Variant: CaseIterable, Sendable {
        /// By assertions, and to the certificate.
        case assertionAndCertificate
        /// By the name in its certificate, and to a key.
        case nameAndProof
        /// By the name in its certificate, and to the certificate.
        case name
        /// By a certificate that is registered itself, and to it.
        case registered

        var isProved: Bool { self == .nameAndProof }
    }

    let strict: StrictScene
    let variant: Variant
    let certificate: TestCertificate

    static func with(
        _ variant: Variant, at url: Issuer? = nil,
        _ body: @escaping @Sendable (CertifiedClient) async throws -> Void
    ) async throws {
        try await SignInPageScene.withCertificates(at: url) { scene in
            let made = CertifiedClient(
                strict: StrictScene(scene: scene, key: TestKey(scene.server)), variant: variant,
                certificate: try TestCertificate(named: "bank"))
            try await scene.set(made.settings())
            try await body(made)
        }
    }

    func settings(_ more: JSONObject = [:]) -> JSONObject {
        var settings = strict.settings(more)
        if variant != .assertionAndCertificate, more["jwks"] == nil { settings["jwks"] = nil }
        switch variant {
        case .assertionAndCertificate: break
        case .nameAndProof, .name: settings["tls_client_auth_subject_dn"] = "CN=bank"
        case .registered: settings["self_signed_tls_client_auth_thumbprints"] = [.string(certificate.thumbprint)]
        }
        if !variant.isProved { settings["tls_client_certificate_bound_access_tokens"] = true }
        return settings
    }

    /// Sends a form as the client, with its certificate; nil for none.
    func send(_ path: String, _ fields: [(String, String)], with shown: TestCertificate?) async throws -> Reply {
        var all = fields
        if variant == .assertionAndCertificate {
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            all += [("client_assertion_type", type), ("client_assertion", try await strict.assertion())]
        }
        guard variant.isProved else { return try await strict.scene.send(all, with: shown, at: path) }
        return try await strict.key.send(.POST, path, all, headers: SignInPageScene.field(shown))
    }

    /// A code of a sign-in by a request that the client has pushed.
    func code(_ changes: KeyValuePairs<String, String?> = [:]) async throws -> String {
        let pushed = try await send("/oauth2/par", strict.parameters(changes), with: certificate)
        let uri = try #require(pushed.json["request_uri"]?.string, "\(pushed)")
        let first = try await strict.scene.browser.get(strict.scene.link(to: uri))
        if let code = first.result["code"] { return code }
        let (path, page) = try await strict.scene.numberPage(from: first, in: strict.scene.browser)
        try await strict.scene.approve(page)
        let done = try await strict.scene.browser.get("\(path)/done")
        return try #require(done.result["code"], "\(done.reply)")
    }

    /// The form of a token request for a code.
    func redeemFields(_ code: String) -> [(String, String)] { strict.redeemFields(code) + strict.scene.id }

    func redeem(_ code: String) async throws -> Reply {
        try await send("/oauth2/token", redeemFields(code), with: certificate)
    }
}

// Spec: FAPI 2.0 Security Profile §5.3.2.1; RFC 8705 §2, §3.
@Suite("Clients of the profile strict with certificates, by the modules of the FAPI 2.0 certification")
struct StrictCertificateTests {
    // Modules: happy-flow, access-token-type-header-case-sensitivity,
    // ensure-unsigned-authorization-request-without-using-par-fails
    @Test(
        "fapi2-security-profile-final-happy-flow: tokens that are worth nothing on another connection",
        arguments: CertifiedClient.Variant.allCases)
    func happyFlow(_ variant: CertifiedClient.Variant) async throws {
        try await CertifiedClient.with(variant) { client in
            let scene = client.strict.scene
            let tokens = try await client.redeem(try await client.code()).success()
            let identity = try #require(tokens["id_token"]?.string)
            #expect(try StrictScene.claims(of: identity)["nonce"] == "n-1")
            let access = try #require(tokens["access_token"]?.string)
            let confirmation = try StrictScene.claims(of: access)["cnf"]
            if variant.isProved {
                #expect(tokens["token_type"] == "DPoP")
                #expect(confirmation == ["jkt": .string(client.strict.key.thumbprint)])
                #expect(try await client.strict.key.send(.GET, "/oauth2/userinfo", token: access).status == 200)
                expectError(try await scene.show("Bearer \(access)", with: client.certificate), 401, "invalid_token")
            } else {
                #expect(tokens["token_type"] == "Bearer")
                #expect(confirmation == ["x5t#S256": .string(client.certificate.thumbprint)])
                for scheme in ["Bearer", "BEARER", "bearer"] {
                    let reply = try await scene.show("\(scheme) \(access)", with: client.certificate)
                    #expect(reply.status == 200, "\(reply)")
                }
                for other in [nil, try TestCertificate(named: "bank")] {
                    expectError(try await scene.show("Bearer \(access)", with: other), 401, "invalid_token")
                }
            }
            // A secret is none here, and a request that was not pushed is refused.
            let fields = client.strict.parameters()
            let bySecret = try await scene.send(fields, with: client.certificate, at: "/oauth2/par", [scene.basic])
            expectError(bySecret, 401, "invalid_client")
            let plain = try await scene.browser.get("/oauth2/authorize?\(FormText.encoded(fields))")
            #expect(plain.result["error"] == "invalid_request" && plain.result["code"] == nil, "\(plain.reply)")
        }
    }

    // Modules: ensure-holder-of-key-required
    @Test(
        "fapi2-security-profile-final-ensure-holder-of-key-required: without the certificate there are no tokens",
        arguments: CertifiedClient.Variant.allCases)
    func holderOfKey(_ variant: CertifiedClient.Variant) async throws {
        try await CertifiedClient.with(variant) { client in
            let code = try await client.code()
            let own = [("grant_type", "client_credentials")] + client.strict.scene.id
            let isAsserted = variant == .assertionAndCertificate
            let (status, error) = isAsserted ? (400, "invalid_request") : (401, "invalid_client")
            for fields in [client.redeemFields(code), own] {
                expectError(try await client.send("/oauth2/token", fields, with: nil), status, error)
            }
            if variant.isProved {
                let unproved = try await client.strict.scene.send(client.redeemFields(code), with: client.certificate)
                expectError(unproved, 400, "invalid_dpop_proof")
            }
            // It has spent nothing.
            #expect(try await client.redeem(code).status == 200)
        }
    }

    // Modules: ensure-client-id-in-token-endpoint
    @Test(
        "fapi2-security-profile-final-ensure-client-id-in-token-endpoint: another client's id is refused",
        arguments: CertifiedClient.Variant.allCases)
    func clientID(_ variant: CertifiedClient.Variant) async throws {
        try await CertifiedClient.with(variant) { client in
            let code = try await client.code()
            let other = try await client.strict.scene.server.makeClient("Other").credential
            let fields = client.strict.redeemFields(code) + [("client_id", other.id)]
            let reply = try await client.send("/oauth2/token", fields, with: client.certificate)
            expectError(reply, 401, "invalid_client")
            #expect(try await client.redeem(code).status == 200)
        }
    }

    // Modules: ensure-authorization-code-is-bound-to-client
    @Test("fapi2-security-profile-final-ensure-authorization-code-is-bound-to-client: by another's certificate")
    func otherClient() async throws {
        try await CertifiedClient.with(.name) { client in
            let code = try await client.code()
            let other = try await client.strict.scene.server.makeClient("Other").credential
            var settings = client.settings()
            settings["tls_client_auth_subject_dn"] = "CN=other"
            let set = try await client.strict.scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(other.id)/openid", .object(settings))
            #expect(set.status == 200, "\(set)")
            let stolen = try await client.strict.scene.send(
                client.strict.redeemFields(code) + [("client_id", other.id)],
                with: try TestCertificate(named: "other"))
            expectError(stolen, 400, "invalid_grant")
            #expect(try await client.redeem(code).status == 200)
        }
    }

    // Modules: attempt-reuse-authorization-code-after-one-second, ensure-token-endpoint-fails-with-expired-auth-code,
    // ensure-pkce-code-verifier-required, incorrect-pkce-code-verifier-rejected
    @Test(
        "…-attempt-reuse-authorization-code-after-one-second, …-code-verifier-…: once, for a minute, with its verifier",
        arguments: CertifiedClient.Variant.allCases)
    func codes(_ variant: CertifiedClient.Variant) async throws {
        try await CertifiedClient.with(variant) { client in
            let (strict, clock) = (client.strict, client.strict.scene.server.clock)
            func redeem(_ code: String, verifier: String?) async throws -> Reply {
                let fields = strict.redeemFields(code, verifier: verifier) + strict.scene.id
                return try await client.send("/oauth2/token", fields, with: client.certificate)
            }
            func show(_ access: String) async throws -> Reply {
                guard variant.isProved else {
                    return try await strict.scene.show("Bearer \(access)", with: client.certificate)
                }
                return try await strict.key.send(.GET, "/oauth2/userinfo", token: access)
            }
            let code = try await client.code()
            for verifier in [nil, "wrong-\(SignInPageScene.verifier)", ""] {
                expectError(try await redeem(code, verifier: verifier), 400, "invalid_grant")
            }
            let tokens = try await client.redeem(code).success()
            let access = try #require(tokens["access_token"]?.string)
            #expect(try await show(access).status == 200)
            clock.advance(seconds: 1)
            expectError(try await client.redeem(code), 400, "invalid_grant")
            #expect(try await show(access).status == 401)
            let late = try await client.code()
            clock.advance(seconds: 60)
            expectError(try await client.redeem(late), 400, "invalid_grant")
        }
    }

    // Modules: refresh-token
    // Spec: RFC 8705 §6.1.
    @Test("fapi2-security-profile-final-refresh-token: the same again, for the client alone, by a renewed certificate")
    func refreshToken() async throws {
        try await CertifiedClient.with(.name) { client in
            let code = try await client.code(["scope": "openid offline_access"])
            let tokens = try await client.redeem(code).success()
            let refresh =
                [("grant_type", "refresh_token"), ("refresh_token", tokens["refresh_token"]?.string ?? "")]
                + client.strict.scene.id
            for other in [nil, try TestCertificate(named: "other")] {
                expectError(try await client.send("/oauth2/token", refresh, with: other), 401, "invalid_client")
            }
            let renewed = try TestCertificate(named: "bank")
            for certificate in [client.certificate, renewed] {
                let next = try await client.send("/oauth2/token", refresh, with: certificate).success()
                #expect(next["refresh_token"] == tokens["refresh_token"])
                let access = try #require(next["access_token"]?.string)
                #expect(try StrictScene.claims(of: access)["cnf"] == ["x5t#S256": .string(certificate.thumbprint)])
            }
        }
    }

    // Modules: par-test-par-endpoint-url-as-audience-fails, par-test-token-endpoint-url-as-audience-fails
    // Spec: RFC 8705 §5.
    @Test("An assertion of a strict client is for the issuer, also where there is an address for certificates")
    func audience() async throws {
        let url = "https://mtls.example.com"
        try await CertifiedClient.with(.assertionAndCertificate, at: Issuer(url)) { client in
            let strict = client.strict
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            func push(for audience: String) async throws -> Reply {
                let assertion = try await strict.assertion(["aud": .string(audience)])
                return try await strict.scene.send(
                    strict.parameters() + [("client_assertion_type", type), ("client_assertion", assertion)],
                    with: client.certificate, at: "/oauth2/par")
            }
            for audience in [url, "\(url)/oauth2/par", "\(url)/oauth2/token"] {
                expectError(try await push(for: audience), 401, "invalid_client")
            }
            #expect(try await push(for: strict.issuer).status == 201)
        }
    }

    // Modules: -ensure-mtls-holder-of-key-required,
    // -ensure-different-client-id-and-issuer-in-backchannel-authorization-request
    // Spec: FAPI-CIBA §5.2.2.
    @Test("fapi-ciba-id1-ensure-mtls-holder-of-key-required, and signed requests of a client with a certificate")
    func backchannel() async throws {
        try await CertifiedClient.with(.name) { client in
            let (strict, scene) = (client.strict, client.strict.scene)
            let keys = try #require(strict.settings()["jwks"])
            try await scene.set(
                client.settings([
                    "jwks": keys, "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
                    "backchannel_authentication_request_signing_alg": "ES256",
                ]))
            let now = scene.server.clock.now.seconds
            let request = try await strict.assertion([
                "sub": nil, "nbf": .integer(now), "exp": .integer(now + 300), "scope": "openid",
                "login_hint": "customer-1@example.com",
            ])
            let form = [("request", request)] + scene.id
            let path = OAuthDoor.backchannelPath
            for other in [nil, try TestCertificate(named: "other")] {
                expectError(try await client.send(path, form, with: other), 401, "invalid_client")
            }
            // Its keys sign requests, and do not authenticate.
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            let asserted =
                form + [("client_assertion_type", type), ("client_assertion", try await strict.assertion())]
            let byKey = try await scene.send(asserted, with: client.certificate, at: path)
            expectError(byKey, 401, "invalid_client")
            let begun = try await client.send(path, form, with: client.certificate).success()
            let number = try #require(begun["number"]?.string)
            let approved = try await scene.scene.approve((try await scene.pending(), number))
            #expect(approved.status == 200, "\(approved)")
            scene.server.clock.advance(seconds: 5)
            let id = try #require(begun["auth_req_id"]?.string)
            let poll = [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", id)] + scene.id
            expectError(try await client.send("/oauth2/token", poll, with: nil), 401, "invalid_client")
            let tokens = try await client.send("/oauth2/token", poll, with: client.certificate).success()
            let access = try #require(tokens["access_token"]?.string)
            #expect(
                try StrictScene.claims(of: access)["cnf"] == ["x5t#S256": .string(client.certificate.thumbprint)])
        }
    }
}
