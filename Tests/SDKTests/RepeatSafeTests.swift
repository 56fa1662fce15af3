import Countersign
import CountersignWire
import Crypto
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

/// Looks at an app's challenges, as an app does all the time.
private func watch(_ app: Authenticator) -> Task<Void, Never> {
    Task { for await _ in app.challenges() {} }
}

@Suite("An answer is sent again as the same bytes until there is a reply")
struct RepeatSafeTests {
    @Test("A reply that is lost is had by sending the same bytes again", arguments: [1, 2])
    func lostReply(_ count: Int) async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            scene.transport.loseReplies(count, from: "/answer")
            try await question.approve(with: .confirmation, number: asked.number)
            let bodies = scene.transport.bodies(to: "/answer")
            #expect(bodies.count == count + 1)
            #expect(Set(bodies).count == 1)
            #expect(try await scene.status(of: asked).state == "approved")
            #expect(try await scene.vault.records(of: scene.enrollment.id) == ["app", "enrollment"])
        }
    }

    @Test("A request that the system's HTTP sent twice by itself is signed anew", arguments: [1, 3])
    func sentTwice(_ count: Int) async throws {
        try await SDKScene.with { scene in
            scene.transport.sendTwice(count, to: "/challenges")
            let asked = try await scene.ask()
            #expect(try await scene.authenticator.pendingChallenges().map(\.id) == [asked.id])
            let question = try await scene.open(asked)
            scene.transport.sendTwice(count, to: "/answer")
            try await question.approve(with: .confirmation, number: asked.number)
            #expect(scene.transport.requests(to: "/answer").count == count + 1)
            #expect(Set(scene.transport.bodies(to: "/answer")).count == 1)
            #expect(try await scene.status(of: asked).state == "approved")
            scene.transport.sendTwice(count, to: "/self")
            try await scene.enrollment.remove()
            #expect(try await !scene.holdsKeys())
        }
    }

    @Test("A request that is sent twice each time is given up, and not sent for ever")
    func alwaysSentTwice() async throws {
        try await SDKScene.with { scene in
            scene.transport.sendTwice(.max, to: "/challenges")
            #expect(await code { _ = try await scene.authenticator.pendingChallenges() } == "nonce_replayed")
            #expect(scene.transport.requests(to: "/challenges").count == 4)
        }
    }

    @Test("A request that is lost is sent again as the same bytes")
    func lostRequest() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            scene.transport.loseRequests(2, to: "/answer")
            try await question.deny()
            #expect(Set(scene.transport.bodies(to: "/answer")).count == 1)
            #expect(try await scene.status(of: asked).state == "denied")
        }
    }

    @Test("A server that fails for a while is asked again", arguments: [500, 502, 503])
    func failingServer(_ status: Int) async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            let failure = TransportResponse(status: status, headers: [:], body: Array("<html>sorry</html>".utf8))
            scene.transport.happen { [transport = scene.transport] request, send in
                guard request.url.path.hasSuffix("/answer"), transport.requests(to: "/answer").count == 1 else {
                    return try await send(request)
                }
                return failure
            }
            try await question.approve(with: .confirmation, number: asked.number)
            #expect(Set(scene.transport.bodies(to: "/answer")).count == 1)
            #expect(try await scene.status(of: asked).state == "approved")
        }
    }

    @Test("A wrong number whose reply was lost is still told")
    func lostWrongNumber() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            scene.transport.loseReplies(1, from: "/answer")
            let told = await code { try await question.approve(with: .confirmation, number: asked.wrongNumber) }
            #expect(told == "number_incorrect")
        }
    }

    /// Ends the app while it sends an answer, and starts it again on the same folder.
    private static func endDuringAnswer(
        losing fault: @escaping @Sendable (FaultyTransport) -> Void,
        _ body: @escaping @Sendable (SDKScene, SDKScene.Asked, Authenticator) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let place = folder.url.appending(path: "vault")
        try await SDKScene.with(vault: try FileVault(at: place)) { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            fault(scene.transport)
            let task = Task { await code { try await question.approve(with: .confirmation, number: asked.number) } }
            while scene.transport.requests(to: "/answer").count < 2 { await Task.yield() }
            task.cancel()
            #expect(await task.value == "cancelled")
            scene.transport.happen(nil)
            try await body(scene, asked, try await scene.relaunched(vault: try FileVault(at: place)))
        }
        #expect(try folder.read("vault/wrapping.key").count == 32)
    }

    @Test("An answer lost with the app is sent by its next run, as the same bytes")
    func resumedRequest() async throws {
        try await Self.endDuringAnswer(losing: { $0.loseRequests(.max, to: "/answer") }) { scene, asked, app in
            let before = try await scene.status(of: asked)
            #expect(before.state == "pending")
            let watching = watch(app)
            #expect(try await scene.status(of: asked, waiting: 30).state == "approved")
            watching.cancel()
            await watching.value
            #expect(Set(scene.transport.bodies(to: "/answer")).count == 1)
        }
    }

    @Test("A reply lost with the app is had by its next run, and the record is forgotten")
    func resumedReply() async throws {
        try await Self.endDuringAnswer(losing: { $0.loseReplies(.max, from: "/answer") }) { scene, asked, app in
            #expect(try await scene.status(of: asked).state == "approved")
            let sent = scene.transport.bodies(to: "/answer").count
            var challenges = app.challenges().makeAsyncIterator()
            // The kept answer goes out before anything else is fetched.
            let next = try await scene.ask()
            #expect(await challenges.next()?.id == next.id)
            #expect(scene.transport.bodies(to: "/answer").count == sent + 1)
            #expect(Set(scene.transport.bodies(to: "/answer")).count == 1)
            #expect(try await scene.vault.records(of: scene.enrollment.id) == ["app", "enrollment"])
        }
    }

    @Test("The same decision made again by the next run is the same bytes, and gets the recorded reply")
    func sameDecisionAgain() async throws {
        try await Self.endDuringAnswer(losing: { $0.loseRequests(.max, to: "/answer") }) { scene, asked, app in
            let question = try await app.open(asked.id, for: scene.enrollment.id)
            try await question.approve(with: .confirmation, number: asked.number)
            #expect(Set(scene.transport.bodies(to: "/answer")).count == 1)
            #expect(try await scene.status(of: asked).state == "approved")
        }
    }

    @Test("Another decision replaces what was not delivered")
    func otherDecision() async throws {
        try await Self.endDuringAnswer(losing: { $0.loseRequests(.max, to: "/answer") }) { scene, asked, app in
            let question = try await app.open(asked.id, for: scene.enrollment.id)
            try await question.deny()
            #expect(Set(scene.transport.bodies(to: "/answer")).count == 2)
            #expect(try await scene.status(of: asked).state == "denied")
        }
    }

    @Test("What is kept of an answer does not tell the number, nor anything signed, to who reads the folder")
    func keptSealed() async throws {
        let folder = try TemporaryFolder()
        try await SDKScene.with(vault: try FileVault(at: folder.url)) { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            await scene.answerInVain { try await question.approve(with: .confirmation, number: asked.number) }
            let kept = try folder.read("\(scene.enrollment.id)/answer-\(asked.id)")
            let body = try #require(scene.transport.bodies(to: "/answer").first)
            for secret in [Array(asked.number.utf8), body, Array("decision".utf8)] {
                #expect(Data(kept).range(of: Data(secret)) == nil)
            }
        }
    }

    @Test("What is kept of an answer does not let the number be guessed without the vault's key")
    func keptKeyed() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            await scene.answerInVain { try await question.approve(with: .confirmation, number: asked.number) }
            let record = try #require(try await scene.vault.record("answer-\(asked.id)", of: scene.enrollment.id))
            let kept = try JSONValue(parsing: record)
            let told = try #require(kept["decision"]?.string.flatMap { Base64.decode($0) })
            #expect(told.count == 32 && kept["v"] == 2)
            // As it was made before: one of a million guesses found it.
            let guesses = [asked.number] + (0..<1000).map { String("00000\($0)".suffix(6)) }
            for number in guesses {
                let text = "\(asked.id) approved confirm \(number)"
                #expect(told != Array(SHA256.hash(data: Array(text.utf8))))
            }
        }
    }

    @Test(
        "Only the server's word on the answer drops it: strange replies leave it to be sent later",
        arguments: ["401", "403", "garbage"])
    func keptOnStrangeReplies(_ cause: String) async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            let problems = ["401": ProblemCode.unknownEnrollment, "403": .deviceDeregistered]
            if let problem = problems[cause].map({ ProblemDetails($0) }) {
                let body = problem.json(issuer: scene.server.issuer, requestID: "req_0").encoded
                scene.transport.reply(
                    TransportResponse(status: problem.status, headers: [:], body: body), from: "/answer")
            } else {
                scene.transport.reply(
                    TransportResponse(status: 418, headers: [:], body: Array("teapot".utf8)), from: "/answer")
            }
            let task = Task { await code { try await question.deny() } }
            if cause == "garbage" {
                while scene.transport.requests(to: "/answer").isEmpty { await Task.yield() }
                task.cancel()
            }
            let codes = ["401": "unknown_enrollment", "403": "device_deregistered", "garbage": "cancelled"]
            #expect(await task.value == codes[cause])
            #expect(try await scene.holdsKeys())
            scene.transport.happen(nil)
            try await expectDelivery(of: asked, in: scene)
        }
    }

    @Test("A clock that went wrong after an answer was signed leaves it to be sent later")
    func keptOnWrongClock() async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            await scene.denyInVain(question)
            scene.clock.set(aheadBy: 90_000)
            let wrong = try await scene.relaunched()
            let waiting = watch(wrong)
            for await state in await wrong.connectionStates where state == .clockSkew { break }
            waiting.cancel()
            await waiting.value
            scene.clock.set(aheadBy: 0)
            try await expectDelivery(of: asked, in: scene)
        }
    }

    @Test("A clock that is set between reading and answering does not spoil the answer", arguments: [3600, -3600])
    func clockSetWhileReading(_ seconds: Int64) async throws {
        try await SDKScene.with { scene in
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            scene.clock.set(aheadBy: seconds)
            try await question.approve(with: .confirmation, number: asked.number)
            #expect(try await scene.status(of: asked, waiting: 5).state == "approved")
        }
    }

    /// The app, started anew, delivers the denial.
    private func expectDelivery(of asked: SDKScene.Asked, in scene: SDKScene) async throws {
        let watching = watch(try await scene.relaunched())
        #expect(try await scene.status(of: asked, waiting: 30).state == "denied")
        watching.cancel()
        await watching.value
    }
}
