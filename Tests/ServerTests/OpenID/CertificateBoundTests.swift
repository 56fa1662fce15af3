import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 8705 §3, §3.1, §3.2, §3.4, §6.1.
@Suite("Tokens that are bound to a certificate")
struct CertificateBoundTests {
    private static let binding: JSONObject = [
        "asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop",
        "tls_client_certificate_bound_access_tokens": true,
    ]

    @Test("RFC 8705 §3: userinfo takes the token with the certificate alone, and introspection says which it is")
    func userinfo() async throws {
        try await SignInPageScene.withCertificates(Self.binding) { scene in
            let (shop, renewed) = (try TestCertificate(named: "shop"), try TestCertificate(named: "shop"))
            let code = try #require(try await scene.signIn(["scope": "openid offline_access"]).result["code"])
            let tokens = try await scene.send(scene.redeemFields(code) + scene.id, with: shop).success()
            #expect(tokens["token_type"] == "Bearer")
            let access = try #require(tokens["access_token"]?.string)
            let confirmation: JSONValue = ["x5t#S256": .string(shop.thumbprint)]
            #expect(try StrictScene.claims(of: access)["cnf"] == confirmation)
            #expect(try await scene.show("Bearer \(access)", with: shop).status == 200)
            let form = [("access_token", access)]
            #expect(try await scene.send(form, with: shop, at: "/oauth2/userinfo").status == 200)
            for certificate in [nil, renewed] {
                let reply = try await scene.show("Bearer \(access)", with: certificate)
                expectError(reply, 401, "invalid_token")
                #expect(reply.headers["www-authenticate"]?.hasPrefix("Bearer error=\"invalid_token\"") == true)
                let posted = try await scene.send(form, with: certificate, at: "/oauth2/userinfo")
                expectError(posted, 401, "invalid_token")
            }
            // RFC 8705 §3.2.
            let state = try await scene.send([("token", access)] + scene.id, with: shop, at: "/oauth2/introspect").json
            #expect(state["cnf"] == confirmation && state["token_type"] == "Bearer", "\(state)")
            // The client proves who it is, so its refresh token outlives the certificate; the next token has the new one.
            let refresh = [("grant_type", "refresh_token"), ("refresh_token", tokens["refresh_token"]?.string ?? "")]
            let next = try await scene.send(refresh + scene.id, with: renewed).success()
            let second = try #require(next["access_token"]?.string)
            #expect(try StrictScene.claims(of: second)["cnf"] == ["x5t#S256": .string(renewed.thumbprint)])
            #expect(try await scene.show("Bearer \(second)", with: renewed).status == 200)
            expectError(try await scene.show("Bearer \(second)", with: shop), 401, "invalid_token")
            let other = try TestCertificate(named: "other")
            expectError(try await scene.send(refresh + scene.id, with: other), 401, "invalid_client")
        }
    }

    // Spec: RFC 8705 §6.1.
    @Test("RFC 8705 §6.1: a client whose tokens are bound no more refreshes as it authenticates, and gets unbound ones")
    func unboundLater() async throws {
        try await SignInPageScene.withCertificates(Self.binding) { scene in
            let shop = try TestCertificate(named: "shop")
            let code = try #require(try await scene.signIn(["scope": "openid offline_access"]).result["code"])
            let tokens = try await scene.send(scene.redeemFields(code) + scene.id, with: shop).success()
            let refresh = [("grant_type", "refresh_token"), ("refresh_token", tokens["refresh_token"]?.string ?? "")]
            try await scene.set(["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"])
            expectError(try await scene.send(refresh + scene.id, with: nil), 401, "invalid_client")
            let next = try await scene.send(refresh + scene.id, with: shop).success()
            let access = try #require(next["access_token"]?.string)
            #expect(try StrictScene.claims(of: access)["cnf"] == nil)
            // An app would not prove who it is.
            try await scene.set(["profile": "native", "asked_browsers": "all"])
            expectError(try await scene.send(refresh + scene.id, with: shop), 400, "invalid_grant")
        }
    }

    @Test("Our API takes a client's own token with the certificate alone")
    func api() async throws {
        try await SignInPageScene.withCertificates(Self.binding) { scene in
            let (shop, renewed) = (try TestCertificate(named: "shop"), try TestCertificate(named: "shop"))
            let given = try await scene.send([("grant_type", "client_credentials")] + scene.id, with: shop).success()
            let token = try #require(given["access_token"]?.string)
            let path = "/v1/users/\(scene.scene.user)"
            #expect(try await scene.show("Bearer \(token)", with: shop, at: path).status == 200)
            for certificate in [nil, renewed] {
                let reply = try await scene.show("Bearer \(token)", with: certificate, at: path)
                #expect(reply.refusal == Refusal(401, "unauthorized"), "\(reply)")
                #expect(reply.headers["www-authenticate"] == "Bearer error=\"invalid_token\"")
            }
            let state = try await scene.send([("token", token)] + scene.id, with: shop, at: "/oauth2/introspect").json
            #expect(state["cnf"] == ["x5t#S256": .string(shop.thumbprint)], "\(state)")
            // The bootstrap token is bound to nothing, whatever the connection has.
            let operatorToken = try await scene.show(
                "Bearer \(scene.server.token)", with: shop, at: "/v1/admin/clients")
            #expect(operatorToken.status == 200, "\(operatorToken)")
        }
    }

