import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import Foundation
import TestSupport
import Testing

@Suite("Plain text and HTML from localised templates")
struct TemplateTests {
    private static let parts = ["subject", "text", "html", "sms"].flatMap { part in
        ["test", "code", "sign-in", "device", "passkey", "address", "user-code", "signed-in"].map { "\($0).\(part)" }
    }

    private func issuer() throws -> Issuer { try #require(Issuer("https://login.example.com")) }

    private func templates(
        _ files: [String: String] = [:], language: String = "en", sender: String = "ACME"
    ) throws -> MessageTemplates {
        let folder = try TemporaryFolder()
        for (path, text) in files {
            let parts = path.split(separator: "/").map(String.init)
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: parts[0]), withIntermediateDirectories: true)
            if parts.count == 2 { _ = try folder.write(path, Array(text.utf8)) }
        }
        return try MessageTemplates(
            folder: files.isEmpty ? nil : folder.url.path, language: try #require(LanguageTag(language)),
            sender: sender,
            issuer: try issuer())
    }

    private func code(_ language: String? = nil) -> PersonalMessage {
        .code(EntryNumber(value: 4711), minutes: 10, in: language.flatMap { LanguageTag($0) })
    }

    private func expectRefusal(
        _ words: String, of files: [String: String], language: String = "en",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: MessageTemplates.Refusal.self, sourceLocation: sourceLocation) {
            try templates(files, language: language)
        }
        #expect(
            error?.description.hasSuffix(words) == true, "\(error?.description ?? "")", sourceLocation: sourceLocation)
    }

    @Test("A code stands in the text and in the page, and not in the subject, which a locked phone shows")
    func mail() throws {
        let mail = try templates().mail(code())
        #expect(mail.subject == "Your code for ACME")
        #expect(mail.text.hasPrefix("004711\n"))
        #expect(mail.text.contains("good for 10 minutes") && mail.text.contains("login.example.com"))
        #expect(mail.html.contains("<strong>004711</strong>"))
        #expect(mail.html.contains("<html lang=\"en\">"))
    }

    @Test("A code that adds an address says so, and from where it was asked for", arguments: ["en", "de"])
    func adding(in language: String) throws {
        let message = PersonalMessage.addressCode(
            EntryNumber(value: 4711), minutes: 10, from: ContextLine(address: "192.0.2.1", userAgent: nil),
            in: LanguageTag(language))
        let said = language == "de" ? "fügt diese Adresse seinem Konto hinzu" : "adds this address to their account"
        let mail = try templates().mail(message)
        for text in [mail.text, mail.html] {
            #expect(text.contains(said) && text.contains("192.0.2.1") && text.contains("004711"), "\(text)")
        }
        #expect(try !templates().mail(code(language)).text.contains(said))
        #expect(try templates().text(message).contains(language == "de" ? "Konto hinzuzufügen" : "add this number"))
    }

    @Test("Origin-bound one-time codes, Message format: the last line names the host and the code")
    func autofill() throws {
        let text = try templates().text(code())
        #expect(text.hasPrefix("004711 is your code for ACME"))
        #expect(text.hasSuffix("\n\n@login.example.com #004711"))
        // Without a code there is nothing to fill in.
        #expect(try templates().text(.test(in: nil)).contains("@") == false)
        // Whatever an operator writes, that line is the server's.
        let own = try templates(["en/code.sms": "{{code}}\n"])
        #expect(own.text(code()) == "004711\n\n@login.example.com #004711")
    }

    @Test(
        "RFC 4647 §3.4: the language is the person's, or what it is a variety of, or the operator's, or English",
        arguments: [
            ("de", "en", "de"), ("de-AT", "en", "de"), ("fr", "en", "en"), ("fr", "de", "de"), (nil, "de-CH", "de"),
            (nil, "en", "en"), ("en-GB", "de", "en"),
        ])
    func languages(of person: String?, operators: String, chosen: String) throws {
        let mail = try templates(language: operators).mail(code(person))
        #expect("\(mail.language)" == chosen)
        #expect(mail.subject.hasPrefix(chosen == "de" ? "Ihr Code für" : "Your code for"))
        #expect(mail.html.contains("<html lang=\"\(chosen)\">"))
    }

    @Test("An operator's own text takes the place of one part, and a new language brings all parts")
    func own() throws {
        let subject = try templates(["de/code.subject": "Code von {{sender}}"])
        #expect(subject.mail(code("de")).subject == "Code von ACME")
        #expect(subject.mail(code("de")).text.contains("Ihr Code für ACME"))
        #expect(subject.mail(code("en")).subject == "Your code for ACME")

        let french = Dictionary(
            uniqueKeysWithValues: Self.parts.map { part in
                ("fr/\(part)", part.hasPrefix("sign-in") ? "{{code}} {{link}}" : "{{sender}} {{code}} en français")
            })
        let mail = try templates(french).mail(code("fr-CA"))
        #expect(mail.subject == "ACME 004711 en français" && "\(mail.language)" == "fr")
    }

    @Test("The code of a sign-in says where it is typed, and a mail brings the link and from where it was asked for")
    func signIn() throws {
        let place = ContextLine(address: "192.0.2.1", userAgent: nil)
        let name = try ClientName("Shop <&>")
        let link = Secret("https://login.example.com/signin/aut_1/link/abc")
        for (language, word) in [("en", "Or open this link"), ("de", "Oder öffnen Sie diesen Link")] {
            let message = PersonalMessage.signIn(
                EntryNumber(value: 4711), minutes: 10, at: name, link: link, from: place, in: LanguageTag(language))
            let mail = try templates().mail(message)
            #expect(mail.text.hasPrefix("004711\n") && mail.text.contains(word) && mail.text.contains(link.reveal()))
            #expect(mail.text.contains("192.0.2.1") && mail.html.contains("href=\"\(link.reveal())\""))
            #expect(!mail.html.contains("<&>"))
            // A text message has no link, and its last line lets the phone fill in the code on our page.
            let plain = PersonalMessage.signIn(
                EntryNumber(value: 4711), minutes: 10, at: name, link: nil, from: place, in: LanguageTag(language))
            let text = try templates().text(plain)
            #expect(text.hasSuffix("\n\n@login.example.com #004711") && !text.contains("http"))
            #expect(try !templates().mail(plain).text.contains(word))
        }
    }

    @Test("The mail of a sign-in without a code has the link alone, and says why")
    func signInByLink() throws {
        let link = Secret("https://login.example.com/signin/aut_1/link/abc")
        for (language, word) in [("en", "too many wrong ones"), ("de", "zu viele falsche")] {
            let mail = try templates().mail(
                .signIn(
                    nil, minutes: 10, at: try ClientName("Shop"), link: link, from: nil, in: LanguageTag(language)))
            for text in [mail.text, mail.html] { #expect(text.contains(word) && text.contains(link.reveal())) }
            #expect(!mail.subject.contains("ode") && !mail.subject.isEmpty && !mail.text.hasPrefix("\n"))
        }
    }

    @Test(
        "A message about a device says what was done, from where, and where to look",
        arguments: PersonalMessage.DeviceChange.allCases)
    func device(_ change: PersonalMessage.DeviceChange) throws {
        let words: [PersonalMessage.DeviceChange: (String, String)] = [
            .removed: ("was removed", "wurde entfernt"), .suspended: ("was suspended", "wurde gesperrt"),
            .resumed: ("was resumed", "wurde entsperrt"),
            .confirmed: ("was confirmed", "wurde bestätigt"), .confirming: ("is to be", "soll bestätigt"),
        ]
        try expectTold(try #require(words[change]), naming: "9") { name, client, time, place, page, language in
            .changed(.device(change, name), by: client.text, at: time, from: place, page: page, in: language)
        }
    }

    @Test(
        "A message about a passkey says what was done, from where, and where to look",
        arguments: PersonalMessage.PasskeyChange.allCases)
    func passkey(_ change: PersonalMessage.PasskeyChange) throws {
        let words: [PersonalMessage.PasskeyChange: (String, String)] = [
            .created: ("new passkey (", "neuer Passkey ("), .waiting: ("which waits", "der noch wartet"),
            .removed: ("passkey removed", "Passkey entfernt"),
        ]
        try expectTold(try #require(words[change]), naming: "laptop") { name, client, time, place, page, language in
            .changed(.passkey(change, name), by: client.text, at: time, from: place, page: page, in: language)
        }
    }

    @Test(
        "A message about an address says which, what was done, from where, and where to look",
        arguments: PersonalMessage.AddressChange.allCases)
    func address(_ change: PersonalMessage.AddressChange) throws {
        let words: [PersonalMessage.AddressChange: (String, String)] = [
            .added: ("new address (", "neue Adresse ("), .removed: ("address removed", "Adresse entfernt"),
        ]
        let address = try #require(PersonalAddress("me+x@example.com"))
        try expectTold(try #require(words[change]), naming: nil) { _, client, time, place, page, language in
            .changed(.address(change, address), by: client.text, at: time, from: place, page: page, in: language)
        }
        let message = PersonalMessage.changed(
            .address(change, address), by: "ACME", at: Timestamp(seconds: 0), from: nil, page: "x",
            in: nil)
        let mail = try templates().mail(message)
        for text in [mail.subject, mail.text, mail.html] { #expect(text.contains("\(address)"), "\(text)") }
    }

    @Test(
        "A message about the request code says what was done, from where, and where to look",
        arguments: PersonalMessage.UserCodeChange.allCases)
    func userCode(_ change: PersonalMessage.UserCodeChange) throws {
        let words: [PersonalMessage.UserCodeChange: (String, String)] = [
            .set: ("request code set", "Anfragecode festgelegt"),
            .removed: ("request code removed", "Anfragecode entfernt"),
        ]
        try expectTold(try #require(words[change]), naming: nil) { _, client, time, place, page, language in
            .changed(.userCode(change), by: client.text, at: time, from: place, page: page, in: language)
        }
    }

    @Test(
        "A message about a sign-in says why it comes, where and from where it was, and where to look",
        arguments: PersonalMessage.SignInNotice.allCases)
    func signedIn(_ notice: PersonalMessage.SignInNotice) throws {
        let words: [PersonalMessage.SignInNotice: (String, String)] = [
            .newBrowser: ("from a new browser", "in einem neuen Browser"),
            .wrongCodes: ("after wrong codes", "nach falschen Codes"),
            .deviceGrant: ("on a device", "auf einem Gerät"),
        ]
        try expectTold(try #require(words[notice]), naming: nil) { _, client, time, place, page, language in
            .signedIn(notice, at: client, at: time, from: place, page: page, in: language)
        }
        // Without an account page there is nothing to open.
        let message = PersonalMessage.signedIn(
            notice, at: try ClientName("ACME <b>"), at: Timestamp(seconds: 0), from: nil, page: nil, in: nil)
        let mail = try templates().mail(message)
        #expect(mail.text.contains("tell ACME <b>.") && mail.html.contains("ACME &lt;b&gt;"), "\(mail)")
        let text = try templates().text(message)
        for said in [mail.text, mail.html, text] { #expect(!said.contains("open") && !said.contains("{{"), "\(said)") }
    }

    /// Expects of a message about something with a deceptive name that it says all that it must, in both languages.
    private func expectTold(
        _ words: (english: String, german: String), naming name: String?,
        _ message: (DisplayLine, ClientName, Timestamp, ContextLine?, String, LanguageTag) -> PersonalMessage
    ) throws {
        let place = ContextLine(address: "192.0.2.1", userAgent: nil)
        for language in [LanguageTag.english, try #require(LanguageTag("de"))] {
            let message = message(
                try DisplayLine("Mine <\(name ?? "")>"), try ClientName("ACME"), Timestamp(seconds: 1_795_428_902),
                place, "https://login.example.com/account", language)
            let said = language == .english ? words.english : words.german
            let mail = try templates().mail(message)
            #expect(mail.subject.contains(said), "\(mail.subject)")
            #expect(mail.text.contains("2026-11-23 10:15 UTC") && mail.text.contains("192.0.2.1"))
            #expect(mail.text.contains("https://login.example.com/account"))
            if let name {
                #expect(mail.text.contains("Mine <\(name)>"))
                #expect(mail.html.contains("Mine &lt;\(name)&gt;") && !mail.html.contains("<\(name)>"))
            }
            let text = try templates().text(message)
            #expect(text.contains(said) && !text.contains("@login"))
        }
    }

    @Test("What is put into a page is escaped there, and nowhere else; a subject stays one line")
    func escaping() throws {
        let mail = try templates(["en/code.subject": "{{sender}}\r\nBcc: x\n"], sender: "A & <B>").mail(code())
        #expect(mail.subject == "A & <B>  Bcc: x")
        #expect(mail.text.contains("A & <B>"))
        #expect(mail.html.contains("A &amp; &lt;B&gt;") && !mail.html.contains("<B>"))
    }

    @Test("A sign under a combining mark is escaped in a page too, in text and in attributes")
    func combinedSigns() throws {
        let folder = ["en/code.html": "<a title=\"{{sender}}\">{{sender}} {{code}}</a>"]
        let html = try templates(folder, sender: "x\"\u{301} onclick=\"\u{FE0F}a\"<\u{338}b").mail(code("en")).html
        let shown = "x&quot;\u{301} onclick=&quot;\u{FE0F}a&quot;&lt;\u{338}b"
        #expect(html.utf8.elementsEqual("<a title=\"\(shown)\">\(shown) 004711</a>".utf8), "\(html)")
    }

    @Test("Templates that cannot be used are refused at the start, by the file's name")
    func refusals() {
        expectRefusal("fr/test.subject is missing: a language needs all of its parts", of: ["fr/code.text": "{{code}}"])
        expectRefusal("de/code.text does not show {{code}}", of: ["de/code.text": "{{cod}}"])
        expectRefusal("de/code.sms does not show {{code}}", of: ["de/code.sms": "Your code"])
        expectRefusal(
            "de/sign-in.text does not show {{link}} where there is no {{code}}",
            of: ["de/sign-in.text": "{{code}}{{#code}} {{link}}{{/code}}"])
        expectRefusal("en/code.html, line 2: expectedSectionEnd", of: ["en/code.html": "{{code}}\n{{#a}}"])
        expectRefusal(
            "en/code.txt is no part of a template: those are address.html, address.sms, address.subject, address.text, code.html, code.sms, code.subject, code.text, device.html, "
                + "device.sms, device.subject, device.text, passkey.html, passkey.sms, passkey.subject, passkey.text, sign-in.html, sign-in.sms, sign-in.subject, sign-in.text, signed-in.html, signed-in.sms, signed-in.subject, signed-in.text, test.html, test.sms, test.subject, test.text, user-code.html, user-code.sms, user-code.subject, user-code.text",
            of: ["en/code.txt": "{{code}}"])
        expectRefusal("/english is not the name of a language, such as de or pt-BR", of: ["english/code.text": ""])
        expectRefusal("/de_AT is not the name of a language, such as de or pt-BR", of: ["de_AT/code.text": ""])
        expectRefusal("there are no templates in fr, which is to be used by default", of: [:], language: "fr")
        let error = #expect(throws: MessageTemplates.Refusal.self) {
            try MessageTemplates(folder: "/nowhere", sender: "ACME", issuer: try issuer())
        }
        #expect(error?.description == "/nowhere is no folder that can be read")
    }
}
