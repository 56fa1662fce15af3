import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0081-what-a-client-replaces.md.
@Suite("What a client replaces on its pages")
struct LookPageTests {
    private static let file = PNGFile.picture(width: 120, height: 44)

    private static func path(_ scene: SignInPageScene) -> String {
        "/v1/admin/clients/\(scene.credential.id)/openid/look"
    }

    private static func set(_ body: JSONValue, _ scene: SignInPageScene) async throws -> Reply {
        try await scene.scene.administrator.call(.PUT, path(scene), body)
    }

    private static let whole: JSONValue = [
        "logo": .string(Base64.encode(file)), "accent": ["light": "#8A1538", "dark": "#ffb3c4"],
    ]

    @Test("An operator sets, shows and removes a look; nobody else does")
    func settings() async throws {
        try await SignInPageScene.with { scene in
            let path = Self.path(scene)
            let client = JSONValue.string(scene.credential.id)
            #expect(try await scene.scene.administrator.call(.GET, path).success() == ["client": client])
            for (method, body) in [(HTTPMethod.PUT, Self.whole), (.GET, nil), (.DELETE, nil)] {
                expectRefusal(try await scene.scene.shop.call(method, path, body), 403, "right_missing")
            }
            let set = try await Self.set(Self.whole, scene).success()
            let hash = try #require(set["logo"]?["sha256"]?.string)
            #expect(
                set == [
                    "client": client,
                    "logo": [
                        "sha256": .string(hash), "width": 120, "height": 44,
                        "path": .string("/assets/logos/\(hash).png"),
                    ],
                    "accent": ["light": "#8a1538", "dark": "#ffb3c4"],
                ])
            #expect(try await scene.scene.administrator.call(.GET, path).success() == set)
            for _ in 0..<2 { #expect(try await scene.scene.administrator.call(.DELETE, path).status == 204) }
            #expect(try await scene.scene.administrator.call(.GET, path).success() == ["client": client])
            let unknown = "/v1/admin/clients/cli_00000000000000000000000000/openid/look"
            expectRefusal(try await scene.scene.administrator.call(.PUT, unknown, Self.whole), 404, "client_not_found")
            for method in [HTTPMethod.GET, .DELETE] {
                expectRefusal(try await scene.scene.administrator.call(method, unknown), 404, "client_not_found")
            }
        }
    }

    @Test(
        "What is no look is refused where it stands",
        arguments: [
            ([:], ""), (["logo": "iVBORw0KGgo"], "/logo"), (["logo": "####"], "/logo"), (["logo": 1], "/logo"),
            (["accent": "#8a1538"], "/accent"), (["accent": ["light": "red"]], "/accent/light"),
            (["accent": ["light": "#8a1538", "dark": "#8a1538}"]], "/accent/dark"),
        ] as [(JSONValue, String)])
    func malformed(_ body: JSONValue, _ pointer: String) async throws {
        try await SignInPageScene.with { scene in
            expectRefusal(try await Self.set(body, scene), 422, "invalid_member", at: pointer)
        }
    }

    @Test("A colour that is hard to read is refused, with what was measured")
    func hardToRead() async throws {
        try await SignInPageScene.with { scene in
            let light = try await Self.set(["accent": ["light": "#707070"]], scene)
            expectRefusal(light, 422, "contrast_too_low", at: "/accent/light")
            #expect(light.json["detail"] == "/accent/light: 4.48:1 on #f1f4f5; at least 4.5:1")
            #expect(light.json["contrast"] == .double(4.48) && light.json["panel"] == "#f1f4f5")
            let dark = try await Self.set(["accent": ["light": "#8a1538", "dark": "#8a1538"]], scene)
            expectRefusal(dark, 422, "contrast_too_low", at: "/accent/dark")
            #expect(dark.json["detail"] == "/accent/dark: 1.8:1 on #171e22; at least 4.5:1")
        }
    }

    @Test("A logo that is none is refused, with the reason")
    func noLogo() async throws {
        var damaged = Self.file
        damaged[45] ^= 1
        let wide = PNGFile.picture(width: 1025, height: 1)
        let large = Self.file + Array(repeating: 0, count: 65_536)
        let files: [(file: [UInt8], reason: String, detail: String)] = [
            (Array("GIF89a".utf8), "not_png", "the file does not begin as a PNG does"),
            (large, "too_large", "the file has \(large.count) bytes; at most 65536"),
            (wide, "too_many_pixels", "the picture has 1025 by 1 pixels; at most 1024 by 1024"),
            (damaged, "damaged", "the part at byte 33 has a wrong checksum"),
        ]
        try await SignInPageScene.with { scene in
            for (file, reason, detail) in files {
                let reply = try await Self.set(["logo": .string(Base64.encode(file))], scene)
                expectRefusal(reply, 422, "logo_refused", at: "/logo")
                #expect(reply.json["reason"] == .string(reason) && reply.json["detail"] == .string(detail))
            }
            #expect(try await scene.scene.administrator.call(.GET, Self.path(scene)).success()["logo"] == nil)
        }
    }

