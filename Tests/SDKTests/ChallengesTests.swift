import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Challenges as they come")
struct ChallengesTests {
    @Test("Every challenge comes once, for all users of the device")
    func onceForAll() async throws {
        try await SDKScene.with { scene in
            let second = try await scene.shop.makeUser()
            let ticket = try await scene.shop.makeTicket(for: second)
            let other = try await scene.authenticator.enroll(with: .ticket(ticket))
            var challenges = scene.authenticator.challenges().makeAsyncIterator()
            for turn in 0..<4 {
                let asked = try await scene.ask(user: turn.isMultiple(of: 2) ? scene.user : second)
                let pending = try #require(await challenges.next())
                #expect(pending.id == asked.id)
                #expect(pending.enrollment == (turn.isMultiple(of: 2) ? scene.enrollment.id : other.id))
                #expect(pending.clientName == "ACME Shop")
                #expect(pending.message == "Pay EUR 1,250.00 to ACME GmbH?")
                #expect(pending.type == "payment")
                #expect(pending.expiresAt > pending.askedAt)
            }
        }
    }

    @Test("What was pending before comes too, oldest first; what has ended does not")
    func earlier() async throws {
        try await SDKScene.with { scene in
            let asked = [try await scene.ask(), try await scene.ask(), try await scene.ask(["expires_in": 20])]
            _ = try await scene.shop.call(.DELETE, asked[0].path).success()
            scene.server.clock.advance(seconds: 21)
            let last = try await scene.ask()
            var challenges = scene.authenticator.challenges().makeAsyncIterator()
            #expect(await challenges.next()?.id == asked[1].id)
            #expect(await challenges.next()?.id == last.id)
            #expect(try await scene.authenticator.pendingChallenges().map(\.id) == [last.id, asked[1].id])
        }
    }

    @Test("An enrollment that fails hides none of the others' questions; the first error is thrown where all fail")
    func oneFails() async throws {
        try await SDKScene.with { scene in
            let second = try await scene.shop.makeUser()
            let other = try await scene.authenticator.enroll(
                with: .ticket(try await scene.shop.makeTicket(for: second)))
            let asked = try await scene.ask(user: second)
            // The replies about the first one are damaged, by whomever.
            let first = "\(scene.enrollment.id)"
            scene.transport.happen { request, send in
                guard request.headers.contains(where: { $0.value.contains(first) }) else {
                    return try await send(request)
                }
                return TransportResponse(status: 500, headers: [:], body: [])
            }
            #expect(try await scene.authenticator.pendingChallenges().map(\.id) == [asked.id])
            #expect(await code { _ = try await scene.enrollment.pendingChallenges() } == "server_unreachable")
            #expect(try await other.pendingChallenges().map(\.id) == [asked.id])
            scene.transport.happen(nil)
            // One that the server has removed is forgotten on the way.
            try await scene.removeAtServer()
            #expect(try await scene.authenticator.pendingChallenges().map(\.id) == [asked.id])
            #expect(await scene.authenticator.enrollments.map(\.id) == [other.id])
            scene.transport.happen { _, _ in throw FaultyTransport.Lost() }
            #expect(await code { _ = try await scene.authenticator.pendingChallenges() } == "network")
        }
    }

    @Test("The sequence ends with its task")
    func cancellation() async throws {
        try await SDKScene.with { scene in
            let (seen, note) = AsyncStream.makeStream(of: ChallengeID.self)
            let task = Task {
                for await pending in scene.authenticator.challenges() { note.yield(pending.id) }
                return "ended"
            }
            let asked = try await scene.ask()
            var iterator = seen.makeAsyncIterator()
            #expect(await iterator.next() == asked.id)
            task.cancel()
            #expect(await task.value == "ended")
        }
    }

    @Test("The sequence ends with the last enrollment, removed here or at the server", arguments: [true, false])
    func lastEnrollment(_ isLocal: Bool) async throws {
        try await SDKScene.with { scene in
            var challenges = scene.authenticator.challenges().makeAsyncIterator()
            let asked = try await scene.ask()
            #expect(await challenges.next()?.id == asked.id)
            if isLocal { try await scene.enrollment.remove() } else { try await scene.removeAtServer() }
            #expect(await challenges.next() == nil)
            #expect(await scene.authenticator.enrollments.isEmpty)
            #expect(try await !scene.holdsKeys())
        }
    }

