import Countersign
import CountersignWire
import Encodings
import Foundation
import Testing

/// A phone that uses the SDK as an app does, with real keys.
struct Phone: Sendable {
    let authenticator: Authenticator
    let ledger: Ledger
    let keeper: any Served

    static func make(
        server: String, ledger: Ledger, keeper: any Served, vault: any Vault = MemoryVault()
    ) async throws -> Phone {
        let url = try #require(URL(string: server))
        let app = AppDescription(name: "Test app", version: "1", deviceName: "Test phone")
        return Phone(
            authenticator: try await Authenticator(
                issuer: url, app: app, vault: vault, transport: CountedTransport(flights: keeper.flights)),
            ledger: ledger, keeper: keeper)
    }

    /// Enrolls with a ticket, and tries again with it if the SDK gave up because the server was down for too long.
    func enroll(user: String, name: String, by shop: Shop, caller: PersistentCaller) async throws -> Enrollment {
        let (ticket, request) = try await caller.create(
            "/v1/users/\(user)/enrollment-tickets", .members([:]), key: "ticket-\(name)", for: shop)
        await ledger.note(ticket: request, of: shop)
        while true {
            do throws(CountersignError) {
                let enrollment = try await authenticator.enroll(with: .ticket(ticket["qr"]?.string ?? ""))
                await ledger.note(
                    Ledger.Enrolled(
                        id: "\(enrollment.id)", user: user, shop: shop, fingerprint: "\(enrollment.fingerprint)"))
                return enrollment
            } catch {
                guard error.retryHelps else { throw error }
                try await keeper.ready()
            }
        }
    }

    /// Answers all challenges as planned, until the task is cancelled.
    func work() async {
        await withDiscardingTaskGroup { group in
            for await pending in authenticator.challenges() {
                group.addTask { await handle(pending) }
            }
            group.cancelAll()
        }
    }

    private func handle(_ pending: PendingChallenge) async {
        let asked = await ledger.asked("\(pending.id)")
        // The portals handle the plans with a link themselves.
        guard asked.plan != .ignore, asked.plan != .link, asked.plan != .text else { return }
        while !Task.isCancelled {
            do throws(CountersignError) {
                try await decide(try await pending.open(), as: asked)
                return
            } catch {
                switch error {
                case .challengeEnded(let state, let reason):
                    await ledger.note(end: ToldEnd(state: state, reason: reason), of: asked.id, told: "the phone")
                    return
                case .alreadyAnswered, .challengeExpired: return
                default:
                    guard error.retryHelps else { return await ledger.violate("answering \(asked.id): \(error)") }
                    guard (try? await keeper.ready()) != nil else { return }
                }
            }
        }
    }

    private func decide(_ opened: OpenedChallenge, as asked: Ledger.Asked) async throws(CountersignError) {
        let end: ToldEnd
        switch asked.plan {
        case .pin:
            try await opened.approve(with: .pin(try PIN(Self.pin)), number: asked.number)
            end = .approved
        case .wrongPIN:
            try await mistypePIN(opened, as: asked)
            try await opened.approve(with: .pin(try PIN(Self.pin)), number: asked.number)
            end = .approved
        case .custom:
            try await approveByPhrase(opened, as: asked)
            end = .approved
        case .approve, .cancel, .ignore, .link, .text:
            try await opened.approve(with: .confirmation, number: asked.number)
            end = .approved
        case .deny:
            try await opened.deny()
            end = ToldEnd(state: "denied", reason: "declined")
        case .report:
            try await opened.report()
            end = ToldEnd(state: "denied", reason: "reported")
        case .mistype:
            do throws(CountersignError) {
                try await opened.approve(with: .confirmation, number: asked.number == "000000" ? "000001" : "000000")
                return await ledger.violate("\(asked.id) was approved with a wrong number")
            } catch .numberIncorrect {
                end = ToldEnd(state: "failed", reason: "wrong_number")
            }
        }
        await ledger.noteAnswer()
        await ledger.note(end: end, of: asked.id, told: "the phone that answered")
    }

    static let pin = "835174"

    private func mistypePIN(_ opened: OpenedChallenge, as asked: Ledger.Asked) async throws(CountersignError) {
        do throws(CountersignError) {
            try await opened.approve(with: .pin(try PIN("471174")), number: asked.number)
            await ledger.violate("\(asked.id) was approved by a wrong PIN")
        } catch .pinIncorrect {
            await ledger.noteWrongPIN()
        }
    }

    /// Approves by the custom authenticator; the hook sometimes asks for another attempt.
    private func approveByPhrase(_ opened: OpenedChallenge, as asked: Ledger.Asked) async throws(CountersignError) {
        while true {
            do throws(CountersignError) {
                try await opened.approve(with: .custom(Shop.phrase, data: asked.id), number: asked.number)
                return
            } catch .customRetry {
                continue
            }
        }
    }

    /// Sets up every method for an enrollment.
    func setUp(_ enrollment: Enrollment) async throws(CountersignError) {
        let pin = try PIN(Self.pin)
        try await enrollment.setPIN(pin)
        try await enrollment.register(custom: Shop.phrase, data: "\(enrollment.id)", pin: pin)
    }

    /// Approves the device with this fingerprint, which shows this number.
    func letIn(_ fingerprint: String, number: String) async throws {
        for await pending in authenticator.challenges() {
            if try await isLetIn(fingerprint, number: number, by: pending) { return }
        }
    }

    /// Approves the device if the challenge is about it; each challenge is announced once, so calls are repeated until
    /// they are answered.
    private func isLetIn(_ fingerprint: String, number: String, by pending: PendingChallenge) async throws -> Bool {
        while true {
            do throws(CountersignError) {
                let opened = try await pending.open()
                guard opened.details.contains(where: { $0.value == fingerprint }) else { return false }
                try await opened.approve(with: .confirmation, number: number)
                return true
            } catch {
                switch error {
                case .challengeEnded(let state, _) where state == "approved": return true
                case .alreadyAnswered: return true
                default:
                    guard error.retryHelps else { throw error }
                    try await keeper.ready()
                }
            }
        }
    }

    /// Whether an enrollment waits for approval.
    func waits(_ enrollment: Enrollment) async throws -> Bool {
        while true {
            do throws(CountersignError) {
                return try await enrollment.refresh() != nil
            } catch {
                guard error.retryHelps else { throw error }
                try await keeper.ready()
            }
        }
    }

    /// Approves the challenge of a link.
    ///
    /// - Returns: the URL for the browser; nil if the server was down for so long that the app got no reply.
    func approve(_ link: URL, of asked: Ledger.Asked) async throws -> URL? {
        while true {
            do throws(CountersignError) {
                guard let enrollment = await authenticator.enrollments.first else { throw .notEnrolled }
                let approved = try await enrollment.claim(link: link).approve(with: .confirmation)
                guard let url = approved.returnURL else {
                    await ledger.violate("\(asked.id) was approved by a link that leads nowhere")
                    return nil
                }
                await ledger.noteAnswer()
                return url
            } catch {
                switch error {
                case .alreadyAnswered, .challengeEnded, .challengeExpired, .codeRefused(.expired): return nil
                default:
                    guard error.retryHelps else {
                        await ledger.violate("following the link of \(asked.id): \(error)")
                        return nil
                    }
                    try await keeper.ready()
                }
            }
        }
    }
}
