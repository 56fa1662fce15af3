import CountersignWire
import Testing

@testable import CountersignCore

@Suite("The decision whether and what to ask")
struct AskDecisionTests {
    @Test("A plain request becomes the challenge its type describes")
    func plain() throws {
        let asked = try AskScene().decide {
            $0.secureMessage = try DisplayMessage("Pay EUR 5 to ACME?")
            $0.details = [try Detail(label: "Amount", value: "EUR 5")]
            $0.clientState = "s-1"
            $0.locale = RequestedLanguage("de")
            $0.signingData = SigningData("data")
            $0.callbackURI = CallbackURI(named: AskScene.callback)
        }
        let challenge = asked.challenge
        #expect(challenge.alert.text == "Pay?")
        #expect(challenge.question.message.text == "Pay EUR 5 to ACME?")
        #expect(challenge.question.details == [try Detail(label: "Amount", value: "EUR 5")])
        #expect(challenge.question.signingData == "data")
        #expect(challenge.question.nonce.bytes == [UInt8](repeating: 9, count: 32))
        #expect(challenge.question.askedAt == Timestamp(seconds: 1_795_169_702), "cut to the second")
        #expect(challenge.expiresAt == AskScene.now.adding(seconds: 120), "not cut")
        #expect(challenge.callbackURI?.description == AskScene.callback)
        #expect(challenge.clientState == "s-1")
        #expect(challenge.locale?.description == "de")
        #expect(challenge.methods == [.confirm])
        #expect(challenge.state == .pending)
        #expect(asked.enrollments == [AskScene.id(0), AskScene.id(1)])
    }

    @Test("Without a secure message the short one is signed")
    func message() throws {
        #expect(try AskScene().decide().challenge.question.message.text == "Pay?")
    }

    @Test(
        "What the type says is asked where the request says nothing, in its language or the nearest there is",
        arguments: [
            ("de", "Zahlen?"), ("de-AT", "Zahlen?"), ("de-CH", "Zahle?"), ("DE-ch", "Zahle?"), ("fr", "Pay?"),
            ("not a language", "Pay?"), (nil, "Pay?"),
        ] as [(String?, String)])
    func typeText(_ locale: String?, _ expected: String) throws {
        var scene = try AskScene()
        for (language, text) in [("de-CH", "Zahle?"), ("de", "Zahlen?"), ("en", "Pay?"), ("ab", "First?")] {
            scene.texts[try #require(LanguageTag(language))] = try DisplayMessage(text)
        }
        let challenge = try scene.decide {
            $0.message = nil
            $0.locale = locale.map(RequestedLanguage.init(stored:))
        }.challenge
        #expect(challenge.alert.text == expected)
        #expect(challenge.question.message.text == expected)
        let said = try scene.decide {
            $0.message = try DisplayMessage("Sign in?")
            $0.locale = locale.map(RequestedLanguage.init(stored:))
        }.challenge
        #expect(said.alert.text == "Sign in?")
    }

    @Test("Without English the first language by its tag counts; a type without any text asks for nothing by itself")
    func noEnglish() throws {
        var scene = try AskScene()
        #expect(throws: AskChallenge.Refusal.messageMissing) { try scene.decide { $0.message = nil } }
        for (language, text) in [("nl", "Betalen?"), ("fr", "Payer ?")] {
            scene.texts[try #require(LanguageTag(language))] = try DisplayMessage(text)
        }
        #expect(try scene.decide { $0.message = nil }.challenge.alert.text == "Payer ?")
        let secure = try scene.decide {
            $0.message = nil
            $0.secureMessage = try DisplayMessage("Pay EUR 5?")
        }.challenge
        #expect(secure.alert.text == "Payer ?" && secure.question.message.text == "Pay EUR 5?")
    }

    @Test("The number is kept as a keyed hash of this challenge and this number alone")
    func number() throws {
        let asked = try AskScene().decide()
        let hash = try #require(asked.challenge.numberHash)
        #expect(asked.number == AskScene.number)
        #expect(hash.bytes.count == 32)
        #expect(AskScene.hasher.hash(of: AskScene.number, challenge: asked.challenge.id) == hash)
        #expect(AskScene.hasher.hash(of: AskScene.number, challenge: AskScene.id(9)) != hash)
        #expect(AskScene.hasher.hash(of: EntryNumber(value: 471_933), challenge: asked.challenge.id) != hash)
    }

    @Test(
        "Number entry can be turned on by a request and never off",
        arguments: [
            (true, nil, true), (true, true, true), (false, nil, false), (false, true, true), (false, false, false),
        ] as [(Bool, Bool?, Bool)])
    func numberEntry(_ type: Bool, _ request: Bool?, _ expected: Bool) throws {
        var scene = try AskScene()
        scene.numberEntry = type
        let asked = try scene.decide { $0.numberEntry = request }
        #expect((asked.number != nil) == expected)
        #expect((asked.challenge.numberHash != nil) == expected)
    }

    /// One member each that would loosen the type, with what it is.
    static let loosenings: [(AskChallenge.Part, @Sendable (inout AskChallenge.Request, inout AskScene) -> Void)] = [
        (.numberEntry, { request, _ in request.numberEntry = false }),
        (.lifetime, { request, _ in request.lifetime = 121 }),
        (.lifetime, { request, _ in request.lifetime = Seconds(.max) }),
        (
            .methods,
            { request, scene in
                scene.methods = []
                request.methods = [.confirm]
            }
        ),
        (
            .signingData,
            { request, scene in
                scene.signingData = false
                request.signingData = SigningData("x")
            }
        ),
    ]

    @Test("A request that would loosen its type is refused, and told by what", arguments: 0..<5)
    func loosening(_ index: Int) throws {
        let (part, change) = Self.loosenings[index]
        var scene = try AskScene()
        var ignored = AskChallenge.Request(user: .id(AskScene.id(1)), type: .confirm, message: try DisplayMessage("?"))
        change(&ignored, &scene)
        #expect(throws: AskChallenge.Refusal.notAllowedByType(part)) {
            try scene.decide { request in
                var unused = scene
                change(&request, &unused)
            }
        }
    }

    @Test("A request may shorten the lifetime, down to a second and up to the type's own")
    func shorter() throws {
        for lifetime: Seconds in [1, 119, 120] {
            let challenge = try AskScene().decide { $0.lifetime = lifetime }.challenge
            #expect(challenge.expiresAt == AskScene.now.adding(lifetime))
        }
    }

    @Test("The methods are those of the request, where it names some")
    func methods() throws {
        #expect(try AskScene().decide { $0.methods = [.confirm] }.challenge.methods == [.confirm])
    }

    @Test(
        "Callback_uri is one of the client's registered URLs, byte for byte",
        arguments: [
            "https://shop.example.com/countersign/", "https://shop.example.com/Countersign",
            "https://SHOP.example.com/countersign", "https://shop.example.com:443/countersign",
            "https://shop.example.com/countersign?x=1", "https://shop.example.com/countersign#",
            "https://shop.example.com/countersig", "https://shop.example.com/./countersign",
            "https://shop.example.com/countersi%67n", "https://attacker.example.com/", "",
        ])
    func callback(_ uri: String) throws {
        let scene = try AskScene()
        #expect(throws: AskChallenge.Refusal.callbackNotRegistered) {
            try scene.decide { $0.callbackURI = CallbackURI(named: uri) }
        }
    }

