import Countersign
import CountersignWire
import Foundation
import Testing

@testable import CountersignPrompts

/// A prompt, what it asks through, and its clock.
@MainActor
struct PromptScene {
    let model: ApprovePromptModel
    let script = Script()
    let opening = Script()
    let clock = HandClock()

    init(_ question: PromptQuestion = .payment(), approval: PromptApproval = PromptApproval()) {
        let fake = FakeQuestion(question: question, script: script, approval: approval)
        model = ApprovePromptModel(
            FakeSource(question: fake, script: opening), account: "anna@example.com", biometricPrompt: "Pay",
            clock: clock)
    }

    /// The prompt once the question is on the screen and was read.
    static func read(
        _ question: PromptQuestion = .payment(), approval: PromptApproval = PromptApproval()
    ) async -> PromptScene {
        let scene = PromptScene(question, approval: approval)
        await scene.model.load()
        scene.clock.advance(ApprovePromptModel.readingTime)
        return scene
    }

    /// What an approval of a question with some methods comes to, by the preferred method.
    static func approving(_ methods: [PromptMethod], _ error: CountersignError) async -> PromptScene {
        let scene = await read(.payment(methods: methods))
        scene.script.next(error)
        await scene.model.perform(.approve)
        return scene
    }
}

@Suite("The prompt of one question", .timeLimit(.minutes(15)))
@MainActor
struct ApprovePromptTests {
    @Test("It is fetched once, and shows who asks, as whom, from where, when, what, and every detail")
    func shown() async {
        let scene = PromptScene(.payment(number: true))
        #expect(scene.model.state == .loading && scene.model.question == nil)
        await scene.model.load()
        await scene.model.load()
        #expect(scene.opening.calls == ["open"] && scene.model.state == .asking(isNumberMissing: false))
        let screen = scene.model.screen(PromptTexts(.english, timeZone: .gmt))
        #expect(screen.label == "Asked by" && screen.client == "ACME Shop")
        #expect(screen.facts.map(\.label) == ["As", "From", "At"])
        #expect(screen.facts[0].value == "anna@example.com")
        #expect(screen.facts[1].value == "Firefox on Windows, 203.0.113.7, Berlin, Germany")
        #expect(screen.paragraphs == ["Pay EUR 1,250.00?"])
        #expect(screen.details.map(\.label) == ["Amount", "Payee", "Signing data"])
        #expect(screen.details.map(\.value) == ["EUR 1,250.00", "ACME GmbH", "order 4711"])
        #expect(screen.signedLines.count == 3 && screen.field?.kind == .number(length: 6))
        #expect(screen.buttons.map(\.act) == [.approve, .deny, .report])
        #expect(screen.buttons.map(\.label) == ["Approve", "Decline", "This was not me"])
    }

    @Test("Two fetches at once are one")
    func fetchedOnce() async {
        let scene = PromptScene()
        scene.opening.hold()
        let first = Task { await scene.model.load() }
        await scene.opening.reached(1)
        await scene.model.load()
        scene.opening.letGo()
        await first.value
        #expect(scene.opening.calls == ["open"])
    }

    @Test("Approving, declining and reporting are sent once, and are the end")
    func answers() async {
        let answers: [(PromptAct, String, ApprovePromptModel.State)] = [
            (.approve, "approve confirmation", .approved(PromptApproval())), (.deny, "deny", .declined),
            (.report, "report", .reported),
        ]
        for (act, call, state) in answers {
            let scene = await PromptScene.read()
            await scene.model.perform(act)
            #expect(scene.model.state == state && scene.model.state.isOver && scene.script.calls == [call])
            for act in [PromptAct.approve, .deny, .report, .submit, .retry, .back] { await scene.model.perform(act) }
            #expect(scene.model.state == state && scene.script.calls == [call])
        }
    }

    @Test("While an answer is under way nothing else is sent, whatever is tapped, and its result comes")
    func underWay() async {
        let scene = await PromptScene.read()
        scene.script.hold()
        let first = Task { await scene.model.perform(.approve) }
        await scene.script.reached(1)
        #expect(scene.model.state == .sending(.approve))
        for act in [PromptAct.approve, .deny, .report, .retry, .submit, .use(.confirmation)] {
            await scene.model.perform(act)
        }
        scene.clock.advance(.seconds(500))
        scene.model.tick()
        #expect(scene.model.state == .sending(.approve) && scene.model.timeLeft == .zero)
        scene.script.letGo()
        await first.value
        #expect(scene.model.state == .approved(PromptApproval()) && scene.script.calls == ["approve confirmation"])
    }

