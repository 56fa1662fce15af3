import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/decisions/0077-account-page.md.
@Suite("The account page says that a sign-in was reported, as long as only known browsers have the person asked")
struct AccountReportTests {
    @Test(
        "It is there from a device's report until unknown browsers ask again, for its owner alone",
        arguments: Engine.allCases)
    func shown(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let world = scene.world
        let session = try await scene.byMail()
        let newcomer = try await scene.shop.signedInByMail("newcomer", at: scene.shop.shop)
        let theirs = try #require(newcomer.finished.session).secret
        let asked = try await stranger(scene)
        #expect(try await scene.shop.isPut(asked))
        #expect(try await reports(scene, by: session).isEmpty, "nobody has answered")
        try await scene.shop.answer(asked) { _ in .reported }
        let at = world.time.now
        let found = try await reports(scene, by: session)
        let report = try #require(found.first)
        #expect(found.count == 1 && report.at == at && report.until == at.adding(.days(1)))
        #expect(report.client == scene.shop.shop.name && !report.isOfClientAlone)
        #expect(report.origin?.text == "192.0.2.1")
        let phone = try await scene.enrollment(scene.phone).device.name
        #expect(report.device == phone)
        #expect(try await reports(scene, by: theirs).isEmpty, "it is not theirs")
        // The session of before has ended by then.
        world.time.advance(Seconds.days(1) - 61)
        let last = try await scene.byMail()
        #expect(try await reports(scene, by: last).count == 1)
        #expect(try await !scene.shop.isAsked(in: try SignInScene.browser("stranger")))
        world.time.advance(seconds: 1)
        #expect(try await reports(scene, by: last).isEmpty)
        #expect(try await scene.shop.isAsked(in: try SignInScene.browser("another")))
    }

    @Test("A denial makes none, and neither does a report of what a client's server has asked")
    func others() async throws {
        let scene = try await AccountScene()
        let world = scene.world
        let session = try await scene.byMail()
        try await scene.shop.answer(try await stranger(scene)) { _ in .denied }
        // Longer than clients' questions pause after a denial.
        world.time.advance(seconds: 3600)
        try await world.makeType()
        let asked = try await world.ask(try world.request(for: scene.user), by: scene.shop.shop)
        guard case .decided = try await scene.shop.device.answer(asked, .reported) else {
            throw World.Broken("reported")
        }
        let account = try #require(try await scene.show(session))
        #expect(account.events.first?.event.kind == .challengeReported)
        #expect(account.reports.isEmpty)
    }

    @Test("At a third party it counts there alone, and both are there where both were reported")
    func thirdParty() async throws {
        let scene = try await AccountScene()
        try await scene.confirmPhone()
        _ = try await scene.shop.signedInByMail("customer-1", at: scene.third)
        let session = try await scene.byMail()
        let outcome = try await scene.shop.ask(
            try scene.shop.wanted("customer-1", at: scene.third), by: .device,
            in: try SignInScene.browser("stranger"))
        guard case .asked(let asked) = outcome else { throw World.Broken("\(outcome)") }
        #expect(try await scene.shop.isPut(asked))
        try await scene.shop.answer(asked) { _ in .reported }
        let alone = try await reports(scene, by: session)
        #expect(alone.compactMap(\.client) == [scene.third.name])
        #expect(alone.map(\.isOfClientAlone) == [true])
        scene.world.time.advance(seconds: 121)
        try await scene.shop.answer(try await stranger(scene)) { _ in .reported }
        let both = try await reports(scene, by: session)
        #expect(both.compactMap(\.client) == [scene.shop.shop.name, scene.third.name])
        #expect(both.map(\.isOfClientAlone) == [false, true])
    }

    @Test("Of several reports the first decides until when, and the notice names that one")
    func several() async throws {
        let scene = try await AccountScene()
        let session = try await scene.byTap()
        try await scene.shop.answer(try await stranger(scene)) { _ in .reported }
        let at = scene.world.time.now
        scene.world.time.advance(seconds: 121)
        // The person's own browser still has them asked.
        try await scene.shop.answer(try await scene.shop.asked()) { _ in .reported }
        let found = try await reports(scene, by: session)
        #expect(found.map(\.at) == [at] && found.map(\.until) == [at.adding(.days(1))])
    }

    @Test("The page is read in one transaction that writes nothing, with one statement more for what was reported")
    func cost() async throws {
        let (world, recorder) = try await World.recorded()
        let scene = try await AccountScene(in: world)
        let session = try await scene.byMail()
        func statements() async throws -> [String] {
            _ = recorder.takeTexts()
            _ = recorder.takeCost()
            _ = try #require(try await scene.show(session))
            let cost = recorder.takeCost()
            #expect(cost.reads == 1 && cost.writes == 0, "\(cost)")
            return recorder.takeTexts()
        }
        func count(_ texts: [String], _ table: String) -> Int { texts.count { $0.contains("FROM \(table) WHERE") } }
        let before = try await statements()
        #expect(count(before, "attempts") == 1 && count(before, "challenges") == 0)
        #expect(count(before, "token_families") == 1, "they are not read twice")
        try await scene.shop.answer(try await stranger(scene)) { _ in .reported }
        let after = try await statements()
        #expect(count(after, "attempts") == 1 && count(after, "challenges") == 1)
        #expect(after.count == before.count + 1, "\(after)")
    }

    /// A sign-in as the customer, in a browser that is not theirs.
    private func stranger(_ scene: AccountScene) async throws -> Authorization {
        try await scene.shop.asked(in: try SignInScene.browser("stranger"))
    }

    private func reports(_ scene: AccountScene, by session: Secret<String>) async throws -> [Account.Report] {
        let account = try #require(try await scene.show(session))
        return account.reports
    }
}
