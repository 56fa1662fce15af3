import CountersignPages

/// Every page in every state, with texts of one's choice.
struct Sample {
    let name: String
    let page: any HostedPage
    var frame: PageFrame

    var html: String { page.html(in: frame) }
}

/// The texts that come from others.
struct ForeignTexts {
    var client = "Acme Bank"
    var host = "bank.acme.example"
    var issuer = "login.acme.example"
    var identifier = "anna@example.com"
    var phone = "+49 ... 18"
    var browser = "Firefox on Windows"
    var place = "Berlin, Germany"
    var address = "203.0.113.7"
    var request = "v1.c2VhbGVkLXJlcXVlc3Q"
    var path = "/signin/7f3c"
    var logoPath = SampleLook.logoPath
    var accentPath = SampleLook.accent.path
    var url = "https://bank.acme.example/callback?code=abc&state=xyz"
    var digits = "471932"
    var requestID = "req_01k3f7m2q8xv"
    var why = "redirect_uri is not registered"
    var seed = "b50af7d73a3ca6520897d826dfb0267f5cb4786b88b45d023b9d587e2fbab36f"
    var device = "Pixel 9"
    var newDevice = "iPad Air"
    var otherDevice = "Pixel 8"
    var id = "enr_7f3c"
    var passkey = "Anna's keyring"
    var requestOptions = #"{"challenge":"Y2hhbGxlbmdl","rpId":"login.acme.example","userVerification":"required"}"#
    var creationOptions = """
        {"challenge":"Y2hhbGxlbmdl","rp":{"id":"login.acme.example","name":"Acme"},\
        "user":{"id":"dXNlcg","name":"anna@example.com","displayName":"anna@example.com"},\
        "pubKeyCredParams":[{"type":"public-key","alg":-7}],"excludeCredentials":[],\
        "authenticatorSelection":{"residentKey":"required","userVerification":"required"}}
        """
    var picture = QRPage.Picture.png(SamplePicture.bytes)

    /// The same text in every field.
    static func all(_ text: String) -> ForeignTexts {
        ForeignTexts(
            client: text, host: text, issuer: text, identifier: text, phone: text, browser: text, place: text,
            address: text, request: text, path: text, logoPath: text, accentPath: text, url: "https://" + text,
            digits: text, requestID: text, why: text, seed: text, device: text, newDevice: text, otherDevice: text,
            id: text,
            passkey: text, requestOptions: text, creationOptions: text, picture: .path(text))
    }
}

enum Samples {
    /// 10:15:02 on 23 November 2026, in UTC.
    static let now = 1_795_428_902

    static let clock = PageClock(secondsFromUTC: 0, zone: nil)

    static func all(in language: PageLanguage, _ texts: ForeignTexts = ForeignTexts()) -> [Sample] {
        let whole = frame(language, texts)
        var nobody = whole
        nobody.ledger.identifier = nil
        nobody.ledger.changePath = nil
        var asked = whole
        asked.ledger = .init(identifier: texts.identifier)
        var bare = whole
        bare.ledger = .init()
        var early = whole
        early.ledger.askedAt = nil
        early.ledger.changePath = texts.path
        var strange = bare
        strange.client = nil
        var late = whole
        late.ledger.changePath = nil
        return first(texts, bare, early) + links(texts, late, strange) + waiting(texts, late, nobody)
            + last(texts, late, asked, bare, strange) + devices(texts, asked, late, strange) + account(texts, language)
    }

