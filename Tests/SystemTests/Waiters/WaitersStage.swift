import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

/// A shop, a user with an open challenge, and users with a device that have not been asked yet.
struct WaitersStage: Sendable {
    /// The waiting requests of each device, a few less than the limit.
    private static let pollsPerDevice = 6

    private let caller: PersistentCaller
    private let shop: String
    private let challenge: String
    private let devices: [(user: String, device: WaitingDevice)]

    /// Creates the fixture, with enough devices for half of the polls.
    init(polls: Int, caller: PersistentCaller, data: String) async throws {
        self.caller = caller
        let token = try String(contentsOfFile: "\(data)/bootstrap.token", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let made = try await caller.call(
            .POST, "/v1/admin/clients",
            JSONValue.members(["name": "Shop", "waive_enrollment_approval": true]).encoded,
            authorization: "Bearer \(token)"
        ).success()
        let id = try #require(made["client_id"]?.string)
        let secret = try #require(made["client_secret"]?.string)
        let shop = "Basic \(Base64.encode(Array("\(id):\(secret)".utf8)))"
        self.shop = shop
        func post(_ path: String, _ body: JSONValue = [:]) async throws -> JSONValue {
            try await caller.call(.POST, path, body.encoded, authorization: shop).success()
        }
        var devices: [(String, WaitingDevice)] = []
        for _ in 0...(polls / 2 / Self.pollsPerDevice + 1) {
            let user = try #require(try await post("/v1/users")["id"]?.string)
            let ticket = try #require(try await post("/v1/users/\(user)/enrollment-tickets")["qr"]?.string)
            devices.append((user, try await WaitingDevice(ticket: ticket, caller: caller)))
        }
        let asked = devices.removeLast().0
        challenge = try #require(try await post("/v1/challenges", Self.question(to: asked))["id"]?.string)
        self.devices = devices.map { (user: $0.0, device: $0.1) }
    }

    private static func question(to user: String) -> JSONValue {
        ["user": .string(user), "type": "confirm", "message": "Sign in?"]
    }

    /// The bytes of one poll.
    func request(_ index: Int) async throws -> [UInt8] {
        guard index.isMultiple(of: 2) else {
            return try await devices[index / 2 % devices.count].device.pollRequest()
        }
        let lines = [
            "GET /v1/challenges/\(challenge)?wait=60 HTTP/1.1", "Host: 127.0.0.1", "Authorization: \(shop)", "", "",
        ]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    /// Cancels the challenge, and asks all users who have not been asked.
    func tellAll() async throws {
        _ = try await caller.call(.DELETE, "/v1/challenges/\(challenge)", authorization: shop).success()
        for (user, _) in devices {
            _ = try await caller.call(
                .POST, "/v1/challenges", Self.question(to: user).encoded, authorization: shop
            ).success()
        }
    }
}
