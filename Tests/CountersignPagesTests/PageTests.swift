import Foundation
import Testing

@testable import CountersignPages

@Suite("The hosted pages")
struct PageTests {
    static let hostile = [
        "\"><script>alert(1)</script>", "' onfocus='alert(1)", "` `", "</title></h1>&amp;&#0;", "]]>{{client}}[[help]]",
        "\u{202E}evil\u{200F}", "a\u{0}\u{7}\u{1B}[31m\r\nb",
        "\u{301}\"\u{301} x=\"\u{FE0F}y'\u{FE0F}<\u{338}b>\u{20D2}",
        String(repeating: "w", count: 300), "",
    ]

    @Test("Every page is well-formed in both languages, whatever others wrote", arguments: PageLanguage.allCases)
    func wellFormed(in language: PageLanguage) {
        let plain = Samples.all(in: language)
        #expect(plain.count > 30)
        let tags = plain.map { Elements($0.html).all.count }
        for text in [nil] + Self.hostile.map(Optional.some) {
            let samples = text.map { Samples.all(in: language, .all($0)) } ?? plain
            #expect(samples.count == plain.count)
            for (index, sample) in samples.enumerated() {
                let page = Elements(sample.html)
                #expect(page.error == nil, "\(sample.name) with \(text ?? "usual texts")")
                #expect(page.all.count == tags[index], "\(sample.name) with \(text ?? "usual texts")")
            }
        }
    }

    @Test("Each page has one heading, one main part, one status, empty but for what was just done, and a skip link")
    func anatomy() {
        for sample in every() {
            let page = Elements(sample.html)
            for name in ["h1", "main", "header", "footer", "title"] {
                #expect(page[name].count == 1, "\(sample.name): \(name)")
            }
            #expect(page.all.filter { $0.attributes["role"] == "status" }.count == 1, "\(sample.name)")
            let saysSomething = sample.name.contains("-said-") && !sample.page.hasError
            #expect(sample.html.contains("<p role=\"status\"></p>") != saysSomething, "\(sample.name)")
            #expect(page["a"].first?.attributes["href"] == "#main", "\(sample.name)")
            #expect(page["main"].first?.attributes["id"] == "main", "\(sample.name)")
            #expect(page["html"].first?.attributes["lang"] == sample.frame.language.rawValue)
            let order = page.all.map(\.name).filter { ["header", "main", "footer"].contains($0) }
            #expect(order == ["header", "main", "footer"], "\(sample.name)")
        }
    }

    @Test("The title is the heading and the client, with the error first")
    func titles() {
        for sample in every() {
            let page = Elements(sample.html)
            let owner = sample.frame.client?.name ?? sample.frame.issuerHost
            let error = ["Error: ", "Fehler: "].first { page.texts["title"]?.hasPrefix($0) == true }
            #expect((error != nil) == sample.page.hasError, "\(sample.name)")
            #expect(page.texts["title"] == "\(error ?? "")\(page.texts["h1"] ?? "") – \(owner)", "\(sample.name)")
            #expect(page.texts["h1"]?.isEmpty == false, "\(sample.name)")
        }
    }

