import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Answering by a signed JWT")
struct AnswerByJWTTests {
    @Test(
        "An approval by each kind of key decides, and is kept as what it is, for others to verify",
        arguments: Engine.allCases, TestJWKDevice.Kind.allCases)
    func approves(_ engine: Engine, _ kind: TestJWKDevice.Kind) async throws {
        let scene = try await JWKScene(engine, kind)
        let asked = try await scene.ask()
        #expect(Set(asked.enrollments) == [scene.phone.enrollment, scene.device.enrollment])
        let challenge = try await scene.world.challenge(asked)
        let token = try await scene.device.token(for: challenge)
        let approved = ChallengeStatus(state: "approved", reason: nil)
        #expect(try await scene.device.answer(asked.challenge.id, with: token) == .decided(approved))
        let ended = try await scene.world.challenge(asked)
        #expect(ended.state == .ended(.approved(.confirm, by: scene.device.enrollment), at: scene.world.time.now))
        guard
            case .receipt(let stored) = try await ShowReceipt.receipt(
                of: challenge.id, to: scene.shop.id, ports: scene.world.ports),
            case .jwt(let kept, let keys) = stored.evidence
        else {
            Issue.record("no JWT is kept")
            return
        }
        #expect(kept == token && stored.enrollment == scene.device.enrollment)
        #expect(stored.evidence.assurance == .challenge)
        let read = try #require(DeviceJWKs(try JSONValue(parsing: keys)))
        let answer = try JWTAnswer(kept, by: read)
        #expect(answer.challenge == challenge.id && answer.decision == .approved(.confirm, number: nil))
        #expect(try await scene.world.count("receipts", where: "kind = 'jwt'") == 1)
        #expect(try await scene.world.audit().filter { $0.kind == .challengeApproved }.count == 1)
    }

    @Test("A denial decides, too")
    func denies() async throws {
        let scene = try await JWKScene()
        let asked = try await scene.ask()
        let denied = ChallengeStatus(state: "denied", reason: "declined")
        #expect(try await scene.device.answer(asked, "DENIED_CONSENT_PROMPT") == .decided(denied))
        #expect(try await scene.world.count("receipts", where: "kind = 'jwt'") == 1)
    }

    @Test("The same token gets the same reply, and decides nothing a second time; another one comes too late")
    func repeated() async throws {
        let scene = try await JWKScene()
        let asked = try await scene.ask()
        let challenge = try await scene.world.challenge(asked)
        let token = try await scene.device.token(for: challenge)
        let approved = ChallengeStatus(state: "approved", reason: nil)
        for _ in 0..<3 {
            #expect(try await scene.device.answer(challenge.id, with: token) == .decided(approved))
            scene.world.time.advance(seconds: 30)
        }
        #expect(try await scene.world.audit().filter { $0.kind == .challengeApproved }.count == 1)
        let other = try await scene.device.token(for: challenge, "DENIED_CONSENT_PROMPT")
        #expect(try await scene.device.answer(challenge.id, with: other) == .alreadyEnded(approved))
        #expect(try await scene.world.count("receipts") == 1)
    }

    @Test("A token answers one challenge, and its `jti` is used once")
    func replayed() async throws {
        let scene = try await JWKScene()
        let (first, second) = (try await scene.ask(), try await scene.ask())
        let challenge = try await scene.world.challenge(first)
        let token = try await scene.device.token(for: challenge) { $0["jti"] = "one" }
        // To another challenge than it names, before and after it has decided its own.
        #expect(try await scene.device.answer(second.challenge.id, with: token) == .invalid(.claim(.challenge)))
        #expect(try await scene.device.answer(first.challenge.id, with: token) == .refused(.nonceReplayed))
        let fresh = try await scene.device.token(for: challenge) { $0["jti"] = "two" }
        guard case .decided = try await scene.device.answer(first.challenge.id, with: fresh) else {
            Issue.record("a right answer is refused")
            return
        }
        #expect(try await scene.device.answer(second.challenge.id, with: fresh) == .invalid(.otherChallenge))
        let other = try await scene.device.token(for: try await scene.world.challenge(second)) { $0["jti"] = "two" }
        #expect(try await scene.device.answer(second.challenge.id, with: other) == .refused(.nonceReplayed))
        #expect(try await scene.state(second) == "pending")
    }

