import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

// Spec: docs/protocol/jwk-devices.md, *What such a device may answer*.
@Suite("Whoever asks, whatever kind of device answers", .timeLimit(.minutes(15)))
struct EveryDoorTests {
    /// One question, and what becomes of it.
    private struct Round: Sendable {
        enum Course: Sendable {
            case answered([DeviceAnswer], atOnce: Bool)
            case withdrawn
            case expired
        }

        let door: AskingDoor
        let course: Course

        init(_ door: AskingDoor, _ course: Course) {
            (self.door, self.course) = (door, course)
        }

        /// Draws a round.
        init(using generator: inout SeededGenerator) {
            door = AskingDoor.allCases.randomElement(using: &generator) ?? .native
            let chance = Int.random(in: 0..<100, using: &generator)
            // Old apps take nothing back.
            if chance < 10, door != .cotter {
                course = .withdrawn
            } else if chance < 20 {
                course = .expired
            } else {
                let count = Int.random(in: 1...2, using: &generator)
                let answers = (0..<count).compactMap { _ in DeviceAnswer.all.randomElement(using: &generator) }
                course = .answered(answers, atOnce: count > 1 && generator.happens(percent: 60))
            }
        }

        /// How it can end.
        var ends: [QuestionEnd] {
            switch course {
            case .withdrawn: [.cancelled]
            case .expired: [.expired]
            case .answered(let answers, let atOnce):
                (atOnce ? answers : Array(answers.prefix(1))).map { $0.isApproved ? .approved : .denied }
            }
        }
    }

    /// When an answer came.
    private enum Moment {
        /// As the first.
        case first
        /// Together with another one.
        case race
        /// After the end.
        case late
    }

    /// What a device may be told of an answer.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - hasDecided: whether the same answer has decided, now or before.
    ///   - wasSent: whether the same answer came before.
    ///   - moment: when it came.
    ///   - door: by which the question was asked.
    ///   - end: how the question has ended.
    private static func expected(
        of answer: DeviceAnswer, hasDecided: Bool, wasSent: Bool, _ moment: Moment, askedBy door: AskingDoor,
        _ end: QuestionEnd
    ) -> Set<ToldDevice> {
        switch answer.kind {
        case .openPGP: return [hasDecided ? .decided : .tooLate]
        case .okta: return [hasDecided ? .decided : wasSent ? .spent : .tooLate]
        case .cotter:
            let event = ToldDevice.event(isApproved: end == .approved)
            // A server may have forgotten it.
            if door == .cotter { return end == .expired ? [.eventOver, .notSigned] : [event] }
            // What other calls have asked is no event any more when it is over.
            switch moment {
            case .first: return [event]
            case .race: return [event, .notSigned]
            case .late: return [.notSigned]
            }
        }
    }

    /// The kinds of the audit's events that say how a question has ended.
    private static let ends: Set<String> = [
        "challenge.approved", "challenge.denied", "challenge.reported", "challenge.failed", "challenge.cancelled",
        "challenge.expired",
    ]

    @Test("Asked by any door, answered by any device: it ends once, and everybody sees the same")
    func endsOnce() async throws {
        var generator = SeededGenerator.announced(by: "EveryDoorTests.endsOnce")
        let seed = generator.seed
        let drawn = (0..<40).map { _ in Round(using: &generator) }
        // A call too many of the last round would come before this one's.
        let last = Round(.native, .answered([DeviceAnswer(kind: .openPGP, isApproved: false)], atOnce: false))
        try await CallbackReceiver.with { receiver in
            try await EveryDoorScene.with(toldAt: receiver.url) { scene in
                var calls = receiver.calls.makeAsyncIterator()
                var ended: [(challenge: String, end: QuestionEnd, comment: Comment)] = []
                for (number, round) in (drawn + [last]).enumerated() {
                    let comment: Comment = "COUNTERSIGN_SEED=\(seed), round \(number): \(round)"
                    let question = try await scene.ask(by: round.door)
                    let end = try await Self.play(round, question, in: scene, comment)
                    if let expected = scene.expectedCall(question, ended: end) {
                        let call = try #require(await calls.next(), comment)
                        let told = try EveryDoorScene.told(call.body)
                        #expect(told == expected, comment)
                    }
                    ended.append((question.challenge, end, comment))
                    // A name may have devices asked about three sign-ins an hour.
                    scene.server.clock.advance(seconds: 1300)
                }
                let events = try await scene.pages.scene.administrator.auditEvents()
                for (challenge, end, comment) in ended {
                    let kinds = events.filter { $0["challenge"] == .string(challenge) }
                        .compactMap { $0["kind"]?.string }.filter { Self.ends.contains($0) }
                    #expect(kinds == ["challenge.\(end.rawValue)"], comment)
                }
            }
        }
    }

