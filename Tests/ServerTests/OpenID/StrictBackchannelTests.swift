import CountersignWire
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

// Spec: FAPI-CIBA §5.2.2.
@Suite("Banks' servers, by the modules of the FAPI-CIBA certification", .timeLimit(.minutes(15)))
struct StrictBackchannelTests {
    // Modules: -multiple-call-to-token-endpoint, -ensure-authorization-request-with-binding-message-succeeds,
    // -ensure-client-assertion-with-iss-aud-to-token-endpoint-succeeds
    // Spec: CIBA Core 1.0 §10.1, §10.2, §11.
    @Test(
        """
        fapi-ciba-id1, -multiple-call-to-token-endpoint, polled and pinged: pending, a yes, tokens that are worth \
        nothing to anybody else, and no second ones
        """, arguments: AskingBank.Kind.allCases, [false, true])
    func flow(_ kind: AskingBank.Kind, _ isPinged: Bool) async throws {
        try await CallbackReceiver.with(answering: [204]) { receiver in
            try await AskingBank.with(kind, pingedAt: isPinged ? receiver.url : nil) { bank in
                let begun = try await bank.ask()
                #expect(begun.status == 200 && begun.json["interval"] == 5, "\(begun)")
                let question = try await bank.scene.scene.phone.open(try await bank.scene.pending()).question
                #expect(question.message.text == "W4SCT")
                expectOAuthError(try await bank.poll(begun, after: 0), "authorization_pending")
                try await bank.scene.approve(begun)
                if isPinged {
                    var calls = receiver.calls.makeAsyncIterator()
                    let call = try #require(await calls.next())
                    #expect(call.headers["authorization"] == "Bearer t-1")
                    #expect(
                        try JSONValue(parsing: call.body) == .members(["auth_req_id": begun.json["auth_req_id"]]))
                }
                let tokens = try await bank.poll(begun)
                #expect(tokens.status == 200 && tokens.headers["cache-control"] == "no-store", "\(tokens)")
                #expect(tokens.json["token_type"] == .string(kind == .assertion ? "DPoP" : "Bearer"))
                let access = try #require(tokens.json["access_token"]?.string)
                #expect(try await bank.userinfo(access) == 200)
                #expect(try await bank.userinfo(access, isProved: false) == 401)
                let identity = try #require(tokens.json["id_token"]?.string)
                let header = try StrictScene.header(of: identity)
                #expect(header["kid"] != nil && header["alg"] == "ES256", "\(header)")
                let claims = try StrictScene.claims(of: identity)
                #expect(claims["aud"] == .string(bank.scene.credential.id))
                #expect(claims["acr"] == "urn:countersign:acr:device")
                expectOAuthError(try await bank.poll(begun), "invalid_grant")
            }
        }
    }

    // Modules: -user-rejects-authentication, -auth-req-id-expired
    // Spec: CIBA Core 1.0 §11.
    @Test(
        "fapi-ciba-id1-user-rejects-authentication, -auth-req-id-expired: access_denied, expired_token",
        arguments: AskingBank.Kind.allCases)
    func ends(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            let begun = try await bank.ask()
            try await bank.scene.deny()
            expectOAuthError(try await bank.poll(begun), "access_denied")
            let late = try await bank.ask(["requested_expiry": 30])
            expectOAuthError(try await bank.poll(late, after: 30), "expired_token")
        }
    }

    // Modules: -refresh-token
    // Spec: CIBA Core 1.0 §10.1.1.
    @Test(
        "fapi-ciba-id1-refresh-token: new tokens, bound as the first ones, and none for another bank",
        arguments: AskingBank.Kind.allCases)
    func refreshToken(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            let begun = try await bank.ask(["scope": "openid offline_access"])
            try await bank.scene.approve(begun)
            let tokens = try await bank.poll(begun).success()
            let refresh = try #require(tokens["refresh_token"]?.string)
            let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh)]
            let other = try await bank.other()
            expectOAuthError(try await other.send("/oauth2/token", fields), "invalid_grant")
            for _ in 0..<2 {
                let next = try await bank.send("/oauth2/token", fields).success()
                #expect(next["refresh_token"] == .string(refresh))
                let access = try #require(next["access_token"]?.string)
                #expect(try await bank.userinfo(access) == 200)
                #expect(try await bank.userinfo(access, isProved: false) == 401)
            }
        }
    }

    // Modules: -ensure-request-object-signature-algorithm-is-RS256-fails,
    // -ensure-client-assertion-signature-algorithm-in-backchannel-authorization-request-is-RS256-fails,
    // -ensure-client-assertion-signature-algorithm-in-token-endpoint-request-is-RS256-fails
    @Test(
        """
        fapi-ciba-id1-ensure-client-assertion-signature-algorithm-in-*-is-RS256-fails, and -ensure-request-object-\
        signature-algorithm-is-RS256-fails: also by a key that signs by PS256
        """, arguments: [AskingBank.Kind.assertion, .suite])
    func algorithms(_ kind: AskingBank.Kind) async throws {
        let (pss, rsa) = (try PSSKey(), try RSAPrivateKey())
        try await AskingBank.with(kind, others: [JWK(pss.jwsPublicKey), JWK(rsa.jwsPublicKey)]) { bank in
            let begun = try await bank.send(
                AskingBank.path, [("request", try await bank.sign())], assertion: try await bank.assertion(by: pss))
            #expect(begun.status == 200, "\(begun)")
            // A key that is registered for RS256 is good for a client that is not strict.
            let refused = kind == .assertion ? [pss.key, rsa] : [pss.key]
            for key in refused {
                let asked = try await bank.send(
                    AskingBank.path, [("request", try await bank.sign())],
                    assertion: try await bank.assertion(by: key))
                expectOAuthError(asked, "invalid_client", 401)
                let polled = try await bank.send(
                    "/oauth2/token", try bank.pollFields(begun), assertion: try await bank.assertion(by: key))
                expectOAuthError(polled, "invalid_client", 401)
            }
            for key in [pss.key, rsa] {
                let asked = try await bank.send(AskingBank.path, [("request", try await bank.sign(by: key))])
                expectOAuthError(asked, "invalid_request")
            }
            let polled = try await bank.send(
                "/oauth2/token", try bank.pollFields(begun), assertion: try await bank.assertion(by: pss))
            expectOAuthError(polled, "authorization_pending")
        }
    }

    // Modules: -ensure-mtls-holder-of-key-required
    @Test("fapi-ciba-id1-ensure-mtls-holder-of-key-required: also of a client that authenticates by assertions")
    func holderOfKey() async throws {
        try await AskingBank.with(.suite) { bank in
            let begun = try await bank.ask()
            try await bank.scene.approve(begun)
            let forms = [
                (AskingBank.path, [("request", try await bank.sign())]),
                ("/oauth2/token", try bank.pollFields(begun)),
            ]
            for (path, fields) in forms {
                let shown = fields + StrictScene.fields(of: try await bank.assertion())
                expectOAuthError(try await bank.scene.send(shown, with: nil, at: path), "invalid_request")
            }
            #expect(try await bank.poll(begun).status == 200)
        }
    }

    // Spec: CIBA Core 1.0 §7.1.
    @Test("CIBA Core 1.0 §7.1: whom an assertion may be for; a strict client's is for the issuer alone")
    func audiences() async throws {
        for kind in [AskingBank.Kind.assertion, .suite] {
            try await AskingBank.with(kind) { bank in
                func ask(for audience: String) async throws -> Reply {
                    try await bank.send(
                        AskingBank.path, [("request", try await bank.sign())],
                        assertion: try await bank.assertion(["aud": .string(audience)]))
                }
                let issuer = bank.strict.issuer
                #expect(try await ask(for: issuer).status == 200)
                for audience in ["\(issuer)/oauth2/token", "\(issuer)\(AskingBank.path)"] {
                    let reply = try await ask(for: audience)
                    #expect(reply.status == (kind == .suite ? 200 : 401), "\(audience): \(reply)")
                }
                expectOAuthError(try await ask(for: "https://other.example.com"), "invalid_client", 401)
            }
        }
    }

    // Modules: -ensure-wrong-auth-req-id-in-token-endpoint-request,
    // -ensure-different-client-id-and-issuer-in-backchannel-authorization-request
    // Spec: CIBA Core 1.0 §7.1, §10.1.
    @Test(
        """
        fapi-ciba-id1-ensure-wrong-client-id-in-*, -ensure-different-client-id-and-issuer-in-backchannel-\
        authorization-request: another bank's id, or its request
        """, arguments: AskingBank.Kind.allCases)
    func otherBank(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            let other = try await bank.other()
            let id = other.scene.credential.id
            let begun = try await bank.ask()
            // Its id beside the bank's own assertion or certificate, with the request of either.
            for request in [try await bank.sign(), try await bank.sign(["iss": .string(id)])] {
                let asked = try await bank.send(AskingBank.path, [("request", request)], as: id)
                expectOAuthError(asked, "invalid_client", 401)
            }
            let polled = try await bank.send("/oauth2/token", try bank.pollFields(begun), as: id)
            expectOAuthError(polled, "invalid_client", 401)
            // Each authenticates as itself, with what is the other's.
            let foreign = try await other.send(AskingBank.path, [("request", try await bank.sign())])
            expectOAuthError(foreign, "invalid_request")
            expectOAuthError(try await bank.ask(["iss": .string(id)]), "invalid_request")
            expectOAuthError(try await other.poll(begun), "invalid_grant")
            let unknown = [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", "wrong")]
            expectOAuthError(try await bank.send("/oauth2/token", unknown), "invalid_grant")
            expectOAuthError(try await bank.poll(begun), "authorization_pending")
        }
    }

    // Spec: CIBA Core 1.0 §7.1.1, §7.2.
    @Test("Times of a request: ten seconds of another clock are tolerated, and no minute")
    func times() async throws {
        try await AskingBank.with(.assertion) { bank in
            let now = bank.scene.server.clock.now.seconds
            let accepted: [[String: JSONValue?]] = [["nbf": .integer(now + 8)], ["iat": .integer(now + 8)]]
            for claims in accepted {
                let reply = try await bank.ask(claims)
                #expect(reply.status == 200, "\(claims): \(reply)")
            }
            let refused: [[String: JSONValue?]] = [
                ["nbf": .integer(now + 61)], ["iat": .integer(now + 61)], ["exp": .integer(now - 8)],
                ["nbf": .integer(now - 3500), "exp": .integer(now + 200)],
            ]
            for claims in refused { expectOAuthError(try await bank.ask(claims), "invalid_request") }
        }
    }

    // Spec: CIBA Core 1.0 §7.1.1.
    @Test("CIBA Core 1.0 §7.1.1: an encrypted request is none")
    func encrypted() async throws {
        try await AskingBank.with(.assertion) { bank in
            for algorithm in ["RSA-OAEP-256", "ECDH-ES", "ES256"] {
                let header: JSONValue = ["alg": .string(algorithm), "enc": "A256GCM", "cty": "JWT"]
                let parts = [Base64URL.encode(header.encoded)] + Array(repeating: "AAAA", count: 4)
                let reply = try await bank.send(AskingBank.path, [("request", parts.joined(separator: "."))])
                expectOAuthError(reply, "invalid_request")
            }
        }
    }

    // Modules: -ensure-authorization-request-with-potentially-bad-binding-message
    // Spec: CIBA Core 1.0 §7.1, §13.
    @Test(
        "fapi-ciba-id1-ensure-authorization-request-with-potentially-bad-binding-message, of signed requests",
        arguments: AskingBank.Kind.allCases)
    func potentiallyBadMessage(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            let long = String(repeating: "ü", count: 201)
            for wrong in [long, "a\u{202E}b", "5 €\nto Bob"] {
                expectOAuthError(try await bank.ask(["binding_message": .string(wrong)]), "invalid_binding_message")
            }
            let message = String(long.dropLast())
            let begun = try await bank.ask(["binding_message": .string(message)])
            #expect(begun.status == 200, "\(begun)")
            let question = try await bank.scene.scene.phone.open(try await bank.scene.pending()).question
            #expect(question.message.text == message)
        }
    }

    @Test("A signed request_context stands on the phone as the client's word", arguments: AskingBank.Kind.allCases)
    func context(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            let context: JSONValue = [
                "ip": "203.0.113.7", "user_agent": "Shop 1.0", "geolocation": ["country": "DE"],
            ]
            let begun = try await bank.ask(["request_context": context])
            #expect(begun.status == 200, "\(begun)")
            let question = try await bank.scene.scene.phone.open(try await bank.scene.pending()).question
            #expect(question.message.text == "W4SCT")
            #expect(question.context?.text == "Unknown browser, 203.0.113.7 (says ACME Shop)")
            for wrong in ["x", ["x"], ["ip": "x"]] as [JSONValue] {
                expectOAuthError(try await bank.ask(["request_context": wrong]), "invalid_request")
            }
        }
    }

    @Test("A strict client that shows no number says by binding_message which request it is: invalid_request")
    func bindingMessage() async throws {
        try await AskingBank.with(.assertion) { bank in
            let type = try await bank.scene.scene.administrator.call(
                .PUT, "/v1/admin/types/tap", ["number_entry": false])
            #expect((200..<300).contains(type.status), "\(type)")
            try await bank.scene.set(
                bank.settings(["backchannel_number_entry": false, "backchannel_type": "tap"]))
            expectOAuthError(try await bank.ask(["binding_message": nil]), "invalid_request")
            let begun = try await bank.ask()
            #expect(begun.status == 200 && begun.json["number"] == nil, "\(begun)")
        }
    }

    // Modules: -ping-backchannel-notification-endpoint-response-has-body
    // Spec: CIBA Core 1.0 §10.2.
    @Test(
        "fapi-ciba-id1-ping-backchannel-notification-endpoint-response-has-body: what it says does not count",
        arguments: AskingBank.Kind.allCases,
        [["error": "access_denied"], "<html>no</html>", ["auth_req_id": "x"]] as [JSONValue])
    func pingAnswered(_ kind: AskingBank.Kind, _ body: JSONValue) async throws {
        try await CallbackReceiver.with(answering: [200], saying: [body]) { receiver in
            try await AskingBank.with(kind, pingedAt: receiver.url) { bank in
                let begun = try await bank.ask()
                try await bank.scene.approve(begun)
                var calls = receiver.calls.makeAsyncIterator()
                _ = try #require(await calls.next())
                let tokens = try await bank.poll(begun)
                #expect(tokens.status == 200, "\(tokens)")
            }
        }
    }

    // Modules: -ping-backchannel-notification-endpoint-response-401,
    // -ping-backchannel-notification-endpoint-response-403,
    // -ping-with-mtls-ciba-notification-endpoint-response-401-and-require-server-does-not-retry,
    // -ping-backchannel-notification-endpoint-return-redirect-request
    // Spec: CIBA Core 1.0 §10.2.
    @Test(
        """
        fapi-ciba-id1-ping-backchannel-notification-endpoint-response-401, -response-403, -return-redirect-request, \
        -ping-with-mtls-ciba-notification-endpoint-response-401-and-require-server-does-not-retry: the token endpoint \
        works, and the next ping is about the next request
        """, arguments: AskingBank.Kind.allCases, [302, 401, 403])
    func pingRefused(_ kind: AskingBank.Kind, _ status: Int) async throws {
        try await CallbackReceiver.with(answering: [status]) { receiver in
            try await AskingBank.with(kind, pingedAt: receiver.url) { bank in
                var calls = receiver.calls.makeAsyncIterator()
                for _ in 0..<2 {
                    let begun = try await bank.ask()
                    try await bank.scene.approve(begun)
                    let call = try #require(await calls.next())
                    #expect(try JSONValue(parsing: call.body)["auth_req_id"] == begun.json["auth_req_id"])
                    #expect(try await bank.poll(begun).status == 200)
                    // Longer than the first pause before another try.
                    bank.scene.server.clock.advance(seconds: 60)
                }
            }
        }
    }

    // Spec: CIBA Core 1.0 §7.1.
    @Test("CIBA Core 1.0 §7.1: acr_values choose how the phone is asked, and acr says how it was answered")
    func strength() async throws {
        try await AskingBank.with(.suite, ["step_up_types": ["pin"]]) { bank in
            let phone = bank.scene.scene.phone
            let pin = try await phone.setPIN()
            let (weak, strong) = ("urn:countersign:acr:device", "urn:countersign:acr:device2")
            // Of several the weakest that is known counts, in whatever order.
            for (values, acr) in [
                ("unknown \(strong)", strong), ("\(strong) \(weak)", weak), ("\(weak) \(strong)", weak),
            ] {
                let begun = try await bank.ask(["acr_values": .string(values)])
                let challenge = try await bank.scene.pending()
                let opened = try await phone.open(challenge)
                #expect(opened.methods == [acr == strong ? .pin : .confirm], "\(values)")
                let number = EntryNumber(try #require(begun.json["number"]?.string, "\(begun)"))
                let yes = phone.receipt(
                    of: opened.question, .approved(acr == strong ? .pin : .confirm, number: number))
                let message = try await phone.seal(yes.text, signedBy: acr == strong ? pin : nil)
                let answered = try await phone.answer(challenge, message: message)
                #expect(answered.status == 200, "\(answered)")
                let tokens = try await bank.poll(begun).success()
                let identity = try #require(tokens["id_token"]?.string)
                #expect(try StrictScene.claims(of: identity)["acr"] == .string(acr), "\(values)")
            }
        }
    }

    // Spec: CIBA Core 1.0 §7, §7.1.
    @Test("CIBA Core 1.0 §7.1: the body is a form in UTF-8")
    func forms() async throws {
        try await SignInPageScene.with([
            "asked_browsers": "all", "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
        ]) { scene in
            let form = "scope=openid&login_hint=customer-1"
            func send(_ type: String, _ body: [UInt8]) async throws -> Reply {
                try await scene.server.send(
                    .POST, AskingBank.path, headers: [scene.basic, ("Content-Type", type)], body: body,
                    isContract: false)
            }
            let urlencoded = "application/x-www-form-urlencoded"
            let wrong: [(String, [UInt8])] = [
                ("application/json", Array(#"{"scope":"openid","login_hint":"customer-1"}"#.utf8)),
                ("text/plain", Array(form.utf8)), (urlencoded, Array(form.utf8) + [0xFF]),
                (urlencoded, Array("\(form)%FF".utf8)),
            ]
            for (type, body) in wrong { expectOAuthError(try await send(type, body), "invalid_request") }
            #expect(try await send(urlencoded, Array(form.utf8)).status == 200)
        }
    }
}