    @Test("What is signed for times to come is refused, and its `jti` is remembered no longer than that of others")
    func future() async throws {
        let scene = try await JWKScene()
        let asked = try await scene.ask()
        let challenge = try await scene.world.challenge(asked)
        let now = scene.world.time.now
        let claims = scene.device.claims(for: challenge, at: now.seconds + 1_000_000_000)
        let token = try await scene.device.token(for: challenge) { $0 = claims }
        #expect(try await scene.device.answer(challenge.id, with: token) == .invalid(.claim(.expiresAt)))
        #expect(try await scene.device.answer(challenge.id, with: token) == .refused(.nonceReplayed))
        let own = "key_id = 'jwt \(scene.device.enrollment)'"
        #expect(try await scene.world.count("nonces", where: own) == 1)
        let late = now.adding(900).milliseconds
        #expect(try await scene.world.count("nonces", where: "expires_at > \(late)") == 0)
    }

    @Test("Each claim is that of this challenge, this device and this server")
    func claims() async throws {
        let scene = try await JWKScene()
        let (asked, other) = (try await scene.ask(), try await scene.ask())
        let challenge = try await scene.world.challenge(asked)
        let stranger: UserID = scene.world.newID()
        let nonce = try await scene.world.challenge(other).question.nonce
        for (name, value, claim) in [
            ("aud", "https://login.example.com/", .audience), ("aud", "https://other.example.com", .audience),
            ("sub", .string("\(stranger)"), .subject), ("tx", .string("\(other.challenge.id)"), .challenge),
            ("nonce", .string("\(nonce)"), .nonce),
        ] as [(String, JSONValue, JWTAnswer.Claim)] {
            let token = try await scene.device.token(for: challenge) { $0[name] = value }
            #expect(try await scene.device.answer(challenge.id, with: token) == .invalid(.claim(claim)), "\(name)")
        }
        let consents = [
            "NONE", "CANCELLED_USER_VERIFICATION", "UV_PERMANENTLY_UNAVAILABLE", "APPROVED_USER_VERIFICATION",
        ]
        for consent in consents {
            #expect(try await scene.device.answer(asked, consent) == .invalid(.claim(.consent)), "\(consent)")
        }
        #expect(try await scene.state(asked) == "pending")
        #expect(try await scene.refusals() == Array(repeating: "claim", count: 9))
        #expect(try await scene.world.count("receipts") == 0)
    }

    @Test("A clock may be five minutes wrong, and a minute more")
    func times() async throws {
        for (seconds, isGood) in [(-360, false), (-359, true), (360, true), (361, false)] as [(Int64, Bool)] {
            let scene = try await JWKScene()
            let asked = try await scene.ask()
            let challenge = try await scene.world.challenge(asked)
            let claims = scene.device.claims(for: challenge, at: scene.world.time.now.seconds + seconds)
            let token = try await scene.device.token(for: challenge) { $0 = claims }
            let outcome = try await scene.device.answer(challenge.id, with: token)
            if isGood {
                #expect(outcome == .decided(ChallengeStatus(state: "approved", reason: nil)), "\(seconds)")
            } else {
                #expect(outcome == .invalid(.claim(.expiresAt)), "\(seconds)")
            }
        }
    }

