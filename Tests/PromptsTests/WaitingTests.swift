import Countersign
import Testing

@testable import CountersignPrompts

@Suite("The screen of a device that waits for a sign-in elsewhere", .timeLimit(.minutes(15)))
@MainActor
struct WaitingTests {
    let script = Script()
    let clock = HandClock()

    private func model(_ shown: WaitingNumber? = .example()) -> WaitingModel {
        WaitingModel(FakeSignIn(script: script, shown: shown), clock: clock)
    }

    @Test("It shows the number until somebody is signed in, and signs in once")
    func signedIn() async {
        let model = model(.example(seconds: 100_000))
        #expect(model.state == .starting)
        await model.run()
        #expect(model.state == .signedIn)
        await model.run()
        #expect(script.calls == ["sign in"] && model.state == .signedIn)
    }

    @Test("The number is shown in groups, and a code with its page")
    func shown() async {
        script.hold()
        let model = model(.example(number: nil, seconds: 100_000_000))
        let run = Task { await model.run() }
        await script.reached(1)
        #expect(model.state == .showing(.example(number: nil, seconds: 100_000_000)))
        #expect(model.screen(PromptTexts(.english)).code == PromptCode(code: "WDJB-MJHT"))
        #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.cancel])
        model.perform(.cancel)
        await run.value
        #expect(model.state == .closed)
        let screen = WaitingModel.State.showing(.example()).screen(left: .seconds(42), PromptTexts(.english))
        #expect(screen.code?.written == "471 932" && screen.code?.spoken == "4 7 1, 9 3 2")
    }

    @Test("Where a device is asked it waits for a minute at most, then closes itself after three seconds")
    func minute() async {
        script.hold()
        let model = model(.example(seconds: 600))
        await model.run()
        #expect(model.state == .closed && script.calls == ["sign in"])
        #expect(clock.now >= .seconds(63) && clock.now < .seconds(600))
    }

    @Test("What went wrong is shown for three seconds")
    func failures() async {
        let failures: [(CountersignError, WaitingModel.State)] = [
            (.signInRefused(.declined), .declined), (.signInRefused(.expired), .expired),
            (.network("gone"), .failed(.network)), (.signInRefused(.unavailable), .failed(.service)),
            (.providerInvalid("no"), .failed(.other(code: "provider_invalid"))),
        ]
        for (error, state) in failures {
            let script = Script()
            let pausing = PausingClock()
            let model = WaitingModel(FakeSignIn(script: script, shown: nil), clock: pausing)
            script.next(error)
            let run = Task { await model.run() }
            while model.state == .starting { await Task.yield() }
            #expect(model.state == state)
            #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.close])
            model.perform(.close)
            #expect(model.state == .closed)
            pausing.end()
            await run.value
            #expect(model.state == .closed)
        }
    }

    @Test("Giving up takes the sign-in back and closes the screen")
    func cancelled() async {
        script.hold()
        let model = model(nil)
        let run = Task { await model.run() }
        await script.reached(1)
        model.cancel()
        model.cancel()
        await run.value
        #expect(model.state == .closed)
    }

    @Test("While the sign-in is taken back the screen says that it was cancelled, and then it closes")
    func takenBack() async {
        script.hold()
        let model = WaitingModel(SlowSignIn(script: script), clock: clock)
        let run = Task { await model.run() }
        await script.reached(1)
        model.cancel()
        while model.state == .starting { await Task.yield() }
        #expect(model.state == .cancelled)
        let screen = model.screen(PromptTexts(.english))
        #expect(screen.heading == "The sign-in was cancelled" && screen.buttons.map(\.act) == [.close])
        script.letGo()
        await run.value
        #expect(model.state == .closed)
    }

    @Test("Given up before it began, it never begins")
    func cancelledBefore() async {
        let model = model()
        model.cancel()
        await model.run()
        #expect(model.state == .closed && script.calls.isEmpty)
    }

    @Test("Who leaves the screen gives up")
    func left() async {
        script.hold()
        let model = model(nil)
        let run = Task { await model.run() }
        await script.reached(1)
        run.cancel()
        await run.value
        #expect(model.state == .closed)
    }
}

/// A sign-in that takes its time to be taken back.
private struct SlowSignIn: ElsewhereSignIn {
    let script: Script

    func signIn(
        showing show: @escaping @Sendable (WaitingNumber) async -> Void
    ) async throws(CountersignError) {
        // A task of its own is not cancelled with the one that waits for it.
        let answer = Task { try? await script.call("sign in") }
        _ = await answer.value
        throw .cancelled
    }
}

/// A clock that stands, and on which everybody sleeps until the test ends it.
final class PausingClock: PromptClock {
    private let script = Script()

    init() { script.hold() }

    var now: Duration { .zero }

    func sleep(for duration: Duration) async throws {
        try await script.call("sleep")
        // Without it, who was cancelled while the test ended it would sleep again and again.
        try Task.checkCancellation()
    }

    func end() { script.letGo() }
}