    /// Plays a round, and returns how it has ended, which the door and all devices agree on.
    private static func play(
        _ round: Round, _ question: PutQuestion, in scene: EveryDoorScene, _ comment: Comment
    ) async throws -> QuestionEnd {
        let prepared = try await scene.prepare(question, comment)
        var sent: [SentAnswer] = []
        var isRace = false
        switch round.course {
        case .answered(let answers, let atOnce):
            isRace = atOnce
            sent = try await scene.send(answers, of: prepared, atOnce: atOnce)
        case .withdrawn:
            let reply = try await scene.withdraw(question)
            #expect(reply.status == 200, comment)
        case .expired: scene.server.clock.advance(seconds: 121)
        }
        let seen = try await scene.seen(question)
        let found = round.ends.first { $0.word(at: question.door) == seen }
        let end = try #require(found, "\(seen), \(comment)")
        let decided = sent.filter { $0.told == .decided }.map { $0.answer }
        // An event shows how it stands, and not by whom.
        let byEvent = DeviceAnswer(kind: .cotter, isApproved: end == .approved)
        let decisive: DeviceAnswer? = isRace ? decided.first ?? byEvent : sent.first?.answer
        if let decisive {
            let isSent = sent.contains { $0.answer == decisive }
            #expect(isSent && decisive.isApproved == (end == .approved), "\(decisive), \(comment)")
        }
        for (number, one) in sent.enumerated() {
            let moment: Moment = isRace ? .race : number == 0 ? .first : .late
            let may = expected(
                of: one.answer, hasDecided: one.answer == decisive, wasSent: false, moment, askedBy: question.door,
                end)
            #expect(may.contains(one.told), "\(one.answer): \(one.told), \(comment)")
        }
        // Each device answers once more, or for the first time.
        for answer in DeviceAnswer.all {
            let wasSent = sent.contains { $0.answer == answer }
            let told = try await prepared.send(answer)
            let may = expected(
                of: answer, hasDecided: answer == decisive, wasSent: wasSent, .late, askedBy: question.door, end)
            #expect(may.contains(told), "late \(answer): \(told), \(comment)")
        }
        let questions = try await scene.pendingQuestions()
        let jwts = try await scene.pendingJWTs()
        let event = try await scene.pendingEvent()
        #expect(questions.isEmpty && jwts.isEmpty && event == .null, comment)
        if question.door == .native {
            let state = try await scene.pages.scene.state(of: question.challenge)
            #expect(state == end.rawValue, comment)
        }
        return end
    }

    // The type says that the weakest answer is enough, and the number still needs OpenPGP's.
    @Test("Asked by a page or a device that shows a number, only OpenPGP's answer counts", arguments: [true, false])
    func numbers(_ isPage: Bool) async throws {
        try await EveryDoorScene.with(toldAt: OneWelcomeScene.callback) { scene in
            let (pages, okta) = (scene.pages, scene.okta)
            let type = try await pages.scene.administrator.call(
                .PUT, "/v1/admin/types/confirm", ["assurance": "event"])
            _ = try type.success()
            let page: (path: String, page: Page)? = if isPage { try await pages.numberPage("anna") } else { nil }
            let fields = [("login_hint", EveryDoorScene.address), ("scope", "openid")]
            let path = "/oauth2/device_authorization"
            let begun: Reply? =
                if isPage { nil } else { try await pages.token(fields, basic: pages.credential, at: path) }
            let shown = page?.page.number ?? begun?.json["number"]?.string
            let number = try #require(shown)
            let challenge = try await pages.pending()
            let question = try await scene.phone.open(challenge).question
            #expect("\(question.type)" == "confirm")
            // Neither is asked.
            let jwts = try await scene.pendingJWTs()
            let event = try await scene.pendingEvent()
            #expect(jwts.isEmpty && event == .null)
            // Even with all that only the phone can know, a signed JWT is none.
            let claims: JSONValue = [
                "iss": .string("\(scene.server.issuer)"), "transactionId": .string(challenge),
                "nonce": .string("\(question.nonce)"), "methodEnrollmentId": .string(okta.id),
            ]
            let made = "x.\(Base64URL.encode(claims.encoded)).x"
            for consent in ["APPROVED_CONSENT_PROMPT", "DENIED_CONSENT_PROMPT"] {
                let answer = try await okta.answer(to: made, consent)
                let reply = try await okta.post(answer, to: "\(OktaScene.path)/challenge/\(challenge)/verify")
                expectCode(reply, 400, "E0000001")
            }
            // The event that it would be has no number.
            let forged: JSONValue = [
                "ID": 4711, "event": "CONFIRM", "timestamp": .string("\(question.askedAt.seconds)"),
            ]
            for isApproved in [true, false] {
                let answer = try await scene.events.answer(forged, isApproved, user: scene.user)
                let reply = try await scene.call(.POST, "/event/respond/4711", answer)
                expectMessage(reply, 400, EveryDoorScene.notSigned)
            }
            let open = try await scene.pendingQuestions()
            #expect(open == [challenge])
            let approved = try await pages.scene.approve((challenge, number))
            #expect(approved.status == 200, "\(approved)")
            if let page {
                let done = try await pages.browser.get("\(page.path)/done")
                #expect(done.result["code"] != nil, "\(done.reply)")
            }
            if let begun {
                let tokens = try await pages.pollAsDevice(begun, basic: pages.credential)
                #expect(tokens.status == 200, "\(tokens)")
            }
            let events = try await pages.scene.administrator.auditEvents()
            let kinds = events.filter { $0["challenge"] == .string(challenge) }.compactMap { $0["kind"]?.string }
            #expect(kinds.filter { Self.ends.contains($0) } == ["challenge.approved"])
        }
    }
}