    @Test("Without an enrollment the sequence ends at once")
    func noEnrollment() async throws {
        try await SDKScene.with { scene in
            try await scene.enrollment.remove()
            var challenges = scene.authenticator.challenges().makeAsyncIterator()
            #expect(await challenges.next() == nil)
        }
    }

    @Test("The sequence outlives network failures, and the connection's state tells of them")
    func networkFailures() async throws {
        try await SDKScene.with { scene in
            scene.transport.loseRequests(2, to: "/self/challenges")
            var states = await scene.authenticator.connectionStates.makeAsyncIterator()
            #expect(await states.next() == .online)
            var challenges = scene.authenticator.challenges().makeAsyncIterator()
            let asked = try await scene.ask()
            #expect(await challenges.next()?.id == asked.id)
            var seen: [String] = []
            while let state = await states.next() {
                switch state {
                case .online: seen.append("online")
                case .retrying(_, let why): seen.append(why)
                case .clockSkew: seen.append("skew")
                }
                if state == .online { break }
            }
            #expect(seen == ["network", "online"])
            #expect(await scene.authenticator.connectionState == .online)
        }
    }

    @Test("A reply that refuses is a reply: the connection is online")
    func refusalIsOnline() async throws {
        try await SDKScene.with { scene in
            scene.transport.loseRequests(1, to: "/self")
            let lost = await code { try await scene.enrollment.refresh() }
            #expect(lost == "network")
            guard case .retrying(_, why: "network") = await scene.authenticator.connectionState else {
                Issue.record("not retrying")
                return
            }
            let unknown = try #require(ChallengeID("chl_00000000000000000000000000"))
            let told = await code { _ = try await scene.authenticator.open(unknown, for: scene.enrollment.id) }
            #expect(told == "challenge_not_found")
            #expect(await scene.authenticator.connectionState == .online)
        }
    }

