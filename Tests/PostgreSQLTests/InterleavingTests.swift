import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

/// Transactions on PostgreSQL see what was committed before each of their statements: wherever another one comes in
/// between, both callers must be told what they would have been told one after the other.
@Suite("Two at once are told what two in turn are, wherever the one meets the other")
struct InterleavingTests {
    private func key() throws -> IdempotencyKey {
        try #require(IdempotencyKey(scope: "s", key: "\(UInt64.random(in: 0...(.max)))", requestDigest: [1]))
    }

    private func told<Outcome>(_ result: Replayable<Outcome>, _ done: (Outcome) -> String) -> String {
        switch result {
        case .done(let outcome): done(outcome)
        case .replayed(let outcome): "\(done(outcome)) before"
        case .conflict: "conflict"
        }
    }

    private func told(_ outcome: CreateUser.Outcome) -> String {
        switch outcome {
        case .created: "made"
        case .externalIDTaken, .addressTaken: "taken"
        }
    }

    private func told(_ outcome: UpdateUser.Outcome) -> String {
        switch outcome {
        case .updated: "made"
        case .externalIDTaken, .addressTaken: "taken"
        case .notFound: "not found"
        }
    }

    private func told(_ result: AskChallenge.Outcome) -> String {
        switch result {
        case .asked: "made"
        case .refused(let refusal): "\(refusal)"
        }
    }

    private func ask(
        _ user: UserID, by client: Client, under key: IdempotencyKey? = nil, in world: World, _ ports: Ports
    ) async throws -> String {
        let request = try world.request(for: user)
        return told(
            try await AskChallenge.ask(request, by: client.credential, idempotency: key, ports: ports), told)
    }

    /// Expects that both are told these, in either order.
    private func expect(
        _ expected: [String], _ told: (first: String, second: String), _ comment: Comment,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect([told.first, told.second].sorted() == expected, comment, sourceLocation: location)
    }