    private static func devices(
        _ texts: ForeignTexts, _ asked: PageFrame, _ late: PageFrame, _ strange: PageFrame
    ) -> [Sample] {
        let origin = DeviceConfirmPage.Origin(browser: texts.browser, place: "\(texts.place), \(texts.address)")
        let nowhere = DeviceConfirmPage.Origin(browser: nil, place: nil)
        let items: [ConsentPage.Item] = [.identity, .email(texts.identifier, isVerified: true)]
        return [
            Sample(name: "15a-device-code", page: DeviceCodePage(), frame: strange),
            Sample(
                name: "15a-device-code-unknown", page: DeviceCodePage(typed: texts.digits, problem: .unknown),
                frame: strange),
            Sample(
                name: "15a-device-code-not-asked", page: DeviceCodePage(typed: texts.digits, problem: .notAsked),
                frame: strange),
            Sample(
                name: "15b-device-confirm",
                page: DeviceConfirmPage(
                    action: texts.path, code: texts.digits, there: origin, askedAt: now - 60, here: origin,
                    whereabouts: .here),
                frame: asked),
            Sample(
                name: "15b-device-confirm-elsewhere",
                page: DeviceConfirmPage(
                    action: texts.path, code: texts.digits, there: origin, askedAt: now - 60, here: origin,
                    whereabouts: .elsewhere),
                frame: asked),
            Sample(
                name: "15b-device-confirm-allows",
                page: DeviceConfirmPage(
                    action: texts.path, code: texts.digits, there: nowhere, askedAt: now - 60, here: nowhere,
                    whereabouts: .unknown, items: items), frame: asked),
            Sample(
                name: "15c-device-done", page: DeviceDonePage(end: .approved, againPath: texts.path), frame: late),
            Sample(
                name: "15c-device-denied", page: DeviceDonePage(end: .denied, againPath: texts.path), frame: late),
            Sample(name: "15c-device-ended", page: DeviceDonePage(end: .ended, againPath: texts.path), frame: late),
        ]
    }

    private static func frame(_ language: PageLanguage, _ texts: ForeignTexts) -> PageFrame {
        let isPlain = language == .german && texts.browser == ForeignTexts().browser
        return PageFrame(
            language: language, issuerHost: texts.issuer, client: .init(name: texts.client, host: texts.host),
            ledger: .init(
                identifier: texts.identifier, browser: isPlain ? "Firefox unter Windows" : texts.browser,
                place: isPlain ? "Berlin, Deutschland" : texts.place, address: texts.address, askedAt: now),
            request: texts.request, helpURL: "https://acme.example/help?a=1&b=2",
            privacyURL: "https://acme.example/privacy", languageSwitch: .post(texts.path), clock: clock, now: now)
    }

    private static func first(_ texts: ForeignTexts, _ bare: PageFrame, _ early: PageFrame) -> [Sample] {
        let path = texts.path
        var branded = early
        branded.client?.logoPath = texts.logoPath
        branded.client?.accentPath = texts.accentPath
        var brandedFirst = bare
        brandedFirst.client = branded.client
        var named = early
        (named.ledger.identifier, named.ledger.isNamedByClient) = (nil, true)
        let ways: [ChooseWayPage.Way] = [.device, .passkey, .qr, .email(texts.identifier), .text(texts.phone)]
        let offer = PasskeyOffer(options: texts.requestOptions, action: path + "/passkey")
        let passkeyProblems: [(String, IdentifierPage.PasskeyProblem)] = [
            ("refused", .refused), ("waiting", .waiting(until: now + 86_400)),
        ]
        var code = CodePage(
            channel: .email, address: texts.identifier, expiresAt: now + 598, action: path, resendAction: path,
            resendWait: PageCountdown(beginsAt: now - 6, expiresAt: now + 24), anotherWayAction: path)
        var samples = [
            Sample(name: "01-identifier", page: IdentifierPage(action: path, qrAction: path), frame: bare),
            Sample(
                name: "01-identifier-error",
                page: IdentifierPage(action: path, qrAction: path, typed: texts.identifier, hasError: true), frame: bare
            ),
            Sample(
                name: "01-identifier-look", page: IdentifierPage(action: path, qrAction: path), frame: brandedFirst),
            Sample(
                name: "01-identifier-passkey", page: IdentifierPage(action: path, qrAction: path, passkey: offer),
                frame: bare),
            Sample(
                name: "01-identifier-passkey-alone", page: IdentifierPage(action: path, passkey: offer), frame: bare),
            Sample(
                name: "02-choose", page: ChooseWayPage(action: path, ways: ways, passkey: offer), frame: early),
            Sample(name: "02-choose-no-passkey", page: ChooseWayPage(action: path, ways: ways), frame: early),
            Sample(
                name: "02-choose-named", page: ChooseWayPage(action: path, ways: [.device, .qr]), frame: named),
            Sample(
                name: "02-choose-passkey-first",
                page: ChooseWayPage(action: path, ways: [.passkey, .qr], passkey: offer), frame: early),
            Sample(
                name: "02-choose-qr-first",
                page: ChooseWayPage(action: path, ways: [.qr, .email(texts.identifier)], isConfirmation: true),
                frame: branded),
            Sample(name: "04-code", page: code, frame: early),
        ]
        var work = WorkPage(
            action: path, puzzle: WorkPage.Puzzle(seed: texts.seed, bits: 33), seconds: 30,
            exits: PageExits(anotherWayAction: path, cancelAction: path))
        // No hash begins with so many zero bits: the page stays for whoever looks at it.
        for (name, problem) in [("", nil), ("-early", WorkPage.Problem.early), ("-wrong", .wrong)] {
            work.problem = problem
            samples.append(Sample(name: "02-work\(name)", page: work, frame: early))
        }
        for (name, problem) in passkeyProblems {
            let page = IdentifierPage(action: path, qrAction: path, passkey: offer, passkeyProblem: problem)
            samples.append(Sample(name: "01-identifier-passkey-\(name)", page: page, frame: bare))
        }
        code.resendWait = nil
        code.typed = texts.digits
        let problems: [(String, CodePage.Problem)] = [
            ("malformed", .malformed), ("wrong", .wrong(triesLeft: 3)), ("wrong-once", .wrong(triesLeft: 1)),
            ("expired", .expired), ("too-early", .tooEarly(seconds: 24)), ("too-early-once", .tooEarly(seconds: 1)),
        ]
        for (name, problem) in problems {
            code.problem = problem
            samples.append(Sample(name: "04-code-\(name)", page: code, frame: early))
        }
        code.problem = nil
        code.channel = .text
        code.address = texts.phone
        return samples + [Sample(name: "04-code-text", page: code, frame: early)]
    }

