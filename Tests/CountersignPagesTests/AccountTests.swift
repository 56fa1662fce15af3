import Testing

@testable import CountersignPages

@Suite("The pages of the account")
struct AccountTests {
    @Test("A device that nobody confirmed has a tag, and the page asks whether it is one's own")
    func unconfirmed() throws {
        let page = try sample("12-account-unconfirmed")
        #expect(page.html.contains(#"role="group" aria-label="Is Pixel 9 yours?""#))
        #expect(page.texts.contains("It was enrolled on 4 March 2026 with Acme Bank."))
        #expect(page.texts.contains("Until you say yes, it can approve for Acme Bank only."))
        #expect(page.texts.contains("it can approve only for Acme Bank and other sites of the same operator."))
        // The third is the tag of a passkey.
        #expect(page.html.matches(of: /<span class="tag">Not confirmed<\/span>/).count == 3)
        #expect(page.posts.filter { $0 == "/account/devices/enr_7f3c/confirm" }.count == 2)
        let whole = try sample("12-account")
        #expect(!whole.texts.contains("yours?"))
        #expect(whole.html.matches(of: /<span class="tag">Not confirmed<\/span>/).count == 1)
        #expect(!whole.posts.contains { $0.hasSuffix("/confirm") })
    }

    @Test(
        "Where one may not say yes, there is no such button, and the page says what to do first",
        arguments: [
            ("elsewhere", "To say yes, sign in with Pixel 8 first."),
            ("nowhere", "To say yes, sign in first with a device that you have confirmed."),
        ])
    func cannotConfirm(_ name: String, _ text: String) throws {
        let page = try sample("12-account-unconfirmed-\(name)")
        #expect(page.texts.contains(text) && page.texts.contains("Is Pixel 9 yours?"))
        #expect(!page.posts.contains { $0.hasSuffix("/confirm") } && !page.texts.contains("Yes, keep it"))
        #expect(page.links.contains("/account/devices/enr_7f3c/remove"))
    }

