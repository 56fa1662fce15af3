import Countersign
import CountersignWire
import Encodings
import Testing

@testable import CountersignPrompts

@Suite("The PIN pad", .timeLimit(.minutes(15)))
@MainActor
struct PINPadTests {
    let script = Script()

    private func loaded(_ kind: PINStatus.Kind = .none) async -> PINPadModel {
        let model = PINPadModel(FakeKeeper(script: script, kind: kind))
        await model.load()
        return model
    }

    private func submit(_ digits: String, _ model: PINPadModel) async {
        model.type(digits)
        await model.perform(.submit)
    }

    @Test("A first PIN is chosen, repeated and set once")
    func set() async {
        let model = await loaded()
        #expect(model.state == .choosing(nil))
        await submit("83517", model)
        #expect(model.state == .repeating && model.typed.isEmpty)
        // The second tap on the button does not lose what was chosen.
        await model.perform(.submit)
        #expect(model.state == .repeating)
        script.hold()
        model.type("83517")
        let first = Task { await model.perform(.submit) }
        await script.reached(2)
        #expect(model.state == .saving)
        for act in [PromptAct.submit, .retry, .back, .cancel] { await model.perform(act) }
        #expect(model.state == .saving)
        script.letGo()
        await first.value
        #expect(model.state == .done && script.calls == ["status", "set"])
        #expect(model.screen(PromptTexts(.english)).heading == "The PIN is set")
    }

    @Test("Each rule that a PIN breaks is told before anything is sent")
    func rules() async {
        let model = await loaded()
        let breaches: [(String, PINRules.Breach)] = [
            ("8351", .length(5...32)), ("", .length(5...32)), ("11113", .repeats(3)), ("12345", .sequence),
        ]
        for (digits, breach) in breaches {
            await submit(digits, model)
            #expect(model.state == .choosing(.breaks(breach)))
            #expect(model.screen(PromptTexts(.english)).field?.problem == breach.text(PromptTexts(.english)))
        }
        #expect(script.calls == ["status"])
        #expect(model.screen(PromptTexts(.english)).paragraphs.count == 3)
    }

    @Test("A list of common PINs, one length and sequences are what the server says")
    func otherRules() throws {
        let json: JSONValue = [
            "min_length": 6, "max_length": 6, "max_repeats": 1, "sequences": true, "blocked": ["135790"],
        ]
        let rules = PINRules(try PINPolicy(json, at: ""))
        #expect(rules.breach(of: "135790") == .common)
        #expect(rules.breach(of: "123456") == nil && rules.breach(of: "112345") == .repeats(1))
        let texts = PromptTexts(.english)
        #expect(PINRules.Breach.repeats(1).text(texts) == "No digit stands in it twice.")
        #expect(PINRules.Breach.length(6...6).text(texts).contains("6"))
    }

    @Test("Two that differ are chosen anew, and going back chooses anew")
    func mismatch() async {
        let model = await loaded()
        await submit("83517", model)
        await submit("83518", model)
        #expect(model.state == .choosing(.mismatch))
        await submit("83517", model)
        await model.perform(.back)
        #expect(model.state == .choosing(nil))
        await submit("83518", model)
        await submit("83518", model)
        #expect(model.state == .done)
    }

    @Test("A PIN is changed with the one there is, which is typed again after a wrong one, and the new one is not")
    func change() async {
        let model = await loaded(.set(attemptsLeft: 5))
        #expect(model.state == .typingOld(nil))
        await submit("1", model)
        #expect(model.state == .typingOld(.malformed))
        await submit("11111", model)
        #expect(model.state == .choosing(nil))
        await submit("83517", model)
        script.next(.pinIncorrect(attemptsLeft: 1), .pinIncorrect(attemptsLeft: 0))
        await submit("83517", model)
        #expect(model.state == .typingOld(.wrong(attemptsLeft: 1)))
        await submit("11112", model)
        #expect(model.state == .locked && script.calls == ["status", "change", "change"])
    }

    @Test("A changed PIN is told as such")
    func changed() async {
        let model = await loaded(.set(attemptsLeft: 5))
        for digits in ["11111", "83517", "83517"] { await submit(digits, model) }
        #expect(model.state == .done && model.screen(PromptTexts(.english)).heading == "The PIN is changed")
    }

