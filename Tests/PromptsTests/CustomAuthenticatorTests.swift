import Countersign
import Testing

@testable import CountersignPrompts

@Suite("Custom authenticators", .timeLimit(.minutes(15)))
@MainActor
struct CustomAuthenticatorTests {
    let script = Script()

    private func loaded(
        _ purpose: CustomAuthenticatorModel.Purpose, isRegistered: Bool = false, needsPIN: Bool = false
    ) async -> CustomAuthenticatorModel {
        let model = CustomAuthenticatorModel(
            FakeRegistrar(script: script, isRegistered: isRegistered, needsPIN: needsPIN), purpose)
        await model.load()
        return model
    }

    private func submit(_ text: String, _ model: CustomAuthenticatorModel) async {
        model.type(text)
        await model.perform(.submit)
    }

    @Test("It is registered once, with its data")
    func register() async {
        let model = await loaded(.register)
        #expect(model.state == .giving(nil))
        script.hold()
        model.type("hello")
        let first = Task { await model.perform(.submit) }
        await script.reached(2)
        #expect(model.state == .sending)
        for act in [PromptAct.submit, .retry, .cancel] { await model.perform(act) }
        script.letGo()
        await first.value
        #expect(model.state == .registered(payload: "welcome") && script.calls == ["status", "register hello "])
    }

    @Test("With a PIN, the PIN comes first, and a wrong one is typed again without giving the data again")
    func withPIN() async {
        let model = await loaded(.register, needsPIN: true)
        #expect(model.state == .typingPIN(nil))
        await submit("1", model)
        #expect(model.state == .typingPIN(.malformed))
        await submit("83517", model)
        #expect(model.state == .giving(nil))
        // The second tap on the button sends nothing.
        await model.perform(.submit)
        #expect(model.state == .giving(nil) && script.calls == ["status"])
        script.next(.pinIncorrect(attemptsLeft: 1))
        await submit("hello", model)
        #expect(model.state == .typingPIN(.wrong(attemptsLeft: 1)))
        await submit("83518", model)
        #expect(model.state == .registered(payload: "welcome"))
        #expect(script.calls == ["status", "register hello with PIN", "register hello with PIN"])
    }

    @Test("It may want another try, be out of reach, or refuse")
    func answers() async {
        let model = await loaded(.register)
        script.next(.customRetry(attemptsLeft: nil, payload: "louder"), .customUnavailable)
        script.next(.customFailed(payload: "no"))
        await submit("a", model)
        #expect(model.state == .giving(.again(attemptsLeft: nil, payload: "louder")))
        await submit("b", model)
        #expect(model.state == .giving(.unavailable))
        await submit("c", model)
        #expect(model.state == .refused(payload: "no"))
    }

    @Test("Out of reach, it says to try again later, and names no other way: there is none on that screen")
    func unavailable() async {
        let model = await loaded(.register)
        script.next(.customUnavailable)
        await submit("hello", model)
        let screen = model.screen(PromptTexts(.english))
        #expect(screen.field?.problem == "It cannot be asked now. Try again in a minute.")
        #expect(screen.buttons.map(\.act) == [.submit, .cancel])
        let german = model.screen(PromptTexts(.german)).field?.problem
        #expect(german == "Dort lässt sich jetzt nicht fragen. Versuchen Sie es in einer Minute noch einmal.")
    }

    @Test("It is given up after a question, with the PIN if there is one")
    func deregister() async {
        let model = await loaded(.deregister, isRegistered: true)
        #expect(model.state == .confirmingRemoval)
        await model.perform(.deregister)
        #expect(model.state == .deregistered && script.calls == ["status", "deregister "])
        let typed = await loaded(.deregister, isRegistered: true, needsPIN: true)
        await typed.perform(.deregister)
        await submit("83517", typed)
        #expect(typed.state == .deregistered)
        #expect(await loaded(.deregister).state == .notThere)
    }

    @Test("What the server says ends it, or is tried again")
    func failures() async {
        let failures: [(CountersignError, CustomAuthenticatorModel.State)] = [
            (.network("gone"), .unsent(.network)), (.pinLocked, .pinLocked), (.pinRequired, .typingPIN(nil)),
            (.authorityNeeded, .authorityNeeded), (.customNotRegistered, .notThere),
            (.pinIncorrect(attemptsLeft: 0), .pinLocked), (.enrollmentSuspended, .failed(.suspended)),
        ]
        for (error, state) in failures {
            let model = await loaded(.register)
            script.next(error)
            await submit("hello", model)
            #expect(model.state == state)
            await model.perform(.retry)
            #expect(model.state == (state == .unsent(.network) ? .registered(payload: "welcome") : state))
        }
    }

    @Test("A screen that nobody sees any more has forgotten the PIN and the data, and begins anew")
    func left() async {
        let model = await loaded(.register, needsPIN: true)
        await submit("83517", model)
        script.next(.network("gone"))
        await submit("hello", model)
        #expect(model.state == .unsent(.network))
        model.leave()
        await model.perform(.retry)
        #expect(model.state == .loading)
        await model.load()
        #expect(model.state == .typingPIN(nil))
        #expect(script.calls == ["status", "register hello with PIN", "status"])
    }

    @Test("Left while it is being sent: what fails then is forgotten")
    func leftWhileSending() async {
        let model = await loaded(.register)
        script.hold()
        script.next(.network("gone"))
        model.type("hello")
        let sending = Task { await model.perform(.submit) }
        await script.reached(2)
        model.leave()
        script.letGo()
        await sending.value
        #expect(model.state == .loading)
        await model.perform(.retry)
        #expect(script.calls == ["status", "register hello "])
    }

    @Test("Left while it is being sent and come back to: a failure is shown, and it is tried again")
    func backWhileSending() async {
        let model = await loaded(.register)
        script.hold()
        script.next(.network("gone"))
        model.type("hello")
        let sending = Task { await model.perform(.submit) }
        await script.reached(2)
        model.leave()
        await model.load()
        script.letGo()
        await sending.value
        #expect(model.state == .unsent(.network))
        await model.perform(.retry)
        #expect(script.calls == ["status", "register hello ", "register hello "])
    }

    @Test("How it stands is fetched again, and giving up forgets what was typed")
    func loading() async {
        script.next(.network("gone"))
        let model = await loaded(.register)
        #expect(model.state == .unreachable(.network))
        await model.perform(.retry)
        model.type("hello")
        await model.perform(.cancel)
        #expect(model.state == .cancelled && model.typed.isEmpty)
        script.next(.enrollmentSuspended)
        #expect(await loaded(.register).state == .failed(.suspended))
    }
}
