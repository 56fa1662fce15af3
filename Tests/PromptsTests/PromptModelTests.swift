import Countersign
import Foundation
import Testing

@testable import CountersignPrompts

/// How often something was done.
@MainActor
private final class Count {
    var number = 0
}

@Suite("One view draws every model", .timeLimit(.minutes(15)))
@MainActor
struct PromptModelTests {
    let script = Script()
    let clock = HandClock()

    private func prompt(
        _ question: PromptQuestion = .payment(), approval: PromptApproval = PromptApproval()
    ) -> ApprovePromptModel {
        let fake = FakeQuestion(question: question, script: script, approval: approval)
        let model = ApprovePromptModel(opened: fake, biometricPrompt: "Pay", clock: clock)
        clock.advance(ApprovePromptModel.readingTime)
        return model
    }

    private func screen(_ model: any PromptModel) -> PromptScreen { model.screen(PromptTexts(.english)) }

    @Test("The field of a question takes the number, then the PIN, then what a custom authenticator judges")
    func question() async {
        let model: any PromptModel = prompt(.payment(number: true, methods: [.pin, .custom("voice")], attemptsLeft: 3))
        model.type("47 19 32 9")
        #expect(model.typed == "471932")
        await model.perform(.approve)
        #expect(screen(model).field?.kind == .pin && model.typed.isEmpty)
        model.type("83517a")
        #expect(model.typed == "83517")
        await model.perform(.use(.custom("voice")))
        #expect(screen(model).custom == CustomRequest(name: "voice", purpose: .approve) && model.typed.isEmpty)
        model.type("la la")
        #expect(model.typed == "la la" && script.calls.isEmpty)
        await model.perform(.submit)
        #expect(script.calls == ["approve voice la la 471932"] && model.typed == "471932")
        #expect(model.returnURL == nil && !model.isClosed && model.current == nil)
    }

    @Test("The notification of a question is of no use once nobody can answer it any more")
    func settled() async {
        for (act, error) in [
            (PromptAct.approve, nil), (.deny, nil), (.approve, .challengeExpired), (.approve, .alreadyAnswered),
        ] as [(PromptAct, CountersignError?)] {
            let model = prompt()
            #expect(model.settledQuestion == nil)
            script.next(error)
            await model.perform(act)
            #expect(model.settledQuestion == "chl_1")
        }
        for error in [CountersignError.network("gone"), .enrollmentSuspended] {
            let model = prompt()
            script.next(error)
            await model.perform(.approve)
            #expect(model.settledQuestion == nil)
        }
    }

    @Test("An approval that came by a link opens the browser, and no other does")
    func link() async {
        let url = URL(filePath: "/back")
        let model: any PromptModel = prompt(approval: PromptApproval(returnURL: url))
        #expect(model.returnURL == nil)
        await model.perform(.approve)
        #expect(model.returnURL == url && !model.isClosed)
    }

    @Test("A view of the app's own gives the data once, and only while it is asked for them")
    func ownView() async throws {
        let model = prompt(.payment(number: true, methods: [.custom("voice"), .pin], attemptsLeft: 3))
        let submitted = Count()
        func entry() -> CustomEntry? { CustomEntry(model) { submitted.number += 1 } }
        #expect(entry() == nil)
        model.type("471932")
        await model.perform(.approve)
        let first = try #require(entry())
        #expect(first.request == CustomRequest(name: "voice", purpose: .approve))
        first.give("")
        #expect(submitted.number == 0 && model.typed.isEmpty)
        first.give("la la")
        #expect(submitted.number == 1 && model.typed == "la la")
        script.next(.customRetry(attemptsLeft: 2, payload: "louder"))
        await model.perform(.submit)
        #expect(script.calls == ["approve voice la la 471932"])
        // What was recorded for the try before is not given for the next one.
        first.give("la la")
        #expect(submitted.number == 1 && model.typed.isEmpty)
        let second = try #require(entry())
        #expect(second.request.payload == "louder" && second.request.attemptsLeft == 2)
        await model.perform(.use(.pin))
        second.give("83517")
        #expect(submitted.number == 1 && model.typed.isEmpty && entry() == nil)
    }

    @Test("Where a view of the app's own asks, the screen has no button that takes what was typed")
    func askedByApp() async {
        let registering = CustomAuthenticatorModel(FakeRegistrar(script: script), .register)
        await registering.load()
        script.next(.customRetry(attemptsLeft: 2, payload: "louder"))
        for text in ["a", "b"] {
            registering.type(text)
            await registering.perform(.submit)
        }
        #expect(registering.state == .registered(payload: "welcome"))
        let texts = PromptTexts(.english)
        let again = CustomAuthenticatorModel.State.giving(.again(attemptsLeft: 2, payload: "louder"))
        let whole = again.screen(of: "voice", .register, texts)
        #expect(whole.paragraphs.count == 1 && whole.buttons.map(\.act) == [.submit, .cancel])
        let asked = whole.askedByApp
        #expect(asked.heading == whole.heading && asked.field?.problem == whole.field?.problem)
        #expect(asked.paragraphs.isEmpty && asked.buttons.map(\.act) == [.cancel])
        let request = CustomRequest(name: "voice", purpose: .register, payload: "louder", attemptsLeft: 2)
        #expect(asked.custom == request)
        let done = screen(registering)
        #expect(done.custom == nil && done.askedByApp == done)
        let pin = CustomAuthenticatorModel.State.typingPIN(nil).screen(of: "voice", .register, texts)
        #expect(pin.custom == nil && pin.askedByApp == pin)
    }

