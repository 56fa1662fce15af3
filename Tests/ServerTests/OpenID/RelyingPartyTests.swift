import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

@Suite("Text in the query of a URI")
struct FormTextTests {
    @Test("RFC 3986 §2.3: everything is encoded but unreserved characters")
    func encoded() {
        #expect(FormText.encoded("aZ09-._~") == "aZ09-._~")
        #expect(FormText.encoded("a b&c=d+e/f\u{E4}%") == "a%20b%26c%3Dd%2Be%2Ff%C3%A4%25")
    }

    @Test("RFC 6749 Appendix B: fields are separated by octets and decoded, or there are none")
    func fields() throws {
        func list(_ text: String) -> [String]? { FormText.fields(in: text)?.map { "\($0.name)|\($0.value)" } }
        #expect(list("") == [])
        #expect(list("&&") == [])
        #expect(list("a=b&c&d=&=e&f=g=h") == ["a|b", "c|", "d|", "|e", "f|g=h"])
        #expect(list("x%2by=+%2B%c3%A4%26") == ["x+y| +\u{E4}&"])
        // Each of these is one character with what stands before it, and several octets.
        #expect(list("a=b&\u{301}c=\u{FE0F}d") == ["a|b", "\u{301}c|\u{FE0F}d"])
        let query = FormText.fields(in: "a+b=c+%20", plus: UInt8(ascii: "+"))
        #expect(query?.map(\.name) == ["a+b"] && query?.map(\.value) == ["c+ "])
        for malformed in ["a=%", "a=%4", "a=%4g", "%zz=a", "a=%C3", "a=%C0%80", "a=%ED%A0%80"] {
            #expect(list(malformed) == nil, "\(malformed)")
        }
    }
}

