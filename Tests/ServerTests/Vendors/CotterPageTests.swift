import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0108-cotters-door.md.
@Suite("Cotter's page, with each of its parameters")
struct CotterPageTests {
    @Test("Each parameter that must be there: a page of ours says what is wrong, and nobody is redirected")
    func missing() async throws {
        try await CotterScene.with { scene in
            for (name, values) in [
                ("api_key", [nil, "", "x", "cli_00000000000000000000000000"]),
                ("redirect_url", [nil, "", "yourapp://x", "https://evil.example/"]),
                ("type", [nil, "", "email", "OTHER"]), ("code_challenge", [nil, ""]), ("state", [nil, ""]),
                ("cotter_user_id", ["x"]),
            ] as [(String, [String?])] {
                for value in values {
                    let page = try await TestBrowser(scene.server).get(scene.link([name: value]))
                    #expect(page.status == 400 && page.location == nil, "\(name) \(value ?? "-"): \(page.reply)")
                    #expect(page.onward == nil && page.request == nil)
                }
            }
            let twice = try await TestBrowser(scene.server).get(scene.link() + "&state=other")
            #expect(twice.status == 400 && twice.location == nil)
        }
    }

    @Test("A challenge that is no SHA-256 goes back to the app as an error, without our issuer's name")
    func wrongChallenge() async throws {
        try await CotterScene.with { scene in
            let page = try await scene.pages.browser.get(scene.link(["code_challenge": "x"]))
            #expect(page.status == 303 && page.location?.hasPrefix("yourapp://?error=invalid_request") == true)
            #expect(Set(page.result.keys) == ["error", "error_description", "state"], "\(page.reply)")
        }
    }

    @Test("What says how the person shall prove it is read, and says nothing: the page has the client's ways")
    func ignored() async throws {
        try await CotterScene.with { scene in
            let usual = try await TestBrowser(scene.server).get(scene.link())
            for query in [
                "auth_method=OTP", "auth_method=MAGIC_LINK", "identifier_field=email", "use_channel=SMS",
                "phone_channels%5B%5D=SMS", "phone_channels%5B%5D=SMS&phone_channels%5B%5D=WHATSAPP",
                "direct_login=false", "direct_login=true",
                "direct_login=true&input=nobody", "direct_login=true&input=%2B4915112345678", "anything=else",
            ] {
                let page = try await TestBrowser(scene.server).get(scene.link() + "&" + query)
                #expect(page.status == 200 && page.heading == usual.heading, "\(query): \(page.reply)")
            }
            // Without the list every other parameter that stands twice is refused.
            let twice = try await TestBrowser(scene.server).get(scene.link() + "&use_channel=SMS&use_channel=SMS")
            #expect(twice.status == 400)
        }
    }

    @Test("input suggests the address, and direct_login leaves the page out on which it is typed")
    func directLogin() async throws {
        try await CotterScene.with { scene in
            let name = "putri+1@example.com"
            for escaped in [name, "putri%2B1%40example.com"] {
                let suggested = try await TestBrowser(scene.server).get(scene.link() + "&input=\(escaped)")
                #expect(suggested.html.contains("value=\"\(name)\""), "\(suggested.reply)")
            }
            let browser = TestBrowser(scene.server)
            let choice = try await browser.get(scene.link() + "&direct_login=true&input=\(name)")
            #expect(choice.html.contains("value=\"email\""), "\(choice.reply)")
            let result = try await scene.typeCode(to: name, from: choice, in: browser).result
            let reply = try await scene.identity(scene.redemption(result)).success()
            #expect(reply["identifier"]?["identifier"] == .string(name))
        }
    }

    @Test("cotter_user_id: somebody else's sign-in goes back as an error; the user's own is taken in both spellings")
    func expectedUser() async throws {
        try await CotterScene.with { scene in
            let first = try await scene.prove("putri@example.com", in: TestBrowser(scene.server)).result
            let reply = try await scene.identity(scene.redemption(first)).success()
            let user = try #require(reply["user"]?["ID"]?.string)
            let other = try await scene.prove(
                "anna@example.com", ["cotter_user_id": user], in: TestBrowser(scene.server)
            ).result
            #expect(other["error"] == "login_required" && other["code"] == nil && other["iss"] == nil)
            let id = try #require(UserID(user))
            for spelling in [user, id.uuid] {
                let page = try await TestBrowser(scene.server).get(scene.link(["cotter_user_id": spelling]))
                #expect(page.status == 200 && page.request != nil, "\(page.reply)")
            }
        }
    }

    @Test("Whoever cancels goes back to the app with an error")
    func cancelled() async throws {
        try await CotterScene.with { scene in
            let browser = TestBrowser(scene.server)
            let first = try await browser.get(scene.link())
            let page = try await browser.submit(first, to: "/signin/cancel")
            #expect(page.result["error"] == "access_denied" && page.result["state"] == CotterScene.state)
            #expect((page.location ?? page.onward)?.hasPrefix("yourapp://?error=") == true)
            #expect(page.result["iss"] == nil && page.result["challenge_id"] == nil)
        }
    }

    @Test("An app on a computer listens on whatever port of its loopback address it gets")
    func loopback() async throws {
        try await CotterScene.with { scene in
            let uri = "http://127.0.0.1:51234/callback"
            let page = try await scene.prove(
                "putri@example.com", ["redirect_url": uri], in: TestBrowser(scene.server))
            #expect((page.location ?? page.onward)?.hasPrefix("\(uri)?code=") == true, "\(page.reply)")
            var body = scene.redemption(page.result)
            expectMessage(try await scene.identity(body), 500, "Challenge Expired")
            body["redirect_url"] = .string(uri)
            #expect(try await scene.identity(body).status == 200)
        }
    }
}
