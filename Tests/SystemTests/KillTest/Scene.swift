import AsyncHTTPClient
import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing
import TestSupport

/// Two shops with four portals each, and eight users with one phone each.
struct Scene: Sendable {
    let keeper: any Served
    let ledger = Ledger()
    let caller: PersistentCaller
    let receiver: CallbackReceiver
    private(set) var portals: [Portal] = []
    private(set) var phones: [Phone] = []

    private static let portalsPerShop = 4

    /// Creates the fixture; the server must be running.
    ///
    /// - Parameters:
    ///   - keeper: the server.
    ///   - data: the folder with the server's bootstrap token.
    ///   - http: the HTTP client of the portals.
    ///   - receiver: the receiver of callbacks.
    ///   - port: the receiver's port.
    ///   - folder: the folder in which phones may keep their keys.
    ///   - texts: the folders in which servers leave text messages; empty if there are none.
    init(
        keeper: any Served, data: String, http: HTTPClient, receiver: CallbackReceiver, port: Int,
        folder: TemporaryFolder, texts: [String] = []
    ) async throws {
        self.keeper = keeper
        self.receiver = receiver
        caller = PersistentCaller(keeper: keeper, http: http, ledger: ledger)
        let token = try String(contentsOfFile: "\(data)/bootstrap.token", encoding: .utf8)
        let administrator = "Bearer \(token.trimmingCharacters(in: .whitespacesAndNewlines))"
        // The limits protect people against too many challenges; this test needs as many.
        var type = JSONObject(["max_pending": 1000, "max_asks": 1000, "denial_pause": 0, "expires_in": 600])
        for (name, methods) in [
            ("payment", ["confirm"]), ("by-pin", ["pin"]), ("by-phrase", ["custom:\(Shop.phrase)"]),
        ] {
            var type = type
            type["methods"] = .array(methods.map(JSONValue.string))
            _ = try await caller.call(
                .PUT, "/v1/admin/types/\(name)", JSONValue.object(type).encoded, authorization: administrator
            ).success()
        }
        var shops: [JSONValue] = []
        let club = try await makeShop("Chess Club", nil, administrator, waives: false)
        for name in ["ACME Shop", "Beta Bank"] {
            let path = "/callbacks/\(portals.count)"
            let shop = try await makeShop(
                name, "http://127.0.0.1:\(port)\(path)", administrator,
                hook: "http://127.0.0.1:\(port)\(CallbackReceiver.hook)")
            shops.append(.string(shop.clientID))
            receiver.expect(secret: shop.callbackSecret, at: path)
            var users: [String: Phone] = [:]
            for number in 0..<Self.portalsPerShop {
                let (user, phone) = try await makeUser(number, of: shop, folder)
                users[user] = phone
            }
            for _ in 0..<Self.portalsPerShop {
                portals.append(
                    Portal(
                        number: portals.count + 1, shop: shop, users: users.keys.sorted(), phones: users, club: club,
                        texts: texts, caller: caller))
            }
        }
        type["text_code"] = true
        type["clients"] = .array(shops)
        _ = try await caller.call(
            .PUT, "/v1/admin/types/by-text", JSONValue.object(type).encoded, authorization: administrator
        ).success()
    }

    private func makeShop(
        _ name: String, _ callbackURI: String?, _ administrator: String, waives: Bool = true, hook: String? = nil
    ) async throws -> Shop {
        let body = JSONValue.members([
            "name": .string(name), "callback_uris": .array(callbackURI.map { [.string($0)] } ?? []),
            "waive_enrollment_approval": .bool(waives), "return_uris": [.string(Shop.returnURI)],
            // Portals enter wrong PINs at the same time.
            "pin_policy": ["attempts": 10],
            "authenticators": hook.map { [["name": .string(Shop.phrase), "hook": .string($0), "attempts": 10]] },
        ])
        let made = try await caller.call(.POST, "/v1/admin/clients", body.encoded, authorization: administrator)
            .success()
        let id = try #require(made["client_id"]?.string)
        let secret = try #require(made["client_secret"]?.string)
        return Shop(
            clientID: id, authorization: "Basic \(Base64.encode(Array("\(id):\(secret)".utf8)))",
            administrator: administrator, callbackSecret: try #require(made["callback_secret"]?.string),
            callbackURI: callbackURI ?? "")
    }

    /// Half of the phones keep their keys in files, as an app does; this only affects time.
    private mutating func makeUser(
        _ number: Int, of shop: Shop, _ folder: TemporaryFolder
    ) async throws -> (String, Phone) {
        let name = "\(phones.count)"
        let externalID = "customer-\(name)"
        let (user, request) = try await caller.create(
            "/v1/users", .members(["external_id": .string(externalID)]), key: "user-\(name)", for: shop)
        let id = try #require(user["id"]?.string)
        await ledger.note(Ledger.MadeUser(id: id, externalID: externalID, shop: shop, request: request))
        let vault: any Vault =
            number.isMultiple(of: 2)
            ? try FileVault(at: folder.url.appending(path: "phone-\(name)")) : MemoryVault()
        let phone = try await Phone.make(server: keeper.url, ledger: ledger, keeper: keeper, vault: vault)
        try await phone.setUp(try await phone.enroll(user: id, name: name, by: shop, caller: caller))
        phones.append(phone)
        return (id, phone)
    }

    /// How long portals may take to end what they began; a text message has the longest life, ten minutes.
    private static let timeToEnd = Duration.seconds(900)

    /// Runs all portals and phones while the server is disturbed; returns when every challenge has ended.
    func play(_ settings: KillSettings, during torment: @escaping @Sendable () async throws -> Void) async throws {
        let isOver = Occurrence()
        let phones = phones
        try await withThrowingTaskGroup { group in
            let holders = Task { [phones] in
                await withDiscardingTaskGroup { group in for phone in phones { group.addTask { await phone.work() } } }
            }
            let watch = Task { [ledger] in
                await isOver.wait()
                try await Task.sleep(for: Self.timeToEnd)
                let left = await ledger.underWay.sorted().joined(separator: ", ")
                print("kill test: \(Self.timeToEnd) after the last kill there are still under way: \(left)")
            }
            defer {
                holders.cancel()
                watch.cancel()
            }
            group.addTask {
                defer { isOver.happen() }
                try await torment()
            }
            for portal in portals {
                group.addTask { try await portal.work(until: isOver, seed: settings.seed) }
            }
            try await group.waitForAll()
        }
    }
}