    @Test("What the server says ends it, or is tried again with what was typed")
    func failures() async {
        let failures: [(CountersignError, PINPadModel.State)] = [
            (.network("gone"), .unsaved(.network)), (.pinLocked, .locked), (.authorityNeeded, .authorityNeeded),
            (.enrollmentSuspended, .refused(.suspended)), (.pinAlreadySet, .typingOld(nil)),
            (.pinRequired, .typingOld(nil)), (.pinPolicy(.blocked), .choosing(.breaks(.common))),
        ]
        for (error, state) in failures {
            let model = await loaded()
            await submit("83517", model)
            script.next(error)
            await submit("83517", model)
            #expect(model.state == state)
            await model.perform(.retry)
            #expect(model.state == (state == .unsaved(.network) ? .done : state))
        }
    }

    @Test("A locked PIN cannot be changed, and the rules are fetched again after a failure")
    func loading() async {
        #expect(await loaded(.locked).state == .locked)
        script.next(.network("gone"), .enrollmentSuspended)
        let model = await loaded()
        #expect(model.state == .unreachable(.network))
        #expect(await loaded().state == .refused(.suspended))
        await model.perform(.retry)
        #expect(model.state == .choosing(nil))
    }

    @Test("Giving up forgets what was typed")
    func cancelled() async {
        let model = await loaded()
        await submit("83517", model)
        model.type("83")
        await model.perform(.cancel)
        #expect(model.state == .cancelled && model.typed.isEmpty)
        await submit("83517", model)
        #expect(model.state == .cancelled && script.calls == ["status"])
    }

    @Test("A pad that nobody sees any more has forgotten what was typed, and begins anew")
    func left() async {
        for isUnsent in [false, true] {
            let model = await loaded(.set(attemptsLeft: 5))
            await submit("11111", model)
            await submit("83517", model)
            if isUnsent {
                script.next(.network("gone"))
                await submit("83517", model)
                #expect(model.state == .unsaved(.network))
            } else {
                model.type("835")
            }
            model.leave()
            #expect(model.state == .loading && model.typed.isEmpty)
            await model.perform(.retry)
            #expect(model.state == .loading)
            await model.load()
            #expect(model.state == .typingOld(nil))
            await submit("11111", model)
            // The new one is chosen anew.
            #expect(model.state == .choosing(nil))
        }
    }

    @Test("Left while a PIN is being set: what fails then is forgotten, and what succeeds is done")
    func leftWhileSaving() async {
        for fails in [true, false] {
            let script = Script()
            let model = PINPadModel(FakeKeeper(script: script))
            await model.load()
            await submit("83517", model)
            script.hold()
            if fails { script.next(.network("gone")) }
            model.type("83517")
            let setting = Task { await model.perform(.submit) }
            await script.reached(2)
            model.leave()
            #expect(model.state == .saving)
            script.letGo()
            await setting.value
            #expect(model.state == (fails ? .loading : .done))
            await model.perform(.retry)
            #expect(script.calls == ["status", "set"])
        }
    }

    @Test("Left while a PIN is being set and come back to: a failure is shown, and it is tried again")
    func backWhileSaving() async {
        let model = await loaded()
        await submit("83517", model)
        script.hold()
        script.next(.network("gone"))
        model.type("83517")
        let setting = Task { await model.perform(.submit) }
        await script.reached(2)
        model.leave()
        await model.load()
        script.letGo()
        await setting.value
        #expect(model.state == .unsaved(.network))
        await model.perform(.retry)
        #expect(model.state == .done && script.calls == ["status", "set", "set"])
    }

    @Test("Given up while the rules are fetched, it stays given up")
    func cancelledWhileLoading() async {
        script.hold()
        let model = PINPadModel(FakeKeeper(script: script))
        let load = Task { await model.load() }
        await script.reached(1)
        await model.load()
        await model.perform(.cancel)
        script.letGo()
        await load.value
        #expect(model.state == .cancelled && script.calls == ["status"])
    }
}
