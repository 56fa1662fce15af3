import CountersignCore
import CountersignStorage
import CountersignWire
import OpenPGP
import StorageTestSupport
import Testing

@Suite("Challenges come back as they were stored")
struct ChallengeRoundTripTests {
    /// A client, a user and two devices.
    private struct Scene {
        let world: World
        let client: Client
        let user: UserID
        let devices: [TestDevice]

        init(_ engine: Engine) async throws {
            world = try await World(engine)
            client = try await world.makeClient(waives: true).client
            user = try await world.makeUser(of: client)
            devices = [
                try await world.makeDevice(of: user, by: client), try await world.makeDevice(of: user, by: client),
            ]
        }

        func challenge(
            full: Bool, user: UserID? = nil, channel: Channel = .devices, state: ChallengeState = .pending
        ) throws -> Challenge {
            let now = world.time.now
            let message = try DisplayMessage("'\"$1;\n\n– é€\u{1F600}")
            let question = Question(
                challenge: world.newID(), nonce: try #require(Nonce(bytes: world.random.bytes(32))),
                issuer: world.ports.issuer, client: client.id, clientName: client.name, type: .confirm,
                context: full ? try DisplayLine("Firefox on Windows, 203.0.113.7") : nil, askedAt: now,
                details: full
                    ? [try Detail(label: "Payee", value: "= 'x' $2"), try Detail(label: "b", value: "=")] : [],
                signingData: full ? "\r\n\t \u{1}\u{202E}" : nil, message: message)
            return Challenge(
                question: question, user: channel == .devices ? self.user : user, channel: channel,
                alert: try DisplayMessage("!"),
                methods: [.confirm],
                numberHash: full ? KeyedHash(stored: Array(0...255)) : nil, expiresAt: now.adding(seconds: 100),
                callbackURI: full ? CallbackURI(stored: World.callback) : nil,
                callbackForm: full ? .oneWelcome : .native, clientState: full ? "{\"a\":\"\\u0000\"}" : nil,
                locale: full ? RequestedLanguage(stored: "de-CH") : nil, state: state)
        }
    }

    @Test("With every member and with none that may be missing", arguments: Engine.allCases, [true, false])
    func members(_ engine: Engine, _ full: Bool) async throws {
        let scene = try await Scene(engine)
        let challenge = try scene.challenge(full: full)
        let targets = scene.devices.map(\.enrollment)
        try await scene.world.store.commit { try $0.challenges.insert(challenge, targets: targets) }
        let kept = try #require(try await scene.world.store.read { try $0.challenges.find(challenge.id) })
        #expect(kept.question == challenge.question)
        #expect(kept.alert == challenge.alert)
        #expect(kept.methods == challenge.methods)
        #expect(kept.numberHash == challenge.numberHash)
        #expect(kept.expiresAt == challenge.expiresAt)
        #expect(kept.callbackURI == challenge.callbackURI && kept.callbackForm == challenge.callbackForm)
        #expect(kept.clientState == challenge.clientState)
        #expect(kept.locale == challenge.locale)
        #expect(kept.state == .pending)
        #expect(try await Set(scene.world.store.read { try $0.targets.all(of: challenge.id) }) == Set(targets))
        #expect(kept.user == scene.user)
        #expect(kept.channel == .devices && kept.purpose == .relyingParty)
        let unknown: ChallengeID = scene.world.newID()
        #expect(try await scene.world.store.read { try $0.challenges.find(unknown)?.id } == nil)
    }