    private static func links(_ texts: ForeignTexts, _ late: PageFrame, _ strange: PageFrame) -> [Sample] {
        let facts = LinkFacts(
            client: texts.client, host: texts.host, browser: texts.browser, place: "\(texts.place), \(texts.address)")
        return [
            Sample(name: "05-link-here", page: LinkHerePage(action: texts.path), frame: late),
            Sample(
                name: "05a-link-elsewhere",
                page: LinkElsewherePage(facts: facts, askedAt: now, action: texts.path), frame: strange),
            Sample(
                name: "05b-link-code", page: LinkCodePage(digits: texts.digits, expiresAt: now + 598, facts: facts),
                frame: strange),
        ]
    }

    private static func waiting(_ texts: ForeignTexts, _ late: PageFrame, _ nobody: PageFrame) -> [Sample] {
        let path = texts.path
        var wait = PageWait(statePath: path, pagePath: path, refreshingPath: path)
        let exits = PageExits(anotherWayAction: path, cancelAction: path)
        let time = PageCountdown(beginsAt: now - 18, expiresAt: now + 102)
        let long = PageCountdown(beginsAt: now - 22, expiresAt: now + 158)
        let number = NumberPage(digits: texts.digits, time: time, waiting: wait, exits: exits)
        let qr = QRPage(picture: texts.picture, time: long, waiting: wait, renewalPath: path, exits: exits)
        wait.isRefreshing = true
        let refreshing = NumberPage(digits: texts.digits, time: time, waiting: wait, exits: exits)
        var unplaced = late
        unplaced.ledger.place = nil
        return [
            Sample(name: "03-number", page: number, frame: late),
            Sample(name: "03-number-refreshing", page: refreshing, frame: late),
            Sample(name: "03-number-no-place", page: number, frame: unplaced),
            Sample(name: "03-approved", page: ApprovedPage(nextPath: path), frame: late),
            Sample(
                name: "03-signed-in-elsewhere",
                page: SignedInElsewherePage(address: texts.identifier, action: path, anotherAddressAction: path),
                frame: late),
            Sample(name: "06a-qr", page: qr, frame: nobody),
        ]
    }

