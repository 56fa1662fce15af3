import Countersign
import CountersignWire
import Foundation
import Testing

@testable import CountersignPrompts

@Suite("Scanning codes and opening links", .timeLimit(.minutes(15)))
@MainActor
struct ScannerTests {
    let script = Script()

    private func scanner() -> ScannerModel { ScannerModel(FakeReader(script: script)) }

    @Test("A code is claimed once, however often the camera reads it, and its question then asks who scanned it")
    func claimed() async throws {
        let model = scanner()
        #expect(model.state == .scanning)
        script.hold()
        let first = Task { await model.scanned("code 1") }
        await script.reached(1)
        await model.scanned("code 1")
        await model.scanned("code 2")
        #expect(model.state == .claiming)
        script.letGo()
        await first.value
        #expect(model.state == .claimed && script.calls == ["code 1"])
        let prompt = ApprovePromptModel(opened: try #require(model.claimed), biometricPrompt: "Pay")
        #expect(prompt.state == .checkingOrigin)
        await model.scanned("code 1")
        await model.perform(.cancel)
        #expect(model.state == .claimed)
    }

    @Test("A ticket is handed to the app")
    func ticket() async {
        let model = scanner()
        await model.scanned("ticket 1")
        #expect(model.state == .ticket && model.ticket == "ticket 1" && script.calls.isEmpty)
    }

    @Test("A link is claimed")
    func link() async throws {
        let model = scanner()
        await model.opened(URL(filePath: "/l"))
        #expect(model.state == .claimed && script.calls == ["link"] && model.claimed?.question.origin == .link)
    }

    @Test("A refused code is not taken again, and another one is")
    func refused() async {
        let model = scanner()
        await model.scanned("https://elsewhere.example")
        #expect(model.state == .refused(.unknown) && script.calls.isEmpty)
        script.next(.codeRefused(.expired))
        await model.scanned("code 1")
        #expect(model.state == .refused(.expired))
        await model.scanned("code 1")
        #expect(script.calls == ["code 1"])
        await model.perform(.retry)
        #expect(model.state == .scanning)
        await model.scanned("code 1")
        #expect(model.state == .claimed)
    }

    @Test("Why a code is not taken")
    func refusals() async {
        let refusals: [(CountersignError, ScannerModel.State)] = [
            (.codeRefused(.malformed), .refused(.unknown)), (.codeRefused(.invalid), .refused(.invalid)),
            (.codeRefused(.alreadyClaimed), .refused(.taken)), (.userNotLinked, .refused(.notLinked)),
            (.enrollmentNotConfirmed, .refused(.notLinked)), (.methodMissing([.pin]), .refused(.methodMissing)),
            (.challengeExpired, .refused(.over)), (.challengeEnded(state: "cancelled", reason: nil), .refused(.over)),
            (.alreadyAnswered, .refused(.over)), (.challengeNotFound, .refused(.over)),
            (.serverChanged, .refused(.unverified)),
            (.notHandleable(reason: "x"), .refused(.unverified)), (.network("gone"), .unreachable(.network)),
            (.enrollmentSuspended, .failed(.suspended)),
        ]
        for (error, state) in refusals {
            let model = scanner()
            script.next(error)
            await model.scanned("code 1")
            #expect(model.state == state)
        }
    }

    @Test("What the network kept away is fetched again")
    func retry() async {
        let model = scanner()
        script.next(.network("gone"))
        await model.scanned("code 1")
        await model.perform(.retry)
        #expect(model.state == .claimed && script.calls == ["code 1", "code 1"])
    }

    @Test("Without a camera, and while a refusal is shown, a link can still be opened")
    func linkInstead() async {
        let link = URL(filePath: "/l")
        let unseeing = scanner()
        unseeing.refuseCamera()
        #expect(unseeing.state == .noCamera)
        await unseeing.opened(link)
        #expect(unseeing.state == .claimed && unseeing.claimed?.question.origin == .link)
        #expect(script.calls == ["link"])
        let refusing = scanner()
        await refusing.scanned("https://elsewhere.example")
        #expect(refusing.state == .refused(.unknown))
        await refusing.opened(link)
        #expect(refusing.state == .claimed && refusing.claimed?.question.origin == .link)
        #expect(script.calls == ["link", "link"])
    }

    @Test("Without a camera no code is taken until it is tried again, and given up it takes nothing")
    func noCamera() async {
        let model = scanner()
        model.refuseCamera()
        #expect(model.state == .noCamera)
        let acts = model.screen(PromptTexts(.english)).buttons.map(\.act)
        #expect(acts == [.openSettings, .retry, .cancel])
        await model.perform(.openSettings)
        #expect(model.state == .noCamera)
        await model.scanned("code 1")
        #expect(script.calls.isEmpty)
        await model.perform(.retry)
        #expect(model.state == .scanning)
        await model.perform(.cancel)
        await model.scanned("code 1")
        await model.opened(URL(filePath: "/l"))
        #expect(model.state == .cancelled && script.calls.isEmpty)
    }

    @Test("Given up while it is claimed, the challenge is not shown")
    func cancelled() async {
        let model = scanner()
        script.hold()
        let first = Task { await model.scanned("code 1") }
        await script.reached(1)
        await model.perform(.cancel)
        script.letGo()
        await first.value
        #expect(model.state == .cancelled && model.claimed == nil)
    }
}

@Suite("Showing codes", .timeLimit(.minutes(15)))
@MainActor
struct CodeDisplayTests {
    let script = Script()
    let clock = HandClock()

    @Test("A code renews itself, so often and no more, until a person asks for another")
    func renewed() async {
        let model = CodeDisplayModel(FakeCodes(script: script), renewals: 2, clock: clock)
        let run = Task { await model.run() }
        while model.state != .expired { await Task.yield() }
        #expect(script.calls.count == 3 && model.timeLeft == nil)
        #expect(model.screen(PromptTexts(.english)).buttons.map(\.act) == [.renew, .cancel])
        await model.perform(.renew)
        model.takeScan()
        #expect(model.state == .scanned)
        model.cancel()
        #expect(model.state == .scanned)
        await run.value
    }

    @Test("It says how long the code is good, and shows the code that is good now")
    func shown() async {
        let model = CodeDisplayModel(FakeCodes(script: script), clock: PausingClock())
        let run = Task { await model.run() }
        while model.state == .loading { await Task.yield() }
        #expect(model.state == .showing(ShownCode(text: "code 1", timeLeft: .seconds(60))))
        let screen = model.screen(PromptTexts(.english))
        #expect(screen.scannable == "code 1" && screen.timeLeft?.contains("1:00") == true)
        run.cancel()
        await run.value
    }

    @Test("What cannot be made is made again, and given up it makes none")
    func failures() async {
        let model = CodeDisplayModel(FakeCodes(script: script), clock: PausingClock())
        script.next(.network("gone"))
        let run = Task { await model.run() }
        while model.state == .loading { await Task.yield() }
        #expect(model.state == .unreachable(.network))
        await model.perform(.retry)
        #expect(model.state == .showing(ShownCode(text: "code 2", timeLeft: .seconds(60))))
        await model.perform(.cancel)
        #expect(model.state == .cancelled)
        await model.perform(.renew)
        #expect(model.state == .cancelled && script.calls.count == 2)
        run.cancel()
        await run.value
    }
}