    @Test("The list brings the newest three whole, which are opened without a fetch; the others are fetched")
    func listed() async throws {
        try await SDKScene.with { scene in
            var asked: [SDKScene.Asked] = []
            for number in 0..<5 {
                asked.insert(try await scene.ask(["message": .string("Question \(number)?")]), at: 0)
            }
            let pending = try await scene.authenticator.pendingChallenges()
            #expect(pending.map(\.id) == asked.map(\.id))
            #expect(pending.map(\.message) == (0..<5).reversed().map { "Question \($0)?" })
            #expect(
                scene.transport.requests(to: "/message").map(\.url.path) == asked[3...].map { "\($0.path)/message" })
            for (asked, pending) in zip(asked, pending) {
                try await pending.open().approve(with: .confirmation, number: asked.number)
            }
            #expect(scene.transport.requests(to: "/message").count == 2)
            // Nothing that ended meanwhile is approved, though it can be opened.
            let last = try await scene.ask()
            let held = try #require(try await scene.authenticator.pendingChallenges().first)
            _ = try await scene.shop.call(.DELETE, last.path).success()
            let opened = try await held.open()
            #expect(
                await code { try await opened.approve(with: .confirmation, number: last.number) } == "challenge_ended")
            try await scene.enrollment.remove()
            #expect(await code { _ = try await held.open() } == "not_enrolled")
        }
    }

    @Test("What the list does not bring and cannot be fetched now hides nothing of what it brought, and comes later")
    func unfetched() async throws {
        try await SDKScene.with { scene in
            var asked: [ChallengeID] = []
            for _ in 0..<4 { asked.insert(try await scene.ask().id, at: 0) }
            scene.transport.loseRequests(2, to: "/message")
            #expect(try await scene.authenticator.pendingChallenges().map(\.id) == Array(asked.prefix(3)))
            var challenges = scene.authenticator.challenges().makeAsyncIterator()
            var seen: Set<ChallengeID> = []
            while seen.count < 4, let next = await challenges.next() { #expect(seen.insert(next.id).inserted) }
            #expect(seen == Set(asked))
            // What was delivered is not fetched again with the next list.
            let last = try await scene.ask().id
            #expect(await challenges.next()?.id == last)
            #expect(scene.transport.requests(to: "\(asked[3])/message").count == 3)
            #expect(scene.transport.requests(to: "\(asked[2])/message").isEmpty)
        }
    }

    @Test("After a wrong PIN the list brings the challenge anew, with what is left, and its fetch is recorded")
    func wrongPIN() async throws {
        try await SDKScene.with { scene in
            try await scene.setPIN()
            let asked = try await scene.ask(["type": "typed"])
            func question() async throws -> OpenedChallenge {
                try await #require(try await scene.authenticator.pendingChallenges().first).open()
            }
            func fetched() async throws -> JSONValue? {
                try await scene.shop.call(.GET, asked.path).success()["deliveries"]?[0]?["fetched_at"]
            }
            let first = try await question()
            #expect(first.attemptsLeft == 5)
            #expect(try await fetched() == nil)
            let told = await code { try await first.approve(with: .pin(try PIN(SDKScene.wrongPIN))) }
            #expect(told == "pin_incorrect")
            let second = try await question()
            #expect(second.attemptsLeft == 4)
            #expect(try await fetched() != nil)
            #expect(await scene.approve(second) == "")
        }
    }

    @Test("Of a challenge with a message of its own to be signed, a list shows the short one")
    func shortMessage() async throws {
        try await SDKScene.with { scene in
            _ = try await scene.ask(["message": "Sign in?", "secure_message": "Sign in to the vault?"])
            let pending = try #require(try await scene.authenticator.pendingChallenges().first)
            #expect(pending.message == "Sign in?")
            #expect(try await pending.open().message == "Sign in to the vault?")
        }
    }

    @Test("A challenge in the list that was altered is dropped, and hides no other")
    func altered() async throws {
        try await SDKScene.with { scene in
            let asked = [try await scene.ask(["message": "First?"]), try await scene.ask(["message": "Second?"])]
            scene.transport.happen { request, send in
                var response = try await send(request)
                if request.url.path.hasSuffix("/self/challenges") {
                    let list = try JSONValue(parsing: response.body)["challenges"]?.array ?? []
                    var second = list.first?.object ?? [:]
                    let text = second["message"]?.string ?? ""
                    var message = Base64.decode(text) ?? []
                    if !message.isEmpty { message[message.count / 2] ^= 1 }
                    second["message"] = .string(Base64.encode(message))
                    response.body =
                        JSONValue.members(["challenges": .array([.object(second)] + list.dropFirst())]).encoded
                }
                return response
            }
            #expect(try await scene.authenticator.pendingChallenges().map(\.id) == [asked[0].id])
        }
    }

    @Test("A challenge for another device is dropped")
    func foreign() async throws {
        try await SDKScene.with { scene in
            let other = try await TestPhone.enrolled(for: scene.user, by: scene.shop, at: scene.server)
            _ = try await scene.ask(["enrollments": [.string("\(other.enrollment)")]])
            let reply = try await other.send(.GET, "/v1/enrollments/self/challenges")
            #expect(reply.json["challenges"]?.array?.count == 1)
            scene.transport.reply(
                TransportResponse(status: 200, headers: [:], body: reply.body), from: "/self/challenges")
            #expect(try await scene.authenticator.pendingChallenges().isEmpty)
        }
    }

    @Test("For a push by an unknown key the keys are fetched again, at most once a minute")
    func unknownPushKey() async throws {
        let stub = try await StubServer()
        let app = try await stub.enrolled()
        let type = try #require(TypeName("payment"))
        let envelope = PushEnvelope(
            issuer: stub.issuer, enrollment: stub.enrollment, challenge: stub.challenge, challengeType: type,
            issuedAt: StubServer.now, expiresAt: StubServer.now.adding(seconds: 120),
            alert: PushAlert(title: "ACME Shop", body: "Pay?"))
        let payload = try await envelope.signed(by: stub.push, keyID: "unknown", category: .review, badge: 1).payload
        let push = try #require(PushNotification(json: payload.encoded))
        for _ in 0..<2 { #expect(await code { _ = try await app.pendingChallenge(from: push) } == "push_refused") }
        #expect(stub.pushKeyFetches == 1)
    }
}
