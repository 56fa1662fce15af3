import Countersign
import Synchronization
import Testing

@testable import CountersignPrompts

/// A clock by which pauses take as long as a test says; after the last one whoever waits is cancelled.
private final class StoppedClock: PromptClock {
    private struct State {
        var time = Duration.zero
        var pauses: [Duration]
    }

    private let state: Mutex<State>

    init(_ pauses: [Duration]) {
        state = Mutex(State(pauses: pauses))
    }

    var now: Duration { state.withLock { $0.time } }

    func sleep(for duration: Duration) async throws {
        let isOver = state.withLock { state in
            guard !state.pauses.isEmpty else { return true }
            state.time += state.pauses.removeFirst()
            return false
        }
        if isOver { throw CancellationError() }
    }
}

@Suite("The list of pending questions", .timeLimit(.minutes(15)))
@MainActor
struct PendingListTests {
    let answers = Script()
    let clock = HandClock()

    private func model(_ source: FakePending) -> PendingListModel {
        PendingListModel(source, biometricPrompt: "Pay", clock: clock)
    }

    @Test("It shows what waits, or that nothing does")
    func rows() async {
        let source = FakePending([.example("b", answers), .example("a", answers)])
        let model = model(source)
        #expect(model.state == .loading)
        await model.refresh()
        guard case .rows(let rows) = model.state else {
            Issue.record("\(model.state)")
            return
        }
        #expect(rows.map(\.id) == ["b", "a"])
        #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.open("b"), .open("a")])
        source.set([])
        await model.refresh()
        #expect(model.state == .empty)
    }

    @Test("A question that arrives is the first, and once in the list")
    func arrives() async {
        let model = model(FakePending([.example("a", answers)]))
        await model.refresh()
        model.take(.example("b", answers))
        model.take(.example("b", answers))
        #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.open("b"), .open("a")])
    }

    @Test("A question that arrives while the list is fetched stays, also where the list does not have it yet")
    func arrivesMeanwhile() async {
        let source = FakePending([.example("a", answers)])
        let model = model(source)
        source.script.hold()
        let refresh = Task { await model.refresh() }
        await source.script.reached(1)
        model.take(.example("b", answers))
        model.take(.example("a", answers))
        source.script.letGo()
        await refresh.value
        #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.open("b"), .open("a")])
        // The next list has it, or it is over.
        await model.refresh()
        #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.open("a")])
    }

    @Test("After the system has stopped the app for a while, the list is fetched anew")
    func absence() async {
        let source = FakePending([.example("a", answers)])
        let clock = StoppedClock([.seconds(1), .seconds(10), .seconds(1), .seconds(11), .seconds(1)])
        await PendingListModel(source, biometricPrompt: "Pay", clock: clock).run()
        #expect(source.script.calls == ["list", "list"])
    }

    @Test("A question names its own account, or none where it may be another one than the list's")
    func accounts() async {
        let source = FakePending([
            .example("a", answers), .example("b", answers, isOfOneOfSeveral: true),
            .example("c", answers, account: "anna@company.example", isOfOneOfSeveral: true),
        ])
        let model = PendingListModel(source, account: "anna@private.example", biometricPrompt: "Pay", clock: clock)
        await model.refresh()
        var named: [String?] = []
        for id in ["a", "b", "c"] {
            await model.perform(.open(id))
            named.append(model.current?.account)
            await model.perform(.close)
        }
        #expect(named == ["anna@private.example", nil, "anna@company.example"])
    }

    @Test("Who taps approve twice approves one question: the next is not opened by itself, nor answered at once")
    func twice() async throws {
        let source = FakePending([.example("b", answers), .example("a", answers)])
        let model = model(source)
        await model.refresh()
        await model.perform(.open("b"))
        await model.perform(.open("a"))
        let first = try #require(model.current)
        await first.load()
        #expect(first.question?.id == "b")
        clock.advance(.seconds(2))
        for _ in 0..<3 { await first.perform(.approve) }
        #expect(answers.calls == ["approve confirmation"] && model.current === first)
        await model.perform(.close)
        #expect(model.current == nil)
        await model.perform(.open("a"))
        let second = try #require(model.current)
        await second.load()
        for _ in 0..<3 { await second.perform(.approve) }
        #expect(answers.calls == ["approve confirmation"] && second.state == .asking(isNumberMissing: false))
    }