    @Test("Asked of nobody yet, and of a user who has not claimed it", arguments: Engine.allCases, [true, false])
    func unclaimed(_ engine: Engine, _ isNamed: Bool) async throws {
        let scene = try await Scene(engine)
        let (world, user, device) = (scene.world, scene.user, scene.devices[0].enrollment)
        let challenge = try scene.challenge(
            full: true, user: isNamed ? user : nil, channel: .code(.awaited, returnURI: nil))
        try await world.store.commit { try $0.challenges.insert(challenge, targets: []) }
        let kept = try #require(try await world.store.read { try $0.challenges.find(challenge.id) })
        #expect(kept.user == (isNamed ? user : nil) && kept.channel == challenge.channel)
        let other = try await world.makeUser(of: scene.client)
        let now = world.time.now
        #expect(
            try await world.store.commit { try $0.challenges.claim(challenge.id, by: device, of: other, at: now) }
                == !isNamed)
        #expect(
            try await world.store.commit { try $0.challenges.claim(challenge.id, by: device, of: user, at: now) }
                == isNamed,
            "claimed once")
        let claimed = try #require(try await world.store.read { try $0.challenges.find(challenge.id) })
        #expect(claimed.user == (isNamed ? user : other) && claimed.channel == .code(.done(at: now), returnURI: nil))
        #expect(try await world.store.read { try $0.targets.all(of: challenge.id) } == [device])
        #expect(claimed.question == challenge.question)
    }

    @Test(
        "PostgreSQL §8.3: a text with U+0000, which no engine keeps whole, is refused and never cut",
        arguments: Engine.allCases)
    func zero(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let world = scene.world
        for text in ["\u{0}", "approve\u{0} and more"] {
            let pending = try scene.challenge(full: false)
            var question = pending.question
            question.signingData = text
            let challenge = Challenge(
                question: question, user: scene.user, alert: pending.alert, methods: [.confirm], numberHash: nil,
                expiresAt: pending.expiresAt, callbackURI: nil, clientState: nil, locale: nil, state: .pending)
            await #expect(throws: StoreError.engine("a text holds U+0000")) {
                try await world.store.commit { try $0.challenges.insert(challenge, targets: []) }
            }
        }
        #expect(try await world.count("challenges") == 0)
    }

    @Test(
        "Of the asks that limit the next one, those down to the last approval are read, newest first",
        arguments: Engine.allCases)
    func recentAsks(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let world = scene.world
        let device = scene.devices[0].enrollment
        var recent: [RecentAsk.Outcome] {
            get async throws {
                let now = world.time.now
                return try await world.store.read {
                    try $0.challenges.asks(
                        of: scene.user, by: scene.client.id, now: now, since: now.adding(-3600), limits: (10, 3))
                }.recent.map(\.outcome)
            }
        }
        func ask(_ outcome: ChallengeOutcome, after seconds: Int64 = 1) async throws {
            world.time.advance(seconds: seconds)
            let challenge = try scene.challenge(full: false)
            try await world.store.commit { try $0.challenges.insert(challenge, targets: []) }
            _ = try await world.store.commit { try $0.challenges.end(challenge.id, as: outcome, at: world.time.now) }
        }
        #expect(try await recent == [])
        try await ask(.denied(by: device))
        let denied = RecentAsk.Outcome.denied(at: world.time.now)
        #expect(try await recent == [denied])
        try await ask(.approved(.confirm, by: device))
        #expect(try await recent == [.approved])
        try await ask(.cancelled, after: 0)
        #expect(Set(try await recent) == [.approved, .other], "of the same second")
        try await ask(.approved(.confirm, by: device))
        try await ask(.cancelled)
        try await ask(.denied(by: device))
        #expect(try await recent == [.denied(at: world.time.now), .other, .approved])
        try await ask(.cancelled)
        #expect(try await recent.count == 3, "no more than the limit")
        world.time.advance(seconds: 3601)
        #expect(try await recent == [])
    }

    static let outcomes: [@Sendable (EnrollmentID) -> ChallengeOutcome] = [
        { .approved(.confirm, by: $0) }, { .denied(by: $0) }, { .reported(by: $0) }, { _ in .failed(.wrongNumber) },
        { _ in .failed(.deviceRemoved) }, { _ in .cancelled }, { _ in .expired }, { _ in .failed(.deviceSuspended) },
    ]

    @Test("Every outcome is kept with its time, and the number is not", arguments: Engine.allCases, 0..<8)
    func outcomes(_ engine: Engine, _ index: Int) async throws {
        let scene = try await Scene(engine)
        let world = scene.world
        let outcome = Self.outcomes[index](scene.devices[1].enrollment)
        let challenge = try scene.challenge(full: true)
        try await world.store.commit { try $0.challenges.insert(challenge, targets: []) }
        let at = outcome == .expired ? challenge.expiresAt : world.time.now
        #expect(try await world.store.commit { try $0.challenges.end(challenge.id, as: outcome, at: at) })
        let kept = try #require(try await world.store.read { try $0.challenges.find(challenge.id) })
        #expect(kept.state == .ended(outcome, at: at))
        #expect(kept.numberHash == nil)
        #expect(try await world.store.commit { try !$0.challenges.end(challenge.id, as: .cancelled, at: at) })
        #expect(try await world.store.read { try $0.challenges.find(challenge.id)?.state } == kept.state)
    }

    @Test("The update itself repeats the time, to the millisecond", arguments: Engine.allCases)
    func conditions(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let world = scene.world
        let challenge = try scene.challenge(full: false)
        let end = challenge.expiresAt
        let before = Timestamp(milliseconds: end.milliseconds - 1)
        try await world.store.commit { try $0.challenges.insert(challenge, targets: []) }
        let attempts: [(ChallengeOutcome, Timestamp)] = [
            (.cancelled, end), (.expired, before), (.failed(.wrongNumber), end),
        ]
        for (outcome, time) in attempts {
            #expect(try await world.store.commit { try !$0.challenges.end(challenge.id, as: outcome, at: time) })
        }
        let unknown: ChallengeID = world.newID()
        #expect(try await world.store.commit { try !$0.challenges.end(unknown, as: .cancelled, at: before) })
        #expect(try await world.store.read { try $0.challenges.find(challenge.id)?.state } == .pending)
        #expect(try await world.store.commit { try $0.challenges.end(challenge.id, as: .cancelled, at: before) })
    }

    @Test("A receipt and the answer it came by", arguments: Engine.allCases)
    func receipts(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let world = scene.world
        let device = scene.devices[0]
        let challenge = try scene.challenge(full: true)
        let receipt = Receipt(
            of: challenge.question, user: scene.user, device: device.certificate.fingerprint, decision: .denied,
            answeredAt: world.time.now)
        let message = try await CleartextMessage.sign(receipt.text, by: device.primary, at: world.time.now.unixSeconds)
        let stored = StoredReceipt(
            challenge: challenge.id, client: challenge.question.client, enrollment: device.enrollment,
            evidence: .receipt(message, certificate: device.certificate.encoded), acceptedAt: world.time.now)
        let digest = MessageDigest(stored: Array(0..<32))
        let answer = RecordedAnswer(
            challenge: challenge.id, status: ChallengeStatus(state: "denied", reason: "declined"))
        try await world.store.commit { writer in
            try writer.challenges.insert(challenge, targets: [device.enrollment])
            try writer.receipts.insert(stored)
            try writer.answers.insert(answer, by: device.enrollment, digest: digest, at: world.time.now)
        }
        let kept = try #require(try await world.store.read { try $0.receipts.find(of: challenge.id) })
        guard case .receipt(let keptMessage, let certificate) = kept.evidence else { return }
        #expect(keptMessage.encoded == message.encoded)
        #expect(certificate == device.certificate.encoded)
        #expect(kept.enrollment == device.enrollment)
        #expect(kept.client == challenge.question.client)
        #expect(kept.acceptedAt == world.time.now)
        let keptAnswer = try await world.store.read { try $0.answers.find(by: device.enrollment, digest: digest) }
        #expect(keptAnswer?.challenge == challenge.id)
        #expect(keptAnswer?.status == answer.status)
        let other = scene.devices[1].enrollment
        #expect(try await world.store.read { try $0.answers.find(by: other, digest: digest)?.challenge } == nil)
    }

    @Test(
        "A signed JWT or event, kept with the keys as they were; another kind is a corrupt row",
        arguments: Engine.allCases, [Evidence.jwt("a.b.c", keys: [1, 2, 3]), .event("{}", keys: [4])])
    func tokens(_ engine: Engine, _ evidence: Evidence) async throws {
        let scene = try await Scene(engine)
        let world = scene.world
        let challenge = try scene.challenge(full: false)
        let stored = StoredReceipt(
            challenge: challenge.id, client: challenge.question.client, enrollment: scene.devices[0].enrollment,
            evidence: evidence, acceptedAt: world.time.now)
        try await world.store.commit { writer in
            try writer.challenges.insert(challenge, targets: [stored.enrollment])
            try writer.receipts.insert(stored)
        }
        #expect(try await world.store.read { try $0.receipts.find(of: challenge.id) } == stored)
        let both = try await world.store.read { try $0.challenges.findWithReceipt(challenge.id) }
        #expect(both?.receipt == stored.evidence)
        try await world.sql("UPDATE receipts SET kind = 'other'")
        await #expect(throws: StoreError.corruptRow("receipt kind")) {
            try await world.store.read { try $0.receipts.find(of: challenge.id) }
        }
    }

    @Test("Pending challenges are those of the device, unexpired, newest first", arguments: Engine.allCases)
    func pending(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let world = scene.world
        let (mine, other) = (scene.devices[0].enrollment, scene.devices[1].enrollment)
        var ids: [ChallengeID] = []
        for targets in [[mine], [mine, other], [other], [mine]] {
            world.time.advance(seconds: 1)
            let challenge = try scene.challenge(full: false)
            ids.append(challenge.id)
            try await world.store.commit { try $0.challenges.insert(challenge, targets: targets) }
        }
        let user = scene.user
        func list(_ enrollment: EnrollmentID, at now: Timestamp, limit: Int = 10) async throws -> [ChallengeID] {
            try await world.store.read {
                try $0.targets.pending(of: enrollment, user: user, now: now, limit: limit)?.challenges.map(\.id) ?? []
            }
        }
        let now = world.time.now
        let newest = ids[3]
        #expect(try await list(mine, at: now) == [ids[3], ids[1], ids[0]])
        #expect(try await list(mine, at: now, limit: 1) == [ids[3]])
        #expect(try await list(other, at: now) == [ids[2], ids[1]])
        #expect(try await list(mine, at: now.adding(seconds: 97)) == [ids[3], ids[1]])
        #expect(
            try await world.store.read { try $0.challenges.overdue(now: now.adding(seconds: 98), limit: 9) }
                == Array(ids[0...1]))
        #expect(try await world.store.commit { try $0.challenges.end(newest, as: .cancelled, at: now) })
        #expect(try await list(mine, at: now) == [ids[1], ids[0]])
    }
}