@Suite("The settings of clients that sign people in")
struct RelyingPartyTests {
    @Test("An operator sets, shows and removes them; nobody else does")
    func settings() async throws {
        try await Scene.with { scene in
            let id = scene.shop.credential.id
            let path = "/v1/admin/clients/\(id)/openid"
            expectRefusal(try await scene.administrator.call(.GET, path), 404, "client_not_found")
            expectRefusal(try await scene.administrator.call(.DELETE, path), 404, "client_not_found")
            let body: JSONValue = ["profile": "web", "redirect_uris": ["https://shop.example.com/callback"]]
            expectRefusal(try await scene.shop.call(.PUT, path, body), 403, "right_missing")
            let set = try await scene.administrator.call(.PUT, path, body).success()
            #expect(
                set == [
                    "client": .string(id), "profile": "web", "redirect_uris": ["https://shop.example.com/callback"],
                    "type": "confirm", "asked_browsers": "known", "pkce_optional": false,
                    "ways": ["device", "qr"], "registration": "closed", "calling_codes": [],
                ])
            #expect(try await scene.administrator.call(.GET, path).success() == set)
            #expect(try await scene.administrator.call(.DELETE, path).status == 204)
            expectRefusal(try await scene.administrator.call(.GET, path), 404, "client_not_found")
            let unknown = "/v1/admin/clients/cli_00000000000000000000000000/openid"
            expectRefusal(try await scene.administrator.call(.PUT, unknown, body), 404, "client_not_found")
        }
    }

    // Spec: RFC 9700 §2.6; OpenID Connect Back-Channel Logout 1.0 §2.2.
    @Test(
        "What would be unsafe is refused where it is set",
        arguments: [
            (["profile": "page"], "/profile"), (["redirect_uris": []], "/redirect_uris"),
            (["redirect_uris": ["http://shop.example.com/"]], "/redirect_uris/0"),
            (["redirect_uris": ["https://shop.example.com/", "https://*.example.com/"]], "/redirect_uris/1"),
            (["redirect_uris": ["https://shop.example.com/#x"]], "/redirect_uris/0"),
            (["redirect_uris": ["com.example.app:/x"]], "/redirect_uris/0"),
            (["profile": "native", "redirect_uris": ["app://x"]], "/redirect_uris/0"),
            (["profile": "native", "redirect_uris": ["com.example.app://x"]], "/redirect_uris/0"),
            (["profile": "native", "redirect_uris": ["javascript:alert(1)"]], "/redirect_uris/0"),
            (["profile": "spa", "redirect_uris": ["com.example.app:/x"]], "/redirect_uris/0"),
            (["profile": "web", "redirect_uris": ["yourapp://"]], "/redirect_uris/0"),
            (["profile": "compatible", "redirect_uris": ["javascript://x"]], "/redirect_uris/0"),
            (["profile": "compatible", "pkce_optional": true], "/pkce_optional"),
            (["profile": "spa", "pkce_optional": true], "/pkce_optional"),
            (["profile": "native", "pkce_optional": true], "/pkce_optional"), (["type": "qr"], "/type"),
            (["type": "unknown"], "/type"), (["asked_browsers": "some"], "/asked_browsers"),
            (["ways": ["fax"]], "/ways/0"), (["ways": ["text"]], "/calling_codes"),
            (["ways": ["text"], "calling_codes": ["49"]], "/calling_codes/0"),
            (["ways": ["text"], "calling_codes": ["+0"]], "/calling_codes/0"), (["ways": ["device"]], "/ways"),
            (["ways": ["text"], "calling_codes": ["+49"]], "/ways"),
            (["ways": ["device", "text"], "calling_codes": ["+49"]], "/ways"),
            (["id_token_signed_response_alg": "PS256"], "/id_token_signed_response_alg"),
            (["id_token_signed_response_alg": "none"], "/id_token_signed_response_alg"),
            (["registration": "some"], "/registration"), (["step_up_types": ["pin", "qr"]], "/step_up_types/1"),
            (["step_up_types": ["pin", "unknown"]], "/step_up_types/1"), (["step_up_types": [1]], "/step_up_types/0"),
            (["step_up_types": ["pin", "pin"]], "/step_up_types"),
            (["backchannel_logout_uri": "http://shop.example.com/"], "/backchannel_logout_uri"),
            (["backchannel_logout_uri": "https://shop.example.com/#x"], "/backchannel_logout_uri"),
            (["backchannel_logout_uri": "https://me@shop.example.com/"], "/backchannel_logout_uri"),
            (["backchannel_logout_uri": "com.example.app:/x"], "/backchannel_logout_uri"),
            (["backchannel_logout_session_required": true], "/backchannel_logout_session_required"),
            (["backchannel_logout_session_required": "yes"], "/backchannel_logout_session_required"),
        ] as [(JSONValue, String)])
    func refused(_ members: JSONValue, _ pointer: String) async throws {
        try await Scene.with { scene in
            var body: JSONObject = ["profile": "web", "redirect_uris": ["https://shop.example.com/callback"]]
            for member in members.object?.members ?? [] { body[member.name] = member.value }
            let reply = try await scene.administrator.call(
                .PUT, "/v1/admin/clients/\(scene.shop.credential.id)/openid", .object(body))
            expectRefusal(reply, 422, "invalid_member", at: pointer)
        }
    }

    // Spec: RFC 7636 §1; RFC 8252 §7.1, §8.1, §8.6.
    @Test("An app that was built for another product returns by its scheme: with PKCE, and never without a page")
    func compatible() async throws {
        let uri = "yourapp://"
        let settings: JSONObject = [
            "profile": "compatible", "redirect_uris": [.string(uri)], "asked_browsers": "all",
        ]
        try await SignInPageScene.with(settings) { scene in
            let bare = try await scene.browser.get(
                scene.request(["redirect_uri": uri, "code_challenge": nil, "code_challenge_method": nil]))
            #expect(bare.location?.hasPrefix("yourapp://?error=invalid_request") == true, "\(bare.reply)")
            let other = try await scene.browser.get(scene.request(["redirect_uri": "yourapp://x"]))
            #expect(other.status == 400 && other.location == nil)
            let (path, page) = try await scene.numberPage("customer-1", ["redirect_uri": uri])
            let policy = try #require(page.reply.headers["content-security-policy"])
            #expect(policy.contains("form-action 'self' yourapp:"), "\(policy)")
            try await scene.approve(page)
            let done = try await scene.browser.get("\(path)/done")
            #expect(done.location?.hasPrefix("yourapp://?code=") == true, "\(done.reply)")
            let again = try await scene.browser.get(scene.request(["redirect_uri": uri]))
            #expect(again.heading == "You are signed in already" && again.result["code"] == nil)
            let fields = [
                ("grant_type", "authorization_code"), ("code", try #require(done.result["code"])),
                ("redirect_uri", uri), ("client_id", scene.credential.id),
            ]
            let stolen = try await scene.token(fields)
            #expect(stolen.status == 400 && stolen.json["error"] == "invalid_grant", "\(stolen)")
            let reply = try await scene.token(fields + [("code_verifier", SignInPageScene.verifier)])
            #expect(reply.status == 200, "\(reply)")
        }
    }
}
