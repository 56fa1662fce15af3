import TestSupport

/// Everything that the server has acknowledged, and every violation.
actor Ledger {
    /// A challenge that was asked.
    struct Asked: Sendable {
        let id: String
        let shop: Shop
        let user: String
        /// The number that the portal shows; nil if there is none.
        let number: String?
        let plan: Plan
        let request: CreatingRequest
    }

    /// A request that creates something, and its reply.
    struct CreatingRequest: Sendable {
        let path: String
        let body: [UInt8]
        let key: String
        let reply: [UInt8]
    }

    /// A user that was created.
    struct MadeUser: Sendable {
        let id: String
        let externalID: String
        let shop: Shop
        let request: CreatingRequest
    }

    /// A device that was enrolled.
    struct Enrolled: Sendable {
        let id: String
        let user: String
        let shop: Shop
        let fingerprint: String
    }

    private(set) var asked: [String: Asked] = [:]
    private(set) var ends: [String: ToldEnd] = [:]
    private(set) var receipts: [String: [UInt8]] = [:]
    private(set) var users: [MadeUser] = []
    private(set) var tickets: [(shop: Shop, request: CreatingRequest)] = []
    private(set) var enrolled: [Enrolled] = []
    private(set) var removed: Set<String> = []
    /// The answers whose acknowledgements reached the phone.
    private(set) var answers = 0
    /// The return codes that a phone brought back after a link.
    private(set) var returns = 0
    /// The approved links whose return code was lost with a reply.
    private(set) var lostReturns = 0
    /// The new devices that an earlier device has approved.
    private(set) var letIn = 0
    /// The wrong PINs that the server has reported.
    private(set) var wrongPINs = 0
    /// What should not have happened.
    private(set) var violations: [String] = []
    /// What portals are doing, for the case that they never end.
    private(set) var underWay: Set<String> = []
    private var order: [String] = []
    private var waiting: [String: [CheckedContinuation<Asked, Never>]] = [:]

    func note(_ challenge: Asked) {
        if asked.updateValue(challenge, forKey: challenge.id) != nil { violate("\(challenge.id) was asked twice") }
        order.append(challenge.id)
        for continuation in waiting.removeValue(forKey: challenge.id) ?? [] {
            continuation.resume(returning: challenge)
        }
    }

    func note(_ user: MadeUser) { users.append(user) }

    func note(ticket: CreatingRequest, of shop: Shop) { tickets.append((shop, ticket)) }

    func note(_ enrollment: Enrolled) { enrolled.append(enrollment) }

    func note(removed enrollment: String) { removed.insert(enrollment) }

    func noteAnswer() { answers += 1 }

    func noteReturn() { returns += 1 }

    func noteLostReturn() { lostReturns += 1 }

    func noteLetIn() { letIn += 1 }

    func noteWrongPIN() { wrongPINs += 1 }

    /// Records that a party was told the end of a challenge.
    func note(end: ToldEnd, of id: String, told who: String) {
        if let earlier = ends[id] {
            if earlier != end { violate("\(id) was \(earlier), and \(who) was told \(end)") }
        } else {
            ends[id] = end
        }
        if let plan = asked[id]?.plan, !plan.ends.contains(end) {
            violate("\(id) was to \(plan), and \(who) was told \(end)")
        }
    }

    /// Records a fetched receipt, which must never change.
    func note(receipt: [UInt8], of id: String) {
        if let earlier = receipts.updateValue(receipt, forKey: id), earlier != receipt {
            violate("the receipt of \(id) changed")
        }
    }

    /// Records what a portal does as long as it does it.
    nonisolated func during(_ what: String, _ body: () async throws -> Void) async throws {
        await begin(what)
        let result = await Result { try await body() }
        await end(what)
        try result.get()
    }

    private func begin(_ what: String) { underWay.insert(what) }

    private func end(_ what: String) { underWay.remove(what) }

    func violate(_ what: String) { violations.append(what) }

    /// The data of a challenge, as soon as its portal has the reply.
    func asked(_ id: String) async -> Asked {
        if let asked = asked[id] { return asked }
        return await withCheckedContinuation { waiting[id, default: []].append($0) }
    }

    /// A random challenge that was asked earlier.
    func earlier(using generator: inout SeededGenerator) -> Asked? {
        order.randomElement(using: &generator).flatMap { asked[$0] }
    }
}