    @Test("A tap in the first moment answers nothing: it was meant for the question before")
    func firstMoment() async {
        let scene = PromptScene()
        await scene.model.load()
        for act in [PromptAct.approve, .deny, .report] { await scene.model.perform(act) }
        #expect(scene.model.state == .asking(isNumberMissing: false) && scene.script.calls.isEmpty)
        scene.clock.advance(ApprovePromptModel.readingTime)
        await scene.model.perform(.approve)
        #expect(scene.script.calls == ["approve confirmation"])
    }

    @Test("A number is asked for until it has all its digits, and only digits are taken")
    func number() async {
        let scene = await PromptScene.read(.payment(number: true))
        await scene.model.perform(.approve)
        #expect(scene.model.state == .asking(isNumberMissing: true) && scene.script.calls.isEmpty)
        let problem = scene.model.screen(PromptTexts(.english)).field?.problem
        #expect(problem?.contains("6") == true)
        scene.model.type(number: "47 19a٣")
        #expect(scene.model.number == "4719" && scene.model.state == .asking(isNumberMissing: false))
        await scene.model.perform(.approve)
        #expect(scene.script.calls.isEmpty)
        scene.model.type(number: "4719329")
        await scene.model.perform(.approve)
        #expect(scene.script.calls == ["approve confirmation 471932"])
    }

    @Test("Declining and reporting need no number")
    func noWithoutNumber() async {
        let scene = await PromptScene.read(.payment(number: true))
        await scene.model.perform(.deny)
        #expect(scene.model.state == .declined && scene.script.calls == ["deny"])
    }

    @Test("A number that the server misses is asked for, and the question can still be approved")
    func numberRequired() async {
        let scene = await PromptScene.read(.payment(number: true))
        scene.model.type(number: "471932")
        scene.script.next(.numberRequired(length: 6))
        await scene.model.perform(.approve)
        #expect(scene.model.state == .asking(isNumberMissing: true))
        await scene.model.perform(.approve)
        #expect(scene.model.state == .approved(PromptApproval()) && scene.script.calls.count == 2)
    }

    @Test("A wrong number ends the question")
    func wrongNumber() async {
        let scene = await PromptScene.approving([.confirmation], .numberIncorrect)
        #expect(scene.model.state == .ended(.wrongNumber))
    }

    @Test(
        "A code or a link first asks whether the person did that themselves",
        arguments: [PromptQuestion.Origin.code, .link])
    func origin(_ origin: PromptQuestion.Origin) async {
        let scene = PromptScene(.payment(origin: origin))
        await scene.model.load()
        #expect(scene.model.state == .checkingOrigin)
        await scene.model.perform(.goOn)
        #expect(scene.model.state == .checkingOrigin)
        scene.clock.advance(ApprovePromptModel.readingTime)
        await scene.model.perform(.approve)
        #expect(scene.model.state == .checkingOrigin && scene.script.calls.isEmpty)
        await scene.model.perform(.goOn)
        #expect(scene.model.state == .asking(isNumberMissing: false))
        await scene.model.perform(.approve)
        #expect(scene.script.calls.isEmpty)
        scene.clock.advance(ApprovePromptModel.readingTime)
        await scene.model.perform(.approve)
        #expect(scene.script.calls == ["approve confirmation"])
    }

    @Test("Who did not scan it themselves reports it at once")
    func strangersCode() async {
        let scene = await PromptScene.read(.payment(origin: .code))
        await scene.model.perform(.report)
        #expect(scene.model.state == .reported)
    }

    @Test("A question that is open already is shown at once")
    func opened() async {
        let script = Script()
        let clock = HandClock()
        let model = ApprovePromptModel(
            opened: FakeQuestion(question: .payment(origin: .code), script: script), biometricPrompt: "Pay",
            clock: clock)
        #expect(model.state == .checkingOrigin)
        await model.load()
        #expect(model.state == .checkingOrigin)
    }

