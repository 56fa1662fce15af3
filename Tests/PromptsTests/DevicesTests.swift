import Countersign
import CountersignWire
import Testing

@testable import CountersignPrompts

@Suite("The list of devices", .timeLimit(.minutes(15)))
@MainActor
struct DevicesTests {
    let script = Script()
    let clock = HandClock()
    private static let waitingPIN = DeviceRow.WaitingMethod(name: "pin", method: .pin, countsFrom: 1_795_500_000_000)

    private func loaded(_ other: DeviceRow? = .other(), proofs: [PromptMethod] = []) async -> DevicesModel {
        let list = DeviceList(rows: [.this] + (other.map { [$0] } ?? []), proofs: proofs)
        let model = DevicesModel(
            FakeDirectory(script: script, list: list), biometricPrompt: "Do it", clock: clock)
        await model.load()
        return model
    }

    /// Says yes once the question was read.
    private func goOn(_ model: DevicesModel) async {
        clock.advance(ApprovePromptModel.readingTime)
        await model.perform(.goOn)
    }

    @Test("It shows this device and the others, and what can be done to each as it stands")
    func list() async {
        let offers: [(DeviceRow, [PromptAct])] = [
            (.other(), [.suspend("other"), .remove("other")]),
            (.other(.suspended), [.resume("other"), .remove("other")]),
            (.other(.waiting(until: nil)), [.undo("other")]),
            (
                .other(waiting: [Self.waitingPIN]),
                [.undoMethod("pin", of: "other"), .suspend("other"), .remove("other")]
            ),
        ]
        for (device, acts) in offers {
            let screen = await loaded(device).screen(PromptTexts(.english))
            #expect(screen.groups.map(\.id) == ["this", "other"] && screen.buttons.map(\.act) == [.close])
            #expect(screen.groups.map { $0.buttons.map(\.act) } == [[.remove("this")], acts])
            #expect(screen.groups.allSatisfy { !$0.title.isEmpty && !$0.lines.isEmpty })
        }
        let alone = await loaded(nil).screen(PromptTexts(.english))
        #expect(alone.paragraphs == ["There is no other device."])
    }

    @Test("Without a proof a device is suspended after a question, once, and the list is fetched again")
    func suspend() async {
        let model = await loaded()
        await model.perform(.suspend("other"))
        #expect(model.state == .confirming(DevicesModel.Action(.suspend, .other())))
        // The second tap of two was on the button before.
        await model.perform(.goOn)
        #expect(script.calls == ["list"])
        clock.advance(ApprovePromptModel.readingTime)
        script.hold()
        let first = Task { await model.perform(.goOn) }
        await script.reached(2)
        #expect(model.state == .acting(DevicesModel.Action(.suspend, .other())))
        for act in [PromptAct.goOn, .back, .retry, .remove("other")] { await model.perform(act) }
        script.letGo()
        await first.value
        #expect(script.calls == ["list", "suspend other ", "list"])
        guard case .list(_, let done) = model.state else {
            Issue.record("\(model.state)")
            return
        }
        #expect(done == DevicesModel.Action(.suspend, .other()))
        #expect(model.screen(PromptTexts(.english)).paragraphs.count == 1)
    }

    @Test("Keeping it does nothing")
    func keep() async {
        let model = await loaded()
        await model.perform(.remove("other"))
        await model.perform(.back)
        #expect(script.calls == ["list"])
        guard case .list(_, nil) = model.state else {
            Issue.record("\(model.state)")
            return
        }
    }

    @Test("With a PIN it is typed, again after a wrong one, until it is locked")
    func pin() async {
        let model = await loaded(proofs: [.pin, .biometric])
        await model.perform(.remove("other"))
        await goOn(model)
        let action = DevicesModel.Action(.remove, .other())
        #expect(model.state == .typingPIN(action, nil))
        await model.perform(.submit)
        #expect(model.state == .typingPIN(action, .malformed))
        script.next(.pinIncorrect(attemptsLeft: 1), .pinIncorrect(attemptsLeft: 0))
        model.type(pin: "83517")
        await model.perform(.submit)
        #expect(model.state == .typingPIN(action, .wrong(attemptsLeft: 1)) && model.pin.isEmpty)
        model.type(pin: "83518")
        await model.perform(.submit)
        #expect(model.state == .pinLocked(action))
        await model.perform(.use(.biometric))
        #expect(script.calls.last == "list" && script.calls.contains("remove other biometric (Do it)"))
    }

    @Test("A PIN that the server says is locked is no longer typed")
    func locked() async {
        let model = await loaded(proofs: [.pin])
        await model.perform(.remove("other"))
        await goOn(model)
        script.next(.pinLocked)
        model.type(pin: "83517")
        await model.perform(.submit)
        #expect(model.state == .pinLocked(DevicesModel.Action(.remove, .other())) && model.pin.isEmpty)
        #expect(script.calls == ["list", "remove other pin"])
    }

