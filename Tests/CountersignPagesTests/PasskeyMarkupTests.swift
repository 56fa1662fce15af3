import Testing

@testable import CountersignPages

@Suite("Signing in with a passkey")
struct PasskeyMarkupTests {
    @Test(
        "The button carries the options and posts with the request; without an offer there is neither it nor a script")
    func offer() throws {
        for name in ["01-identifier-passkey", "01-identifier-passkey-alone", "02-choose", "02-choose-passkey-first"] {
            let page = Elements(try sample(name).html)
            let buttons = page.all.filter { $0.attributes["data-passkey-get"] != nil }
            let button = try #require(buttons.first)
            #expect(buttons.count == 1 && button.attributes["data-passkey-get"] == ForeignTexts().requestOptions)
            #expect(button.attributes["form"] == "other" && button.attributes["formaction"] == "/signin/7f3c/passkey")
            #expect(button.attributes["name"] == nil, "\(name) would post a way")
            #expect(page.texts["main"]?.contains("Use a passkey") == true)
            #expect(scripts(page) == ["passkey"], "\(name)")
        }
        for name in ["01-identifier", "02-choose-no-passkey"] {
            let page = Elements(try sample(name).html)
            #expect(page.texts["main"]?.contains("passkey") == false && scripts(page).isEmpty, "\(name)")
        }
    }

    @Test("Only where scripts run is the button shown")
    func live() throws {
        let page = Elements(try sample("02-choose-passkey-first").html)
        let rows = page["button"].compactMap { $0.attributes["class"] }.filter { $0.hasPrefix("way") }
        #expect(rows == ["way filled if-live", "way"])
        #expect(try sample("01-identifier-passkey").html.contains(#"<div class="if-live">"#))
        #expect(try sample("01-identifier-passkey-alone").html.contains(#"<div class="rule if-live">"#))
    }

    @Test(
        "A passkey that does not sign in is an error, which the field tells when it takes the focus",
        arguments: [
            ("refused", "This passkey does not sign you in here. Choose another way."),
            ("waiting", "This passkey counts from tomorrow, 10:15. Choose another way until then."),
        ])
    func problem(_ name: String, _ text: String) throws {
        let page = Elements(try sample("01-identifier-passkey-\(name)").html)
        #expect(page.texts["main"]?.contains(text) == true)
        #expect(page.texts["title"] == "Error: Who is signing in? – Acme Bank")
        let field = try #require(page.all.first { $0.attributes["id"] == "identifier" })
        #expect(field.attributes["aria-describedby"] == "problem" && field.attributes["autofocus"] != nil)
        #expect(field.attributes["autocomplete"] == "username")
        #expect(field.attributes["aria-invalid"] == nil, "what is typed is not wrong")
        #expect(page.all.filter { $0.attributes["id"] == "problem" }.count == 1)
    }

    @Test("The offer after a sign-in needs scripts to be taken and none to be put off; what came of it is announced")
    func offered() throws {
        let offer = Elements(try sample("08-offer-passkey").html)
        let main = offer["button"].filter { $0.path.contains("main") }
        #expect(main.map { $0.attributes["class"] } == ["filled if-live", "outlined", "link"])
        #expect(main[0].attributes["data-passkey-create"] == ForeignTexts().creationOptions)
        #expect(main[1].attributes["name"] == nil && scripts(offer) == ["passkey"])
        #expect(offer.texts["main"]?.contains("All your addresses are told.") == true)
        #expect(offer.texts["main"]?.contains("It counts from") == false)
        let waiting = Elements(try sample("08-offer-passkey-waiting").html)
        #expect(waiting.texts["main"]?.contains("It counts from tomorrow, 10:15.") == true)
        #expect(waiting.texts["main"]?.contains("All your addresses") == false)
        let made = Elements(try sample("08-passkey-said-created").html)
        let status = try #require(made.all.first { $0.attributes["role"] == "status" })
        #expect(status.attributes["autofocus"] != nil && made.texts["main"]?.contains("Passkey created.") == true)
        let refused = Elements(try sample("08-passkey-refused").html)
        #expect(refused.texts["title"] == "Error: No passkey was created – Acme Bank")
        #expect(refused["a"].contains { $0.attributes["href"] == AccountPage.path })
    }

    private func sample(_ name: String) throws -> Sample {
        try #require(Samples.all(in: .english).first { $0.name == name })
    }

    private func scripts(_ page: Elements) -> [Substring] {
        page["script"].compactMap { $0.attributes["src"]?.split(separator: "/").last?.split(separator: "-").first }
    }
}
