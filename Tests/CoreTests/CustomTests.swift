import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import RelyingPartyAPI
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Custom authenticators")
struct CustomTests {
    @Test("Registered, used, given up: the hook hears what it must, its payload comes back, and all of it is audited")
    func wholeLife() async throws {
        let scene = try await CustomScene()
        let name = scene.name
        #expect(try await scene.device.methods().custom == [name: false])
        scene.world.hooks.say(HookVerdict(.ok, payload: "welcome"))
        let registration = try await scene.registration()
        #expect(try await scene.device.send(registration).summary == "changed: welcome")
        #expect(try await scene.device.methods().custom == [name: true])
        // The reply was lost: the same change again asks nobody and gets the same.
        #expect(try await scene.device.send(registration).summary == "changed: welcome")

        let asked = try await scene.ask()
        scene.world.hooks.say(HookVerdict(.ok, payload: "seen"))
        let approval = try await scene.approval(of: asked, "battery staple")
        for _ in 0..<2 {
            guard case .decided(let reply) = try await scene.send(approval, to: asked) else {
                Issue.record("not decided")
                return
            }
            #expect(reply.status.state == "approved" && reply.payload == "seen")
        }
        let id = asked.challenge.id
        let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
        #expect(challenge.state.status.state == "approved")
        guard case .ended(.approved(.custom(name), by: scene.device.enrollment), _) = challenge.state else {
            Issue.record("\(challenge.state)")
            return
        }
        let receipt = try #require(try await scene.world.store.read { try $0.receipts.find(of: id) })
        guard case .receipt(let message, let certificate) = receipt.evidence else { return }
        let verified = try VerifiedReceipt(
            message: message.encoded, certificate: try Certificate(parsing: certificate),
            now: scene.world.time.now.unixSeconds)
        #expect(verified.receipt.decision == .approved(.custom(name), number: nil))
        #expect(!message.text.contains("battery"), "what the hook judged stands in no receipt")

        let questions = scene.world.hooks.questions
        #expect(questions.count == 2)
        #expect(
            questions[0].json == [
                "type": "authenticator.register", "authenticator": "phrase", "data": "correct horse",
                "user": ["id": .string("\(scene.user)"), "external_id": "customer 1"],
                "enrollment": .string("\(scene.device.enrollment)"),
                "timestamp": .string("\(scene.world.time.now)"),
            ])
        #expect(
            questions[1].json == [
                "type": "authenticator.verify", "authenticator": "phrase", "data": "battery staple",
                "user": ["id": .string("\(scene.user)"), "external_id": "customer 1"],
                "enrollment": .string("\(scene.device.enrollment)"),
                "timestamp": .string("\(scene.world.time.now)"),
                "challenge": ["id": .string("\(id)"), "type": "payment"],
            ])
        #expect(questions[1].authenticator.hook.description == "https://shop.example.com/phrase")
        #expect(Set(questions.map(\.id)).count == 2)

        #expect(try await scene.device.send(try await scene.registration(nil)).summary == "changed")
        #expect(try await scene.device.methods().custom == [name: false])
        #expect(try await scene.deregistrations() == 1)
        #expect(try await scene.device.send(try await scene.registration(nil)).summary == "custom not registered")
        let changes = try await scene.world.audit().filter { $0.kind == .methodChanged }
        #expect(changes.map { $0.detail["change"]?.string } == ["set", "removed"])
        #expect(changes.allSatisfy { $0.detail["method"] == "custom:phrase" })
        let accepted = try await scene.world.audit().filter { $0.kind == .customAccepted }
        #expect(accepted.map(\.challenge) == [id])
    }

    @Test("One that wants another try leaves the challenge open, and its limit ends it; the PIN still answers")
    func retries() async throws {
        let scene = try await CustomScene(attempts: 3)
        let pin = try await scene.device.setPIN()
        scene.world.hooks.say(HookVerdict(.ok))
        #expect(try await scene.device.send(try await scene.registration(authorizer: pin)).summary == "changed")
        let asked = try await scene.ask()
        for left in [2, 1] {
            scene.world.hooks.say(HookVerdict(.retry, payload: "colder"))
            let approval = try await scene.approval(of: asked, "guess")
            let words = "custom retry, \(left) left: colder"
            #expect(try await scene.send(approval, to: asked).summary == words)
            #expect(try await scene.send(approval, to: asked).summary == words, "a repeat asks nobody")
        }
        // A right one forgets those before it.
        let other = try await scene.ask()
        scene.world.hooks.say(HookVerdict(.ok))
        #expect(
            try await scene.send(try await scene.approval(of: other), to: other).summary == "decided approved -")
        #expect(try await scene.customs() == [scene.name: 0])
        for words in ["custom retry, 2 left: -", "custom retry, 1 left: -", "custom failed: -"] {
            scene.world.hooks.say(HookVerdict(.retry))
            #expect(try await scene.send(try await scene.approval(of: asked), to: asked).summary == words)
        }
        #expect(try await scene.customs().isEmpty)
        #expect(try await scene.deregistrations() == 1)
        #expect(
            try await scene.send(try await scene.approval(of: asked), to: asked).summary == "custom not registered")
        #expect(scene.world.hooks.questions.count == 7)
        let byPIN = try await scene.device.approval(of: asked, by: pin)
        #expect(try await scene.device.answer(asked.challenge.id, with: byPIN).summary == "decided approved -")
        let refused = try await scene.world.audit().filter { $0.kind == .customRefused }
        #expect(refused.map { $0.detail["attempts_left"]?.integer } == [2, 1, 2, 1, 0])
    }

    @Test(
        "A refusal deregisters, and ends what nobody else can answer",
        arguments: [(HookVerdict.Result.fail, "custom failed: why"), (.notRegistered, "custom not registered")])
    func refusals(_ result: HookVerdict.Result, _ words: String) async throws {
        let scene = try await CustomScene(fallsBack: false)
        try await scene.register()
        let asked = try await scene.ask()
        let open = try await scene.ask("confirm-first")
        scene.world.hooks.say(HookVerdict(result, payload: "why"))
        #expect(try await scene.send(try await scene.approval(of: asked), to: asked).summary == words)
        #expect(try await scene.customs().isEmpty)
        let id = asked.challenge.id
        let status = try await scene.world.store.read { try $0.challenges.find(id)?.state.status }
        #expect(status == ChallengeStatus(state: "failed", reason: "too_many_attempts"))
        let other = open.challenge.id
        #expect(try await scene.world.store.read { try $0.challenges.find(other)?.state } == .pending)
        let refused = try await scene.world.audit().last { $0.kind == .customRefused }
        #expect(refused?.detail["result"]?.string == result.rawValue && refused?.challenge == id)
        // Nobody can be asked by it any more.
        let request = try scene.world.request(for: scene.user)
        let again = try await AskChallenge.ask(
            request, by: scene.shop.credential, idempotency: nil, ports: scene.world.ports)
        guard case .done(.refused(.noEnrollment)) = again else {
            Issue.record("\(again)")
            return
        }
    }

    @Test("A hook that cannot be asked counts as nothing, but not without end")
    func unavailable() async throws {
        let scene = try await CustomScene()
        try await scene.register()
        let asked = try await scene.ask()
        let approval = try await scene.approval(of: asked)
        for _ in 0..<10 {
            scene.world.hooks.say(nil)
            #expect(try await scene.send(approval, to: asked).summary == "custom unavailable")
        }
        scene.world.hooks.say(nil)
        #expect(try await scene.send(approval, to: asked).summary == "rate limited 60")
        #expect(try await scene.customs() == [scene.name: 0])
        scene.world.hooks.say(HookVerdict(.ok))
        #expect(try await scene.send(approval, to: asked).summary == "decided approved -", "the same bytes, later")
        // At registration nothing was changed either.
        let other = try await CustomScene()
        other.world.hooks.say(nil)
        #expect(try await other.device.send(try await other.registration()).summary == "custom unavailable")
        #expect(try await other.customs().isEmpty)
    }

    @Test("A type limits wrong answers to one challenge, those of PINs and custom authenticators together")
    func attemptsOfType() async throws {
        let scene = try await CustomScene(attempts: 5)
        let pin = try await scene.device.setPIN()
        scene.world.hooks.say(HookVerdict(.ok))
        _ = try await scene.device.send(try await scene.registration(authorizer: pin))
        let name = try #require(TypeName("twice"))
        let json: JSONValue = ["methods": ["custom:phrase", "pin"], "attempts": 2, "number_entry": false]
        let type = try ChallengeType(json, name: name)
        try await scene.world.store.commit { try $0.types.put(type) }
        let asked = try await scene.ask("twice")
        let byPIN = try await scene.device.approval(of: asked, by: scene.device.newPINKey())
        #expect(try await scene.device.answer(asked.challenge.id, with: byPIN).summary == "PIN incorrect, 1 left")
        scene.world.hooks.say(HookVerdict(.retry))
        let approval = try await scene.approval(of: asked)
        for _ in 0..<2 {
            #expect(try await scene.send(approval, to: asked).summary == "decided failed too_many_attempts")
        }
        #expect(try await scene.customs() == [scene.name: 1], "the authenticator counts on by itself")
    }

    @Test("What the hook refuses is not registered", arguments: [HookVerdict.Result.retry, .fail, .notRegistered])
    func refusedRegistration(_ result: HookVerdict.Result) async throws {
        let scene = try await CustomScene()
        let registration = try await scene.registration()
        scene.world.hooks.say(HookVerdict(result, payload: "why"))
        let words = [.retry: "custom retry: why", .fail: "custom failed: why"][result] ?? "custom not registered"
        for _ in 0..<2 { #expect(try await scene.device.send(registration).summary == words) }
        #expect(scene.world.hooks.questions.count == 1)
        #expect(try await scene.customs().isEmpty)
        let refused = try await scene.world.audit().last { $0.kind == .customRefused }
        #expect(refused?.detail["result"]?.string == result.rawValue)
    }

    @Test("Only what is right in every other respect comes before the hook")
    func notAsked() async throws {
        let scene = try await CustomScene()
        try await scene.register()
        let asked = try await scene.ask("with-number")
        let right = try await scene.approval(of: asked)
        let otherData = try await scene.device.sealed("correct horse")
        let signedByOther = try await scene.approval(of: asked, signedBy: scene.device.newPINKey())
        let untitled = try await scene.device.seal("correct horse")
        for (request, reason) in [
            (AnswerRequest(message: right.message), "custom_data"),
            (AnswerRequest(message: right.message, customData: otherData), "custom_data"),
            (signedByOther, "signer"),
        ] {
            #expect(try await scene.send(request, to: asked).summary == "invalid")
            let refused = try await scene.world.audit().last { $0.kind == .answerRefused }
            #expect(refused?.detail["reason"]?.string == reason)
        }
        // A sealed text that is not custom data is no data, whatever names it.
        let unfit = try await scene.approval(of: asked, sealed: untitled)
        #expect(try await scene.send(unfit, to: asked).summary == "invalid")
        let wrong = try #require(asked.number).digits == "000000" ? "000001" : "000000"
        let number = try await scene.approval(of: asked, number: EntryNumber(wrong))
        #expect(try await scene.send(number, to: asked).summary == "decided failed wrong_number")
        #expect(scene.world.hooks.questions.count == 1, "the registration alone")
        // A request that is not let in asks nobody, whatever it holds.
        let other = try await scene.ask()
        let approval = try await scene.approval(of: other)
        let call = try await scene.device.call(nonce: "one nonce for two requests")
        scene.world.hooks.say(HookVerdict(.retry))
        for words in ["custom retry, 2 left: -", "nonce replayed"] {
            let outcome = try await AnswerChallenge.answer(
                approval, to: other.challenge.id, by: call, ports: scene.world.ports)
            #expect(outcome.summary == words)
        }
    }

    @Test("A registration needs the PIN where there is one, or a ticket later; a ticket is spent by the change alone")
    func authority() async throws {
        let scene = try await CustomScene()
        scene.world.time.advance(Enrollment.enrolling)
        #expect(try await scene.device.send(try await scene.registration()).summary == "needs ticket")
        let ticket = try await scene.world.makeTicket(for: scene.user, by: scene.shop).ticket
        for (verdict, words) in [
            (nil, "custom unavailable"), (HookVerdict(.retry), "custom retry: -"), (HookVerdict(.ok), "changed"),
        ] {
            scene.world.hooks.say(verdict)
            #expect(try await scene.device.send(try await scene.registration(ticket: ticket)).summary == words)
        }
        #expect(try await scene.device.send(try await scene.registration(ticket: ticket)).summary == "needs ticket")

        let other = try await CustomScene()
        let pin = try await other.device.setPIN()
        #expect(try await other.device.send(try await other.registration()).summary == "needs pin")
        let guessed = try await other.registration(authorizer: other.device.newPINKey())
        #expect(try await other.device.send(guessed).summary == "PIN incorrect, 4 left")
        #expect(other.world.hooks.questions.isEmpty)
        other.world.hooks.say(HookVerdict(.ok))
        #expect(try await other.device.send(try await other.registration(authorizer: pin)).summary == "changed")
        #expect(try await other.device.send(try await other.registration(nil)).summary == "needs pin")
    }

    @Test("One thing each that is wrong about a registration; and there are ten a minute")
    func registrationMistakes() async throws {
        let scene = try await CustomScene()
        let reused = try await scene.registration()
        scene.world.hooks.say(HookVerdict(.retry))
        _ = try await scene.device.send(reused)
        let otherData = try await scene.device.sealed("correct horse")
        let mistakes: [(MethodChangeRequest, String)] = [
            (try await scene.registration { $0.replacing("change v1", with: "change v2") }, "text"),
            (try await scene.registration { $0.replacing("custom:phrase", with: "custom:Phrase") }, "text"),
            (try await scene.registration { $0 + "\nmore: 1" }, "text"),
            (try await scene.registration { $0.replacing("sha256:", with: "sha256:0") }, "text"),
            (try await scene.registration(sealed: otherData), "custom_data"),
            (MethodChangeRequest(message: reused.message, authorization: [1], customData: reused.customData), "nonce"),
        ]
        for (request, reason) in mistakes {
            #expect(try await scene.device.send(request).summary == "invalid")
            let refused = try await scene.world.audit().last { $0.kind == .methodChangeRefused }
            #expect(refused?.detail["reason"]?.string == reason)
        }
        let unknown = try await scene.registration { $0.replacing("custom:phrase", with: "custom:face") }
        #expect(try await scene.device.send(unknown).summary == "custom not registered")
        for _ in 0..<7 {
            scene.world.hooks.say(HookVerdict(.retry))
            #expect(try await scene.device.send(try await scene.registration()).summary == "custom retry: -")
        }
        #expect(try await scene.device.send(try await scene.registration()).summary == "rate limited 60")
    }

    @Test("What happens while the hook is asked counts: an answer from elsewhere, a removal, a new PIN")
    func meanwhile() async throws {
        let scene = try await CustomScene()
        try await scene.register()
        let asked = try await scene.ask("confirm-first")
        let second = try await scene.world.makeDevice(of: scene.user, by: scene.shop)
        let both = try await scene.ask("confirm-first")
        scene.world.hooks.meanwhile { _ = try await second.answer(both, .denied) }
        scene.world.hooks.say(HookVerdict(.ok))
        #expect(
            try await scene.send(try await scene.approval(of: both), to: both).summary
                == "already ended denied declined")
        #expect(try await scene.world.audit().allSatisfy { $0.kind != .customAccepted })

        let expiring = try await scene.ask()
        let time = scene.world.time
        scene.world.hooks.meanwhile { time.advance(seconds: 120) }
        scene.world.hooks.say(HookVerdict(.ok))
        #expect(
            try await scene.send(try await scene.approval(of: expiring), to: expiring).summary
                == "already ended expired -")

        let last = try await scene.ask("confirm-first")
        let (world, shop, user, device) = (scene.world, scene.shop, scene.user, scene.device)
        scene.world.hooks.meanwhile {
            _ = try await RemoveEnrollment.remove(device.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
        }
        scene.world.hooks.say(HookVerdict(.ok))
        #expect(
            try await scene.send(try await scene.approval(of: last), to: last).summary
                == "deregistered \(device.enrollment) removed_by_client")
        #expect(try await scene.deregistrations() == 1, "the hook is told of the removal")
        #expect(asked.challenge.state == .pending)

        let other = try await CustomScene()
        let phone = other.device
        other.world.hooks.meanwhile { _ = try await phone.setPIN() }
        other.world.hooks.say(HookVerdict(.ok))
        #expect(try await other.device.send(try await other.registration()).summary == "invalid")
        #expect(try await other.customs().isEmpty)
    }

    @Test(
        "A registration that comes again while the hook is asked, or could not be, is the same one",
        arguments: Engine.allCases)
    func repeatedRegistration(_ engine: Engine) async throws {
        let scene = try await CustomScene(engine: engine)
        let (hooks, device) = (scene.world.hooks, scene.device)
        let registration = try await scene.registration()
        #expect(try await device.send(registration).summary == "custom unavailable")
        hooks.meanwhile {
            hooks.say(HookVerdict(.ok, payload: "first"))
            let repeated = try await device.send(registration).summary
            guard repeated == "changed: first" else { throw World.Broken(repeated) }
        }
        hooks.say(HookVerdict(.ok, payload: "second"))
        #expect(try await device.send(registration).summary == "changed: first", "told the same, whoever was first")
        #expect(hooks.questions.count == 3 && Set(hooks.questions.map(\.id)).count == 1, "the hook knows it again")
        #expect(try await scene.world.audit().filter { $0.kind == .methodChanged }.count == 1)
        // What makes it another change spends the same nonce, and is refused.
        let other = MethodChangeRequest(
            message: registration.message, authorization: [1], customData: registration.customData)
        #expect(try await device.send(other).summary == "invalid")
    }

    @Test("Other data with the same nonce is another message for the hook")
    func otherData() async throws {
        let scene = try await CustomScene()
        let nonce = try await scene.device.methods().nonce
        for data in ["correct horse", "battery staple"] {
            let request = try await scene.registration(data, nonce: nonce)
            #expect(try await scene.device.send(request).summary == "custom unavailable")
        }
        #expect(Set(scene.world.hooks.questions.map(\.id)).count == 2)
    }

    @Test("A try whose verdict never came allows one more after twice the deadline, and so does a lowered limit")
    func lostVerdicts() async throws {
        let scene = try await CustomScene(attempts: 2)
        try await scene.register()
        let (world, device, shop) = (scene.world, scene.device, scene.shop)
        for _ in 0..<2 {
            world.hooks.meanwhile {
                _ = try await SuspendEnrollment.suspend(device.enrollment, true, by: shop.actor, ports: world.ports)
            }
            world.hooks.say(HookVerdict(.ok))
            let open = try await scene.ask()
            #expect(
                try await scene.send(try await scene.approval(of: open), to: open).summary
                    == "suspended")
            _ = try await SuspendEnrollment.suspend(device.enrollment, false, by: shop.actor, ports: world.ports)
        }
        #expect(try await scene.customs() == [scene.name: 2])
        let open = try await scene.ask()
        #expect(try await scene.send(try await scene.approval(of: open), to: open).summary == "rate limited 5")
        world.time.advance(seconds: 10)
        world.hooks.say(HookVerdict(.ok))
        #expect(try await scene.send(try await scene.approval(of: open), to: open).summary == "decided approved -")

        let other = try await CustomScene(attempts: 3)
        try await other.register()
        let last = try await other.ask()
        for words in ["custom retry, 2 left: -", "custom retry, 1 left: -"] {
            other.world.hooks.say(HookVerdict(.retry))
            #expect(try await other.send(try await other.approval(of: last), to: last).summary == words)
        }
        let lowered = CustomAuthenticator(
            name: other.name, hook: CallbackURI(stored: "https://shop.example.com/phrase"), attempts: 1)
        _ = try await UpdateClient.update(
            other.shop.id, ClientChanges(authenticators: [lowered]), by: other.shop.actor, ports: other.world.ports)
        other.world.time.advance(seconds: 10)
        other.world.hooks.say(HookVerdict(.retry))
        #expect(
            try await other.send(try await other.approval(of: last), to: last).summary == "custom failed: -")
    }

    @Test("An authenticator that the client gives up is registered no more once it is used")
    func givenUp() async throws {
        let scene = try await CustomScene()
        try await scene.register()
        let asked = try await scene.ask()
        _ = try await UpdateClient.update(
            scene.shop.id, ClientChanges(authenticators: []), by: scene.shop.actor, ports: scene.world.ports)
        #expect(
            try await scene.send(try await scene.approval(of: asked), to: asked).summary == "custom not registered")
        #expect(try await scene.customs().isEmpty)
        #expect(try await scene.deregistrations() == 0, "there is nobody to tell")
        #expect(scene.world.hooks.questions.count == 1)
    }

    @Test("Another client's question is judged by the client of the device")
    func otherClient() async throws {
        let scene = try await CustomScene()
        try await scene.register()
        let bank = try await scene.world.makeClient("Bank").client
        let user = scene.user
        #expect(try await scene.world.store.commit { try $0.links.put(user, to: bank.id, externalID: nil) })
        let asked = try await scene.world.ask(try scene.world.request(for: user), by: bank)
        try await scene.device.open(asked.challenge.id)
        scene.world.hooks.say(HookVerdict(.ok))
        #expect(
            try await scene.send(try await scene.approval(of: asked), to: asked).summary == "decided approved -")
        #expect(scene.world.hooks.questions.last?.client == scene.shop.id)
    }

    @Test("A verdict is one of four words, with a payload of at most 4 KiB")
    func verdicts() throws {
        for (json, verdict) in [
            (#"{"result":"ok"}"#, HookVerdict(.ok)), (#"{"result":"retry","payload":null}"#, HookVerdict(.retry)),
            (#"{"result":"fail","payload":"x","more":1}"#, HookVerdict(.fail, payload: "x")),
            (#"{"result":"not_registered"}"#, HookVerdict(.notRegistered)), (#"{"result":"OK"}"#, nil),
            (#"{"result":true}"#, nil), (#"{}"#, nil), (#"[]"#, nil), (#"{"result":"ok","payload":1}"#, nil),
        ] {
            #expect(HookVerdict(try JSONValue(parsing: Array(json.utf8))) == verdict, "\(json)")
        }
        let long = String(repeating: "x", count: HookVerdict.maximumPayload)
        #expect(HookVerdict(["result": "ok", "payload": .string(long)]) == HookVerdict(.ok, payload: long))
        #expect(HookVerdict(["result": "ok", "payload": .string(long + "x")]) == nil)
    }
}