    @Test("Of two changes of one client neither takes back what the other did")
    func oneClient() async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        let name = try ClientName("ACME Bank")
        let places = try await meeting.everywhere { world in
            let shop = try await world.makeClient().client
            func change(_ changes: ClientChanges) -> Interleaving.Operation {
                { ports in
                    try await UpdateClient.update(shop.id, changes, by: shop.actor, ports: ports) == .notFound
                        ? "none" : "changed"
                }
            }
            return (shop.id, change(.init(name: name)), change(.init(rights: [])))
        } judge: { id, told, comment in
            expect(["changed", "changed"], told, comment)
            let client = try await world.store.read { try $0.clients.find(id) }
            #expect(client?.name == name && client?.rights == [], comment)
        }
        #expect(places >= 3)
    }

    @Test("Rights and vendors, which stand in one column, are changed beside each other")
    func onePermission() async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        let places = try await meeting.everywhere { world in
            let shop = try await world.makeClient().client
            func change(_ changes: ClientChanges) -> Interleaving.Operation {
                { ports in
                    try await UpdateClient.update(shop.id, changes, by: shop.actor, ports: ports) == .notFound
                        ? "none" : "changed"
                }
            }
            return (shop.id, change(.init(rights: [.users])), change(.init(vendors: [.oneWelcome])))
        } judge: { id, told, comment in
            expect(["changed", "changed"], told, comment)
            let client = try await world.store.read { try $0.clients.find(id) }
            #expect(client?.rights == [.users] && client?.vendors == [.oneWelcome], comment)
        }
        #expect(places >= 3)
    }

    @Test("One answer by JWT, sent twice at once, decides once, and gets its reply twice")
    func oneToken() async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        let places = try await meeting.everywhere { world in
            let shop = try await world.makeClient(waives: true).client
            let user = try await world.makeUser(of: shop)
            let device = try await world.makeJWKDevice(of: user, by: shop)
            try await world.makeWeakType()
            let asked = try await world.ask(try world.request(for: user, type: "tap"), by: shop)
            let (id, token) = (asked.challenge.id, try await device.token(for: try await world.challenge(asked)))
            let answer: Interleaving.Operation = { ports in
                switch try await AnswerByJWT.answer(token, to: id, ports: ports) {
                case .decided(let status): status.state
                case .refused: "refused"
                default: "something else"
                }
            }
            return (id, answer, answer)
        } judge: { id, told, comment in
            expect(["approved", "approved"], told, comment)
            let receipts = try await world.count("receipts", where: "challenge_id = '\(id)'")
            #expect(receipts == 1, comment)
        }
        #expect(places >= 3)
    }

    private enum Events: CaseIterable {
        case oneEventTwice
        case twoEvents
        case eventAndReceipt
        case receiptAndEvent

        /// What both are told; one that is looked up after the end is no event any more.
        var expected: [[String]] {
            switch self {
            case .oneEventTwice: [["event approved", "event approved"], ["event approved", "not signed"]]
            case .twoEvents:
                ["approved", "denied"].flatMap {
                    [["event \($0)", "event \($0)"], ["event \($0)", "not signed"]]
                }
            case .eventAndReceipt, .receiptAndEvent:
                [
                    ["ended approved", "event approved"], ["decided denied", "event denied"],
                    ["decided denied", "not signed"],
                ]
            }
        }
    }

    @Test("A signed event decides once, whatever other answer comes at once", arguments: Events.allCases)
    private func events(_ events: Events) async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        let shop = try await world.makeClient(waives: true).client
        try await world.makeWeakType(assurance: .event)
        let places = try await meeting.everywhere { world in
            let user = try await world.makeUser(of: shop)
            let phone = try await world.makeDevice(of: user, by: shop)
            let device = try await world.makeEventDevice(of: user, by: shop)
            let asked = try await world.ask(try world.request(for: user, type: "tap"), by: shop)
            let id = asked.challenge.id
            try await phone.open(id)
            let (yes, no) = (try await device.answer(true), try await device.answer(false))
            let approve: Interleaving.Operation = { told(try await AnswerByEvent.answer(yes, ports: $0)) }
            let denial = AnswerRequest(message: try await phone.receipt(of: asked, .denied))
            let call = try await phone.call()
            let deny: Interleaving.Operation = {
                told(try await AnswerChallenge.answer(denial, to: id, by: call, ports: $0))
            }
            switch events {
            case .oneEventTwice: return (id, approve, approve)
            case .twoEvents: return (id, approve, { told(try await AnswerByEvent.answer(no, ports: $0)) })
            case .eventAndReceipt: return (id, approve, deny)
            case .receiptAndEvent: return (id, deny, approve)
            }
        } judge: { id, told, comment in
            #expect(events.expected.contains([told.first, told.second].sorted()), comment)
            let receipts = try await world.count("receipts", where: "challenge_id = '\(id)'")
            #expect(receipts == 1, comment)
            let ends = "kind IN ('challenge.approved', 'challenge.denied')"
            let ended = try await world.count("audit", where: "challenge_id = '\(id)' AND \(ends)")
            #expect(ended == 1, comment)
        }
        #expect(places >= 3)
    }

    private func told(_ outcome: AnswerByEvent.Outcome) -> String {
        switch outcome {
        case .decided(let shown): "event \(shown.stage)"
        case .notSigned: "not signed"
        default: "\(outcome)"
        }
    }

    @Test("Of two operators who give one API's name, one does, and the other is told that it is taken")
    func oneAPIName() async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        try await world.store.commit { store in
            for type in ChallengeType.builtIn { try store.types.put(type) }
        }
        // The keys that sign tokens are made before.
        let any = RelyingParty(client: try await world.makeClient().client.id, profile: .web, redirectURIs: [])
        #expect(try await SetRelyingParty.set(any, by: .system, ports: world.ports) == .set(any))
        try await world.store.refreshKeys()
        let places = try await meeting.everywhere { world in
            let name = try #require(ResourceIdentifier("https://\(UInt32.random(in: 0...(.max))).example/"))
            func give(_ client: ClientID) -> Interleaving.Operation {
                let party = RelyingParty(
                    client: client, profile: .web, redirectURIs: [],
                    resource: ProtectedResource(identifier: name, scopes: ["read"]))
                return { ports in
                    try await SetRelyingParty.set(party, by: .system, ports: ports) == .set(party) ? "made" : "taken"
                }
            }
            let rival = try await world.makeClient("Rival").client.id
            return (name, give(try await world.makeClient().client.id), give(rival))
        } judge: { name, told, comment in
            expect(["made", "taken"], told, comment)
            let owner = try await world.store.read { try $0.relyingParties.owner(of: name) }
            #expect(owner != nil, comment)
        }
        #expect(places >= 3)
    }

    @Test("A question that meets the client's being disabled is refused or cancelled, never left open")
    func askedWhileDisabled() async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        try await world.makeType()
        let places = try await meeting.everywhere { world in
            let shop = try await world.makeClient().client
            let user = try await world.makeUser(of: shop)
            _ = try await world.makeDevice(of: user, by: shop)
            let asking: Interleaving.Operation = { ports in
                let told = try await ask(user, by: shop, in: world, ports)
                return ["made", "caller(CountersignCore.CallerRefusal.disabled)"].contains(told)
                    ? "made or refused" : told
            }
            let disabling: Interleaving.Operation = { ports in
                try await DisableClient.disable(shop.id, by: shop.actor, ports: ports) == .notFound
                    ? "none" : "disabled"
            }
            return (shop.id, asking, disabling)
        } judge: { id, told, comment in
            expect(["disabled", "made or refused"], told, comment)
            let open = try await world.count("challenges", where: "client_id = '\(id)' AND state = 'pending'")
            #expect(open == 0, comment)
        }
        #expect(places >= 3)
    }

    @Test("One request under one key: a user, a ticket, a question, a client")
    func underOneKey() async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        let shop = try await world.makeClient().client
        try await world.makeType(maximumPending: 1)
        func bothTold(
            _ name: String, _ make: @escaping @Sendable (UserID, Ports, IdempotencyKey) async throws -> String
        ) async throws {
            let places = try await meeting.everywhere { world in
                let user = try await world.makeUser("\(UInt64.random(in: 0...(.max)))", of: shop)
                _ = try await world.makeDevice(of: user, by: shop)
                let key = try key()
                let operation: Interleaving.Operation = { try await make(user, $0, key) }
                return (user, operation, operation)
            } judge: { _, told, comment in
                expect(["made", "made before"], told, "\(name) \(comment)")
            }
            #expect(places >= 3)
        }
        try await bothTold("user") { user, ports, key in
            let result = try await CreateUser.create(
                externalID: try ExternalID("other \(user)"), by: shop.caller, idempotency: key, ports: ports
            )
            return told(result, told)
        }
        try await bothTold("ticket") { user, ports, key in
            let result = try await CreateTicket.create(for: .id(user), by: shop.caller, idempotency: key, ports: ports)
            return told(result) { if case .created = $0 { "made" } else { "no user" } }
        }
        try await bothTold("question") { user, ports, key in
            try await ask(user, by: shop, under: key, in: world, ports)
        }
        try await bothTold("client") { _, ports, key in
            let request = CreateClient.Request(
                name: try ClientName("Rival"), rights: [], callbackURIs: [], waivesEnrollmentApproval: false)
            return told(
                try await CreateClient.create(request, by: .system, idempotency: key, ports: ports)
            ) { _ in "made" }
        }
    }

    @Test("One external id for two users, and one question more than are allowed")
    func limits() async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        let shop = try await world.makeClient().client
        try await world.makeType(maximumPending: 1)
        let users = try await meeting.everywhere { _ in
            let name = try ExternalID("\(UInt64.random(in: 0...(.max)))")
            let operation: Interleaving.Operation = { ports in
                let result = try await CreateUser.create(
                    externalID: name, by: shop.caller, idempotency: nil, ports: ports)
                return told(result, told)
            }
            return ((), operation, operation)
        } judge: { _, told, comment in
            expect(["made", "taken"], told, comment)
        }
        #expect(users >= 3)
        let renames = try await meeting.everywhere { world in
            let name = try ExternalID("\(UInt64.random(in: 0...(.max)))")
            func rename(_ user: UserID) -> Interleaving.Operation {
                { ports in
                    told(
                        try await UpdateUser.update(
                            .id(user), UpdateUser.Changes(externalID: name), by: shop.caller, ports: ports))
                }
            }
            return ((), rename(try await world.makeUser(of: shop)), rename(try await world.makeUser(of: shop)))
        } judge: { _, told, comment in
            expect(["made", "taken"], told, comment)
        }
        #expect(renames >= 3)
        let questions = try await meeting.everywhere { world in
            let user = try await world.makeUser(of: shop)
            _ = try await world.makeDevice(of: user, by: shop)
            let operation: Interleaving.Operation = { try await ask(user, by: shop, in: world, $0) }
            return ((), operation, operation)
        } judge: { _, told, comment in
            expect(["made", "tooManyPending"], told, comment)
        }
        #expect(questions >= 3)
        try await world.makeType("resent", maximumResends: 1)
        let resends = try await meeting.everywhere { world in
            let user = try await world.makeUser(of: shop)
            _ = try await world.makeDevice(of: user, by: shop)
            let id = try await world.ask(try world.request(for: user, type: "resent"), by: shop).challenge.id
            let operation: Interleaving.Operation = { ports in
                switch try await ResendChallenge.resend(id, by: shop.caller, ports: ports) {
                case .resent: "resent"
                case .tooMany: "too many"
                case .reported: "reported"
                case .alreadyEnded, .notFound: "gone"
                }
            }
            return ((), operation, operation)
        } judge: { _, told, comment in
            expect(["resent", "too many"], told, comment)
        }
        #expect(resends >= 3)
    }

    private func told(_ outcome: EnrollDevice.Outcome) -> String {
        switch outcome {
        case .enrolled(_, nil): "enrolled"
        case .enrolled(_, .some): "waiting"
        case .ticketUsed: "ticket used"
        default: "\(outcome)"
        }
    }

    private enum Phones: CaseIterable {
        case onePhone
        case twoPhonesWithOneTicket
        case twoPhonesWithATicketEach

        var expected: [String] {
            switch self {
            case .onePhone: ["enrolled", "enrolled"]
            case .twoPhonesWithOneTicket: ["enrolled", "ticket used"]
            case .twoPhonesWithATicketEach: ["enrolled", "waiting"]
            }
        }
    }

    @Test("Enrolling", arguments: Phones.allCases)
    private func enrolling(_ phones: Phones) async throws {
        let meeting = try await Interleaving()
        let shop = try await meeting.world.makeClient().client
        let places = try await meeting.everywhere { world in
            let user = try await world.makeUser(of: shop)
            let ticket = try await world.makeTicket(for: user, by: shop)
            let phone = try await TestDevice(ticket, in: world)
            let other: TestDevice
            switch phones {
            case .onePhone: other = phone
            case .twoPhonesWithOneTicket: other = try await TestDevice(ticket, in: world)
            case .twoPhonesWithATicketEach:
                other = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
            }
            return (
                user, { told(try await phone.enroll(at: $0)) }, { told(try await other.enroll(at: $0)) }
            )
        } judge: { user, told, comment in
            expect(phones.expected, told, comment)
            let now = meeting.world.time.now
            let able = try await meeting.world.store.read { reader in
                try reader.enrollments.active(of: user).filter { $0.counts(at: now) }.count
            }
            #expect(able == 1, comment)
        }
        #expect(places >= 6)
    }

    private func told(_ outcome: AnswerChallenge.Outcome) -> String {
        switch outcome {
        case .decided(let reply): "decided \(reply.status.state)"
        case .alreadyEnded(let status): "ended \(status.state)"
        default: "\(outcome)"
        }
    }

    private enum Ends: CaseIterable {
        case oneAnswerTwice
        case twoAnswers
        case answerAndCancellation
        case cancellationAndAnswer

        var expected: [[String]] {
            switch self {
            case .oneAnswerTwice: [["decided approved", "decided approved"]]
            case .twoAnswers: [["decided approved", "ended approved"], ["decided denied", "ended denied"]]
            case .answerAndCancellation, .cancellationAndAnswer:
                [["decided approved", "ended approved"], ["cancelled", "ended cancelled"]]
            }
        }
    }

    @Test("Ending a question", arguments: Ends.allCases)
    private func ending(_ ends: Ends) async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        let shop = try await world.makeClient().client
        try await world.makeType()
        let places = try await meeting.everywhere { world in
            let user = try await world.makeUser(of: shop)
            let phone = try await world.makeDevice(of: user, by: shop)
            let asked = try await world.ask(try world.request(for: user), by: shop)
            let id = asked.challenge.id
            try await phone.open(id)
            let approval = AnswerRequest(
                message: try await phone.receipt(of: asked, .approved(.confirm, number: asked.number)))
            let denial = AnswerRequest(message: try await phone.receipt(of: asked, .denied))
            let calls = [try await phone.call(), try await phone.call()]
            let approve: Interleaving.Operation = {
                told(try await AnswerChallenge.answer(approval, to: id, by: calls[0], ports: $0))
            }
            let cancel: Interleaving.Operation = { ports in
                switch try await CancelChallenge.cancel(id, by: shop.caller, ports: ports) {
                case .cancelled: "cancelled"
                case .alreadyEnded(let status): "ended \(status.state)"
                case .notFound: "not found"
                }
            }
            switch ends {
            case .oneAnswerTwice:
                return (
                    (), approve, { told(try await AnswerChallenge.answer(approval, to: id, by: calls[1], ports: $0)) }
                )
            case .twoAnswers:
                return (
                    (), approve, { told(try await AnswerChallenge.answer(denial, to: id, by: calls[1], ports: $0)) }
                )
            case .answerAndCancellation: return ((), approve, cancel)
            case .cancellationAndAnswer: return ((), cancel, approve)
            }
        } judge: { _, told, comment in
            #expect(ends.expected.contains([told.first, told.second].sorted()), comment)
        }
        #expect(places >= 3)
    }

    @Test("A registration that comes while an older one is dropped stays", arguments: [true, false])
    func registrations(_ isDroppedFirst: Bool) async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        let shop = try await world.makeClient().client
        try await world.makeType()
        let app = try #require(AppID("com.example.bank"))
        let places = try await meeting.everywhere { world in
            let user = try await world.makeUser(of: shop)
            let phone = try await world.makeDevice(of: user, by: shop)
            func register(_ token: String) async throws -> Interleaving.Operation {
                let call = try await phone.call()
                let push = try #require(PushRegistration(service: .fcm, app: app, token: Secret(token)))
                return { ports in
                    let update = EnrollmentUpdate(push: .registered(push))
                    return try await UpdateEnrollment.update(update, by: call, ports: ports).get().push == nil
                        ? "nowhere" : "registered"
                }
            }
            _ = try await register("old")(world.ports)
            let asked = try await world.ask(try world.request(for: user), by: shop)
            let old = PushTarget(service: .fcm, app: app, registeredAt: world.time.now)
            let message = OutboxMessage(
                id: world.newID(), content: .push(asked.challenge.id, to: phone.enrollment, client: shop.id),
                dueAt: world.time.now, expiresAt: asked.challenge.expiresAt)
            try await world.store.commit { try $0.outbox.enqueue(message) }
            world.time.advance(milliseconds: 1)
            let drop: Interleaving.Operation = { ports in
                let attempt = EndedAttempt(message, as: .unregistered("gone", old))
                _ = try await RecordDelivery.record([attempt], at: ports.time.now, ports: ports)
                return "dropped"
            }
            let new = try await register("new")
            return isDroppedFirst ? (phone.enrollment, drop, new) : (phone.enrollment, new, drop)
        } judge: { enrollment, told, comment in
            expect(["dropped", "registered"], told, comment)
            let kept = try await world.store.read { try $0.pushes.find(of: enrollment) }
            #expect(kept?.registration.token.reveal() == "new", comment)
        }
        #expect(places >= 3)
    }

    private enum Departures: CaseIterable {
        case twoDevices
        case deviceAndQuestion
        case questionAndDevice
        case userAndEnrolling
        case enrollingAndUser
        case lastTwoLinks
    }

    /// What leaves while something counts on it: either comes first, and nothing is left that nobody can end.
    @Test("Devices and users that leave", arguments: Departures.allCases)
    private func departures(_ departures: Departures) async throws {
        let meeting = try await Interleaving()
        let world = meeting.world
        let shop = try await world.makeClient(waives: true).client
        let rival = try await world.makeClient("Rival").client
        try await world.makeType()
        let places = try await meeting.everywhere { world in
            let user = try await world.makeUser(of: shop)
            let remove: (TestDevice) async throws -> Interleaving.Operation = { phone in
                let call = try await phone.call()
                return { try await RemoveOwnEnrollment.remove(by: call, ports: $0) == .removed ? "gone" : "refused" }
            }
            let ask: Interleaving.Operation = { try await self.ask(user, by: shop, in: world, $0) }
            let unlink: Interleaving.Operation = { ports in
                try await UnlinkUser.unlink(.id(user), from: shop.caller, ports: ports) == .unlinked
                    ? "gone" : "not found"
            }
            switch departures {
            case .twoDevices:
                let phones = [
                    try await world.makeDevice(of: user, by: shop), try await world.makeDevice(of: user, by: shop),
                ]
                _ = try await world.ask(try world.request(for: user), by: shop)
                return (user, try await remove(phones[0]), try await remove(phones[1]))
            case .deviceAndQuestion:
                return (user, try await remove(try await world.makeDevice(of: user, by: shop)), ask)
            case .questionAndDevice:
                return (user, ask, try await remove(try await world.makeDevice(of: user, by: shop)))
            case .userAndEnrolling, .enrollingAndUser:
                let phone = try await TestDevice(try await world.makeTicket(for: user, by: shop), in: world)
                let enroll: Interleaving.Operation = { told(try await phone.enroll(at: $0)) }
                return departures == .userAndEnrolling ? (user, unlink, enroll) : (user, enroll, unlink)
            case .lastTwoLinks:
                try await world.store.commit { _ = try $0.links.put(user, to: rival.id, externalID: nil) }
                _ = try await world.makeDevice(of: user, by: shop)
                let other: Interleaving.Operation = { ports in
                    try await UnlinkUser.unlink(.id(user), from: rival.caller, ports: ports) == .unlinked
                        ? "gone" : "not found"
                }
                return (user, unlink, other)
            }
        } judge: { user, told, comment in
            let both = [told.first, told.second].sorted()
            switch departures {
            case .twoDevices, .lastTwoLinks: #expect(both == ["gone", "gone"], comment)
            case .deviceAndQuestion, .questionAndDevice:
                #expect([["gone", "made"], ["gone", "noEnrollment"]].contains(both), comment)
            case .userAndEnrolling, .enrollingAndUser:
                #expect([["enrolled", "gone"], ["gone", "ticketInvalid"]].contains(both), comment)
            }
            // Nobody is left who could answer, so nothing is left to be answered, and no device of nobody.
            let open = try await world.count("challenges", where: "user_id = '\(user)' AND state = 'pending'")
            #expect(open == 0, comment)
            let devices = try await world.count("enrollments", where: "user_id = '\(user)' AND removed_at IS NULL")
            #expect(devices == 0, comment)
            if departures == .lastTwoLinks {
                #expect(
                    try await world.count("users", where: "id = '\(user)' AND deleted_at IS NOT NULL") == 1, comment)
                #expect(
                    try await world.count("audit", where: "user_id = '\(user)' AND kind = 'user.deleted'") == 1, comment
                )
            }
        }
        #expect(places >= 3)
    }
}
