import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import RelyingPartyAPI
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A relying party with a page that shows codes, and two users with a device each.
struct ClaimScene: Sendable {
    /// Where a device returns to that has opened a link.
    static let returnURI = "https://shop.example.com/back?lang=de"

    let world: World
    let shop: Client
    let user: UserID
    let device: TestDevice
    let other: TestDevice

    init(_ engine: Engine = .sqlite, in given: World? = nil, methods: [AnswerMethod] = [.confirm]) async throws {
        world = if let given { given } else { try await World(engine) }
        try await world.makeType("scan", numberEntry: false, methods: methods, channel: .code)
        shop = try await world.makeClient(waives: true, returns: [Self.returnURI]).client
        user = try await world.makeUser(of: shop)
        device = try await world.makeDevice(of: user, by: shop)
        other = try await world.makeDevice(of: try await world.makeUser(of: shop), by: shop)
    }

    /// Asks whoever scans the code, or a user who does.
    func ask(_ user: UserID? = nil) async throws -> AskedChallenge {
        try await world.ask(try world.request(for: user, type: "scan"), by: shop)
    }

    /// The code as the page shows it now.
    func code(of asked: AskedChallenge) async throws -> ChallengeCode {
        guard
            case .code(let shown) = try await ShowCode.code(of: asked.challenge.id, to: shop.caller, ports: world.ports)
        else { throw World.Broken("code") }
        return shown.code
    }

    /// What comes of presenting a code.
    func claim(_ code: ChallengeCode, by device: TestDevice) async throws -> String {
        try await ClaimChallenge.claim(code, by: try await device.call(), ports: world.ports).summary
    }

    /// What comes of asking for a code.
    func shown(_ id: ChallengeID, to client: Client? = nil) async throws -> String {
        switch try await ShowCode.code(of: id, to: (client ?? shop).caller, ports: world.ports) {
        case .code(let shown): "until \(shown.expiresAt.seconds - world.time.now.seconds)"
        case .alreadyClaimed: "already claimed"
        case .alreadyEnded(let status): "already ended \(status.state)"
        case .noCode: "no code"
        case .notFound: "not found"
        }
    }

    func challenge(_ asked: AskedChallenge) async throws -> Challenge {
        let kept = try await world.store.read { try $0.challenges.find(asked.challenge.id) }
        return try #require(kept)
    }
}