    @Test("The PIN is typed, forgotten when it is used, and typed again after a wrong one, until it is locked")
    func pin() async {
        let scene = await PromptScene.read(.payment(methods: [.pin]))
        await scene.model.perform(.approve)
        #expect(scene.model.state == .typingPIN(nil) && scene.script.calls.isEmpty)
        scene.model.type(pin: "12")
        await scene.model.perform(.submit)
        #expect(scene.model.state == .typingPIN(.malformed) && scene.script.calls.isEmpty)
        for left in [2, 1, 0] { scene.script.next(.pinIncorrect(attemptsLeft: left)) }
        for left in [2, 1] {
            scene.model.type(pin: "8351 7")
            #expect(scene.model.pin == "83517")
            await scene.model.perform(.submit)
            #expect(scene.model.state == .typingPIN(.wrong(attemptsLeft: left)) && scene.model.pin.isEmpty)
        }
        let problem = scene.model.screen(PromptTexts(.english)).field?.problem
        #expect(problem == "This is not your PIN. 1 try is left.")
        scene.model.type(pin: "83517")
        await scene.model.perform(.submit)
        #expect(scene.model.state == .pinLocked && scene.script.calls.count == 3)
        await scene.model.perform(.deny)
        #expect(scene.model.state == .declined)
    }

    @Test("A PIN that is right after a wrong one approves, with the number")
    func pinWithNumber() async {
        let scene = await PromptScene.read(.payment(number: true, methods: [.pin]))
        scene.model.type(number: "471932")
        await scene.model.perform(.approve)
        scene.script.next(.pinIncorrect(attemptsLeft: 4))
        for _ in 0..<2 {
            scene.model.type(pin: "83517")
            await scene.model.perform(.submit)
        }
        #expect(scene.model.state == .approved(PromptApproval()))
        #expect(scene.script.calls == ["approve pin 471932", "approve pin 471932"])
    }

    @Test("A PIN that the rules do not allow is typed again")
    func pinPolicy() async {
        let scene = await PromptScene.read(.payment(methods: [.pin]))
        await scene.model.perform(.approve)
        scene.model.type(pin: "83517")
        scene.script.next(.pinPolicy(.length))
        await scene.model.perform(.submit)
        #expect(scene.model.state == .typingPIN(.malformed) && scene.model.pin.isEmpty)
        #expect(scene.script.calls == ["approve pin"])
    }

    @Test("A locked PIN leaves the other methods")
    func locked() async {
        let scene = await PromptScene.read(.payment(methods: [.pin, .biometric]))
        await scene.model.perform(.approve)
        scene.model.type(pin: "83517")
        scene.script.next(.pinLocked)
        await scene.model.perform(.submit)
        #expect(scene.model.state == .pinLocked)
        #expect(scene.model.screen(PromptTexts(.english)).buttons.map(\.act) == [.use(.biometric), .deny, .report])
        await scene.model.perform(.use(.biometric))
        #expect(scene.model.state == .approved(PromptApproval()))
    }

    @Test("A PIN that was locked before is not asked for")
    func lockedBefore() async {
        let scene = await PromptScene.read(.payment(methods: [.pin], attemptsLeft: 0))
        await scene.model.perform(.approve)
        #expect(scene.model.state == .pinLocked)
    }

    @Test("Going back forgets what was typed")
    func back() async {
        let scene = await PromptScene.read(.payment(methods: [.pin]))
        await scene.model.perform(.approve)
        scene.model.type(pin: "83517")
        await scene.model.perform(.back)
        #expect(scene.model.state == .asking(isNumberMissing: false) && scene.model.pin.isEmpty)
    }

    @Test("Going back from a custom authenticator, from its refusal and from a failed biometric shows the question")
    func backFromOthers() async {
        let scene = await PromptScene.read(.payment(methods: [.custom("voice")]))
        await scene.model.perform(.approve)
        scene.model.type(custom: "hello")
        await scene.model.perform(.back)
        #expect(scene.model.state == .asking(isNumberMissing: false) && scene.model.customData.isEmpty)
        #expect(scene.script.calls.isEmpty)
        await scene.model.perform(.approve)
        scene.model.type(custom: "hello")
        scene.script.next(.customFailed(payload: "no"))
        await scene.model.perform(.submit)
        #expect(scene.model.state == .customRefused("voice", payload: "no"))
        await scene.model.perform(.back)
        #expect(scene.model.state == .asking(isNumberMissing: false))
        let biometric = await PromptScene.approving([.biometric], .biometric(.failed))
        #expect(biometric.model.state == .biometricFailed(.failed))
        await biometric.model.perform(.back)
        #expect(biometric.model.state == .asking(isNumberMissing: false))
    }