    @Test("Possession approves where possession does, the user's biometric where a biometric does")
    func methods() async throws {
        let scene = try await JWKScene()
        try await scene.world.makeWeakType("face", methods: [.biometric, .pin])
        let face = try await scene.ask("face")
        #expect(face.enrollments == [scene.device.enrollment], "the phone has no method")
        #expect(try await scene.device.answer(face) == .invalid(.method))
        let approved = ChallengeStatus(state: "approved", reason: nil)
        let outcome = try await scene.device.answer(face, "APPROVED_USER_VERIFICATION", verified: true)
        #expect(outcome == .decided(approved))
        #expect(
            try await scene.world.challenge(face).state
                == .ended(.approved(.biometric, by: scene.device.enrollment), at: scene.world.time.now))
        let tap = try await scene.ask()
        let other = try await scene.device.answer(tap, "APPROVED_USER_VERIFICATION", verified: true)
        #expect(other == .invalid(.method), "the type takes possession alone")
    }

    @Test("Who has not signed learns nothing of who exists, and writes nothing")
    func notSigned() async throws {
        let scene = try await JWKScene()
        let asked = try await scene.ask()
        let challenge = try await scene.world.challenge(asked)
        let second = try await scene.world.makeJWKDevice(of: scene.user, by: scene.shop)
        let stranger: EnrollmentID = scene.world.newID()
        let phone = scene.phone.enrollment
        let thief = try TestJWKDevice.Kind.p256.key(named: "possession")
        let weak = try await scene.device.token(for: challenge)
        let tokens = [
            "", "a.b.c", weak + ".", String(weak.dropLast()), String(repeating: "a", count: 20_000),
            try await scene.device.token(for: challenge) { $0["iss"] = .string("\(stranger)") },
            try await scene.device.token(for: challenge) { $0["iss"] = .string("\(phone)") },
            try await scene.device.token(for: challenge) { $0["iss"] = "nobody" },
            try await scene.device.token(for: challenge, signedBy: thief),
            try await scene.device.token(for: challenge, signedBy: second.possession),
            try await scene.device.token(for: challenge, keyID: "verification"),
            try await scene.device.token(for: challenge, type: "JWT"),
            try await second.token(for: challenge) { $0["iss"] = .string("\(scene.device.enrollment)") },
        ]
        func written() async throws -> [Int64] {
            var counts: [Int64] = []
            for table in ["audit", "nonces", "attempts"] { counts.append(try await scene.world.count(table)) }
            return counts
        }
        let before = try await written()
        for token in tokens {
            #expect(try await scene.device.answer(challenge.id, with: token) == .notSigned, "\(token.prefix(40))")
        }
        #expect(try await written() == before)
        #expect(try await scene.state(asked) == "pending")
    }

    @Test("A device answers what was put to it, and nothing else")
    func notFound() async throws {
        let scene = try await JWKScene()
        let later = try await scene.world.makeUser(of: scene.shop)
        let foreign = try await scene.world.makeJWKDevice(of: later, by: scene.shop)
        let asked = try await scene.ask()
        #expect(try await foreign.answer(asked) == .notFound)
        let nothing: ChallengeID = scene.world.newID()
        let token = try await scene.device.token(for: try await scene.world.challenge(asked))
        #expect(try await scene.device.answer(nothing, with: token) == .notFound)
    }

    @Test(
        "Such a device is asked nothing that must be read to be approved, and its answer to it is refused",
        arguments: Engine.allCases)
    func neverAnswers(_ engine: Engine) async throws {
        let scene = try await JWKScene(engine)
        let world = scene.world
        try await world.makeWeakType("receipt", assurance: .receipt)
        try await world.makeWeakType("number", numberEntry: true)
        let payee = try Detail(label: "Payee", value: "ACME")
        let data = try #require(SigningData("data"))
        let asked = [
            try await scene.ask("receipt"), try await scene.ask("number"),
            try await scene.ask { $0.numberEntry = true }, try await scene.ask { $0.details = [payee] },
            try await scene.ask { $0.signingData = data },
        ]
        for question in asked {
            #expect(question.enrollments == [scene.phone.enrollment])
            #expect(try await scene.device.answer(question) == .notFound)
            try await scene.force(question)
            #expect(try await scene.device.answer(question) == .invalid(.credential))
            #expect(try await scene.device.answer(question, "DENIED_CONSENT_PROMPT") == .invalid(.credential))
            #expect(try await scene.state(question) == "pending")
        }
        #expect(try await world.count("receipts") == 0)
        // The limit on refused answers is one of a minute.
        world.time.advance(seconds: 61)
        // The label was put on after the question was asked, or does not fit the type's other settings.
        let enrollment = try await scene.enrollment()
        #expect(enrollment.device.storage == .enclave)
        let face = try await world.makeWeakType("face", methods: [.biometric])
        let labelled = try await scene.ask("face")
        #expect(enrollment.satisfies(face))
        let aal2 = try await world.makeWeakType(
            "face", methods: [.pin, .biometric], assurance: .receipt, numberEntry: true, isAAL2: true)
        #expect(!enrollment.satisfies(aal2))
        let late = try await scene.device.answer(labelled, "APPROVED_USER_VERIFICATION", verified: true)
        #expect(late == .invalid(.credential))
        _ = try await world.store.commit { try $0.types.delete(face.name) }
        let gone = try await scene.device.answer(labelled, "APPROVED_USER_VERIFICATION", verified: true)
        #expect(gone == .invalid(.credential))
        let available = try await AvailableMethods.list(for: .id(scene.user), client: scene.shop, ports: world.ports)
        let types = available.types.filter { ["receipt", "number", "tap"].contains("\($0.type)") }
        #expect(types.allSatisfy { $0.methods == [.confirm] } && types.count == 3, "by the phone")
    }

    @Test("Who has such a device alone is asked by no other type, and by the one to which it falls back")
    func alone() async throws {
        let world = try await World()
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeJWKDevice(of: user, by: shop)
        try await world.makeType()
        try await world.makeWeakType()
        let request = try world.request(for: user)
        let result = try await AskChallenge.ask(request, by: shop.credential, idempotency: nil, ports: world.ports)
        #expect(result == .done(.refused(.noEnrollment)))
        let asked = try await world.ask(try world.request(for: user, type: "tap"), by: shop)
        #expect(asked.enrollments == [device.enrollment])
        let available = try await AvailableMethods.list(for: .id(user), client: shop, ports: world.ports).types
        #expect(available.map { "\($0.type)" } == ["tap"])
    }

    @Test("The key of a device that signs short texts signs no JWTs, and no app manages it by those calls")
    func events() async throws {
        let world = try await World()
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: shop)
        let key = PrivateJWK(P256.Signing.PrivateKey())
        let ticket = try await world.makeTicket(for: user, by: shop)
        let device = try TestJWKDevice(ticket, in: world, possession: key)
        guard case .enrolled = try await device.enroll(keys: DeviceJWKs(ofEvents: key.jwsPublicKey)) else {
            throw World.Broken("device that signs short texts")
        }
        try await world.makeWeakType(assurance: .event)
        let asked = try await world.ask(try world.request(for: user, type: "tap"), by: shop)
        #expect(asked.enrollments == [device.enrollment])
        #expect(try await device.answer(asked) == .notSigned)
        let owner = DeviceOwner(user: user, client: shop, scopes: [Ticket.scope], device: nil)
        #expect(try await ListAppDevices.list(of: owner, ports: world.ports) == .devices([]))
        let removed = try await RemoveAppDevice.remove(device.enrollment, by: owner, ports: world.ports)
        #expect(removed == .notFound)
    }

    @Test("A suspended or removed device is told so by its own signature alone")
    func states() async throws {
        let scene = try await JWKScene()
        let asked = try await scene.ask()
        let ports = scene.world.ports
        _ = try await SuspendEnrollment.suspend(scene.device.enrollment, true, by: scene.shop.actor, ports: ports)
        #expect(try await scene.device.answer(asked) == .refused(.suspended))
        _ = try await SuspendEnrollment.suspend(scene.device.enrollment, false, by: scene.shop.actor, ports: ports)
        let id = scene.device.enrollment
        let now = scene.world.time.now
        _ = try await scene.world.store.commit { try $0.enrollments.remove(id, reason: .client, at: now) }
        guard case .refused(.deregistered(let notice)) = try await scene.device.answer(asked) else {
            Issue.record("a removed device answers")
            return
        }
        #expect(notice.enrollment == id)
        #expect(try await scene.state(asked) == "pending")
    }

    @Test("A device that waits, or whose biometric waits, approves nothing, and may deny")
    func waiting() async throws {
        let scene = try await JWKScene()
        let id = scene.device.enrollment
        let later = scene.world.time.now.adding(3600)
        try await scene.world.makeWeakType("face", methods: [.biometric])
        let face = try await scene.ask("face")
        let tap = try await scene.ask()
        try await scene.world.sql(
            "UPDATE enrollments SET biometric_counts_from = \(later.milliseconds) WHERE id = '\(id)'")
        let early = try await scene.device.answer(face, "APPROVED_USER_VERIFICATION", verified: true)
        #expect(early == .invalid(.method))
        try await scene.world.sql("UPDATE enrollments SET counts_from = \(later.milliseconds) WHERE id = '\(id)'")
        #expect(try await scene.device.answer(tap) == .invalid(.method))
        let denied = ChallengeStatus(state: "denied", reason: "declined")
        #expect(try await scene.device.answer(tap, "DENIED_CONSENT_PROMPT") == .decided(denied))
    }

    @Test("A device that another group's client enrolled, and its user has not confirmed, decides nothing")
    func notBelieved() async throws {
        let scene = try await JWKScene()
        let third = try await scene.world.makeClient("Third", isThirdParty: true).client
        let user = scene.user
        _ = try await scene.world.store.commit { try $0.links.put(user, to: third.id, externalID: nil) }
        let planted = try await scene.world.makeJWKDevice(of: user, by: third)
        let asked = try await scene.ask()
        #expect(!asked.enrollments.contains(planted.enrollment))
        try await scene.world.sql(
            """
            INSERT INTO challenge_targets (challenge_id, enrollment_id)
            VALUES ('\(asked.challenge.id)', '\(planted.enrollment)')
            """)
        let now = scene.world.time.now
        try await scene.world.store.commit { try $0.enrollments.count(planted.enrollment, from: now) }
        #expect(try await planted.answer(asked) == .invalid(.notConfirmed))
    }

    @Test("Refused answers have a limit")
    func limited() async throws {
        let scene = try await JWKScene()
        let asked = try await scene.ask()
        var outcome: AnswerByJWT.Outcome?
        for _ in 0..<200 where outcome == nil {
            let refused = try await scene.device.answer(asked, "NONE")
            if case .rateLimited = refused { outcome = refused }
        }
        #expect(outcome != nil)
        #expect(
            try await scene.device.answer(asked) == .decided(ChallengeStatus(state: "approved", reason: nil)),
            "a right answer counts all the same")
    }

    @Test("It acts on no other device, changes no method, and gets nothing that is sealed")
    func acts() async throws {
        let scene = try await JWKScene()
        let ports = scene.world.ports
        let phone = scene.phone.enrollment
        for kind in [DeviceAct.Kind.suspend, .remove] {
            #expect(
                try await ActOnDevice.act(kind, on: phone, nil, by: scene.call(), ports: ports)
                    == .notAuthorized(needs: .method))
        }
        let later = scene.world.time.now.adding(3600)
        try await scene.world.sql(
            """
            UPDATE enrollments SET biometric_counts_from = \(later.milliseconds)
            WHERE id = '\(scene.device.enrollment)'
            """)
        let undone = try await UndoMethod.undo(
            .biometric, of: scene.device.enrollment, by: scene.call(), ports: ports)
        #expect(undone == .notFound)
        let asked = try await scene.ask()
        #expect(try await OpenChallenge.open(asked.challenge.id, for: scene.call(), ports: ports) == .notFound)
        let sealed = AnswerRequest(message: try await scene.phone.receipt(of: asked, .denied))
        let outcome = try await AnswerChallenge.answer(sealed, to: asked.challenge.id, by: scene.call(), ports: ports)
        #expect(outcome == .invalid(.credential))
        guard case .list(let entries, _) = try await PendingChallenges.list(for: scene.call(), ports: ports) else {
            Issue.record("no list")
            return
        }
        #expect(entries.map(\.challenge) == [asked.challenge.id] && entries.allSatisfy { $0.message == nil })
        // Its signature is none of a request, either.
        let request = try await scene.phone.request(keyID: "\(scene.device.enrollment)")
        #expect(try await VerifyDevice.verify(request, ports: ports).summary == "unknown enrollment")
    }

    @Test(
        "Of an answer by OpenPGP and one by JWT at once, one ends the challenge, once, and both see the same end",
        arguments: Engine.allCases, 0..<8)
    func atOnce(_ engine: Engine, _ round: Int) async throws {
        enum Try: Sendable {
            case phone(DeviceCall, [UInt8])
            case jwt(String)
        }
        let scene = try await JWKScene(engine, seed: UInt64(round) + 1)
        let asked = try await scene.ask { $0.callbackURI = CallbackURI(stored: World.callback) }
        let challenge = try await scene.world.challenge(asked)
        let id = challenge.id
        try await scene.phone.open(id)
        var made: [Try] = []
        for number in 0..<12 {
            switch (number + round) % 4 {
            case 0:
                let receipt = try await scene.phone.receipt(of: challenge, .approved(.confirm, number: nil))
                made.append(.phone(try await scene.phone.call(), receipt))
            case 1:
                let receipt = try await scene.phone.receipt(of: challenge, .denied)
                made.append(.phone(try await scene.phone.call(), receipt))
            case 2: made.append(.jwt(try await scene.device.token(for: challenge)))
            default: made.append(.jwt(try await scene.device.token(for: challenge, "DENIED_CONSENT_PROMPT")))
            }
        }
        let tries = made
        let results = try await StorageTestSupport.atOnce(tries.count) { number -> (won: String?, told: String) in
            switch tries[number] {
            case .phone(let call, let message):
                let request = AnswerRequest(message: message)
                switch try await AnswerChallenge.answer(request, to: id, by: call, ports: scene.world.ports) {
                case .decided(let reply): return ("openpgp", reply.status.state)
                case .alreadyEnded(let status): return (nil, status.state)
                default: throw World.Broken("an answer went wrong")
                }
            case .jwt(let token):
                switch try await scene.device.answer(id, with: token) {
                case .decided(let status): return ("jwt", status.state)
                case .alreadyEnded(let status): return (nil, status.state)
                default: throw World.Broken("an answer by JWT went wrong")
                }
            }
        }
        let winners = results.compactMap(\.won)
        let state = try await scene.state(asked)
        #expect(winners.count == 1, "\(winners)")
        #expect(Set(results.map(\.told)) == [state], "all see the same end")
        #expect(try await scene.world.count("receipts") == 1)
        #expect(try await scene.world.count("receipts", where: "kind = 'jwt'") == (winners == ["jwt"] ? 1 : 0))
        let ends = try await scene.world.audit().filter {
            $0.challenge == id && ![.challengeAsked, .challengeFetched].contains($0.kind)
        }
        #expect(ends.map(\.kind.rawValue) == ["challenge.\(state)"])
        #expect(try await scene.world.count("outbox") == 1, "one callback")
    }

    @Test("A sign-in without a number is approved by it, and is never one at AAL2", arguments: Engine.allCases)
    func signIn(_ engine: Engine) async throws {
        let scene = try await BackchannelScene(engine)
        let device = try await scene.world.makeJWKDevice(of: scene.user, by: scene.shop.shop, verifies: true)
        let type = try await scene.world.makeWeakType(methods: [.confirm, .biometric])
        try await scene.set(.poll, type: type.name)
        let begun = try await scene.begin()
        let id = try #require(try await scene.signIn(begun).ask?.challenge)
        let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
        let token = try await device.token(for: challenge, "APPROVED_USER_VERIFICATION", verified: true)
        let approved = ChallengeStatus(state: "approved", reason: nil)
        #expect(try await device.answer(id, with: token) == .decided(approved))
        guard case .authenticated(let authentication) = try await scene.signIn(begun).state else {
            Issue.record("nobody is signed in")
            return
        }
        #expect(authentication.strength == .twoFactors)
        #expect(authentication.evidence == .approval(id, device.enrollment))
        let enrollment = try #require(
            try await scene.world.store.read { try $0.enrollments.find(device.enrollment) })
        let labelled = Authentication(
            by: challenge, .biometric, on: enrollment, isAAL2: true, at: scene.world.time.now)
        #expect(labelled.strength == .twoFactors)
        // By a page, which shows a number, it is not asked.
        let page = try await scene.shop.asked()
        let number = try #require(page.ask?.challenge)
        let targets = try await scene.world.store.read { try $0.targets.all(of: number) }
        #expect(targets == [scene.shop.device.enrollment])
    }
}