    @Test("No page has a style, a script or an event of its own, which our policy would refuse anyway")
    func nothingInline() {
        for sample in every() {
            let page = Elements(sample.html)
            #expect(page["style"].isEmpty)
            for element in page.all {
                let names = element.attributes.keys
                #expect(!names.contains { $0.hasPrefix("on") || $0 == "style" }, "\(sample.name): \(element)")
            }
            let paths = Set(PageAssets.all.map(\.path))
            for script in page["script"] { #expect(paths.contains(script.attributes["src"] ?? ""), "\(sample.name)") }
            let sheets = page["link"].filter { $0.attributes["rel"] == "stylesheet" }
            #expect(paths.contains(sheets.first?.attributes["href"] ?? ""))
            let isOfAccount = sample.name.hasPrefix("12-") || sample.name.hasPrefix("13-")
            #expect(sample.html.contains("/assets/account-") == isOfAccount, "\(sample.name)")
        }
    }

    @Test("Ids are unique, every label and description belongs to a field, and every field has a label")
    func fields() {
        for sample in every() {
            let page = Elements(sample.html)
            let ids = page.all.compactMap { $0.attributes["id"] }
            #expect(Set(ids).count == ids.count, "\(sample.name)")
            let fields = page["input"].filter { $0.attributes["type"] != "hidden" }
            #expect(fields.compactMap { $0.attributes["id"] } == page["label"].compactMap { $0.attributes["for"] })
            for element in page.all {
                for name in ["form", "aria-describedby", "data-shows"] {
                    if let id = element.attributes[name] { #expect(ids.contains(id), "\(sample.name): \(name)") }
                }
            }
            // A field error is said by the focus, which is then in the field.
            for field in fields where field.attributes["aria-invalid"] != nil {
                #expect(field.attributes["autofocus"] != nil)
                #expect(field.attributes["aria-describedby"] == "problem")
            }
            #expect(page.all.filter { $0.attributes["autofocus"] != nil }.count <= 1, "\(sample.name)")
        }
    }

    @Test("At most one thing is filled, and it is first among its neighbours")
    func filled() {
        for sample in every() {
            let page = Elements(sample.html)
            let filled = page.all.filter { isOf("filled", $0) && !isOf("if-still", $0) }
            #expect(filled.count <= 1, "\(sample.name)")
        }
    }

    @Test("The sealed request travels with every button that posts, and is in the page twice at most")
    func requests() {
        for sample in every() {
            let page = Elements(sample.html)
            let hidden = page["input"].filter { $0.attributes["name"] == "request" }
            #expect((1...2).contains(hidden.count), "\(sample.name)")
            #expect(hidden.allSatisfy { $0.attributes["value"] == sample.frame.request })
            for button in page["button"] where button.attributes["form"] != nil {
                #expect(button.attributes["form"] == "other" && button.attributes["formaction"] != nil)
            }
            for button in page["button"] where button.attributes["form"] == nil {
                #expect(button.path.contains("form"), "\(sample.name)")
            }
        }
    }

    @Test("The stylesheet, the scripts and the first page keep to their sizes")
    func sizes() throws {
        let sizes = Dictionary(uniqueKeysWithValues: PageAssets.all.map { ($0.path, $0.bytes.count) })
        #expect(sizes.count == 8)
        for (path, size) in sizes where path.hasSuffix(".css") {
            #expect(size <= (path.hasPrefix("/assets/account-") ? 2048 : 8192), "\(path)")
        }
        for sample in every() {
            let page = Elements(sample.html)
            let scripts =
                page["script"].compactMap { $0.attributes["src"] }
                + page["form"].compactMap { $0.attributes["data-solver"] }
            #expect(scripts.map { sizes[$0] ?? .max }.reduce(0, +) <= 4096, "\(sample.name)")
        }
        for language in PageLanguage.allCases {
            let texts = ForeignTexts(request: "", requestOptions: "")
            for sample in Samples.all(in: language, texts)
            where ["01-identifier", "01-identifier-passkey"].contains(sample.name) {
                #expect(sample.html.utf8.count <= 3072, "\(sample.name) \(language): \(sample.html.utf8.count)")
            }
        }
    }

    @Test("An asset's path changes with its content and names no other file")
    func assets() {
        #expect(Set(PageAssets.all.map(\.path)).count == PageAssets.all.count)
        for asset in PageAssets.all {
            #expect(asset.path.wholeMatch(of: /\/assets\/[a-z]+-[0-9a-f]{16}\.(css|js)/) != nil)
            #expect(asset.contentType.hasPrefix(asset.path.hasSuffix(".css") ? "text/css" : "text/javascript"))
        }
    }

    @Test("Without scripts the page looks again by itself only where that was chosen")
    func refresh() {
        for sample in every() {
            let refreshes = Elements(sample.html)["meta"].filter { $0.attributes["http-equiv"] == "refresh" }
            switch sample.name {
            case "03-number-refreshing":
                #expect(refreshes.map(\.attributes["content"]) == ["5"])
                #expect(refreshes.allSatisfy { $0.path.contains("noscript") })
            case "03-approved": #expect(refreshes.map(\.attributes["content"]) == ["0;url=/signin/7f3c"])
            case "09-onward":
                #expect(
                    refreshes.map(\.attributes["content"]) == [
                        "0;url=https://bank.acme.example/callback?code=abc&state=xyz"
                    ])
            default: #expect(refreshes.isEmpty, "\(sample.name)")
            }
        }
    }

    @Test("OAuth 2.0 Form Post Response Mode §2: every field of the answer is a hidden field of a form that posts")
    func answer() throws {
        let fields = ["code": "a\"b", "state": "<&>", "iss": "https://login.acme.example"]
        let page = try #require(
            OnwardPostPage(
                url: "HTTPS://bank.acme.example/callback?a=1&b=2",
                fields: fields.map { .init(name: $0.key, value: $0.value) }))
        let sample = try #require(Samples.all(in: .english).last)
        let form = Elements(page.html(in: sample.frame))
        let onward = try #require(form["form"].first { $0.attributes["id"] == "onward" })
        #expect(onward.attributes["method"] == "post")
        #expect(onward.attributes["action"] == "HTTPS://bank.acme.example/callback?a=1&b=2")
        let hidden = form["input"].filter { $0.attributes["type"] == "hidden" && $0.attributes["name"] != "request" }
        #expect(
            Dictionary(uniqueKeysWithValues: hidden.map { ($0.attributes["name"], $0.attributes["value"]) }) == fields)
    }

    @Test(
        "The end of a sign-in leads to pages of the web only", arguments: ["javascript:alert(1)", "data:,x", "//x", ""])
    func onward(to url: String) {
        #expect(OnwardPage(url: url) == nil)
        #expect(OnwardPostPage(url: url, fields: []) == nil)
        #expect(SignedOutPage(clientURL: url).clientURL == nil)
        #expect(ErrorPage(problem: .broken, requestID: "req_1", clientURL: url).clientURL == nil)
    }

    @Test("Only the page that posts the answer to the client has a policy without form-action")
    func policies() {
        for sample in every() {
            let policy = sample.page.contentSecurityPolicy
            #expect(policy.contains("form-action 'self'") == (sample.name != "09-onward-post"))
            #expect(policy.hasPrefix("default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:;"))
            let isWorking = sample.name.hasPrefix("02-work")
            #expect(policy.contains("; worker-src \(isWorking ? "'self'" : "'none'"); "))
            #expect(policy.hasSuffix("base-uri 'none'; frame-ancestors 'none'"))
        }
    }

    @Test("The number is grouped, and its digits are named one by one")
    func number() throws {
        let sample = try #require(Samples.all(in: .english).first { $0.name == "03-number" })
        #expect(sample.html.contains(#"aria-label="4 7 1, 9 3 2""#))
        #expect(sample.html.contains("<span>471</span> <span>932</span>"))
        #expect(sample.html.contains(#"data-ends="1795429004""#))
        #expect(sample.html.contains(#"<b class="left">1:42</b> left, until 10:16"#))
    }

    @Test("An error leads back to the client where one is known")
    func wayBack() throws {
        for name in ["old", "many", "broken"] {
            let page = Elements(try sample("11-error-\(name)").html)
            let link = try #require(page["a"].first { isOf("filled", $0) })
            #expect(link.attributes["href"] == ForeignTexts().url, "\(name)")
            #expect(page.texts["main"]?.contains("Back to Acme Bank") == true, "\(name)")
        }
        for name in ["return", "client", "not-understood", "old-nobody", "other-browser"] {
            #expect(try !sample("11-error-\(name)").html.contains("Back to"), "\(name)")
        }
    }

    @Test("Whoever is asked whether to sign out can stay signed in: at the client, on the account page, or by leaving")
    func staying() throws {
        let closing = "To stay signed in, close this page."
        let atClient = try sample("14b-sign-out").html
        #expect(atClient.contains(#"value="stay">Stay signed in</button>"#) && !atClient.contains(closing))
        let onAccount = try sample("14b-sign-out-nobody").html
        #expect(onAccount.contains(#"<a class="outlined" href="/account">Stay signed in</a>"#))
        #expect(!onAccount.contains(#"value="stay""#) && !onAccount.contains(closing))
        let nowhere = try sample("14b-sign-out-nowhere").html
        #expect(nowhere.contains(closing) && !nowhere.contains("Stay signed in"))
    }

    @Test("A code that is no longer good has no field; sending a new one is the first thing, after why")
    func expiredCode() throws {
        let page = Elements(try sample("04-code-expired").html)
        let alert = try #require(page.all.first { $0.attributes["role"] == "alert" })
        #expect(alert.attributes["autofocus"] != nil && alert.attributes["tabindex"] == "-1")
        #expect(page.texts["main"]?.contains("This code is no longer good. Send a new one.") == true)
        #expect(page.texts["main"]?.contains("six digits") == false && page.texts["main"]?.contains("there?") == false)
        #expect(!page["input"].contains { $0.attributes["name"] == CodePage.field })
        let main = page["button"].filter { $0.path.contains("main") }
        #expect(main.map { $0.attributes["class"] } == ["filled", "link"])
        #expect(main.first?.attributes["formaction"] == "/signin/7f3c")
    }

    @Test("What the browser says of its puzzle stands above the ways out")
    func working() throws {
        let page = Elements(try sample("02-work").html)
        let status = try #require(page.all.firstIndex { $0.attributes["role"] == "status" })
        let exit = try #require(page.all.firstIndex { $0.name == "button" && isOf("outlined", $0) })
        let own = try #require(page.all.firstIndex { $0.name == "button" && isOf("filled", $0) })
        #expect(own < status && status < exit)
    }

    @Test("Every page and state, as files to look at, where a folder is named")
    func files() throws {
        guard let folder = ProcessInfo.processInfo.environment["COUNTERSIGN_PAGES_FOLDER"] else { return }
        let root = URL(filePath: folder)
        func write(_ path: String, _ bytes: some Sequence<UInt8>) throws {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
        }
        for asset in PageAssets.all { try write(asset.path, asset.bytes) }
        try write(SampleLook.logoPath, SampleLook.logo)
        try write(SampleLook.accent.path, SampleLook.accent.stylesheet.utf8)
        for sample in every() {
            try write("\(sample.name).\(sample.frame.language.rawValue).html", sample.html.utf8)
        }
        var long = ForeignTexts.all(String(repeating: "Donaudampfschifffahrt", count: 4))
        long.path = ForeignTexts().path
        long.logoPath = ForeignTexts().logoPath
        long.accentPath = ForeignTexts().accentPath
        long.requestOptions = ForeignTexts().requestOptions
        long.creationOptions = ForeignTexts().creationOptions
        long.seed = ForeignTexts().seed
        long.picture = ForeignTexts().picture
        for sample in Samples.all(in: .german, long)
        where !sample.name.contains("-number") && sample.name != "05b-link-code" {
            try write("long-\(sample.name).de.html", sample.html.utf8)
        }
    }

    func every() -> [Sample] { PageLanguage.allCases.flatMap { Samples.all(in: $0) } }

    private func sample(_ name: String) throws -> Sample {
        try #require(Samples.all(in: .english).first { $0.name == name })
    }

    private func isOf(_ type: String, _ element: Elements.Element) -> Bool {
        element.attributes["class"]?.split(separator: " ").contains(Substring(type)) == true
    }
}