    @Test("Every biometric failure is told, and the PIN is the way out", arguments: BiometricFailure.allCases)
    func biometric(_ failure: BiometricFailure) async {
        let scene = await PromptScene.approving([.biometric, .pin], .biometric(failure))
        #expect(scene.script.calls == ["approve biometric (Pay)"])
        guard failure != .fallback else {
            #expect(scene.model.state == .typingPIN(nil))
            return
        }
        #expect(scene.model.state == .biometricFailed(failure))
        let acts = scene.model.screen(PromptTexts(.english)).buttons.map(\.act)
        let again: Set<BiometricFailure> = [.failed, .cancelled]
        #expect(acts.contains(.use(.biometric)) == again.contains(failure))
        await scene.model.perform(.use(.pin))
        #expect(scene.model.state == .typingPIN(nil))
    }

    @Test("Without a PIN a wish for it is told, and a biometric can be tried again")
    func noFallback() async {
        let wished = await PromptScene.approving([.biometric], .biometric(.fallback))
        #expect(wished.model.state == .biometricFailed(.fallback))
        await wished.model.perform(.use(.pin))
        #expect(wished.model.state == .biometricFailed(.fallback))
        let failed = await PromptScene.approving([.biometric], .biometric(.failed))
        await failed.model.perform(.use(.biometric))
        #expect(failed.model.state == .approved(PromptApproval()) && failed.script.calls.count == 2)
    }