    @Test("Going back shows the list, and nothing is done; where the device was gone, the list is fetched again")
    func back() async {
        let action = DevicesModel.Action(.remove, .other())
        let states: [(DevicesModel.State, CountersignError?, [PromptMethod], [String])] = [
            (.typingPIN(action, nil), nil, [.pin], []),
            (.biometricFailed(action, .failed), .biometric(.failed), [.biometric], []),
            (.pinLocked(action), .pinLocked, [.biometric], []),
            (.notDone(action, .network), .network("gone"), [], []),
            (.gone(action), .server(ProblemDetails(.enrollmentNotFound)), [], ["list"]),
        ]
        for (state, error, proofs, fetched) in states {
            let model = await loaded(proofs: proofs)
            await model.perform(.remove("other"))
            if let error { script.next(error) }
            await goOn(model)
            #expect(model.state == state)
            model.type(pin: "83517")
            let before = script.calls.count
            await model.perform(.back)
            #expect(model.state == .list(DeviceList(rows: [.this, .other()], proofs: proofs), done: nil))
            #expect(model.pin.isEmpty && Array(script.calls.dropFirst(before)) == fetched)
        }
    }

    @Test("A list that nobody sees any more has forgotten the PIN")
    func left() async {
        let model = await loaded(proofs: [.pin])
        await model.perform(.remove("other"))
        await goOn(model)
        model.type(pin: "83517")
        model.leave()
        #expect(model.pin.isEmpty)
    }

    @Test("A biometric that fails can be tried again, or the PIN is typed; without either nothing is done")
    func biometric() async {
        let model = await loaded(.other(.suspended), proofs: [.biometric, .pin])
        let action = DevicesModel.Action(.resume, .other(.suspended))
        script.next(.biometric(.failed), .biometric(.fallback))
        await model.perform(.resume("other"))
        #expect(model.state == .biometricFailed(action, .failed))
        await model.perform(.use(.biometric))
        #expect(model.state == .typingPIN(action, nil))
        model.type(pin: "83517")
        await model.perform(.submit)
        #expect(script.calls.contains("resume other pin"))
    }

    @Test("A biometric that was closed, or a wish for a PIN that is not there, is told of a change and of no question")
    func biometricWords() async {
        let words: [(BiometricFailure, PromptWord, String)] = [
            (.cancelled, .biometricCancelledForChange, "You have closed it. Nothing was changed yet."),
            (.fallback, .biometricFallbackForChange, "You wanted another way, and there is none for this change."),
        ]
        for (failure, word, text) in words {
            let model = await loaded(proofs: [.biometric])
            script.next(.biometric(failure))
            await model.perform(.remove("other"))
            await goOn(model)
            #expect(model.state == .biometricFailed(DevicesModel.Action(.remove, .other()), failure))
            #expect(model.screen(PromptTexts(.english)).paragraphs == [text])
            let german = PromptTexts(.german)
            #expect(model.screen(german).paragraphs == [german.text(word)])
        }
    }

    @Test("What waits is undone without a proof: a device, and a method")
    func undo() async {
        let waiting = await loaded(.other(.waiting(until: nil)), proofs: [.pin])
        await waiting.perform(.remove("other"))
        #expect(script.calls == ["list"])
        await waiting.perform(.undo("other"))
        await goOn(waiting)
        #expect(script.calls == ["list", "remove other ", "list"])
        let method = await loaded(.other(waiting: [Self.waitingPIN]), proofs: [.pin])
        await method.perform(.undoMethod("biometric", of: "other"))
        await method.perform(.undoMethod("pin", of: "other"))
        #expect(script.calls.suffix(2) == ["undo pin of other", "list"])
    }

    @Test("This device is removed without a proof, and then there is no list any more")
    func thisOne() async {
        let model = await loaded(proofs: [.pin])
        await model.perform(.suspend("this"))
        await model.perform(.remove("this"))
        #expect(model.state == .confirming(DevicesModel.Action(.remove, .this)))
        await goOn(model)
        #expect(model.state == .thisOneRemoved && script.calls == ["list", "remove this "])
        #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.close])
        await model.load()
        #expect(model.state == .thisOneRemoved)
    }

    @Test("What went wrong is told, and tried again where that helps")
    func failures() async {
        let action = DevicesModel.Action(.suspend, .other())
        let failures: [(CountersignError, DevicesModel.State)] = [
            (.network("gone"), .notDone(action, .network)), (.methodNeeded, .notDone(action, .methodNeeded)),
            (.pinRequired, .typingPIN(action, nil)), (.notEnrolled, .thisOneRemoved),
            (.server(ProblemDetails(.enrollmentNotFound)), .gone(action)),
        ]
        for (error, state) in failures {
            let model = await loaded()
            script.next(error)
            await model.perform(.suspend("other"))
            await goOn(model)
            #expect(model.state == state)
        }
        let model = await loaded()
        script.next(.network("gone"))
        await model.perform(.suspend("other"))
        await goOn(model)
        await model.perform(.retry)
        guard case .list(_, let done) = model.state else {
            Issue.record("\(model.state)")
            return
        }
        #expect(done == action)
    }

    @Test("A list that cannot be fetched is fetched again; a device that may not see it is told")
    func unreachable() async {
        script.next(.network("gone"))
        let model = await loaded()
        #expect(model.state == .unreachable(.network))
        await model.perform(.retry)
        #expect(model.screen(PromptTexts(.english)).heading == "Trusted devices")
        script.next(.enrollmentWaiting)
        #expect(await loaded().state == .failed(.waiting))
    }
}
