import CountersignWire
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 9396 §2, §3, §5, §7, §9.2, §10.
@Suite("What people authorize in detail, from the request to the tokens")
struct AuthorizedDetailsTests {
    private static let types: JSONValue = [
        [
            "type": "payment", "label": "Order", "value": "Payment",
            "fields": [
                ["path": ["amount"], "label": "Amount"], ["path": ["to", "name"], "label": "Payee"],
                ["path": ["note"], "label": "Note", "optional": true],
            ],
        ]
    ]
    private static let shop: JSONObject = ["asked_browsers": "all", "authorization_details_types": types]
    private static let payment = #"[{"type":"payment","amount":"EUR 5.00","to":{"name":"ACME GmbH"}}]"#
    private static let parsed: JSONValue = [
        ["type": "payment", "amount": "EUR 5.00", "to": ["name": "ACME GmbH"]]
    ]

    @Test("A phone shows and signs it; the reply, both tokens' states and each refresh have it")
    func signed() async throws {
        try await SignInPageScene.with(Self.shop) { scene in
            let (path, page) = try await scene.numberPage(
                "customer-1", ["authorization_details": Self.payment, "scope": "openid offline_access"])
            let body = try await scene.scene.phone.open(try await scene.pending())
            #expect(
                body.question.details.map { "\($0.label.text) = \($0.value.text)" } == [
                    "Order = Payment", "Amount = EUR 5.00", "Payee = ACME GmbH",
                ])
            try await scene.approve(page)
            let code = try #require(try await scene.browser.get("\(path)/done").result["code"])
            // One yes is for one result, also where the reply was lost.
            let again = try await scene.browser.get("\(path)/done")
            #expect(again.result["code"] == nil && again.status == 404, "\(again.reply)")
            let tokens = try await scene.redeem(code).success()
            #expect(tokens["authorization_details"] == Self.parsed, "\(tokens)")
            for name in ["access_token", "refresh_token"] {
                let token = try #require(tokens[name]?.string)
                let state = try await scene.token(
                    [("token", token)], basic: scene.credential, at: "/oauth2/introspect"
                ).success()
                #expect(state["active"] == true && state["authorization_details"] == Self.parsed, "\(state)")
            }
            let refreshed = try await scene.token(
                [("grant_type", "refresh_token"), ("refresh_token", tokens["refresh_token"]?.string ?? "")],
                basic: scene.credential
            ).success()
            #expect(refreshed["authorization_details"] == Self.parsed, "\(refreshed)")
        }
    }

    @Test("Whoever is signed in is asked anew each time, and prompt=none gives nothing")
    func session() async throws {
        try await SignInPageScene.with(Self.shop) { scene in
            _ = try await scene.signIn()
            #expect(try await scene.browser.get(scene.request()).result["code"] != nil)
            let asked = try await scene.browser.get(scene.request(["authorization_details": Self.payment]))
            #expect(asked.request != nil && asked.result["code"] == nil, "\(asked.reply)")
            let silent = try await scene.browser.get(
                scene.request(["authorization_details": Self.payment, "prompt": "none"]))
            #expect(silent.result["error"] == "login_required", "\(silent.reply)")
        }
    }

    @Test("The page on which a person allows what the client wants shows it as well; no scope is needed")
    func consent() async throws {
        try await SignInPageScene.with(Self.shop) { scene in
            let (path, page) = try await scene.numberPage(
                "customer-1", ["authorization_details": Self.payment, "scope": nil, "prompt": "consent"])
            try await scene.approve(page)
            let question = try await scene.browser.get("\(path)/done")
            for text in ["Payment", "EUR 5.00", "Payee", "ACME GmbH"] {
                #expect(question.html.contains(text), "\(text): \(question.html)")
            }
            let done = try await scene.browser.submit(question, to: "\(path)/consent", [("decision", "allow")])
            let tokens = try await scene.redeem(try #require(done.result["code"], "\(done.reply)")).success()
            #expect(tokens["authorization_details"] == Self.parsed && tokens["id_token"] == nil, "\(tokens)")
        }
    }

    @Test("A client may push it, and sign it as JSON")
    func carried() async throws {
        try await StrictScene.with(["authorization_details_types": Self.types]) { strict in
            let now = strict.scene.server.clock.now.seconds
            var claims: JSONObject = [
                "iss": .string(strict.scene.credential.id), "aud": .string(strict.issuer), "nbf": .integer(now),
                "exp": .integer(now + 60), "authorization_details": Self.parsed,
            ]
            for (name, value) in strict.parameters() { claims[name] = .string(value) }
            let object = try await JWS.sign(
                JSONValue.object(claims).encoded, type: nil, by: strict.signer,
                keyID: strict.signer.jwsPublicKey.thumbprint)
            for changes in [["authorization_details": Self.payment], ["request": object]]
                as [KeyValuePairs<String, String?>]
            {
                let tokens = try await strict.redeem(try await strict.code(changes)).success()
                #expect(tokens["authorization_details"] == Self.parsed, "\(tokens)")
            }
        }
    }

    @Test("What the client may not use, or nobody would see, is refused at once, where it belongs")
    func refused() async throws {
        try await SignInPageScene.with(Self.shop) { scene in
            let wrong = [
                "x", "{}", "[]", #"[{"type":"transfer","amount":"1"}]"#, #"[{"type":"payment","amount":"1"}]"#,
                #"[{"type":"payment","amount":"1","to":{"name":"A"},"secret":"1"}]"#,
            ]
            for text in wrong {
                expectError(
                    try await scene.push(["authorization_details": text]), 400, "invalid_authorization_details")
                let page = try await scene.browser.get(scene.request(["authorization_details": text]))
                #expect(page.result["error"] == "invalid_authorization_details", "\(page.reply)")
                #expect(page.result["state"] == "s-1" && page.result["iss"] == "\(scene.server.issuer)")
            }
            try await scene.set(["asked_browsers": "all"])
            expectError(
                try await scene.push(["authorization_details": Self.payment]), 400, "invalid_authorization_details")
            // A phone that scans a code signs it.
            try await scene.set(["ways": ["email", "qr"], "authorization_details_types": Self.types])
            #expect(try await scene.browser.get(scene.request(["authorization_details": Self.payment])).request != nil)
        }
    }

    @Test("A token request has none of its own, and a device's neither")
    func elsewhere() async throws {
        var settings = Self.shop
        settings["device_grant"] = true
        try await SignInPageScene.with(settings) { scene in
            let own = [("grant_type", "client_credentials"), ("authorization_details", Self.payment)]
            expectError(
                try await scene.token(own, basic: scene.credential), 400, "invalid_authorization_details")
            let device = [("scope", "openid"), ("authorization_details", Self.payment)]
            let begun = try await scene.token(device, basic: scene.credential, at: "/oauth2/device_authorization")
            expectError(begun, 400, "invalid_authorization_details")
        }
    }

    @Test("An operator sets the types, member by member; what would leave one unseen is refused")
    func settings() async throws {
        try await SignInPageScene.with(Self.shop) { scene in
            let path = "/v1/admin/clients/\(scene.credential.id)/openid"
            let shown = try await scene.scene.administrator.call(.GET, path).success()
            #expect(shown["authorization_details_types"] == Self.types, "\(shown)")
            func field(_ path: JSONValue, _ label: JSONValue = "A") -> JSONValue { ["path": path, "label": label] }
            func kind(_ fields: [JSONValue], _ changes: [String: JSONValue?] = [:]) -> JSONValue {
                var members: JSONObject = ["type": "a", "label": "Order", "value": "A", "fields": .array(fields)]
                for (name, value) in changes { members[name] = value }
                return .object(members)
            }
            let good = field(["a"])
            let tooMany = (0...20).map { kind([good], ["type": .string("t\($0)")]) }
            let tooWide = (0...30).map { field([.string("f\($0)")]) }
            let refused: [(JSONValue, String)] = [
                ("x", ""), ([kind([good]), kind([good])], ""),
                (.array(tooMany), ""), ([kind(tooWide)], "/0/fields"),
                ([kind([good], ["type": nil])], "/0/type"), ([kind([good], ["type": "a b"])], "/0/type"),
                ([kind([good], ["label": "a=b"])], "/0/label"), ([kind([good], ["value": ""])], "/0/value"),
                ([kind([good], ["more": true])], "/0/more"), ([kind([])], "/0/fields"),
                ([kind([field([])])], "/0/fields/0/path"), ([kind([field("a")])], "/0/fields/0/path"),
                ([kind([field(["a", 1])])], "/0/fields/0/path"), ([kind([field(["type"])])], "/0/fields/0/path"),
                ([kind([field(["a", "b", "c", "d", "e"])])], "/0/fields/0/path"),
                ([kind([field([""])])], "/0/fields/0/path"), ([kind([field(["a"], "")])], "/0/fields/0/label"),
                ([kind([good, good])], "/0/fields/0/path"), ([kind([good, field(["a", "b"])])], "/0/fields/1/path"),
                ([kind([field(["a", "b"]), good])], "/0/fields/0/path"),
            ]
            for (types, place) in refused {
                let body: JSONValue = [
                    "profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)],
                    "authorization_details_types": types,
                ]
                let reply = try await scene.scene.administrator.call(.PUT, path, body)
                let code =
                    switch place {
                    case "/0/type" where types[0]?["type"] == nil: "missing_member"
                    case "/0/more": "unknown_member"
                    default: "invalid_member"
                    }
                expectRefusal(reply, 422, code, at: "/authorization_details_types\(place)")
            }
            let codesAlone: JSONValue = [
                "profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)], "ways": ["email"],
                "authorization_details_types": Self.types,
            ]
            let reply = try await scene.scene.administrator.call(.PUT, path, codesAlone)
            expectRefusal(reply, 422, "invalid_member", at: "/authorization_details_types")
        }
    }

    @Test("No two lines of a type have one label, and no first line is like another type's, or like a field's")
    func labels() async throws {
        try await SignInPageScene.with(Self.shop) { scene in
            func kind(
                _ name: String, _ value: String, _ labels: [String], under label: String = "Order"
            ) -> JSONValue {
                let fields = labels.enumerated().map { index, label -> JSONValue in
                    ["path": [.string("member\(index)")], "label": .string(label)]
                }
                return [
                    "type": .string(name), "label": .string(label), "value": .string(value), "fields": .array(fields),
                ]
            }
            let path = "/v1/admin/clients/\(scene.credential.id)/openid"
            let refused: [(JSONValue, String)] = [
                ([kind("a", "A", ["Account", "Account"])], "/0/fields/0/label"),
                ([kind("a", "A", ["Payee", "Order"])], "/0/fields/1/label"),
                ([kind("a", "A", ["Payee"]), kind("b", "A", ["Payee"])], ""),
                ([kind("a", "A", ["Payee"]), kind("b", "B", ["Order"], under: "Access")], ""),
            ]
            for (types, place) in refused {
                let body: JSONValue = [
                    "profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)],
                    "authorization_details_types": types,
                ]
                let reply = try await scene.scene.administrator.call(.PUT, path, body)
                expectRefusal(reply, 422, "invalid_member", at: "/authorization_details_types\(place)")
            }
            try await scene.set([
                "authorization_details_types": [kind("a", "A", ["Payee"]), kind("b", "B", ["Payee"])]
            ])
        }
    }
}