    @Test("A custom authenticator is given its data, may want another try, cannot be reached, or refuses")
    func custom() async {
        let scene = await PromptScene.read(.payment(methods: [.custom("voice"), .pin]))
        await scene.model.perform(.approve)
        #expect(scene.model.state == .custom("voice", nil))
        // The second tap on "Approve" sends nothing.
        await scene.model.perform(.submit)
        #expect(scene.model.state == .custom("voice", nil) && scene.script.calls.isEmpty)
        scene.script.next(
            .customRetry(attemptsLeft: 2, payload: "louder"), .customUnavailable, .customFailed(payload: "no"))
        scene.model.type(custom: "hello")
        await scene.model.perform(.submit)
        #expect(scene.model.state == .custom("voice", .again(attemptsLeft: 2, payload: "louder")))
        #expect(scene.model.customData.isEmpty)
        scene.model.type(custom: "HELLO")
        await scene.model.perform(.submit)
        #expect(scene.model.state == .custom("voice", .unavailable))
        scene.model.type(custom: "hello again")
        await scene.model.perform(.submit)
        #expect(scene.model.state == .customRefused("voice", payload: "no"))
        #expect(
            scene.script.calls == ["approve voice hello", "approve voice HELLO", "approve voice hello again"])
        await scene.model.perform(.use(.pin))
        #expect(scene.model.state == .typingPIN(nil))
    }

    @Test("A custom authenticator that is not registered leaves declining")
    func customNotRegistered() async {
        let scene = await PromptScene.read(.payment(methods: [.custom("voice")]))
        await scene.model.perform(.approve)
        scene.script.next(.customNotRegistered)
        scene.model.type(custom: "hello")
        await scene.model.perform(.submit)
        #expect(scene.model.state == .customRefused("voice", payload: nil))
        await scene.model.perform(.deny)
        #expect(scene.model.state == .declined)
    }

    @Test("An answer that does not arrive is sent again, and what was typed for it is typed again")
    func unsent() async {
        let tapped = await PromptScene.approving([.confirmation], .network("gone"))
        #expect(tapped.model.state == .unsent(.approve, .network))
        await tapped.model.perform(.retry)
        #expect(tapped.model.state == .approved(PromptApproval()))

        let typed = await PromptScene.read(.payment(methods: [.pin]))
        await typed.model.perform(.approve)
        typed.model.type(pin: "83517")
        typed.script.next(.serverUnreachable(status: 502))
        await typed.model.perform(.submit)
        #expect(typed.model.state == .unsent(.approve, .service))
        await typed.model.perform(.retry)
        #expect(typed.model.state == .typingPIN(nil))

        let given = await PromptScene.read(.payment(methods: [.custom("voice")]))
        await given.model.perform(.approve)
        given.model.type(custom: "hello")
        given.script.next(.network("gone"))
        await given.model.perform(.submit)
        await given.model.perform(.retry)
        #expect(given.model.state == .custom("voice", nil) && given.model.customData.isEmpty)

        let denied = await PromptScene.read()
        denied.script.next(.cancelled)
        await denied.model.perform(.deny)
        #expect(denied.model.state == .unsent(.deny, .network))
        await denied.model.perform(.retry)
        #expect(denied.model.state == .declined)

        let reported = await PromptScene.read()
        reported.script.next(.network("gone"))
        await reported.model.perform(.report)
        #expect(reported.model.state == .unsent(.report, .network))
        await reported.model.perform(.retry)
        #expect(reported.model.state == .reported && reported.script.calls == ["report", "report"])
    }

    @Test("Where no reply to an approval came in time, nobody says that nothing was approved")
    func unknown() async {
        // The last try itself has taken until the end, or the person was still to type the PIN once more.
        let late = await PromptScene.read()
        late.script.next(.network("gone"))
        late.script.hold()
        let answer = Task { await late.model.perform(.approve) }
        await late.script.reached(1)
        late.clock.advance(.seconds(500))
        late.script.letGo()
        await answer.value
        #expect(late.model.state == .ended(.unknown))
        let texts = late.model.screen(PromptTexts(.english)).paragraphs
        #expect(texts == ["No reply to your answer has come. Look where you began before you start again."])

        let typed = await PromptScene.read(.payment(methods: [.pin]))
        await typed.model.perform(.approve)
        typed.model.type(pin: "83517")
        typed.script.next(.network("gone"))
        await typed.model.perform(.submit)
        await typed.model.perform(.retry)
        typed.clock.advance(.seconds(500))
        typed.model.tick()
        #expect(typed.model.state == .ended(.unknown))

        let denied = await PromptScene.read()
        denied.script.next(.network("gone"))
        await denied.model.perform(.deny)
        denied.clock.advance(.seconds(500))
        denied.model.tick()
        #expect(denied.model.state == .ended(.expired))
    }

    @Test("A question that cannot be fetched is fetched again")
    func unreachable() async {
        let scene = PromptScene()
        scene.opening.next(.network("gone"), .clockSkew(by: .seconds(90_000)), .vault("locked"))
        for failure in [PromptFailure.network, .clock, .storage] {
            await scene.model.load()
            #expect(scene.model.state == .unreachable(failure))
        }
        await scene.model.perform(.retry)
        #expect(scene.model.state == .asking(isNumberMissing: false))
    }

    @Test("Nothing is shown of a question that is forged or does not pass its checks")
    func unverified() async {
        let doubts: [(CountersignError, ApprovePromptModel.Doubt)] = [
            (.serverChanged, .forged), (.notHandleable(reason: "it is meant for somebody else"), .unreadable),
        ]
        for (error, doubt) in doubts {
            let scene = PromptScene()
            scene.opening.next(error)
            await scene.model.load()
            #expect(scene.model.state == .unverified(doubt) && scene.model.question == nil)
            let screen = scene.model.screen(PromptTexts(.english))
            #expect(screen.client == nil && screen.facts.isEmpty && screen.buttons.map(\.act) == [.close])
            await scene.model.load()
            #expect(scene.opening.calls == ["open"])
        }
    }

    @Test("How a question ends without an answer, before it is open and after")
    func endings() async {
        let endings: [(CountersignError, ApprovePromptModel.Ending)] = [
            (.challengeExpired, .expired), (.alreadyAnswered, .answered),
            (.challengeEnded(state: "cancelled", reason: nil), .cancelled),
            (.challengeEnded(state: "failed", reason: "attempts"), .failed), (.challengeNotFound, .gone),
            (.methodMissing([]), .methodMissing), (.pinNotSet, .methodMissing),
            (.enrollmentSuspended, .device(.suspended)),
            (.enrollmentWaiting, .device(.waiting)), (.notEnrolled, .device(.removed)),
            (.enrollmentNotConfirmed, .device(.other(code: "enrollment_not_confirmed"))),
        ]
        for (error, ending) in endings {
            let opening = PromptScene()
            opening.opening.next(error)
            await opening.model.load()
            #expect(opening.model.state == .ended(ending))
            let answering = await PromptScene.approving([.confirmation], error)
            #expect(answering.model.state == .ended(ending))
        }
    }

    @Test("It counts down, says so at one minute, 30 and 10 seconds, and ends")
    func countdown() async {
        let scene = await PromptScene.read(.payment(seconds: 62))
        var said: [PromptWord] = []
        while !scene.model.state.isOver {
            scene.clock.advance(.seconds(1))
            scene.model.tick()
            if let word = scene.model.announcement, word != said.last { said.append(word) }
        }
        #expect(said == [.sayMinute, .sayHalfMinute, .sayTenSeconds])
        #expect(scene.model.state == .ended(.expired) && scene.model.timeLeft == .zero)
        await scene.model.perform(.approve)
        #expect(scene.script.calls.isEmpty)
    }

    @Test("Run, it fetches and ends by itself, and forgets a PIN that was not used")
    func run() async {
        let scene = PromptScene(.payment(methods: [.pin], seconds: 5))
        await scene.model.run()
        #expect(scene.model.state == .ended(.expired) && scene.clock.now >= .seconds(5))
        let typed = await PromptScene.read(.payment(methods: [.pin], seconds: 5))
        await typed.model.perform(.approve)
        typed.model.type(pin: "83517")
        typed.clock.advance(.seconds(5))
        typed.model.tick()
        #expect(typed.model.state == .ended(.expired) && typed.model.pin.isEmpty)
    }

    @Test("A run that is cancelled as it fetches leaves it to the next one, which has begun before it ended")
    func runAgain() async {
        let scene = PromptScene()
        scene.opening.hold()
        let first = Task { await scene.model.run() }
        await scene.opening.reached(1)
        let second = Task { await scene.model.run() }
        first.cancel()
        await scene.opening.reached(2)
        #expect(scene.model.state == .loading)
        scene.opening.letGo()
        while scene.model.question == nil { await Task.yield() }
        second.cancel()
        for run in [first, second] { await run.value }
        #expect(scene.opening.calls == ["open", "open"])
    }

    @Test("A PIN that was typed is forgotten when its screen is gone, also where the list has closed it")
    func forgotten() async throws {
        let scene = await PromptScene.read(.payment(methods: [.pin]))
        await scene.model.perform(.approve)
        scene.model.type(pin: "83517")
        scene.model.leave()
        #expect(scene.model.pin.isEmpty && scene.model.state == .typingPIN(nil))
        let script = Script()
        let question = FakeQuestion(question: .payment(methods: [.pin]), script: script)
        let row = PendingRow(id: "a", client: "ACME Shop", message: "Pay?", askedAt: 0, timeLeft: .seconds(120))
        let source = FakePending([PendingItem(row: row, source: FakeSource(question: question, script: Script()))])
        let list = PendingListModel(source, biometricPrompt: "Pay", clock: scene.clock)
        await list.refresh()
        await list.perform(.open("a"))
        let prompt = try #require(list.current)
        await prompt.load()
        scene.clock.advance(ApprovePromptModel.readingTime)
        await prompt.perform(.approve)
        prompt.type(pin: "83517")
        #expect(prompt.pin == "83517")
        await list.perform(.close)
        #expect(prompt.pin.isEmpty)
    }

    @Test("An approval by a link leads back, and a custom authenticator's words are shown")
    func approved() async throws {
        let url = try #require(URL(string: "https://shop.example/done"))
        let scene = await PromptScene.read(approval: PromptApproval(payload: "welcome", returnURL: url))
        await scene.model.perform(.approve)
        #expect(scene.model.state == .approved(PromptApproval(payload: "welcome", returnURL: url)))
        let screen = scene.model.screen(PromptTexts(.english))
        #expect(screen.paragraphs.count == 2 && screen.timeLeft == nil)
    }

    @Test("Methods that the question does not allow are not used")
    func otherMethods() async {
        let scene = await PromptScene.read(.payment(methods: [.pin]))
        await scene.model.perform(.approve)
        await scene.model.perform(.use(.confirmation))
        #expect(scene.model.state == .typingPIN(nil) && scene.script.calls.isEmpty)
    }
}