    /// A page without what differs each time: the sealed request and the time.
    private static func plain(_ page: Page) -> String {
        page.html.replacing(page.request ?? "", with: "").replacing(#/<time.*?<\/time>/#, with: "")
    }

    @Test("Pages show the logo and load the colours from our own host; without a look they are as they were")
    func pages() async throws {
        try await SignInPageScene.with { scene in
            let before = try await scene.browser.get(scene.request())
            #expect(!before.html.contains("/assets/logos") && !before.html.contains("/assets/accents"))
            let set = try await Self.set(Self.whole, scene).success()
            let logo = try #require(set["logo"]?["path"]?.string)
            let page = try await scene.browser.get(scene.request())
            #expect(page.html.contains(#"<img class="logo" src="\#(logo)" alt="" />"#))
            let link = try #require(page.html.firstMatch(of: #/href="(/assets/accents/[^"]+)"/#)).output.1
            #expect(page.reply.headers["content-security-policy"] == before.reply.headers["content-security-policy"])
            #expect(!page.html.contains("style="))
            // A number to type, and the page after a sign-out.
            let (_, number) = try await scene.numberPage()
            let out = try await scene.browser.get("/oauth2/logout?client_id=\(scene.credential.id)")
            for one in [number, out] { #expect(one.html.contains(logo) && one.html.contains(link), "\(one.reply)") }
            try await Self.expectAssets(logo, String(link), scene)
            _ = try await scene.scene.administrator.call(.DELETE, Self.path(scene)).success()
            #expect(Self.plain(try await scene.browser.get(scene.request())) == Self.plain(before))
            expectPage(try await scene.browser.get(logo), 404)
        }
    }

    private func expectPage(_ page: Page, _ status: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            page.status == status && page.reply.headers["content-type"] == "text/html; charset=utf-8", "\(page.reply)",
            sourceLocation: sourceLocation)
    }

    /// The logo and the stylesheet, as a browser that has nothing else gets them.
    private static func expectAssets(_ logo: String, _ link: String, _ scene: SignInPageScene) async throws {
        let browser = TestBrowser(scene.server)
        let picture = try await browser.get(logo).reply
        #expect(picture.status == 200 && picture.body == file && picture.headers["content-type"] == "image/png")
        #expect(picture.headers["content-security-policy"] == "default-src 'none'; sandbox")
        #expect(picture.headers["cross-origin-resource-policy"] == "same-origin")
        let style = try await browser.get(link)
        #expect(
            style.html == ":root{--accent:#8a1538}\n@media(prefers-color-scheme:dark){:root{--accent:#ffb3c4}}\n")
        #expect(style.reply.headers["content-type"] == "text/css; charset=utf-8")
        for reply in [picture, style.reply] {
            #expect(reply.headers["x-content-type-options"] == "nosniff" && reply.headers["set-cookie"] == nil)
            #expect(reply.headers["cache-control"] == "public, max-age=31536000, immutable")
        }
        // The panels that colours are measured on are those of the pages.
        let pages = try #require(
            try await browser.get(scene.request()).html.firstMatch(of: #/href="(/assets/pages-[^"]+)"/#))
        let rules = try await browser.get(String(pages.output.1)).html
        #expect(rules.contains("--panel:#f1f4f5") && rules.contains("--panel:#171e22"))
    }

    @Test("Names of logos and colours that there are not get one reply, whoever has which look")
    func unknown() async throws {
        try await SignInPageScene.with { scene in
            let set = try await Self.set(Self.whole, scene).success()
            let hash = try #require(set["logo"]?["sha256"]?.string)
            let names = [
                "logos/\(hash.uppercased()).png", "logos/\(hash)0.png", "logos/\(hash)", "logos/\(hash).PNG",
                "logos/\(String(repeating: "0", count: 64)).png", "logos/\(scene.credential.id).png",
                "accents/8a1538-ffb3c4.css", "accents/8a1538-ffb3c4-0000000000000000.css", "accents/%7D",
            ]
            for name in names { expectPage(try await scene.browser.get("/assets/\(name)"), 404) }
        }
    }

    @Test("A picture that is a page to another reader is served as the picture alone, and can do nothing")
    func otherReaders() async throws {
        let script = Array("<script>alert(document.domain)</script>".utf8)
        let file =
            PNGFile.signature + PNGFile.header(width: 120, height: 44) + PNGFile.part("tEXt", script)
            + Self.file.dropFirst(33)
        try await SignInPageScene.with { scene in
            let set = try await Self.set(["logo": .string(Base64.encode(file))], scene).success()
            let picture = try await scene.browser.get(try #require(set["logo"]?["path"]?.string)).reply
            #expect(picture.body == Self.file)
            // After the end, there is no other file.
            expectRefusal(
                try await Self.set(["logo": .string(Base64.encode(Self.file + script))], scene), 422, "logo_refused",
                at: "/logo")
        }
    }
}
