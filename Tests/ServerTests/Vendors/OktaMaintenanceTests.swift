import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import Testing

// Spec: RFC 7523 §2.1 and §3; docs/protocol/jwk-devices.md, *A token for the device's own enrollment*.
@Suite("Okta: maintenance tokens")
struct OktaMaintenanceTests {
    @Test("RFC 7523 §2.1: an assertion of the device gives a token with the scopes of maintenance and no refresh token")
    func gives() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let reply = try await phone.maintain(try await phone.assertion())
            #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store", "\(reply)")
            #expect(reply.json["scope"] == .string(OktaScene.maintaining) && reply.json["token_type"] == "Bearer")
            #expect(reply.json["refresh_token"] == nil && reply.json["id_token"] == nil)
            #expect(reply.json["expires_in"]?.integer == 600)
            let token = try #require(reply.json["access_token"]?.string)
            // Nobody is signed in by it.
            #expect(try await scene.pages.userinfo(token).status == 403)
            let ticket = try await scene.server.send(
                .POST, "/v1/enrollment-tickets", headers: [("Authorization", "Bearer \(token)")])
            expectRefusal(ticket, 403, "scope_missing")
            #expect(try await phone.call(.DELETE, phone.path).status == 204)
            expectCode(try await phone.call(.GET, "\(phone.path)/push/notifications", by: token), 401, "E0000011")
            expectInvalid(try await phone.maintain(try await phone.assertion()), "invalid_grant")
        }
    }

    @Test("Other scopes give nothing; with those of maintenance, the others are left out")
    func scopes() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            for scope in ["openid", "enroll", "okta.authenticators.manage.self", ""] {
                expectInvalid(try await phone.maintain(try await phone.assertion(), scope), "invalid_scope")
            }
            let some = try await phone.maintain(try await phone.assertion(), "openid enroll \(OktaScene.maintaining)")
            #expect(try some.success()["scope"] == .string(OktaScene.maintaining))
        }
    }

    @Test("RFC 7523 §3: an assertion is good once")
    func once() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let assertion = try await phone.assertion()
            async let first = phone.maintain(assertion)
            async let second = phone.maintain(assertion)
            let statuses = [try await first.status, try await second.status]
            #expect(statuses.sorted() == [200, 400])
            expectInvalid(try await phone.maintain(assertion), "invalid_grant")
        }
    }

    @Test("RFC 7523 §3: another device's key, another client, and a device of ours give nothing, and look alike")
    func others() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone("anna", verifies: true)
            let other = try await scene.enrolledPhone("bert")
            let verification = try #require(phone.verification)
            let ours = scene.scene.phone.enrollment
            let assertions = [
                "a.b.c", try await phone.assertion(signedBy: other.possession),
                try await phone.assertion(signedBy: verification),
                try await phone.assertion { $0["methodEnrollmentId"] = .string(other.id) },
                try await phone.assertion { $0["methodEnrollmentId"] = .string("\(ours)") },
                try await phone.assertion { $0["methodEnrollmentId"] = "enr_01m7yfdvpt5prmr79m8dcgymep" },
                try await phone.assertion { $0["sub"] = .string(other.user) },
                try await phone.assertion { $0["aud"] = "https://login.example.com" },
                try await phone.assertion { $0["iss"] = .string(phone.id) },
            ]
            for assertion in assertions { expectInvalid(try await phone.maintain(assertion), "invalid_grant") }
            let made = try await scene.server.makeClient("Other", ["vendors": ["okta"]])
            let pages = SignInPageScene(
                scene: scene.scene, browser: TestBrowser(scene.server), credential: made.credential)
            try await pages.set(["profile": "native"])
            let elsewhere = try await phone.maintain(try await phone.assertion(), client: made.clientID)
            expectInvalid(elsewhere, "invalid_grant")
            #expect(try await phone.maintain(try await phone.assertion()).status == 200)
        }
    }

    @Test("After many wrong assertions a network is told to wait, and a good one still gives a token")
    func limit() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            for _ in 0..<100 { expectInvalid(try await phone.maintain("a.b.c"), "invalid_grant") }
            let refused = try await phone.maintain("a.b.c")
            #expect(refused.status == 429 && refused.json["error"] == "temporarily_unavailable", "\(refused)")
            #expect(refused.headers["retry-after"] != nil)
            #expect(try await phone.maintain(try await phone.assertion()).status == 200)
        }
    }

    @Test("A client whose tokens are bound to keys gives none without")
    func bound() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            try await scene.pages.set([
                "profile": "native", "dpop_bound_access_tokens": true,
            ])
            expectInvalid(try await phone.maintain(try await phone.assertion()), "invalid_dpop_proof")
        }
    }

    @Test("RFC 6749 §5.2: other grants and forms are refused in the shape of OAuth")
    func grants() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let client = ("client_id", scene.client)
            for (fields, error) in [
                ([client, ("grant_type", "client_credentials")], "unsupported_grant_type"),
                ([client, ("grant_type", DeviceAssertion.grantType)], "invalid_request"),
            ] {
                expectInvalid(try await scene.pages.token(fields, at: "/oauth2/v1/token"), error)
            }
            let nobody = try await phone.maintain(
                try await phone.assertion(), client: "cli_01m7yfdqve7kp86cjznhx1qer1")
            #expect(nobody.status == 401 && nobody.json["error"] == "invalid_client", "\(nobody)")
        }
    }

    /// Expects exactly this error of the token endpoint.
    private func expectInvalid(_ reply: Reply, _ error: String, location: SourceLocation = #_sourceLocation) {
        #expect(reply.status == 400, "\(reply)", sourceLocation: location)
        #expect(reply.json["error"] == .string(error), "\(reply)", sourceLocation: location)
    }
}
