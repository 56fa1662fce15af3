import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/decisions/0097-user-code.md; CIBA Core 1.0 §7.1, §7.1.2.
@Suite("A person's code, without which no client's server has them asked")
struct UserCodeTests {
    // Spec: CIBA Core 1.0 §7.1, §7.1.2.
    @Test(
        "CIBA Core 1.0 §7.1: the phone is asked where the code is right, and not else; set, changed and removed",
        arguments: Engine.allCases)
    func right(_ engine: Engine) async throws {
        let scene = try await UserCodeScene(engine)
        let plain = try await scene.plainClient()
        let session = try await scene.account.byMail()
        // Without a code: whatever a client brings is not the person's.
        #expect(try await !scene.isAsked(UserCodeScene.code))
        #expect(try await scene.isAsked(nil, by: plain))
        #expect(try await scene.set(UserCodeScene.code, by: session) == .done)
        #expect(try await scene.isAsked(UserCodeScene.code))
        #expect(try await !scene.isAsked("blue4711kitf"))
        #expect(try await !scene.isAsked(nil, by: plain))
        #expect(try await scene.set("382 915", by: session) == .done)
        #expect(try await !scene.isAsked(UserCodeScene.code))
        #expect(try await scene.isAsked("382915"))
        #expect(try await scene.set(nil, by: session) == .done)
        #expect(try await !scene.isAsked("382915"))
        #expect(try await scene.isAsked(nil, by: plain))
    }

    @Test("What is set or removed between the request and the search for the person counts")
    func meanwhile() async throws {
        let scene = try await UserCodeScene()
        let session = try await scene.account.byMail()
        func isPut(_ asked: Authorization) async throws -> Bool {
            try await scene.account.shop.put(asked)
            return try await scene.account.shop.isPut(asked)
        }
        let early = try await scene.begin(UserCodeScene.code).asked
        #expect(try await scene.set(UserCodeScene.code, by: session) == .done)
        #expect(try await isPut(early))
        let late = try await scene.begin(UserCodeScene.code).asked
        #expect(try await scene.set(nil, by: session) == .done)
        #expect(try await !isPut(late))
        // A client that brings none any more asks whoever has none.
        try await scene.register(scene.shop, bringsUserCode: false)
        #expect(try await isPut(late))
    }