    @Test(
        "Return_uri is one of the client's registered URLs, byte for byte, where there is a code to open",
        arguments: [
            "https://shop.example.com/back/", "https://shop.example.com/Back", "https://SHOP.example.com/back",
            "https://shop.example.com/back?return_code=x", "https://shop.example.com/back#x", AskScene.callback,
            "https://attacker.example.com/back", "",
        ])
    func returnURI(_ uri: String) throws {
        var scene = try AskScene()
        scene.channel = .code
        #expect(throws: AskChallenge.Refusal.returnNotRegistered) {
            try scene.decide { $0.returnURI = ReturnURI(named: uri) }
        }
        let asked = try scene.decide { $0.returnURI = ReturnURI(named: AskScene.returnURI) }
        #expect(asked.challenge.channel.returnURI?.description == AskScene.returnURI && asked.code?.isLink == true)
        #expect(try scene.decide().code?.isLink == false)
    }

    @Test("A type that asks devices takes no return_uri, unless it can lead to one with a code; there it holds nothing")
    func returnWithoutCode() throws {
        var scene = try AskScene()
        #expect(throws: AskChallenge.Refusal.notAllowedByType(.returnURI)) {
            try scene.decide { $0.returnURI = ReturnURI(named: AskScene.returnURI) }
        }
        scene.fallback = TypeName("scan")
        let asked = try scene.decide { $0.returnURI = ReturnURI(named: AskScene.returnURI) }
        #expect(asked.challenge.channel == .devices && asked.code == nil)
    }

    @Test("A user without a device that can answer is not asked")
    func noEnrollment() throws {
        let scene = try AskScene(devices: 0)
        #expect(throws: AskChallenge.Refusal.noEnrollment) { try scene.decide() }
    }

    @Test("Only devices of the user can be named, and only those named are asked")
    func named() throws {
        let scene = try AskScene(devices: 3)
        let asked = try scene.decide { $0.enrollments = [AskScene.id(2), AskScene.id(0), AskScene.id(2)] }
        #expect(asked.enrollments == [AskScene.id(0), AskScene.id(2)])
        #expect(throws: AskChallenge.Refusal.enrollmentNotFound(AskScene.id(7))) {
            try scene.decide { $0.enrollments = [AskScene.id(0), AskScene.id(7), AskScene.id(8)] }
        }
    }

    @Test("A user who has reported a question of this client is asked nothing, whatever else there is to say")
    func locked() throws {
        var scene = try AskScene()
        scene.isLocked = true
        scene.openChallenges = 3
        #expect(throws: AskChallenge.Refusal.reported) { try scene.decide() }
        #expect(throws: AskChallenge.Refusal.notAllowedByType(.numberEntry)) {
            try scene.decide { $0.numberEntry = false }
        }
    }

    @Test("As many challenges may be open as the type says, and not one more")
    func openChallenges() throws {
        var scene = try AskScene()
        scene.openChallenges = 2
        _ = try scene.decide()
        for count in [3, 4] {
            scene.openChallenges = count
            #expect(throws: AskChallenge.Refusal.tooManyPending) { try scene.decide() }
        }
    }

    @Test("NIST SP 800-63B-4 §3.1.3.2: the asks since the last approval are limited, and the refusal says for how long")
    func asks() throws {
        func ask(_ secondsAgo: Int64, _ wasApproved: Bool = false) -> RecentAsk {
            RecentAsk(
                askedAt: AskScene.now.wholeSeconds.adding(seconds: -secondsAgo),
                outcome: wasApproved ? .approved : .other)
        }
        var scene = try AskScene()
        scene.recentAsks = [ask(10), ask(20), ask(30)]
        _ = try scene.decide()
        scene.recentAsks = [ask(10), ask(20), ask(30), ask(100)]
        #expect(throws: AskChallenge.Refusal.tooManyAsks(retryAfter: 3500)) { try scene.decide() }
        scene.recentAsks = [ask(10), ask(20), ask(30), ask(3600)]
        #expect(throws: AskChallenge.Refusal.tooManyAsks(retryAfter: 1), "never zero") { try scene.decide() }
        for approved in 0..<4 {
            scene.recentAsks = (0..<4).map { ask(Int64($0) * 10, $0 == approved) }
            _ = try scene.decide()
        }
    }

    @Test(
        "NIST SP 800-63B-4 §3.2.2: after denials in a row a client waits, twice as long after each, an hour at most",
        arguments: [
            (0, 0), (1, 0), (2, 30), (3, 60), (4, 120), (5, 240), (8, 1920), (9, 3600), (50, 3600),
        ] as [(Int, Int64)])
    func denials(_ count: Int, _ pause: Int64) throws {
        var scene = try AskScene()
        scene.denialPause = 30
        scene.maximumAsks = 100
        func denied(_ secondsAgo: Int64) -> [RecentAsk] {
            (0..<count).map { number in
                let time = AskScene.now.adding(seconds: -secondsAgo - Int64(number))
                return RecentAsk(askedAt: time.adding(seconds: -100), outcome: .denied(at: time))
            }
        }
        scene.recentAsks = denied(pause)
        _ = try scene.decide()
        guard pause > 0 else { return }
        scene.recentAsks = denied(pause - 10)
        #expect(throws: AskChallenge.Refusal.tooManyAsks(retryAfter: 10)) { try scene.decide() }
        // What ended otherwise in between does not count, and an approval ends the row.
        let other = RecentAsk(askedAt: AskScene.now, outcome: .other)
        scene.recentAsks = [other] + denied(pause - 10)
        #expect(throws: AskChallenge.Refusal.tooManyAsks(retryAfter: 10)) { try scene.decide() }
        scene.recentAsks = [RecentAsk(askedAt: AskScene.now, outcome: .approved)] + denied(0)
        _ = try scene.decide()
        scene.recentAsks = denied(0)
        scene.denialPause = 0
        _ = try scene.decide()
    }

    @Test("An ask that began before a denial and is decided after it waits only where its type has a pause")
    func laterDenial() throws {
        var scene = try AskScene()
        let later = AskScene.now.adding(seconds: 5)
        scene.recentAsks = (0..<2).map { _ in RecentAsk(askedAt: AskScene.now, outcome: .denied(at: later)) }
        scene.denialPause = 0
        _ = try scene.decide()
        scene.denialPause = 30
        #expect(throws: AskChallenge.Refusal.tooManyAsks(retryAfter: 35)) { try scene.decide() }
    }

    @Test("What a request may not ask for is refused before anything is said of the user's devices")
    func order() throws {
        var scene = try AskScene(devices: 0)
        scene.openChallenges = 3
        #expect(throws: AskChallenge.Refusal.notAllowedByType(.numberEntry)) {
            try scene.decide {
                $0.numberEntry = false
                $0.callbackURI = CallbackURI(named: "https://attacker.example.com/")
            }
        }
    }
}