    @Test("A client that authenticates otherwise binds its tokens to whatever certificate it has, or gets none")
    func bySecret() async throws {
        let settings: JSONObject = ["asked_browsers": "all", "tls_client_certificate_bound_access_tokens": true]
        try await SignInPageScene.withCertificates(from: .unverified, settings) { scene in
            let (any, other) = (try TestCertificate(named: "any"), try TestCertificate(named: "other"))
            let code = try #require(try await scene.signIn().result["code"])
            let fields = scene.redeemFields(code)
            // It spends nothing.
            expectError(try await scene.send(fields, with: nil, [scene.basic]), 400, "invalid_request")
            let tokens = try await scene.send(fields, with: any, [scene.basic]).success()
            let access = try #require(tokens["access_token"]?.string)
            #expect(try await scene.show("Bearer \(access)", with: any).status == 200)
            expectError(try await scene.show("Bearer \(access)", with: other), 401, "invalid_token")
        }
    }

    @Test("Where no certificate is believed, a client that binds to one gets nothing")
    func off() async throws {
        let settings: JSONObject = ["asked_browsers": "all", "tls_client_certificate_bound_access_tokens": true]
        try await SignInPageScene.withCertificates(from: .off, settings) { scene in
            let reply = try await scene.send(
                [("grant_type", "client_credentials")], with: try TestCertificate(named: "any"), [scene.basic])
            expectError(reply, 400, "invalid_request")
        }
    }

