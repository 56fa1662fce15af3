import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport

/// Checks that the server still has what it has acknowledged.
struct Inspector: Sendable {
    let caller: PersistentCaller
    private var ledger: Ledger { caller.ledger }

    init(caller: PersistentCaller) {
        self.caller = caller
    }

    /// Repeats a request with its key; the reply must have the same bytes.
    func repeatRequest(_ request: Ledger.CreatingRequest, of shop: Shop) async throws {
        let reply = try await caller.call(
            .POST, request.path, request.body, authorization: shop.authorization, key: request.key)
        if reply.status != 201 || reply.body != request.reply || reply.headers["idempotency-replayed"] != "true" {
            await ledger.violate(
                "\(request.key) repeated: \(reply), not \(String(decoding: request.reply, as: UTF8.self))")
        }
    }

    /// Checks that a challenge exists with the state that was told, and that its receipt verifies.
    func inspect(_ asked: Ledger.Asked) async throws {
        let known = await ledger.ends[asked.id]
        let reply = try await get("/v1/challenges/\(asked.id)", asked.shop)
        let status = ToldEnd(state: reply.json["state"]?.string ?? "", reason: reply.json["reason"]?.string)
        guard reply.status == 200, reply.json["user"] == .string(asked.user) else {
            return await ledger.violate("an acknowledged challenge: \(reply)")
        }
        if status.state == "pending" {
            if let known { await ledger.violate("\(asked.id) was \(known) and is pending again") }
            return
        }
        await ledger.note(end: status, of: asked.id, told: "who looked again")
        let receipt = try await get("/v1/challenges/\(asked.id)/receipt", asked.shop)
        guard status.hasReceipt(of: asked.plan) else {
            if receipt.code != "no_receipt" { await ledger.violate("\(asked.id) is \(status): \(receipt)") }
            return
        }
        guard receipt.status == 200 else { return await ledger.violate("\(asked.id) is \(status): \(receipt)") }
        await ledger.note(receipt: receipt.body, of: asked.id)
        let certificate = try await get("/v1/challenges/\(asked.id)/receipt?format=certificate", asked.shop)
        await verify(receipt, certificate, asked, status)
    }

    private func verify(_ receipt: Reply, _ certificate: Reply, _ asked: Ledger.Asked, _ end: ToldEnd) async {
        do {
            let verified = try VerifiedReceipt(
                message: String(decoding: receipt.body, as: UTF8.self),
                certificate: try Certificate(armored: String(decoding: certificate.body, as: UTF8.self)),
                now: UnixSeconds(clamping: Int64(Date().timeIntervalSince1970))
            ).receipt
            let devices = await ledger.enrolled.filter { $0.user == asked.user }.map(\.fingerprint)
            let isRight =
                switch (verified.decision, end.state, end.reason) {
                case (.approved(let method, let number), "approved", nil):
                    method.rawValue == asked.plan.method && number?.digits == asked.number
                case (.denied, "denied", "declined"), (.reported, "denied", "reported"): true
                default: false
                }
            if !isRight || "\(verified.challenge)" != asked.id || !devices.contains("\(verified.device)") {
                await ledger.violate("the receipt of \(asked.id), \(end), says \(verified)")
            }
        } catch {
            await ledger.violate("the receipt of \(asked.id) does not verify: \(error)")
        }
    }

    /// Checks that a user exists with the same name.
    func inspect(_ user: Ledger.MadeUser) async throws {
        let reply = try await get("/v1/users/\(user.id)", user.shop)
        if reply.status != 200 || reply.json["external_id"] != .string(user.externalID) {
            await ledger.violate("an acknowledged user: \(reply)")
        }
        try await repeatRequest(user.request, of: user.shop)
    }

    /// Checks that an enrollment exists, and that it is removed if and only if that was acknowledged.
    func inspect(_ enrollment: Ledger.Enrolled) async throws {
        let reply = try await get("/v1/users/\(enrollment.user)/enrollments", enrollment.shop)
        let found = reply.json["enrollments"]?.array?.first { $0["enrollment"] == .string(enrollment.id) }
        let state = await ledger.removed.contains(enrollment.id) ? "removed" : "active"
        if found?["state"] != .string(state) || found?["fingerprint"] != .string(enrollment.fingerprint) {
            await ledger.violate("an acknowledged enrollment, \(enrollment.id), is to be \(state): \(reply)")
        }
    }

    private func get(_ path: String, _ shop: Shop) async throws -> Reply {
        try await caller.call(.GET, path, authorization: shop.authorization)
    }

    /// Checks everything, with eight checks at a time.
    func inspectAll() async throws {
        let asked = await Array(ledger.asked.values)
        try await inEight(asked) { asked in
            try await inspect(asked)
            try await repeatRequest(asked.request, of: asked.shop)
        }
        try await inEight(await ledger.users) { try await inspect($0) }
        try await inEight(await ledger.tickets) { try await repeatRequest($0.request, of: $0.shop) }
        try await inEight(await ledger.enrolled) { try await inspect($0) }
    }

    private func inEight<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            for lane in 0..<8 {
                group.addTask {
                    for index in stride(from: lane, to: elements.count, by: 8) { try await body(elements[index]) }
                }
            }
            try await group.waitForAll()
        }
    }
}