    @Test("What was answered does not come back with a list that was on its way")
    func answered() async throws {
        let source = FakePending([.example("a", answers)])
        let model = model(source)
        await model.refresh()
        await model.perform(.open("a"))
        let prompt = try #require(model.current)
        await prompt.load()
        clock.advance(.seconds(2))
        source.script.hold()
        let refresh = Task { await model.refresh() }
        await source.script.reached(2)
        await prompt.perform(.deny)
        await model.perform(.close)
        #expect(model.state == .empty)
        await model.refresh()
        source.script.letGo()
        await refresh.value
        #expect(model.state == .empty && source.script.calls.count == 2)
    }

    @Test("A question that this device could not answer comes back: it may be resumed, or have the method by then")
    func notSettled() async throws {
        for error in [CountersignError.enrollmentSuspended, .methodMissing([])] {
            let script = Script()
            let model = model(FakePending([.example("a", script)]))
            await model.refresh()
            await model.perform(.open("a"))
            let prompt = try #require(model.current)
            await prompt.load()
            clock.advance(.seconds(2))
            script.next(error)
            await prompt.perform(.deny)
            #expect(prompt.state.isOver)
            await model.perform(.close)
            await model.refresh()
            await model.perform(.open("a"))
            let again = try #require(model.current)
            await again.load()
            clock.advance(.seconds(2))
            await again.perform(.deny)
            #expect(again.state == .declined)
        }
    }

    @Test("A question that was closed without an answer stays")
    func closed() async {
        let model = model(FakePending([.example("a", answers)]))
        await model.refresh()
        await model.perform(.open("a"))
        await model.perform(.close)
        #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.open("a")])
    }

    @Test("A question that was closed while its answer is on the way comes back as it is, and says nothing else")
    func closedUnderWay() async throws {
        let model = model(FakePending([.example("a", answers)]))
        await model.refresh()
        await model.perform(.open("a"))
        let prompt = try #require(model.current)
        await prompt.load()
        clock.advance(.seconds(2))
        answers.hold()
        let approval = Task { await prompt.perform(.approve) }
        await answers.reached(1)
        await model.perform(.close)
        await model.perform(.open("a"))
        #expect(model.current === prompt)
        await prompt.perform(.deny)
        answers.letGo()
        await approval.value
        #expect(prompt.state == .approved(PromptApproval()) && answers.calls == ["approve confirmation"])
        await model.perform(.close)
        #expect(model.state == .empty)
    }

    @Test("What has expired goes by itself")
    func expires() async {
        let model = model(FakePending([.example("b", answers, seconds: 10), .example("a", answers, seconds: 20)]))
        let run = Task { await model.run() }
        while model.state != .empty { await Task.yield() }
        run.cancel()
        await run.value
        #expect(clock.now >= .seconds(20))
    }

    @Test("Without a network the last list stays, and is fetched again; a device that may not is told")
    func failures() async {
        let source = FakePending([.example("a", answers)])
        let model = model(source)
        await model.refresh()
        source.script.next(.network("gone"), nil, .enrollmentSuspended)
        await model.perform(.retry)
        guard case .unreachable(.network, let rows) = model.state else {
            Issue.record("\(model.state)")
            return
        }
        #expect(rows.map(\.id) == ["a"])
        // Nobody knows whether nothing waits.
        clock.advance(.seconds(500))
        model.tick()
        #expect(model.state == .unreachable(.network, []))
        await model.perform(.retry)
        #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.open("a")])
        await model.refresh()
        #expect(model.state == .failed(.suspended))
    }
}