    private static func passkeyOffers(_ texts: ForeignTexts, _ late: PageFrame) -> [Sample] {
        var frame = late
        frame.ledger.askedAt = nil
        var unasked = frame
        unasked.languageSwitch = nil
        let path = texts.path
        let offer = PasskeyOffer(options: texts.creationOptions, action: path)
        return [
            Sample(name: "08-offer-passkey", page: OfferPasskeyPage(offer: offer, action: path), frame: frame),
            Sample(
                name: "08-offer-passkey-waiting",
                page: OfferPasskeyPage(offer: offer, action: path, tellsAddresses: false, waitsUntil: now + 86_400),
                frame: frame),
            Sample(
                name: "08-passkey-said-created", page: PasskeyMadePage(.created(waitsUntil: nil), action: path),
                frame: frame),
            Sample(
                name: "08-passkey-said-created-waiting",
                page: PasskeyMadePage(.created(waitsUntil: now + 86_400), action: path), frame: frame),
            Sample(name: "08-passkey-refused", page: PasskeyMadePage(.refused, action: path), frame: unasked),
        ]
    }

    private static func last(
        _ texts: ForeignTexts, _ late: PageFrame, _ asked: PageFrame, _ bare: PageFrame, _ strange: PageFrame
    ) -> [Sample] {
        let path = texts.path
        var change = asked
        change.ledger.changePath = path
        let items: [ConsentPage.Item] = [
            .identity, .email(texts.identifier, isVerified: true), .phone(texts.phone, isVerified: false),
            .phone(nil, isVerified: false),
            .staySignedIn(days: 30), .addDevice, .other(title: texts.why, detail: texts.browser),
        ]
        let answer = [OnwardPostPage.Field(name: texts.digits, value: texts.why)]
        let onward: [(any HostedPage)?] = [
            OnwardPage(url: texts.url), OnwardPostPage(url: texts.url, fields: answer),
        ]
        let ended: [(String, EndedPage.Reason)] = [
            ("a", .numberExpired), ("a-code", .codeExpired), ("b", .declined(at: now + 60)),
        ]
        let errors: [(String, ErrorPage.Problem, PageFrame)] = [
            ("return", .unknownReturnAddress, strange), ("client", .unknownClient, strange),
            ("not-understood", .notUnderstood, strange), ("old", .tooOld, bare), ("old-nobody", .tooOld, strange),
            ("other-browser", .otherBrowser, strange),
            ("many", .tooManyTries(until: now + 600), bare), ("broken", .broken, bare),
        ]
        return [
            Sample(
                name: "07-consent", page: ConsentPage(action: path, items: items, accountPath: path), frame: change)
        ] + passkeyOffers(texts, late)
            + zip(["09-onward", "09-onward-post"], onward).compactMap { name, page in
                page.map { Sample(name: name, page: $0, frame: late) }
            }
            + ended.map { name, reason in
                let page = EndedPage(
                    reason: reason, againAction: path, anotherWayAction: path, backAction: name == "a" ? nil : path)
                return Sample(name: "10\(name)-ended", page: page, frame: late)
            }
            + errors.map { name, problem, frame in
                let page = ErrorPage(
                    problem: problem, requestID: texts.requestID, why: name == "many" ? nil : texts.why,
                    clientURL: texts.url)
                return Sample(name: "11-error-\(name)", page: page, frame: frame)
            }
            + [
                Sample(
                    name: "14a-signed-out", page: SignedOutPage(clientURL: texts.url, signInURL: texts.url), frame: bare
                ),
                Sample(name: "14a-signed-out-nobody", page: SignedOutPage(), frame: strange),
                Sample(name: "14b-sign-out", page: SignOutPage(action: path), frame: asked),
                Sample(
                    name: "14b-sign-out-nobody",
                    page: SignOutPage(action: path, isStayOffered: false, accountPath: AccountPage.path), frame: strange
                ),
                Sample(
                    name: "14b-sign-out-nowhere", page: SignOutPage(action: path, isStayOffered: false), frame: strange
                ),
            ]
    }
}
