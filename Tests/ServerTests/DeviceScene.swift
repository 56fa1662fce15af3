@testable import CountersignServer
import CountersignWire
import Encodings
import Logging
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import TestSupport
import Testing

/// A client, a user and the user's enrolled phone at a fresh server.
struct DeviceScene: Sendable {
    let server: TestServer
    let shop: Caller
    let user: String
    let phone: TestPhone

    /// Runs something in a fresh scene; the shop's tickets waive the approval of further devices.
    ///
    /// - Parameters:
    ///   - issuer: the server's public URL, when that is not where it listens.
    ///   - logger: where the server logs, too.
    ///   - body: is given the scene.
    static func with(
        issuer: Issuer? = nil, logger: Logger? = nil, mostLoad: Int? = nil,
        _ body: @escaping @Sendable (DeviceScene) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"), logger: logger,
            settings: { settings in
                settings.issuer = issuer
                if let mostLoad { settings.mostLoad = mostLoad }
            }
        ) { server in
            let policy: JSONValue = ["max_pending": 1000, "max_asks": 1000, "denial_pause": 0]
            _ = try await server.administrator.call(.PUT, "/v1/admin/types/payment", policy).success()
            let shop = try await server.makeClient("ACME Shop", ["waive_enrollment_approval": true])
            let user = try await shop.makeUser("customer-1")
            let phone = try await TestPhone.enrolled(for: user, by: shop, at: server)
            try await body(DeviceScene(server: server, shop: shop, user: user, phone: phone))
        }
    }

    /// A challenge as the shop knows it.
    struct Asked: Sendable {
        let id: String
        let number: EntryNumber
        /// A number that is not the one shown.
        var wrongNumber: EntryNumber {
            EntryNumber(value: ((UInt32(number.digits) ?? 0) + 1) % 1_000_000)
        }
        var path: String { "/v1/challenges/\(id)" }
    }

    /// Everything a challenge can hold, so that its receipt has every line there is.
    static let everything = JSONObject([
        "secure_message": "Pay EUR 1,250.00 to ACME GmbH?\n\nThe café's espresso machine.",
        "details": [
            ["label": "Amount", "value": "EUR 1,250.00"], ["label": "Payee", "value": "ACME GmbH, DE89 3704"],
        ],
        "signing_data": "order 4711",
        "context": ["ip": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"],
    ])

    /// Asks by a type that a PIN answers, after the phone has set one.
    func askForPIN() async throws -> Asked {
        _ = try await server.administrator.call(
            .PUT, "/v1/admin/types/payment", ["methods": ["pin", "confirm"], "denial_pause": 0]
        ).success()
        _ = try await phone.setPIN()
        return try await ask()
    }

    /// Asks the user something with a number to type.
    func ask(_ members: JSONObject = everything) async throws -> Asked {
        let asked = try await shop.ask(user, members)
        return Asked(
            id: try #require(asked["id"]?.string),
            number: try #require(asked["number"]?.string.flatMap { EntryNumber($0) }))
    }

    /// Another phone of the same user, enrolled.
    func anotherPhone() async throws -> TestPhone {
        try await TestPhone.enrolled(for: user, by: shop, at: server)
    }

    /// A phone of another user of the same shop, enrolled.
    func strangersPhone() async throws -> TestPhone {
        try await TestPhone.enrolled(for: try await shop.makeUser(), by: shop, at: server)
    }

    /// How a challenge stands, as the shop sees it.
    func status(of asked: Asked) async throws -> ChallengeStatus {
        try ChallengeStatus(try await shop.call(.GET, asked.path).success())
    }

    /// The right answer: an approval, sealed.
    func approval(
        of asked: Asked, by phone: TestPhone? = nil, number: EntryNumber? = nil
    ) async throws -> [UInt8] {
        let phone = phone ?? self.phone
        let question = try await phone.open(asked.id).question
        let receipt = phone.receipt(of: question, .approved(.confirm, number: number ?? asked.number))
        return try await phone.seal(receipt.text)
    }

    /// The audit's events of a kind, in order.
    func events(_ kind: String) async throws -> [JSONValue] {
        var found: [JSONValue] = []
        var cursor = "0"
        while true {
            let page = try await server.administrator.call(.GET, "/v1/admin/events?cursor=\(cursor)").success()
            let events = try #require(page["events"]?.array)
            guard !events.isEmpty else { return found }
            found += events.filter { $0["kind"] == .string(kind) }
            cursor = try #require(page["cursor"]?.string)
        }
    }

    /// Expects that nothing came of what was tried: the challenge waits without a receipt, the enrollment is as it was,
    /// and the right answer still approves.
    func expectUntouched(_ asked: Asked, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(
            try await status(of: asked) == ChallengeStatus(state: "pending", reason: nil),
            sourceLocation: sourceLocation)
        let receipt = try await shop.call(.GET, "\(asked.path)/receipt")
        #expect(receipt.refusal == Refusal(404, "no_receipt"), sourceLocation: sourceLocation)
        let devices = try await shop.call(.GET, "/v1/users/\(user)/enrollments").success()["enrollments"]?.array
        let own = devices?.first { $0["enrollment"] == .string("\(phone.enrollment)") }
        #expect(own?["state"] == "active", sourceLocation: sourceLocation)
        #expect(own?["fingerprint"] == .string("\(phone.certificate.fingerprint)"), sourceLocation: sourceLocation)
        let reply = try await phone.answer(asked.id, message: try await approval(of: asked))
        #expect(reply.status == 200, "\(reply)", sourceLocation: sourceLocation)
        #expect(reply.json["state"] == "approved", "\(reply)", sourceLocation: sourceLocation)
    }
}

/// A refusal as it travels.
struct Refusal: Hashable, Sendable, CustomStringConvertible {
    let status: Int
    let code: String

    init(_ status: Int, _ code: String) {
        self.status = status
        self.code = code
    }

    var description: String { "\(status) \(code)" }
}

extension Reply {
    /// The status and code of a problem; a success has the code "".
    var refusal: Refusal { Refusal(status, code ?? "") }
}