    @Test("A device that is confirmed later says from when it counts everywhere, and asks nothing")
    func confirming() throws {
        let page = try sample("12-account-confirming")
        #expect(
            page.texts.contains("Pixel 9 counts everywhere from 27 November, 10:15. If you do not know it, remove it."))
        #expect(page.texts.contains("It can approve from tomorrow, 09:30. If you do not know it, undo it."))
        #expect(page.texts.contains("Last approval today, 08:41. Counts everywhere from 27 November, 10:15"))
        #expect(page.texts.contains("Can approve from tomorrow, 09:30. Counts everywhere from 27 November, 10:15"))
        #expect(!page.texts.contains("yours?") && !page.posts.contains { $0.hasSuffix("/confirm") })
        // One that is confirmed counts everywhere already, whatever else is said of it.
        var frame = try #require(Samples.all(in: .english).first { $0.name == "12-account" }).frame
        frame.ledger = .init()
        let device = AccountPage.Device(
            id: "1", name: "Pixel 9", methods: [], enrolledAt: frame.now, client: "Acme Bank", confirmingFrom: frame.now
        )
        #expect(!AccountPage(devices: [device]).html(in: frame).contains("ounts everywhere"))
    }

    @Test("Passkeys stand between devices and sessions, where there are some or one can be created")
    func passkeys() throws {
        let page = try sample("12-account")
        #expect(page.texts.contains("Synced. Last used today, 08:41"))
        #expect(page.texts.contains("On one device. Created 4 March 2026. Counts only on the operator's own sites"))
        #expect(page.html.contains(#"href="/account/passkeys/enr_7f3c" aria-label="Change iPad Air">Change</a>"#))
        let empty = try sample("12-account-no-passkeys")
        #expect(empty.texts.contains("None yet. A passkey signs you in here") && empty.links.contains("/signin/7f3c"))
        #expect(
            empty.html.contains(#"<p class="acts if-live"><a class="outlined" href="/signin/7f3c">Create a passkey"#))
        let alone = try sample("12-account-passkeys-alone")
        #expect(alone.texts.contains("Passkeys") && !alone.texts.contains("Create a passkey"))
        #expect(try !sample("12-account-empty").texts.contains("asskey"))
    }

    @Test("A passkey that waits has a tag, and a notice that leads to its page")
    func waitingPasskey() throws {
        let page = try sample("12-account")
        let notice = "The passkey iPad Air was created today, 09:30. It counts from tomorrow, 09:30."
        #expect(page.texts.contains(notice + " If you do not know it, remove it."))
        #expect(page.html.contains(#"<a class="outlined" href="/account/passkeys/enr_7f3c">Look at <bdi>iPad Air"#))
        #expect(page.texts.contains("iPad Air\nWaiting\nCounts from tomorrow, 09:30"))
        #expect(page.html.matches(of: /<span class="tag">Waiting<\/span>/).count == 2)
        #expect(try !sample("12-account-said-removed").html.contains("class=\"notice\""))
    }

    @Test("A passkey is renamed and removed on a page of its own, which says what it is")
    func changingPasskey() throws {
        let page = try sample("13-passkey")
        #expect(page.texts.contains("Change Anna's keyring") && page.texts.contains("on all its devices"))
        #expect(page.texts.contains("4 March 2026") && page.texts.contains("Today, 08:41"))
        #expect(page.texts.contains("It stays in your browser or password manager until you delete it there."))
        #expect(page.forms == ["/account/passkeys/enr_7f3c/rename"] && page.links.contains("/account"))
        #expect(page.posts == ["/account/passkeys/enr_7f3c/remove"])
        #expect(!page.texts.contains("Counts from") && !page.texts.contains("Your session"))
        let field = try #require(page.all.first { $0.attributes["id"] == "name" })
        #expect(field.attributes["name"] == PasskeyPage.field && field.attributes["value"] == "Anna's keyring")
        #expect(field.attributes["maxlength"] == "60" && field.attributes["aria-invalid"] == nil)
        let waiting = try sample("13-passkey-waiting")
        #expect(waiting.texts.contains("Counts fromTomorrow, 09:30") && waiting.texts.contains("On one device only"))
        #expect(
            waiting.texts.contains("Your session in this browser ends, too.") && !waiting.texts.contains("Last used"))
        #expect(try sample("13-passkey-name-error").texts.contains("Type a name of 1 to 60 characters."))
        // One that waits may be somebody else's, and is removed first.
        for (shown, order) in [(page, ["Rename", "Remove", "Back"]), (waiting, ["Remove", "Rename", "Back"])] {
            let acts = shown.html.matches(of: /class="(?:filled|outlined|link)[^>]*>\s*(Rename|Remove|Back)/)
            #expect(acts.map { String($0.output.1) } == order)
            #expect(shown.html.matches(of: /class="filled/).count == 1)
        }
    }

    @Test("A passkey is created by a button that only scripts show, with the options and the path")
    func creatingPasskey() throws {
        let page = try sample("13-create-passkey")
        let button = try #require(page.all.first { $0.attributes["data-passkey-create"] != nil })
        #expect(button.attributes["data-passkey-create"] == ForeignTexts().creationOptions)
        #expect(button.attributes["class"] == "filled if-live" && page.posts == ["/account/passkeys/create"])
        #expect(button.attributes["data-says-exists"] == "This device has a passkey for this account already.")
        #expect(page.texts.contains("A false page cannot use it.") && page.links.contains("/account"))
        #expect(page.html.contains(#"<p class="if-still">This browser cannot create a passkey"#))
    }

    @Test("A session and what happened name the passkey")
    func namedPasskeys() throws {
        let page = try sample("12-account")
        #expect(page.texts.contains("Since 4 March, 09:30, with the passkey Anna's keyring"))
        #expect(page.texts.contains("Since 4 March, 09:30, with a passkey\n"))
        #expect(page.texts.contains("Passkey created: Anna's keyring"))
        #expect(page.texts.contains("Passkey removed: Anna's keyring"))
        #expect(page.texts.contains("Pixel 9: confirmation begun"))
    }

    @Test("A device that waits has a notice, and is undone, not removed")
    func waiting() throws {
        let page = try sample("12-account")
        #expect(page.texts.contains("iPad Air was enrolled today, 09:30, in Berlin, Germany."))
        #expect(page.texts.contains("It can approve from tomorrow, 09:30. If that was not you, undo it."))
        #expect(page.texts.contains("Can approve from tomorrow, 09:30"))
        #expect(page.html.contains(#"aria-label="Undo iPad Air">Undo</a>"#))
        #expect(!page.html.contains("Remove iPad Air"))
        let asked = try sample("12-account-unconfirmed")
        #expect(asked.texts.contains("If it is not yours, undo it.") && !asked.html.contains("Remove iPad Air"))
    }

    @Test("A sign-in that was reported has a notice: at whom, from where, when, and until when only known browsers ask")
    func reported() throws {
        let page = try sample("12-account-reported")
        let groups = page.all.filter { $0.attributes["role"] == "group" }
        #expect(groups.count == 3 && groups.allSatisfy { $0.attributes["aria-label"] == "You reported a sign-in." })
        #expect(page.texts.contains("You reported a sign-in. It was stopped. Nobody was signed in."))
        #expect(page.texts.contains("Asked byAcme Bank\n"))
        #expect(page.texts.contains("FromFirefox on Windows, 203.0.113.7, Berlin, Germany\n"))
        #expect(page.texts.contains("ReportedToday, 09:59, on Pixel 9\n"))
        let rest = "QR codes and codes by email go on working."
        let start = "only browsers that you have used here can ask your phone"
        #expect(page.texts.contains("Until tomorrow, 09:59 \(start). \(rest)"))
        // A third party, and a report of which nothing else is known.
        #expect(page.texts.contains("Until tomorrow, 09:30 \(start) for Acme Bank. \(rest)"))
        #expect(page.texts.contains("ReportedToday, 09:30\n"))
        #expect(page.texts.contains("Until tomorrow, 09:30 \(start). \(rest)"))
        #expect(page.html.matches(of: /<dt>Asked by<\/dt>/).count == 2)
        #expect(page.html.matches(of: /<dt>From<\/dt>/).count == 1)
        #expect(page.html.matches(of: /<a class="outlined" href="#sessions">See your sessions<\/a>/).count == 3)
        #expect(page.all.contains { $0.attributes["id"] == "sessions" })
        let german = try #require(Samples.all(in: .german).first { $0.name == "12-account-reported" }).html
        let texts = Elements(german).texts["body"] ?? ""
        #expect(texts.contains("Sie haben eine Anmeldung gemeldet. Sie wurde gestoppt. Niemand wurde angemeldet."))
        #expect(texts.contains("GemeldetHeute, 09:59 Uhr, auf Pixel 9"))
        let words = "können nur Browser, die Sie hier schon benutzt haben, auf Ihrem Telefon anfragen."
        #expect(texts.contains("Bis morgen, 09:59 Uhr, \(words) QR-Codes und Codes per E-Mail funktionieren weiter."))
        for name in ["12-account", "12-account-empty", "12-account-said-removed"] {
            #expect(try !sample(name).texts.contains("You reported"), "\(name)")
        }
    }

    @Test("What a notice undoes or removes, it names in full")
    func namedUndoing() throws {
        let names = [
            "12-account-methods-wait": [
                "Undo the PIN on Pixel 9", "Undo the fingerprint or face on Pixel 9", "Undo the further way on Pixel 9",
            ],
            "12-account-unconfirmed": ["Remove Pixel 9", "Undo iPad Air"],
            "12-account-confirming": ["Remove Pixel 9", "Undo iPad Air"],
            "12-account": ["Undo iPad Air"],
        ]
        for (name, expected) in names {
            let html = try sample(name).html
            let acts = html.matches(of: /(?s)class="outlined"[^>]*>((?:Undo|Remove).*?)<\/(?:a|button)>/)
            let texts = acts.map { String($0.output.1).replacing(/<\/?bdi>/, with: "") }
            #expect(texts == expected, "\(name)")
        }
    }

    @Test("This session has no End, every other has; all others are ended only where there are some")
    func sessions() throws {
        let page = try sample("12-account")
        #expect(page.posts.filter { $0 == "/account/sessions/enr_7f3c/end" }.count == 6)
        #expect(page.posts.contains("/account/sessions/end-others"))
        #expect(page.texts.contains("Berlin, Germany. Since today, 10:15, with Pixel 9"))
        #expect(page.texts.contains("Berlin, Germany. Since 4 March, 09:30, by email. Last seen yesterday, 19:15"))
        #expect(page.texts.contains("Since 24 November 2025, 09:30, by text message"))
        #expect(page.html.contains(#"<span class="tag bad">By device code</span>"#))
        let alone = try sample("12-account-said-removed")
        #expect(alone.texts.contains("This one") && !alone.posts.contains { $0.contains("/sessions/") })
    }

    @Test("What is unknown of a row is not taken from the panel")
    func ownValues() throws {
        var frame = try #require(Samples.all(in: .english).first { $0.name == "12-account" }).frame
        frame.client = .init(name: "Panel", host: "panel.example")
        frame.ledger = .init(identifier: "anna@example.com", browser: "Panel", place: "Panel", address: "Panel")
        let page = AccountPage(
            identifiers: [.init(text: "+49 ... 18", standing: .claimed(by: nil))],
            devices: [
                .init(
                    id: "1", name: "iPad Air", methods: [], enrolledAt: frame.now, client: "Acme Bank",
                    state: .waiting(until: frame.now))
            ],
            sessions: [.init(id: "1", browser: nil, place: nil, since: frame.now)],
            activity: [.init(.sessionEnded, at: frame.now)])
        let title = "<title>Your account – Panel</title>"
        let html = page.html(in: frame)
        #expect(html.contains(title) && !html.replacing(title, with: "").contains("Panel"))
    }

    @Test("What was done, or why not, is said first and takes the focus, so that it is read out without scripts too")
    func announcements() throws {
        let refusals: Set = [
            "too-weak", "gone", "passkeys-full", "passkey-not-created", "address-taken", "address-needed",
            "addresses-full", "address-too-new",
        ]
        let texts = [
            "removed": "Pixel 9 was removed.",
            "suspended": "Pixel 9 was suspended. It approves nothing until you resume it, with another device.",
            "resumed": "Pixel 9 was resumed. It can approve again.",
            "method-undone": "What waited on Pixel 9 was undone.",
            "confirmed": "Pixel 9 was confirmed.", "session": "The session was ended.",
            "others": "All other sessions were ended.", "access": "The access of Acme Bank was ended.",
            "confirmed-later": "Pixel 9 counts everywhere from 27 November, 10:15, unless somebody objects.",
            "too-weak":
                "with a trusted device that you have confirmed, by its PIN or fingerprint if it has one, or with",
            "gone": "What you wanted to change is not there any more, or cannot be changed now.",
            "passkey-created": "The passkey Anna's keyring was created.",
            "passkey-created-later": "The passkey Anna's keyring was created. It counts from tomorrow, 10:15.",
            "passkey-removed": "The passkey Anna's keyring was removed.",
            "passkey-renamed": "The passkey is now called Anna's keyring.",
            "passkeys-full": "You have 20 passkeys, and more are not possible.",
            "address-added": "anna@example.com was verified. You can sign in with it.",
            "address-removed": "+49 ... 18 was removed.",
            "address-taken":
                "anna@example.com belongs to another account. To use it here, remove it there first.",
            "addresses-full": "You have 10 addresses, and more are not possible.",
            "address-needed": "Your last address stays. To remove it, add another one first.",
            "user-code-set": "The request code was set.", "user-code-removed": "The request code was removed.",
            "address-too-new": "is too new to take its place. It is possible from 27 November, 10:15.",
            "passkey-not-created": "No passkey was created: we could not use the answer of your browser. Try again.",
        ]
        for (name, text) in texts {
            let page = try sample("12-account-said-\(name)")
            let isRefusal = refusals.contains(name)
            let role = isRefusal ? "alert" : "status"
            let said = try #require(page.all.first { $0.attributes["role"] == role }, "\(name)")
            #expect(said.attributes["autofocus"] != nil && said.attributes["tabindex"] == "-1")
            #expect(said.attributes["class"] == (isRefusal ? "error" : "shown") && page.texts.contains(text))
            #expect(page.html.contains("<title>Error: ") == isRefusal)
            let order = page.all.filter { ["h1", "h2"].contains($0.name) || $0.attributes["role"] == role }
            #expect(order.prefix(3).map(\.name) == ["h1", "p", "h2"])
        }
    }

    @Test("What there is none of is said, and nothing is offered for it")
    func empty() throws {
        let page = try sample("12-account-empty")
        #expect(page.texts.contains("The app of a site where you sign in shows you how to enroll one."))
        #expect(page.texts.contains("You gave none.") && page.texts.contains("Nothing yet."))
        #expect(page.posts.isEmpty && !page.html.contains("<ul"))
        #expect(!page.texts.contains("Add an address") && !page.texts.contains("Earlier activity"))
        #expect(try sample("12-account-empty-client").texts.contains("Acme Bank shows you how to enroll one."))
    }

    @Test("The panel says who is signed in, and leads to each part of the account and out")
    func panel() throws {
        let parts = ["addresses", "devices", "passkeys", "sessions", "access", "activity"]
        let page = try sample("12-account")
        #expect(page.links.filter { $0.hasPrefix("#") } == ["#main"] + parts.map { "#\($0)" })
        #expect(page.all.filter { $0.name == "h2" }.compactMap { $0.attributes["id"] } == parts)
        #expect(page.links.contains("/oauth2/logout") && page.texts.contains("Signed in as\nanna@example.com"))
        #expect(try sample("12-account-empty-client").texts.contains("Signed in at\nlogin.acme.example"))
        for (name, part) in [
            ("13-remove-device", "devices"), ("13-passkey", "passkeys"), ("13-create-passkey", "passkeys"),
            ("13-add-address", "addresses"), ("13-address-code", "addresses"), ("13-address", "addresses"),
            ("13-user-code-set", "devices"),
        ] {
            let below = try sample(name)
            #expect(below.links.filter { $0.contains("#") } == ["#main"] + parts.map { "/account#\($0)" })
            let marked = below.all.filter { $0.attributes["aria-current"] != nil }
            #expect(marked.map { $0.attributes["href"] } == ["/account#\(part)"])
            // On a small screen the stylesheet shows the marked part alone.
            #expect(below.html.contains(#"<nav class="below" aria-label="Your account">"#))
        }
        #expect(page.html.contains(#"<nav aria-label="Your account">"#))
        for name in [
            "12-account-empty", "13-remove-device-waiting", "13-add-address-yours", "13-address-code-text",
            "13-address-only",
        ] {
            #expect(try !sample(name).links.contains { $0.hasSuffix("#passkeys") })
        }
    }

    @Test("The request code has a row where it is of use, and a page that sets, changes and removes it")
    func userCode() throws {
        for name in ["12-account", "12-account-empty"] {
            #expect(try !sample(name).links.contains(UserCodePage.path), "\(name)")
        }
        let offered = try sample("12-account-user-code")
        #expect(offered.links.contains(UserCodePage.path) && offered.texts.contains("Not set"))
        #expect(offered.html.contains(#"aria-label="Change request code""#))
        let set = try sample("12-account-user-code-set")
        #expect(set.links.contains(UserCodePage.path) && !set.texts.contains("Not set"))
        #expect(set.texts.contains("Request code set") && set.texts.contains("Request code removed"))
        let page = try sample("13-user-code")
        #expect(page.forms == [UserCodePage.path] && page.posts.isEmpty && page.links.contains("/account"))
        let there = try sample("13-user-code-set")
        #expect(there.forms == [UserCodePage.path] && there.posts == ["\(UserCodePage.path)/remove"])
        let wrong = try sample("13-user-code-malformed")
        #expect(wrong.texts.contains("Type 6 to 32 letters from A to Z and digits"))
    }

    @Test("A device can be removed, kept or suspended; one that waits is undone, one that is suspended only removed")
    func removing() throws {
        let page = try sample("13-remove-device")
        #expect(page.texts.contains("Remove Pixel 9?") && page.texts.contains("4 March 2026, with Acme Bank"))
        #expect(page.texts.contains("Today, 08:41, Berlin, Germany"))
        #expect(page.forms == ["/account/devices/enr_7f3c/remove"] && page.links.contains("/account"))
        #expect(page.posts == ["/account/devices/enr_7f3c/suspend"])
        #expect(!page.texts.contains("Your session") && !page.texts.contains("only device"))
        let waiting = try sample("13-remove-device-waiting")
        #expect(waiting.texts.contains("Undo iPad Air?") && !waiting.texts.contains("Remove"))
        let suspended = try sample("13-remove-device-suspended")
        #expect(suspended.texts.contains("Remove Pixel 9?") && suspended.texts.contains("no longer be resumed"))
        for one in [waiting, suspended] {
            #expect(one.forms == ["/account/devices/enr_7f3c/remove"] && one.posts.isEmpty)
        }
        let only = try sample("13-remove-device-only-next-email")
        #expect(only.texts.contains("It is the only device that can approve today. Until iPad Air can, you sign in by"))
        #expect(only.texts.contains("Your session in this browser"))
        #expect(
            try sample("13-remove-device-only-nothing").texts.contains("Until you enroll another, you cannot sign in"))
    }

    @Test("A verified address has a link that removes it, a claimed one a link that verifies it, by its name")
    func addressRows() throws {
        let page = try sample("12-account")
        #expect(page.html.contains(#"href="/signin/7f3c" aria-label="Remove anna@example.com">Remove</a>"#))
        #expect(page.html.contains(#"href="/signin/7f3c" aria-label="Verify +49 ... 18">Verify</a>"#))
        #expect(page.html.matches(of: /aria-label="(Remove|Verify) \+49/).count == 1)
        #expect(page.html.contains(#"<b><bdi dir="ltr">anna@<wbr />example.com</bdi></b>"#))
        #expect(page.html.contains(#"<b><bdi dir="ltr">+49 ... 18<wbr /></bdi></b>"#))
        #expect(page.texts.contains("Email address removed") && page.texts.contains("Phone number removed"))
    }

    @Test(
        "The page that adds an address asks for what can be added, and says what is wrong with it",
        arguments: [
            ("", "Email address or phone number", "username", "email", "or a phone number with its country code."),
            ("-email", "Email address", "email", "email", "Enter an email address, like name@example.com."),
            ("-phone", "Phone number", "tel", "tel", "Enter a phone number with its country code."),
        ])
    func addingAddress(_ kind: String, _ label: String, _ completion: String, _ keyboard: String, _ problem: String)
        throws
    {
        let page = try sample("13-add-address" + kind)
        #expect(page.texts.contains("Add an address or number\n") && page.texts.contains("\n\(label)\n"))
        #expect(page.texts.contains("We send a code there. Once you have typed it, you can sign in this way too"))
        #expect(page.forms == ["/signin/7f3c"] && page.posts.isEmpty && page.links.contains("/account"))
        let field = try #require(page.all.first { $0.attributes["name"] == AddAddressPage.field })
        #expect(field.attributes["autocomplete"] == completion && field.attributes["inputmode"] == keyboard)
        #expect(field.attributes["dir"] == "ltr" && field.attributes["aria-invalid"] == nil)
        for (name, text) in [
            ("malformed", problem), ("not-sent", "We send no codes to this address or number."),
            ("yours", "It is verified already."),
        ] {
            let wrong = try sample("13-add-address\(kind)-\(name)")
            #expect(wrong.texts.contains(text) && !page.texts.contains(text))
            let field = try #require(wrong.all.first { $0.attributes["name"] == AddAddressPage.field })
            #expect(field.attributes["value"] == (kind == "-phone" ? "+49 ... 18" : "anna@example.com"))
        }
    }

    @Test("The code of an address to add is asked for as that of a sign-in is, of somebody who is known")
    func addressCode() throws {
        let page = try sample("13-address-code")
        let sent = "We have sent a message to anna@example.com. Type its six digits here, until 10:25."
        #expect(page.texts.contains(sent))
        #expect(!page.texts.contains("If we know") && !page.texts.contains("link"))
        #expect(page.html.contains(#"<a class="link" href="/signin/7f3c">Use another address</a>"#))
        let text = try sample("13-address-code-text")
        #expect(text.texts.contains("Enter the code from your text message") && text.texts.contains("to +49 ... 18."))
        #expect(page.all.contains { $0.name == "input" && $0.attributes["name"] == AddressCodePage.field })
        for name in ["", "-malformed", "-wrong", "-wrong-once", "-expired", "-too-early", "-too-early-once"] {
            let asked = try sample("13-address-code\(name)")
            #expect(asked.forms == (name == "-expired" ? [] : ["/signin/7f3c"]) && asked.posts == ["/signin/7f3c"])
            let asks = try #require(form(asked))
            #expect(try sample("04-code\(name)").html.contains(asks))
        }
    }

    @Test("An address is removed where another stays; where none does, the page says what to do first")
    func changingAddress() throws {
        let page = try sample("13-address")
        #expect(page.texts.contains("\nRemove anna@example.com?\n") && page.texts.contains("Verified4 March 2026"))
        #expect(page.html.contains(#"<h1>Remove <bdi dir="ltr">anna@<wbr />example.com</bdi>?</h1>"#))
        #expect(page.texts.contains("nobody signs in with it any more, even where a site names it as yours."))
        #expect(page.texts.contains("All your addresses are told, this one too."))
        #expect(page.texts.contains("\nRemove anna@example.com\nKeep it\n") && !page.texts.contains("Your session"))
        #expect(page.forms == ["/account/addresses/enr_7f3c/remove"] && page.links.contains("/account"))
        #expect(try sample("13-address-ends-session").texts.contains("Your session in this browser ends, too."))
        let only = try sample("13-address-only")
        #expect(only.texts.contains("This is your only address. To change it, add another one first, then remove"))
        #expect(only.links.contains("/account/new-address"))
        let later = try sample("13-address-later")
        #expect(later.texts.contains("is too new to take its place. You can remove this one from 27 November, 10:15."))
        for one in [only, later] {
            #expect(one.forms.isEmpty && one.posts.isEmpty && !one.texts.contains("Remove "))
            #expect(one.texts.contains("\nanna@example.com stays for now\n"))
            #expect(one.links.contains("/account"))
        }
        #expect(!later.links.contains("/account/new-address") && !page.links.contains("/account/new-address"))
    }

    @Test("An id of any text is one part of a path")
    func paths() {
        #expect(PageAddress.segment("enr_7f-3c.~") == "enr_7f-3c.~")
        #expect(PageAddress.segment("a/../b?c#d%\u{E9}\n") == "a%2F..%2Fb%3Fc%23d%25%C3%A9%0A")
    }

    private struct Seen {
        let html: String
        let all: [Elements.Element]
        /// The text of the page.
        let texts: String
        let links: [String]
        /// Where buttons outside a form of their own post to, but for the language.
        let posts: [String]
        let forms: [String]
    }

    /// From the field of a code, or from why there is none, to what sends a new one.
    private func form(_ page: Seen) -> Substring? {
        page.html.firstMatch(
            of: /(?s)(?:<form method="post" action=|<p class="error" role).*formaction=[^\n]*<\/button>\n<\/div>/
        )?.output
    }

    private func sample(_ name: String) throws -> Seen {
        let html = try #require(Samples.all(in: .english).first { $0.name == name }).html
        let page = Elements(html)
        return Seen(
            html: html, all: page.all, texts: page.texts["body"] ?? "",
            links: page["a"].compactMap { $0.attributes["href"] },
            posts: page["button"].compactMap { $0.attributes["formaction"] },
            forms: page["form"].compactMap { $0.attributes["action"] })
    }
}