    @Test("The case of letters, spaces and hyphens do not count; what nobody's code can be is none")
    func form() async throws {
        let scene = try await UserCodeScene()
        #expect(try await scene.set(UserCodeScene.code, by: try await scene.account.byMail()) == .done)
        for text in ["BLUE4711KITE", " blue 4711-kite ", "b-l-u-e-4-7-1-1-k-i-t-e"] {
            #expect(try await scene.isAsked(text), "\(text)")
        }
        for text in ["135790", "A1B2C3", String(repeating: "AB", count: 16)] {
            #expect(BackchannelUserCode(text) != nil, "\(text)")
        }
        let bad = [
            "", "13579", "1 3 5 7 9", "111111", "aaaaaaaa", "123456", "654321", "abcdefgh", "135792\n", "13579ä",
            "13579.2", "1\u{301}35792", "１３５７９２", String(repeating: "AB", count: 16) + "C",
            "135792" + String(repeating: " ", count: 59),
        ]
        for text in bad { #expect(BackchannelUserCode(text) == nil, "\(text)") }
    }

    // Spec: CIBA Core 1.0 §7.1, §13.
    @Test("CIBA Core 1.0 §13: a client that must bring a code is told so, whoever is named; another one brings none")
    func missing() async throws {
        let scene = try await UserCodeScene()
        let plain = try await scene.plainClient()
        let session = try await scene.account.byMail()
        for isSet in [false, true] {
            if isSet { #expect(try await scene.set(UserCodeScene.code, by: session) == .done) }
            for name in [UserCodeScene.name, "customer-0@example.com", "external_id:nobody"] {
                guard case .userCodeMissing = try await scene.outcome(nil, for: name),
                    case .userCodeNotTaken = try await scene.outcome(UserCodeScene.code, by: plain, for: name)
                else { throw World.Broken("\(name) \(isSet)") }
            }
        }
    }

    // Spec: CIBA Core 1.0 §7.1.
    @Test("Ten wrong codes in a row, however they and the person are spelled, at once and at other clients")
    func limited() async throws {
        let scene = try await UserCodeScene(.chosen)
        let other = try await scene.world.makeClient("Other").client
        try await scene.register(other)
        let session = try await scene.account.byMail()
        #expect(try await scene.set(UserCodeScene.code, by: session) == .done)
        // The right one counts anew.
        for _ in 0..<2 {
            for _ in 0..<9 { #expect(try await !scene.isAsked("482915")) }
            #expect(try await scene.isAsked(UserCodeScene.code))
        }
        // Wrong ones use up nothing of what the person can be asked.
        #expect(try await scene.counted(.backchannelAsks(scene.user, at: nil)) == 2)
        let names = ["CUSTOMER-1@Example.com", UserCodeScene.name, "external_id:customer-1"]
        let wrong = ["blue 4711 kites", "BLUE4711KITES", "b4711kite", "482-915"]
        let asked = try await atOnce(14) { number in
            try await scene.isAsked(wrong[number % wrong.count], for: names[number % names.count])
        }
        #expect(asked == Array(repeating: false, count: 14))
        #expect(try await !scene.isAsked(UserCodeScene.code))
        #expect(try await !scene.isAsked(UserCodeScene.code, by: other))
        scene.world.time.advance(.days(1))
        #expect(try await scene.isAsked(UserCodeScene.code, by: other))
    }

    @Test("Who sets the code anew is asked again at once; a third party's wrong codes are counted for it alone")
    func forgotten() async throws {
        let scene = try await UserCodeScene()
        let session = try await scene.account.byMail()
        #expect(try await scene.set(UserCodeScene.code, by: session) == .done)
        for _ in 0..<11 { #expect(try await !scene.isAsked("482915")) }
        #expect(try await !scene.isAsked(UserCodeScene.code))
        #expect(try await scene.set(UserCodeScene.code, by: session) == .done)
        let (user, third, now) = (scene.user, scene.account.third.id, scene.world.time.now)
        try await scene.world.ports.commit(at: now, as: .system) { work in
            for _ in 0..<11 { _ = try work.count(.wrongAskingCodes(of: user, at: third)) }
        }
        #expect(try await scene.isAsked(UserCodeScene.code))
    }

    // Spec: CIBA Core 1.0 §7.1.
    @Test("Each wrong code is audited, with the client and how many are left, and the last as a lock; none beyond")
    func audited() async throws {
        let scene = try await UserCodeScene()
        #expect(try await scene.set(UserCodeScene.code, by: try await scene.account.byMail()) == .done)
        // Nor is the right one, or that none was brought.
        #expect(try await scene.isAsked(UserCodeScene.code))
        #expect(try await !scene.isAsked(nil, by: try await scene.plainClient()))
        for _ in 0..<12 { #expect(try await !scene.isAsked("482915")) }
        #expect(try await !scene.isAsked(UserCodeScene.code))
        let events = try await scene.world.audit().filter {
            $0.kind == .userCodeIncorrect || $0.kind == .userCodeLocked
        }
        let expected: [AuditEventKind] = Array(repeating: .userCodeIncorrect, count: 10) + [.userCodeLocked]
        #expect(events.map(\.kind) == expected)
        let left = events.dropLast().map { $0.detail["attempts_left"]?.integer }
        #expect(left == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
        #expect(events.allSatisfy { $0.client == scene.shop.id && $0.user == scene.user && $0.actor == .system })
        // A client whose server guesses learns it by no export either.
        let (user, shop, ports) = (scene.user, scene.shop, scene.world.ports)
        let exporting = try await ExportUser.begin(.id(user), in: .client(shop.id), by: shop.caller, ports: ports)
        var export = try #require(exporting.export)
        while let parts = try await export.next(ports: ports) {
            for case .event(let event) in parts { #expect(!event.kind.rawValue.hasPrefix("user_code.")) }
        }
    }

    @Test("An operator removes a code with the wrong ones, all addresses are told, and the person sets another")
    func removedByOperator() async throws {
        let scene = try await UserCodeScene()
        let (world, user, operating) = (scene.world, scene.user, scene.account.account)
        func remove(of user: UserID) async throws -> RemoveUserCode.Outcome {
            try await RemoveUserCode.remove(of: .id(user), by: operating.caller, ports: world.ports)
        }
        let plain = try await scene.plainClient()
        let session = try await scene.account.byMail()
        #expect(try await scene.set(UserCodeScene.code, by: session) == .done)
        for _ in 0..<11 { #expect(try await !scene.isAsked("482915")) }
        _ = try await scene.account.mails()
        #expect(try await remove(of: user) == .removed)
        #expect(try await scene.kept() == nil)
        let told = try await scene.account.mails().map(\.message)
        #expect(told.map(\.template) == [.userCode] && told.first?.values["removed"]?.reveal() == "yes")
        #expect(told.first?.values["place"] == nil)
        let event = try #require(try await world.audit().last { $0.kind == .userCodeRemoved })
        #expect(event.actor == operating.actor && event.user == user)
        #expect(try await scene.isAsked(nil, by: plain))
        #expect(try await scene.set("382915", by: session) == .done)
        #expect(try await scene.isAsked("382915"))
        // Once more, of somebody who has none: nobody is told.
        for _ in 0..<2 { #expect(try await remove(of: user) == .removed) }
        #expect(try await scene.account.mails().count { $0.message.values["removed"] != nil } == 1)
        #expect(try await remove(of: world.ports.random.id(at: world.time.now)) == .userNotFound)
    }

    @Test("The same statements and replies for known and unknown people, with and without a code, right or wrong")
    func sameStatements() async throws {
        let (world, recorder) = try await World.recorded()
        let scene = try await SignInScene(in: world, profile: .web)
        let party = RelyingParty(
            client: scene.shop.id, profile: .web, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))],
            askedBrowsers: .all, backchannel: RelyingParty.Backchannel(delivery: .poll, bringsUserCode: true))
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        let user = scene.user
        func play(_ name: String, _ text: String) async throws -> [String] {
            var request = BeginBackchannel.Request(by: scene.shop.id, for: .name("\(name)@example.com"))
            request.scopes = ["openid"]
            request.userCode = BackchannelUserCode(text)
            _ = recorder.takeTexts()
            let begun = try await scene.begin(request)
            let texts = recorder.takeTexts(withRows: true)
            #expect(begun.expiresIn == 120 && begun.interval == 5 && begun.number != nil)
            try await scene.put(try await scene.signIn(begun))
            #expect(try await scene.poll(.authRequest(begun.authRequestID), after: 0) == .pending(interval: 5))
            return texts
        }
        // The first request counts in a window that is not there yet.
        _ = try await play("customer-0", "482915")
        let unknown = try await play("customer-0", "482915")
        let without = try await play("customer-1", "482915")
        try await world.ports.commit(at: world.time.now, as: .system) { work in
            let hasher = work.hasher
            let code = BackchannelUserCode("482915").map { hasher.hash(hasher.hash(brought: $0), of: user) }
            try work.users.setUserCode(code, of: user)
        }
        let wrong = try await play("customer-1", "482916")
        let right = try await play("customer-1", "482915")
        #expect(unknown == without && unknown == wrong && unknown == right)
        #expect(unknown.contains { $0.contains("INSERT INTO authorizations") })
    }

    @Test("It takes a sign-in of the last minutes, and more than a mailbox where there is a confirmed device")
    func weak() async throws {
        let scene = try await UserCodeScene()
        let mailbox = try await scene.account.byMail()
        #expect(try await scene.set(UserCodeScene.code, by: nil) == .signIn)
        #expect(try await scene.set(UserCodeScene.code, by: mailbox) == .done)
        try await scene.account.confirm(scene.account.phone)
        #expect(try await scene.account.show(mailbox)?.mayChangeUserCode == false)
        for text in ["382915", nil] { #expect(try await scene.set(text, by: mailbox) == .tooWeak) }
        #expect(try await scene.isAsked(UserCodeScene.code))
        let device = try await scene.account.byPIN()
        #expect(try await scene.account.show(device)?.mayChangeUserCode == true)
        #expect(try await scene.set("382915", by: device) == .done)
        scene.world.time.advance(AccountVisit.freshness)
        #expect(try await scene.set(nil, by: device) == .signIn)
        #expect(try await scene.isAsked("382915"))
    }

    @Test("Nor does a mailbox do that has suspended or removed the confirmed device a moment ago")
    func lately() async throws {
        for act in [ActOnOwnDevice.Act.suspend, .remove] {
            let scene = try await UserCodeScene()
            try await scene.account.confirmPhone()
            #expect(try await scene.set(UserCodeScene.code, by: try await scene.account.byPIN()) == .done)
            let thief = try await scene.account.byMail()
            guard case .done = try await scene.account.act(act, on: scene.account.phone, by: thief) else {
                throw World.Broken("\(act)")
            }
            #expect(try await scene.account.show(thief)?.mayChangeUserCode == false)
            for text in ["382915", nil] { #expect(try await scene.set(text, by: thief) == .tooWeak, "\(act)") }
            // Who has lost their phone sets another one as soon as a new device would count.
            scene.world.time.advance(Client.standardCoolingOff)
            let later = try await scene.set(nil, by: try await scene.account.byMail())
            #expect(later == (act == .remove ? .done : .tooWeak))
        }
    }

    @Test("All addresses are told, and the page says it; neither tells the code")
    func told() async throws {
        let scene = try await UserCodeScene()
        let session = try await scene.account.byMail()
        #expect(try await scene.account.show(session)?.hasUserCode == false)
        _ = try await scene.account.mails()
        let steps: [(String?, String, AuditEventKind)] = [
            (UserCodeScene.code, "set", .userCodeSet), (nil, "removed", .userCodeRemoved),
        ]
        for (text, change, kind) in steps {
            #expect(try await scene.set(text, by: session) == .done)
            let told = try await scene.account.mails().map(\.message)
            #expect(told.map(\.template) == [.userCode] && told[0].values[change]?.reveal() == "yes")
            #expect(told[0].values["place"]?.reveal() == "192.0.2.7")
            #expect(!told[0].stored.text.uppercased().contains("4711"))
            let account = try #require(try await scene.account.show(session))
            #expect(account.hasUserCode == (text != nil))
            let event = try #require(account.events.first?.event)
            #expect(event.kind == kind && event.actor == .user(scene.user) && event.detail.members.isEmpty)
        }
    }

    @Test("Where no client brings codes there is nothing to set, but an old one can be removed, once")
    func nothingThere() async throws {
        let scene = try await UserCodeScene()
        let session = try await scene.account.byMail()
        #expect(try await scene.set(nil, by: session) == .nothingThere)
        #expect(try await scene.set(UserCodeScene.code, by: session) == .done)
        try await scene.register(scene.shop, bringsUserCode: false)
        #expect(try await scene.account.show(session)?.hasUserCode == true)
        #expect(try await scene.set(nil, by: session) == .done)
        #expect(try await scene.account.show(session)?.hasUserCode == nil)
        #expect(try await scene.set(UserCodeScene.code, by: session) == .nothingThere)
    }

    @Test("It is kept as a keyed hash of its own for each person, also while it travels, and goes with the person")
    func kept() async throws {
        let scene = try await UserCodeScene()
        let hasher = scene.world.ports.hasher
        #expect(try await scene.set(UserCodeScene.code, by: try await scene.account.byMail()) == .done)
        let code = try scene.code(UserCodeScene.code)
        let hash = try #require(try await scene.kept())
        #expect(hash.bytes.count == 32 && hash == hasher.hash(hasher.hash(brought: code), of: scene.user))
        let somebody: UserID = ID(at: Timestamp(milliseconds: 1), random: [UInt8](repeating: 9, count: 10))
        #expect(hash != hasher.hash(hasher.hash(brought: code), of: somebody))
        let other = KeyedHasher(key: SymmetricKey(size: .bits256))
        #expect(hash != other.hash(other.hash(brought: code), of: scene.user))
        let asked = try await scene.begin(UserCodeScene.code).asked
        #expect(asked.wanted.backchannel?.userCode == hasher.hash(brought: code))
        #expect(!asked.wanted.json.text.uppercased().contains("4711KITE"))
        #expect(Wanted(asked.wanted.json) == asked.wanted)
        let (user, now) = (scene.user, scene.world.time.now)
        try await scene.world.store.commit { try $0.users.markDeleted(user, at: now) }
        #expect(try await scene.kept() == nil)
    }
}