@Suite("A challenge is put to the first device that presents its code")
struct ClaimTests {
    @Test("Claimed, opened, signed: the receipt names the user who scanned, and the audit tells how it came")
    func whole() async throws {
        let scene = try await ClaimScene()
        let asked = try await scene.ask()
        #expect(asked.enrollments.isEmpty && asked.number == nil)
        #expect(try await scene.challenge(asked).user == nil)
        #expect(try await scene.claim(try #require(asked.code).code, by: scene.device) == "claimed")
        let claimed = try await scene.challenge(asked)
        #expect(claimed.user == scene.user && claimed.channel == .code(.done(at: scene.world.time.now), returnURI: nil))
        try await scene.device.open(asked.challenge.id)
        let receipt = try await scene.device.receipt(of: claimed, .approved(.confirm, number: nil))
        #expect(try await scene.device.answer(asked.challenge.id, with: receipt).summary == "decided approved -")
        let text = try #require(try await scene.world.store.read { try $0.receipts.find(of: asked.challenge.id) })
        guard case .receipt(let message, _) = text.evidence else { return }
        #expect(message.text.contains("\nuser: \(scene.user)\n"))
        let told = try await scene.world.audit().filter { $0.challenge == asked.challenge.id }
        #expect(
            told.map(\.kind) == [.challengeAsked, .challengeClaimed, .challengeFetched, .challengeApproved])
        #expect(told.map(\.user) == [nil, scene.user, scene.user, scene.user])
    }

    @Test("The first device has it: the same one may present the code again, and every other is told that it is late")
    func first() async throws {
        let scene = try await ClaimScene()
        let asked = try await scene.ask()
        let code = try await scene.code(of: asked)
        #expect(try await scene.claim(code, by: scene.device) == "claimed")
        let another = try await scene.world.makeDevice(of: scene.user, by: scene.shop)
        for device in [scene.other, another] {
            #expect(try await scene.claim(code, by: device) == "already claimed")
            #expect(try await scene.claim(try #require(asked.code).code, by: device) == "already claimed")
            let opened = try await OpenChallenge.open(
                asked.challenge.id, for: try await device.call(), ports: scene.world.ports)
            guard case .notFound = opened else {
                Issue.record("another device opened it")
                continue
            }
        }
        scene.world.time.advance(seconds: 61)
        #expect(try await scene.claim(code, by: scene.device) == "claimed", "its reply may have been lost")
        #expect(try await scene.challenge(asked).channel.claimedAt == scene.world.time.now.adding(seconds: -61))
    }

    @Test("Promise 4: a code works for a minute, a new one for another, and none beyond the end")
    func times() async throws {
        let scene = try await ClaimScene()
        let asked = try await scene.ask()
        let first = try await scene.code(of: asked)
        #expect(try await scene.shown(asked.challenge.id) == "until 60")
        scene.world.time.advance(seconds: 60)
        let second = try await scene.code(of: asked)
        #expect(!first.otp.isSame(as: second.otp))
        #expect(try await scene.claim(first, by: scene.device) == "code expired")
        #expect(try await scene.challenge(asked).channel == .code(.awaited, returnURI: nil))
        scene.world.time.advance(seconds: 40)
        #expect(try await scene.shown(asked.challenge.id) == "until 20", "120 s is all there is")
        scene.world.time.advance(seconds: 20)
        #expect(try await scene.shown(asked.challenge.id) == "already ended expired")
        #expect(try await scene.claim(second, by: scene.device) == "already ended expired -")
        // Of a clock that is ahead, on another node.
        let next = try await scene.ask()
        let ahead = scene.world.ports.hasher.otp(
            of: next.challenge.id, as: .picture, at: scene.world.time.now.adding(ReplayGuard.tolerance))
        let beyond = scene.world.ports.hasher.otp(
            of: next.challenge.id, as: .picture, at: scene.world.time.now.adding(ReplayGuard.tolerance + 1))
        #expect(
            try await scene.claim(
                ChallengeCode(challenge: next.challenge.id, otp: beyond, form: .picture), by: scene.device)
                == "code expired")
        #expect(
            try await scene.claim(
                ChallengeCode(challenge: next.challenge.id, otp: ahead, form: .picture), by: scene.device)
                == "claimed")
    }

    @Test("What is no code of this challenge is one thing for all causes, and ten a minute are looked at")
    func invalid() async throws {
        let scene = try await ClaimScene()
        let (asked, another) = (try await scene.ask(), try await scene.ask())
        try await scene.world.makeType()
        let pushed = try await scene.world.ask(try scene.world.request(for: scene.user), by: scene.shop)
        let code = try await scene.code(of: asked)
        let named = try await scene.ask(scene.user)
        let bare = String(code.otp.reveal().dropFirst(3))
        let altered = try #require(Base64URL.decode(bare)).enumerated().map { $0 == 7 ? $1 ^ 1 : $1 }
        let otps: [(ChallengeID, Secret<String>)] = [
            (asked.challenge.id, try await scene.code(of: another).otp),
            (asked.challenge.id, Secret("qr." + Base64URL.encode(altered))),
            (asked.challenge.id, Secret(String(code.otp.reveal().dropLast(4)))),
            (asked.challenge.id, Secret("qr.=\u{0}")),
            (asked.challenge.id, Secret(bare)), (asked.challenge.id, Secret("link.\(bare)")),
            // What the server would make of a challenge that has no code, and of one that is not there.
            (
                pushed.challenge.id,
                scene.world.ports.hasher.otp(of: pushed.challenge.id, as: .picture, at: scene.world.time.now)
            ),
            (scene.world.newID(), code.otp),
            (named.challenge.id, try await scene.code(of: named).otp),
        ]
        for (id, otp) in otps {
            #expect(
                try await scene.claim(ChallengeCode(challenge: id, otp: otp, form: .picture), by: scene.other)
                    == "code invalid")
        }
        #expect(
            try await scene.claim(
                ChallengeCode(challenge: asked.challenge.id, otp: Secret("x"), form: .picture), by: scene.other)
                == "code invalid", "the tenth")
        for _ in 1...2 {
            #expect(
                try await scene.claim(
                    ChallengeCode(challenge: asked.challenge.id, otp: Secret("x"), form: .picture), by: scene.other)
                    == "rate limited 60")
        }
        #expect(try await scene.claim(code, by: scene.other) == "claimed", "a right one is no guess")
        #expect(try await scene.claim(try await scene.code(of: named), by: scene.device) == "claimed")
        #expect(try await scene.challenge(pushed).user == scene.user)
    }

    @Test("A device that cannot answer, or whose user the client does not know, leaves the code to others")
    func unable() async throws {
        let scene = try await ClaimScene(methods: [.pin])
        let asked = try await scene.ask()
        let code = try await scene.code(of: asked)
        #expect(try await scene.claim(code, by: scene.device) == "method missing pin")
        let elsewhere = try await scene.world.makeClient("Elsewhere", waives: true).client
        let stranger = try await scene.world.makeDevice(
            of: try await scene.world.makeUser(of: elsewhere), by: elsewhere)
        _ = try await stranger.setPIN()
        #expect(try await scene.claim(code, by: stranger) == "user not linked")
        #expect(try await scene.challenge(asked).channel == .code(.awaited, returnURI: nil))
        let pin = try await scene.device.setPIN()
        #expect(try await scene.claim(code, by: scene.device) == "claimed")
        try await scene.device.open(asked.challenge.id)
        let approval = try await scene.device.approval(of: asked, by: pin)
        #expect(try await scene.device.answer(asked.challenge.id, with: approval).summary == "decided approved -")
        // NIST SP 800-63B-4 §3.2.13: an AAL2 type takes no key in software, however it is asked.
        let strong = try ChallengeType(
            ["methods": ["pin"], "qr": true, "aal2": true, "expires_in": 60], name: try #require(TypeName("scan")))
        try await SetType.set(strong, by: scene.shop.actor, ports: scene.world.ports)
        let labelled = try await scene.ask()
        #expect(try await scene.claim(try await scene.code(of: labelled), by: scene.device) == "method missing pin")
    }

    @Test("Who shows a code sees its own: claimed, ended, without one, another client's")
    func showing() async throws {
        let scene = try await ClaimScene()
        try await scene.world.makeType()
        let elsewhere = try await scene.world.makeClient("Elsewhere").client
        let asked = try await scene.ask()
        let pushed = try await scene.world.ask(try scene.world.request(for: scene.user), by: scene.shop)
        #expect(try await scene.shown(asked.challenge.id, to: elsewhere) == "not found")
        #expect(try await scene.shown(scene.world.newID()) == "not found")
        #expect(try await scene.shown(pushed.challenge.id) == "no code")
        _ = try await scene.claim(try await scene.code(of: asked), by: scene.device)
        #expect(try await scene.shown(asked.challenge.id) == "already claimed")
        _ = try await CancelChallenge.cancel(asked.challenge.id, by: scene.shop.caller, ports: scene.world.ports)
        #expect(try await scene.shown(asked.challenge.id) == "already ended cancelled")
        let code = ChallengeCode(
            challenge: asked.challenge.id,
            otp: scene.world.ports.hasher.otp(of: asked.challenge.id, as: .picture, at: scene.world.time.now),
            form: .picture)
        #expect(try await scene.claim(code, by: scene.other) == "already ended cancelled -")
    }

    @Test("Nobody claims it: it expires for nobody, and its callback names no user")
    func expires() async throws {
        let scene = try await ClaimScene()
        var request = try scene.world.request(for: nil, type: "scan")
        request.callbackURI = CallbackURI(stored: World.callback)
        let asked = try await scene.world.ask(request, by: scene.shop)
        scene.world.time.advance(seconds: 121)
        #expect(try await ExpireChallenges.sweep(ports: scene.world.ports) == 1)
        #expect(try await scene.challenge(asked).user == nil)
        let message = try await scene.challenge(asked).callback(
            ended: .expired, id: scene.world.newID(), at: scene.world.time.now)
        guard case .callback(_, _, let body)? = message?.content else {
            Issue.record("no callback")
            return
        }
        // Two that were claimed, one of which has ended, too, are kept; nobody's is not.
        let (claimed, open) = (try await scene.ask(), try await scene.ask())
        _ = try await scene.claim(try await scene.code(of: claimed), by: scene.device)
        _ = try await CancelChallenge.cancel(claimed.challenge.id, by: scene.shop.caller, ports: scene.world.ports)
        _ = try await scene.claim(try await scene.code(of: open), by: scene.device)
        for (hours, count) in [(23, 3), (2, 2)] as [(Int64, Int)] {
            scene.world.time.advance(seconds: hours * 3600)
            let now = scene.world.time.now
            _ = try await scene.world.store.commit { try $0.retention.sweep(now: now, limit: 100) }
            #expect(try await scene.world.count("challenges") == count)
        }
        let told = try JSONValue(parsing: body)
        #expect(told["type"] == "challenge.expired" && told["challenge"]?["user"] == nil)
        #expect(told["challenge"]?["id"] == .string("\(asked.challenge.id)"))
    }

    @Test("A device that is removed takes the challenge with it that it has claimed")
    func removed() async throws {
        let scene = try await ClaimScene()
        let asked = try await scene.ask()
        _ = try await scene.claim(try await scene.code(of: asked), by: scene.device)
        #expect(
            try await RemoveOwnEnrollment.remove(by: try await scene.device.call(), ports: scene.world.ports)
                == .removed)
        #expect(
            try await scene.challenge(asked).state.status
                == ChallengeStatus(state: "failed", reason: "device_removed"))
    }

    @Test("A code is no way around the report of a user, nor held up by it: only the user starts what leads to one")
    func report() async throws {
        let scene = try await ClaimScene()
        try await scene.world.makeType()
        let asked = try await scene.ask()
        _ = try await scene.claim(try await scene.code(of: asked), by: scene.device)
        try await scene.device.open(asked.challenge.id)
        let report = try await scene.device.receipt(of: try await scene.challenge(asked), .reported)
        #expect(try await scene.device.answer(asked.challenge.id, with: report).summary == "decided denied reported")
        let isLocked = try await scene.world.store.read { try $0.askingLocks.exists(of: scene.user, by: scene.shop.id) }
        #expect(isLocked)
        let again = try await scene.ask()
        #expect(try await scene.claim(try await scene.code(of: again), by: scene.device) == "claimed")
        // Codes do not count as asks of the user, whom they do not reach: nobody can use them up for a user.
        let world = scene.world
        let asks = try await world.store.read {
            try $0.challenges.asks(
                of: scene.user, by: scene.shop.id, now: world.time.now, since: Timestamp(seconds: 0), limits: (100, 100)
            )
        }
        #expect(asks == EarlierAsks(isLocked: true, open: 0, recent: []))
    }
}