    @Test("A token has one binding: a proof beside the certificate is refused, and counts without the setting")
    func withProof() async throws {
        try await SignInPageScene.withCertificates(Self.binding) { scene in
            let (key, shop) = (TestKey(scene.server), try TestCertificate(named: "shop"))
            let form = [("grant_type", "client_credentials")] + scene.id
            let both = try await key.send(.POST, "/oauth2/token", form, headers: SignInPageScene.field(shop))
            expectError(both, 400, "invalid_request")
            #expect(
                both.json["error_description"] == "the tokens are bound to the certificate: send no DPoP proof")
            try await scene.set(["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"])
            let code = try #require(try await scene.signIn().result["code"])
            let tokens = try await key.send(
                .POST, "/oauth2/token", scene.redeemFields(code) + scene.id, headers: SignInPageScene.field(shop)
            ).success()
            let access = try #require(tokens["access_token"]?.string)
            #expect(tokens["token_type"] == "DPoP")
            #expect(try StrictScene.claims(of: access)["cnf"] == ["jkt": .string(key.thumbprint)])
            // The certificate does not stand for the key.
            expectError(try await scene.show("Bearer \(access)", with: shop), 401, "invalid_token")
            #expect(try await key.send(.GET, "/oauth2/userinfo", token: access).status == 200)
        }
    }

    // Spec: RFC 9449 §10.1.
    @Test("A proof beside the certificate is refused at a pushed request, before there is a code that nobody redeems")
    func pushedWithProof() async throws {
        try await SignInPageScene.withCertificates(Self.binding) { scene in
            let (key, shop) = (TestKey(scene.server), try TestCertificate(named: "shop"))
            let headers = SignInPageScene.field(shop)
            let reply = try await key.send(.POST, "/oauth2/par", scene.id, headers: headers)
            expectError(reply, 400, "invalid_request")
            #expect(
                reply.json["error_description"] == "the tokens are bound to the certificate: send no DPoP proof")
            let pushed = try await scene.push(headers: headers)
            #expect(pushed.status == 201, "\(pushed)")
        }
    }

    // Modules: -ensure-mtls-holder-of-key-required,
    // -ensure-different-client-id-and-issuer-in-backchannel-authorization-request
    // Spec: CIBA Core 1.0 §7.1, §10.1.
    @Test("A client's server asks by its certificate, and its tokens are bound to it; nobody else takes them back")
    func backchannel() async throws {
        var settings = Self.binding
        settings["backchannel_token_delivery_mode"] = "poll"
        settings["backchannel_number_entry"] = true
        try await SignInPageScene.withCertificates(settings) { scene in
            let (shop, other) = (try TestCertificate(named: "shop"), try TestCertificate(named: "other"))
            let form = [("scope", "openid"), ("login_hint", "customer-1@example.com")] + scene.id
            for certificate in [nil, other] {
                let reply = try await scene.send(form, with: certificate, at: "/oauth2/bc-authorize")
                expectError(reply, 401, "invalid_client")
            }
            let begun = try await scene.send(form, with: shop, at: "/oauth2/bc-authorize").success()
            let number = try #require(begun["number"]?.string)
            let approved = try await scene.scene.approve((try await scene.pending(), number))
            #expect(approved.status == 200, "\(approved)")
            scene.server.clock.advance(seconds: 5)
            let id = try #require(begun["auth_req_id"]?.string)
            let poll = [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", id)] + scene.id
            expectError(try await scene.send(poll, with: nil), 401, "invalid_client")
            let tokens = try await scene.send(poll, with: shop).success()
            let access = try #require(tokens["access_token"]?.string)
            #expect(try StrictScene.claims(of: access)["cnf"] == ["x5t#S256": .string(shop.thumbprint)])
            let revocation = [("token", access)] + scene.id
            for certificate in [nil, other] {
                let reply = try await scene.send(revocation, with: certificate, at: "/oauth2/revoke")
                expectError(reply, 401, "invalid_client")
            }
            #expect(try await scene.send(revocation, with: shop, at: "/oauth2/revoke").status == 200)
            expectError(try await scene.show("Bearer \(access)", with: shop), 401, "invalid_token")
        }
    }

    @Test("A client's server that gets another certificate while a person is asked polls by the new one alone")
    func changedWhileAsked() async throws {
        var settings = Self.binding
        settings["backchannel_token_delivery_mode"] = "poll"
        settings["backchannel_number_entry"] = true
        var changed = settings
        changed["tls_client_auth_subject_dn"] = "CN=bank"
        try await SignInPageScene.withCertificates(settings) { [changed] scene in
            let (shop, bank) = (try TestCertificate(named: "shop"), try TestCertificate(named: "bank"))
            let form = [("scope", "openid"), ("login_hint", "customer-1@example.com")] + scene.id
            let begun = try await scene.send(form, with: shop, at: "/oauth2/bc-authorize").success()
            try await scene.set(changed)
            let approved = try await scene.scene.approve(
                (try await scene.pending(), try #require(begun["number"]?.string)))
            #expect(approved.status == 200, "\(approved)")
            scene.server.clock.advance(seconds: 5)
            let id = try #require(begun["auth_req_id"]?.string)
            let poll = [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", id)] + scene.id
            expectError(try await scene.send(poll, with: shop), 401, "invalid_client")
            let tokens = try await scene.send(poll, with: bank).success()
            let access = try #require(tokens["access_token"]?.string)
            #expect(try StrictScene.claims(of: access)["cnf"] == ["x5t#S256": .string(bank.thumbprint)])
        }
    }

    @Test("A token that is bound to nothing is taken from a connection with any certificate")
    func unbound() async throws {
        try await SignInPageScene.withCertificates { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let access = try #require(try await scene.redeem(code).success()["access_token"]?.string)
            let any = try TestCertificate(named: "any")
            #expect(try await scene.show("Bearer \(access)", with: any).status == 200)
            #expect(try await scene.userinfo(access).status == 200)
        }
    }

    // Spec: RFC 9449 §10.
    @Test("Who binds to a certificate may not name a key by dpop_jkt, before there is a code that nobody redeems")
    func thumbprintBeside() async throws {
        try await SignInPageScene.withCertificates(Self.binding) { scene in
            let shop = try TestCertificate(named: "shop")
            let changes: KeyValuePairs<String, String?> = ["dpop_jkt": TestKey(scene.server).thumbprint]
            let description = "the tokens are bound to the certificate: send no dpop_jkt"
            let page = try await scene.browser.get(scene.request(changes))
            #expect(page.result["error"] == "invalid_request" && page.result["code"] == nil, "\(page.reply)")
            #expect(page.result["error_description"] == description)
            let pushed = try await scene.push(changes, headers: SignInPageScene.field(shop))
            expectError(pushed, 400, "invalid_request")
            #expect(pushed.json["error_description"] == .string(description))
            // Where the certificate only authenticates, the key counts.
            try await scene.set(["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"])
            #expect(try await scene.push(changes, headers: SignInPageScene.field(shop)).status == 201)
        }
    }

    @Test("A code that was for a key before the client bound its tokens to a certificate is redeemed by none")
    func codeForKey() async throws {
        let before: JSONObject = ["asked_browsers": "all", "tls_client_auth_subject_dn": "CN=shop"]
        try await SignInPageScene.withCertificates(before) { scene in
            // Not even by the certificate with the same hash.
            let shop = try TestCertificate(named: "shop")
            let code = try #require(try await scene.signIn(["dpop_jkt": shop.thumbprint]).result["code"])
            try await scene.set(Self.binding)
            expectError(try await scene.send(scene.redeemFields(code) + scene.id, with: shop), 400, "invalid_grant")
        }
    }
}