    @Test("Running a model fetches what it shows")
    func run() async {
        let pad = PINPadModel(FakeKeeper(script: script))
        let custom = CustomAuthenticatorModel(FakeRegistrar(script: script), .register)
        let devices = DevicesModel(FakeDirectory(script: script), biometricPrompt: "Change")
        for model in [pad, custom, devices] as [any PromptModel] { await model.run() }
        #expect(script.calls == ["status", "status", "list"])
        #expect(pad.state == .choosing(nil) && custom.state == .giving(nil))
        #expect(screen(devices).heading == "Trusted devices")
    }

    @Test("The field of the devices takes the PIN that proves a change")
    func devices() async {
        let list = DeviceList(rows: [.this, .other()], proofs: [.pin])
        let model: any PromptModel = DevicesModel(
            FakeDirectory(script: script, list: list), biometricPrompt: "Change", clock: clock)
        await model.run()
        model.type("83517")
        #expect(model.typed.isEmpty)
        await model.perform(.suspend("other"))
        clock.advance(ApprovePromptModel.readingTime)
        await model.perform(.goOn)
        model.type("83517")
        #expect(model.typed == "83517")
        await model.perform(.submit)
        #expect(model.typed.isEmpty && script.calls == ["list", "suspend other pin", "list"])
    }

    @Test("The list has the question that is open, until it is closed")
    func list() async {
        let model: any PromptModel = PendingListModel(
            FakePending([.example("chl_1", script)]), biometricPrompt: "Pay", clock: clock)
        await (model as? PendingListModel)?.refresh()
        #expect(model.current == nil)
        await model.perform(.open("chl_1"))
        #expect(model.current != nil && !model.isClosed)
        await model.perform(.close)
        #expect(model.current == nil)
    }

    @Test("The camera looks for a code until one is taken; then the screen closes itself")
    func scanner() async {
        for (text, closes) in [("code 1", true), ("ticket 1", true), ("elsewhere", false)] {
            let model: any PromptModel = ScannerModel(FakeReader(script: script))
            #expect(screen(model).looksForCode && !model.isClosed)
            await model.scanned(text)
            #expect(model.isClosed == closes && screen(model).looksForCode == !closes, "\(text)")
        }
        let model: any PromptModel = ScannerModel(FakeReader(script: script))
        model.refuseCamera()
        #expect(!screen(model).looksForCode && !model.isClosed)
        await model.perform(.cancel)
        #expect(model.isClosed)
    }

    @Test("A screen closes itself when somebody is signed in elsewhere, or when its person gives up")
    func closing() async {
        let waiting = WaitingModel(FakeSignIn(script: script, shown: .example()), clock: clock)
        let shown: any PromptModel = waiting
        #expect(!shown.isClosed)
        await shown.run()
        #expect(waiting.state == .signedIn && shown.isClosed)
        let display: any PromptModel = CodeDisplayModel(FakeCodes(script: script), clock: clock)
        #expect(!display.isClosed)
        await display.perform(.cancel)
        #expect(display.isClosed)
    }

    @Test("What has no field, camera or question leaves what it is given")
    func nothing() async {
        let device = FurtherDeviceModel(FakeWaitingDevice(script: script), number: nil, activeFrom: 0, clock: clock)
        let state = device.state
        let model: any PromptModel = device
        model.type("1")
        await model.scanned("code 1")
        model.refuseCamera()
        #expect(model.typed.isEmpty && model.announcement == nil && model.returnURL == nil && !model.isClosed)
        #expect(model.current == nil && device.state == state && script.calls.isEmpty)
    }

    @Test("A screen says that something is under way where that ends by itself")
    func busy() {
        let texts = PromptTexts(.english)
        let busy = PromptExamples.all.flatMap { examples in
            examples.screens.filter { $0.screen(texts).isBusy }.map { "\(examples.model) \($0.state)" }
        }
        #expect(
            Set(busy) == [
                "ApprovePromptModel loading", "ApprovePromptModel sending: approve", "ApprovePromptModel sending: deny",
                "ApprovePromptModel sending: report", "WaitingModel starting", "PINPadModel loading",
                "PINPadModel saving", "ScannerModel claiming", "ScannerModel claimed", "ScannerModel ticket",
                "CodeDisplayModel loading", "PendingListModel loading", "DevicesModel loading", "DevicesModel acting",
                "CustomAuthenticatorModel loading", "CustomAuthenticatorModel sending", "FurtherDeviceModel undoing",
            ])
    }

    @Test("A screen reader goes to a new heading or to what is wrong, and is told what is new below the same heading")
    func reading() {
        var old = PromptScreen(heading: "Type your PIN")
        old.paragraphs = ["Without it nothing changes."]
        old.field = PromptField(kind: .pin, label: "PIN")
        var new = old
        new.timeLeft = "1:42 left"
        #expect(new.reading(after: old) == nil)
        new.paragraphs.append("There is no network.")
        new.paragraphs.append("Try again.")
        #expect(new.reading(after: old) == .says("There is no network. Try again."))
        #expect(old.reading(after: new) == nil)
        new.field = PromptField(kind: .pin, label: "PIN", problem: "This is not your PIN.")
        #expect(new.reading(after: old) == .problem && new.reading(after: new) == nil)
        #expect(old.reading(after: PromptScreen(heading: "One moment")) == .heading)
        #expect(new.reading(after: PromptScreen(heading: "One moment")) == .problem)
    }
}
