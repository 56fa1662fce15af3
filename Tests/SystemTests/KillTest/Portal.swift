import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

/// A portal of a shop: it asks users, waits for the outcomes, cancels some challenges, and sometimes creates a user
/// with a device.
struct Portal: Sendable {
    let number: Int
    let shop: Shop
    /// The shop's users with a phone.
    let users: [String]
    /// The phones of the users who can open links.
    let phones: [String: Phone]
    /// A shop without waivers: a further device of a user waits for the approval of an earlier one.
    let club: Shop?
    /// The folders in which the servers leave text messages; empty if there are none.
    let texts: [String]
    let caller: PersistentCaller
    let inspector: Inspector
    private var ledger: Ledger { caller.ledger }

    init(
        number: Int, shop: Shop, users: [String], phones: [String: Phone] = [:], club: Shop? = nil,
        texts: [String] = [], caller: PersistentCaller
    ) {
        self.number = number
        self.shop = shop
        self.users = users
        self.phones = phones
        self.club = club
        self.texts = texts
        self.caller = caller
        inspector = Inspector(caller: caller)
    }

    /// Works until it is time to stop, and then waits for the outcome of everything that it began.
    func work(until isOver: Occurrence, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed, of: number)
        var round = 0
        try await withThrowingTaskGroup { group in
            while !isOver.hasHappened {
                round += 1
                let name = "\(number)-\(round)"
                switch Int.random(in: 0..<100, using: &random) {
                case ..<4:
                    let leaves = random.happens(percent: 30)
                    try await ledger.during("guest \(name)") { try await welcomeGuest(name, leaves: leaves) }
                case ..<6:
                    guard let club else { continue }
                    try await ledger.during("pair \(name)") { try await welcomePair(name, at: club) }
                case ..<16:
                    if let earlier = await ledger.earlier(using: &random) { try await inspector.inspect(earlier) }
                default:
                    let asked = try await ask(name, using: &random)
                    if asked.plan == .ignore {
                        group.addTask { try await follow(asked) }
                    } else {
                        try await follow(asked)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func ask(_ name: String, using random: inout SeededGenerator) async throws -> Ledger.Asked {
        let user = try #require(users.randomElement(using: &random))
        let plan = Plan.random(using: &random)
        let asked = try await ask(name, user: user, planned: plan == .text && texts.isEmpty ? .approve : plan)
        if random.happens(percent: 10) { try await inspector.repeatRequest(asked.request, of: shop) }
        return asked
    }

    /// Asks one of the users, the first by default.
    func ask(
        _ name: String, user: String? = nil, planned plan: Plan, lifetime: Int64? = nil
    ) async throws -> Ledger.Asked {
        let user = try #require(user ?? users.first)
        let body = JSONValue.members([
            "user": .string(user), "type": .string(plan.type), "message": .string("Pay invoice \(name)?"),
            "details": plan == .text ? nil : [["label": "Amount", "value": "EUR 12.00"]],
            "expires_in": .integer(lifetime ?? plan.lifetime),
            "callback_uri": .string(shop.callbackURI), "state": .string(name),
            "return_uri": plan == .link ? .string(Shop.returnURI) : nil,
            "phone": plan == .text ? .string(Self.telephone(name)) : nil,
        ])
        let (reply, request) = try await caller.create("/v1/challenges", body, key: "ask-\(name)", for: shop)
        let number = plan.showsNumber ? try #require(reply["number"]?.string) : nil
        let asked = Ledger.Asked(
            id: try #require(reply["id"]?.string), shop: shop, user: user, number: number, plan: plan,
            request: request)
        await ledger.note(asked)
        return asked
    }

    private func follow(_ asked: Ledger.Asked) async throws {
        try await ledger.during("\(asked.plan) \(asked.id)") { try await followToItsEnd(asked) }
    }

    private func followToItsEnd(_ asked: Ledger.Asked) async throws {
        switch asked.plan {
        case .cancel: try await cancel(asked)
        case .link: try await lead(asked)
        case .text: try await enterCode(asked)
        case .approve, .deny, .report, .mistype, .ignore, .pin, .wrongPIN, .custom: break
        }
        while true {
            let reply = try await caller.call(
                .GET, "/v1/challenges/\(asked.id)?wait=10", authorization: shop.authorization)
            guard reply.status == 200 else { return await ledger.violate("an acknowledged challenge: \(reply)") }
            if reply.json["state"] != "pending" { return await note(reply.json, of: asked, by: "the portal") }
        }
    }

    private func cancel(_ asked: Ledger.Asked) async throws {
        let path = "/v1/challenges/\(asked.id)"
        let reply = try await caller.call(.DELETE, path, authorization: shop.authorization)
        // The status is 409 with the state if an answer was faster, or if the reply to an earlier attempt was lost.
        if reply.code == "already_ended" || reply.status == 200 {
            await note(reply.json, of: asked, by: "the portal that cancels")
        } else {
            await ledger.violate("cancelling: \(reply)")
        }
    }

    /// A separate telephone number for each challenge, so that no limit is reached and each message can be found.
    private static func telephone(_ name: String) -> String {
        let parts = name.split(separator: "-").compactMap { Int($0) }
        return "+1\(5_550_000_000 + parts.reduce(0) { $0 * 100_000 + $1 })"
    }

    /// Enters the code from the text message, sometimes a wrong one first.
    private func enterCode(_ asked: Ledger.Asked) async throws {
        let request = try JSONValue(parsing: asked.request.body)
        let code = try await receivedCode(of: try #require(request["phone"]?.string))
        for typed in [code == "000000" ? "000001" : "000000", code] {
            let reply = try await caller.call(
                .POST, "/v1/challenges/\(asked.id)/code", JSONValue.members(["code": .string(typed)]).encoded,
                authorization: shop.authorization)
            switch (typed == code, reply.status, reply.code) {
            case (false, 422, "code_incorrect"): continue
            case (true, 200, _), (true, _, "already_ended"):
                await ledger.noteAnswer()
                await note(reply.json, of: asked, by: "the portal that the code was typed into")
            default: await ledger.violate("typing \(typed == code ? "the" : "a wrong") code of \(asked.id): \(reply)")
            }
        }
    }

    private struct NoTextMessage: Error {
        let telephone: String
    }

    /// Waits for the code that is sent to a telephone, for three minutes at most.
    private func receivedCode(of telephone: String) async throws -> String {
        let end = ContinuousClock.now + .seconds(180)
        while ContinuousClock.now < end {
            for folder in texts {
                for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                    guard let message = try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8),
                        message.hasPrefix("To: \(telephone)\n"),
                        let code = message.dropFirst(telephone.count + 4).firstMatch(of: #/\b\d{6}\b/#)
                    else { continue }
                    return String(code.0)
                }
            }
            // The message is sent after its commit; nothing reports that, so this is polled.
            try await Task.sleep(for: .milliseconds(50))
        }
        throw NoTextMessage(telephone: telephone)
    }

    /// Opens a link on the user's phone, and presents the return code; only then is the challenge approved.
    private func lead(_ asked: Ledger.Asked) async throws {
        let phone = try #require(phones[asked.user])
        let link = try JSONValue(parsing: asked.request.reply)["code"]?["link"]?.string
        guard let url = try await phone.approve(try #require(link.flatMap { URL(string: $0) }), of: asked) else {
            await ledger.noteLostReturn()
            return try await cancel(asked)
        }
        let code = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first?.value
        let reply = try await caller.call(
            .POST, "/v1/challenges/\(asked.id)/return",
            JSONValue.members(["return_code": .string(try #require(code))]).encoded, authorization: shop.authorization)
        // The reply to an earlier attempt may be lost.
        guard reply.code == "already_ended" || reply.status == 200, reply.json["state"] == "approved" else {
            return await ledger.violate("\(asked.id) was approved by a link, and its code brings \(reply)")
        }
        await ledger.noteReturn()
        await note(reply.json, of: asked, by: "the portal that was returned to")
    }

    private func note(_ json: JSONValue, of asked: Ledger.Asked, by who: String) async {
        let status = ToldEnd(state: json["state"]?.string ?? "", reason: json["reason"]?.string)
        await ledger.note(end: status, of: asked.id, told: who)
    }

    /// Creates a user, a ticket and a device, which is removed again or stays.
    private func welcomeGuest(_ name: String, leaves: Bool) async throws {
        let externalID = "guest-\(name)"
        let (user, request) = try await caller.create(
            "/v1/users", .members(["external_id": .string(externalID)]), key: "user-\(name)", for: shop)
        let id = try #require(user["id"]?.string)
        await ledger.note(Ledger.MadeUser(id: id, externalID: externalID, shop: shop, request: request))
        let phone = try await Phone.make(server: caller.keeper.url, ledger: ledger, keeper: caller.keeper)
        let enrollment = try await phone.enroll(user: id, name: name, by: shop, caller: caller)
        guard leaves else { return }
        while true {
            do throws(CountersignError) {
                try await enrollment.remove()
                return await ledger.note(removed: "\(enrollment.id)")
            } catch {
                guard error.retryHelps else { return await ledger.violate("removing \(enrollment.id): \(error)") }
                try await caller.keeper.ready()
            }
        }
    }

    /// Creates a user with two devices, the second of which waits for the approval of the first.
    private func welcomePair(_ name: String, at club: Shop) async throws {
        let (user, _) = try await caller.create("/v1/users", .members([:]), key: "pair-\(name)", for: club)
        let id = try #require(user["id"]?.string)
        let first = try await Phone.make(server: caller.keeper.url, ledger: ledger, keeper: caller.keeper)
        _ = try await first.enroll(user: id, name: "first-\(name)", by: club, caller: caller)
        let second = try await Phone.make(server: caller.keeper.url, ledger: ledger, keeper: caller.keeper)
        let waiting = try await second.enroll(user: id, name: "second-\(name)", by: club, caller: caller)
        guard let number = waiting.approval?.number else {
            return await ledger.violate("\(waiting.id) waits for nobody, although its user has a device")
        }
        try await first.letIn("\(waiting.fingerprint)", number: number)
        if try await second.waits(waiting) {
            await ledger.violate("\(waiting.id) was let in and waits on")
        } else {
            await ledger.noteLetIn()
        }
    }
}
