import Countersign
import CountersignWire
import Testing

@testable import CountersignPrompts

@Suite("A further device that waits", .timeLimit(.minutes(15)))
@MainActor
struct FurtherDeviceTests {
    let script = Script()
    let clock = HandClock()

    private func model(number: String? = "471932", activeAfter: Int = .max) -> FurtherDeviceModel {
        FurtherDeviceModel(
            FakeWaitingDevice(script: script, activeAfter: activeAfter), number: number,
            activeFrom: 1_795_428_900_000, clock: clock)
    }

    /// Undoes it, and says so once the question was read.
    private func undo(_ model: FurtherDeviceModel) async {
        await model.perform(.undo(nil))
        clock.advance(ApprovePromptModel.readingTime)
        await model.perform(.undo(nil))
    }

    @Test("It shows its number, asks every three seconds, and is active when it was approved")
    func approved() async {
        let model = model(activeAfter: 2)
        #expect(model.state == .waiting(number: "471932"))
        #expect(model.screen(PromptTexts(.english)).code?.written == "471 932")
        await model.run()
        #expect(model.state == .active && script.calls.count == 3 && clock.now == .seconds(6))
        #expect(model.activeFrom == 1_795_500_000_000)
    }

    @Test("Without a number it only waits")
    func noNumber() {
        let screen = model(number: nil).screen(PromptTexts(.english))
        #expect(screen.code == nil && screen.buttons.map(\.act) == [.undo(nil), .close])
    }

    @Test("A refusal is told, and trouble with the network does not end the wait")
    func refused() async {
        script.next(.network("gone"), nil)
        let model = model()
        await model.look()
        #expect(model.trouble == .network && model.state == .waiting(number: "471932"))
        await model.look()
        #expect(model.trouble == nil)
        script.next(.deviceDeregistered(Removal(reason: "denied", removedAt: Timestamp(seconds: 0))))
        await model.run()
        #expect(model.state == .refused)
    }

    @Test("It is undone once, after a question")
    func undone() async {
        let model = model()
        await model.perform(.undo(nil))
        #expect(model.state == .confirmingUndo && script.calls.isEmpty)
        await model.perform(.back)
        #expect(model.state == .waiting(number: "471932"))
        await model.perform(.undo(nil))
        // The second tap of two was on the button before.
        await model.perform(.undo(nil))
        #expect(model.state == .confirmingUndo && script.calls.isEmpty)
        clock.advance(ApprovePromptModel.readingTime)
        script.hold()
        let first = Task { await model.perform(.undo(nil)) }
        await script.reached(1)
        #expect(model.state == .undoing)
        await model.perform(.undo(nil))
        await model.look()
        script.letGo()
        await first.value
        #expect(model.state == .undone && script.calls == ["undo"])
    }

    @Test("What could not be undone is undone again, or waits on")
    func notUndone() async {
        let model = model()
        script.next(.network("gone"), .network("gone"))
        await undo(model)
        #expect(model.state == .notUndone(.network))
        await model.perform(.retry)
        #expect(model.state == .notUndone(.network))
        await model.perform(.back)
        #expect(model.state == .waiting(number: "471932"))
        await undo(model)
        #expect(model.state == .undone)
    }
}
