import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0108-cotters-door.md.
@Suite("Cotter: a client's server makes and reads users")
struct CotterRecordTests {
    private static let noUser = "there is no such user"
    private static let mail = "putri@example.com"
    private static let needed =
        "only a client that keeps a secret, and shows it, makes and reads users by this call"

    /// Sends a request; whoever calls shows a secret, unless there is no caller.
    private static func send(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, by caller: Caller?, key: String? = nil,
        _ scene: CotterScene
    ) async throws -> Reply {
        var headers = [("API_KEY_ID", key ?? scene.key), ("API_SECRET_KEY", "w4FK6Zz0XIhtGY3o5biI")]
        if let caller { headers.append(("Authorization", caller.authorization)) }
        if body != nil { headers.append(("Content-Type", "application/json")) }
        return try await scene.server.send(
            method, "/api/v0\(path)", headers: headers, body: body?.encoded, isContract: false)
    }

    /// Makes a user: by the scene's client, or by another one.
    private static func create(
        _ body: JSONValue, by other: Caller? = nil, _ scene: CotterScene
    ) async throws -> Reply {
        try await send(
            .POST, "/user/create", body, by: other ?? scene.scene.shop, key: other?.clientID ?? scene.key, scene)
    }

    /// Reads a user: by the scene's client, or by another one.
    private static func get(_ path: String, by other: Caller? = nil, _ scene: CotterScene) async throws -> Reply {
        try await send(.GET, path, by: other ?? scene.scene.shop, key: other?.clientID ?? scene.key, scene)
    }

    /// Enrolls a device: by the scene's client, or by another one.
    private static func enroll(
        _ device: CotterDevice, of user: String, by other: Caller? = nil, _ scene: CotterScene
    ) async throws -> Reply {
        let body: JSONValue = ["method": "TRUSTED_DEVICE", "enrolled": true, "code": .string(device.publicKey)]
        let caller = other ?? scene.scene.shop
        return try await send(.PUT, "/user/\(user)", body, by: caller, key: caller.clientID, scene)
    }

    private static func userCount(_ scene: CotterScene) async throws -> Int {
        try await scene.scene.shop.call(.GET, "/v1/users").success()["users"]?.array?.count ?? 0
    }

    /// What an old client sends, and what the reply calls the user.
    private struct Form: Sendable {
        let body: JSONValue
        let name: String
        let identifier: String
    }

    private static let forms = [
        Form(body: ["identifier": "putri@example.com"], name: "", identifier: "putri@example.com"),
        Form(body: ["client_user_id": "1014", "identifier": ""], name: "1014", identifier: ""),
        Form(body: ["client_user_id": "1015", "identifiers": []], name: "1015", identifier: ""),
        Form(
            body: ["client_user_id": "anna@example.com", "identifier": "anna@example.com"], name: "anna@example.com",
            identifier: "anna@example.com"),
        Form(body: ["client_user_id": "", "identifier": "+15551234567"], name: "", identifier: "+15551234567"),
        Form(
            body: ["client_user_id": "643a42c7-1d3a-4e5b-8f6c-7a8b9c0d1e2f", "identifier": .null],
            name: "643a42c7-1d3a-4e5b-8f6c-7a8b9c0d1e2f", identifier: ""),
    ]

    @Test("Made in each form of the old clients, and read by id, name and address; it gives no tokens")
    func creates() async throws {
        try await CotterScene.with { scene in
            for form in Self.forms {
                let made = try await Self.create(form.body, scene).success()
                let names = made.object?.members.map(\.name)
                #expect(
                    names == [
                        "ID", "created_at", "updated_at", "update_at", "deleted_at", "issuer", "client_user_id",
                        "identifier", "enrolled", "default_method",
                    ])
                #expect(made["client_user_id"] == .string(form.name) && made["issuer"] == .string(scene.key))
                #expect(made["identifier"] == .string(form.identifier) && made["enrolled"] == [], "\(made)")
                let id = try #require(made["ID"]?.string)
                let user = try #require(UserID(id))
                var paths = ["/user/\(id)", "/user/\(user.uuid)", "/user/\(user.uuid.uppercased())"]
                if !form.name.isEmpty { paths.append("/user/\(form.name)") }
                if !form.identifier.isEmpty {
                    paths.append("/user?identifier=\(FormText.encoded(form.identifier))")
                }
                for path in paths {
                    let read = try await Self.get(path, scene).success()
                    #expect(read == made, "\(path)")
                }
                let own = try await scene.scene.shop.call(.GET, "/v1/users/\(id)").success()
                #expect((own["external_id"]?.string ?? "") == form.name, "\(own)")
                #expect(((own["email"] ?? own["phone"])?.string ?? "") == form.identifier, "\(own)")
                // It is the client's word.
                #expect(own["email_verified"] != true && own["phone_verified"] != true, "\(own)")
            }
            let flagged = try await Self.send(
                .POST, "/user/create?oauth_token=true", ["client_user_id": "1016"], by: scene.scene.shop, scene)
            #expect(try flagged.success()["oauth_token"] == nil)
            #expect(try await scene.scene.administrator.auditCount("tokens.given") == 0)
        }
    }

    @Test("A second user of one name or address is refused, and nothing of it stays")
    func again() async throws {
        try await CotterScene.with { scene in
            let first = try await Self.create(["client_user_id": "1014", "identifier": .string(Self.mail)], scene)
                .success()
            let count = try await Self.userCount(scene)
            for body in [
                ["client_user_id": "1014", "identifier": .string(Self.mail)], ["identifier": .string(Self.mail)],
                ["identifier": "putri@EXAMPLE.com"], ["client_user_id": "1014"],
                ["client_user_id": "1015", "identifier": .string(Self.mail)],
                ["client_user_id": "1014", "identifier": "anna@example.com"],
            ] as [JSONValue] {
                expectMessage(try await Self.create(body, scene), 400, "User already exists")
            }
            #expect(try await Self.userCount(scene) == count)
            for path in ["/user/1014", "/user?identifier=\(Self.mail)"] {
                let read = try await Self.get(path, scene).success()
                #expect(read == first, "\(path)")
            }
            for path in ["/user/1015", "/user?identifier=anna@example.com"] {
                expectMessage(try await Self.get(path, scene), 404, Self.noUser)
            }
        }
    }

    @Test("An address that somebody has proved makes nobody theirs: the client's word stays its word")
    func claimed() async throws {
        try await CotterScene.with { scene in
            let result = try await scene.prove(Self.mail, in: TestBrowser(scene.server)).result
            let identity = try await scene.identity(scene.redemption(result)).success()
            let putri = try #require(identity["user"]?["ID"]?.string)
            let path = "/user?identifier=\(Self.mail)"
            let other = try await scene.server.makeClient("Other", ["vendors": ["cotter"]])
            expectMessage(try await Self.get(path, by: other, scene), 404, Self.noUser)
            let made = try await Self.create(["identifier": .string(Self.mail)], by: other, scene).success()
            let id = try #require(made["ID"]?.string)
            #expect(id != putri)
            let found = try await Self.get(path, by: other, scene).success()
            #expect(found == made)
            let shown = try await other.call(.GET, "/v1/users/\(id)").success()
            #expect(shown["email"] == .string(Self.mail) && shown["email_verified"] == false, "\(shown)")
            expectMessage(try await Self.get("/user/\(putri)", by: other, scene), 404, Self.noUser)
            // Where she has proved it, she is found by it, whatever the client says of somebody else.
            let own = try await Self.get(path, scene).success()
            #expect(own["ID"] == .string(putri) && own["identifier"] == .string(Self.mail), "\(own)")
            let second = try await Self.create(["identifier": .string(Self.mail)], scene).success()
            #expect(second["ID"]?.string != putri)
            let still = try await Self.get(path, scene).success()
            #expect(still == own)
        }
    }

    @Test("Of eight requests at once one makes the user; once let go, name and address make another one")
    func atOnce() async throws {
        try await CotterScene.with { scene in
            let body: JSONValue = ["client_user_id": "1014", "identifier": .string(Self.mail)]
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<8 { group.addTask { try await Self.create(body, scene) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let made = replies.filter { $0.status == 200 }
            #expect(made.count == 1 && replies.count { $0.status == 400 } == 7)
            let first = try #require(made.first?.json["ID"]?.string)
            #expect(try await scene.scene.shop.call(.DELETE, "/v1/users/\(first)").status == 204)
            let second = try await Self.create(body, scene).success()
            #expect(second["ID"] != .string(first))
            for path in ["/user/1014", "/user?identifier=\(Self.mail)"] {
                let read = try await Self.get(path, scene).success()
                #expect(read == second, "\(path)")
            }
        }
    }

    @Test("By the name that they choose nobody gets what is somebody else's, who has it as an id or an address")
    func chosenNames() async throws {
        try await CotterScene.with { scene in
            let user = try #require(UserID(scene.scene.user))
            let first = try await scene.prove(Self.mail, in: TestBrowser(scene.server)).result
            _ = try await scene.identity(scene.redemption(first)).success()
            for name in ["\(user)", user.uuid, Self.mail] {
                expectMessage(
                    try await Self.create(["client_user_id": .string(name)], scene), 400, "User already exists")
            }
            // Who has proved the address later does not get the devices of whose name it is.
            let mail = "anna@example.com"
            let made = try await Self.create(["client_user_id": .string(mail)], scene).success()
            let result = try await scene.prove(mail, in: TestBrowser(scene.server)).result
            let identity = try await scene.identity(scene.redemption(result)).success()
            let anna = try #require(identity["user"]?["ID"])
            #expect(anna != made["ID"])
            let enrolled = try await Self.enroll(try CotterDevice(), of: mail, scene).success()
            #expect(enrolled["ID"] == made["ID"])
            let named = try await Self.get("/user/\(mail)", scene).success()
            let proved = try await Self.get("/user?identifier=\(mail)", scene).success()
            #expect(named["ID"] == made["ID"] && proved["ID"] == anna)
        }
    }

    @Test("An app makes and reads nobody: by its key, with a wrong secret, as another client, without the right")
    func publicClients() async throws {
        try await CotterScene.with { scene in
            let calls: [(HTTPMethod, String, JSONValue?)] = [
                (.POST, "/user/create", ["identifier": .string(Self.mail)]), (.GET, "/user/customer-1", nil),
                (.GET, "/user/\(scene.scene.user)", nil), (.GET, "/user/nobody", nil),
                (.GET, "/user?identifier=\(Self.mail)", nil),
            ]
            let wrong = scene.server.caller("Basic \(Base64.encode(Array("\(scene.key):wrong".utf8)))")
            let other = try await scene.server.makeClient("Other", ["vendors": ["cotter"]])
            for (method, path, body) in calls {
                expectMessage(try await Self.send(method, path, body, by: nil, scene), 401, Self.needed)
                expectMessage(
                    try await Self.send(method, path, body, by: wrong, scene), 401, CotterSwitchTests.noKey)
                expectMessage(
                    try await Self.send(method, path, body, by: other, scene), 400,
                    "client_id is not that of the header")
            }
            let path = "/v1/admin/clients/\(scene.key)"
            let administrator = scene.scene.administrator
            let some: JSONValue = ["rights": ["challenges", "enrollments"]]
            #expect(try await administrator.call(.PATCH, path, some).status == 200)
            for (method, path, body) in calls {
                expectMessage(
                    try await Self.send(method, path, body, by: scene.scene.shop, scene), 401, Self.needed)
            }
            #expect(try await administrator.call(.PATCH, path, ["rights": ["users"]]).status == 200)
            #expect(try await Self.userCount(scene) == 1)
            for (method, path, body) in calls.prefix(3) {
                let reply = try await Self.send(method, path, body, by: scene.scene.shop, scene)
                #expect(reply.status == 200, "\(reply)")
            }
        }
    }

    @Test("After many wrong secrets the next are told to wait, and the right one is let in")
    func limit() async throws {
        try await CotterScene.with { scene in
            let wrong = scene.server.caller("Basic \(Base64.encode(Array("\(scene.key):wrong".utf8)))")
            for _ in 0..<20 {
                expectMessage(
                    try await Self.send(.GET, "/user/customer-1", by: wrong, scene), 401, CotterSwitchTests.noKey)
            }
            let refused = try await Self.send(.GET, "/user/customer-1", by: wrong, scene)
            expectMessage(refused, 429, "too many wrong secrets")
            #expect(refused.headers["retry-after"] != nil, "\(refused)")
            let read = try await Self.get("/user/customer-1", scene).success()
            #expect(read["ID"] == .string(scene.scene.user), "\(read)")
        }
    }

    @Test("Another client's user, one whom the client has let go, and nobody are one reply")
    func strangers() async throws {
        try await CotterScene.with { scene in
            let other = try await scene.server.makeClient("Other", ["vendors": ["cotter"]])
            let body: JSONValue = ["client_user_id": "1014", "identifier": .string(Self.mail)]
            let made = try await Self.create(body, by: other, scene).success()
            let id = try #require(made["ID"]?.string)
            let uuid = try #require(UserID(id)).uuid
            let own = try await Self.create(["client_user_id": "1015", "identifier": "anna@example.com"], scene)
                .success()
            let gone = try #require(own["ID"]?.string)
            #expect(try await Self.get("/user/1015", scene).status == 200)
            #expect(try await scene.scene.shop.call(.DELETE, "/v1/users/\(gone)").status == 204)
            for path in [
                "/user/\(id)", "/user/\(uuid)", "/user/1014", "/user?identifier=\(Self.mail)", "/user/\(gone)",
                "/user/1015", "/user?identifier=anna@example.com", "/user/nobody",
                "/user/usr_00000000000000000000000000", "/user/00000000-0000-0000-0000-000000000000",
                "/user?identifier=nobody@example.com", "/user?identifier=nobody",
            ] {
                expectMessage(try await Self.get(path, scene), 404, Self.noUser)
            }
            let theirs = try await Self.get("/user/1014", by: other, scene).success()
            #expect(theirs == made)
        }
    }

    @Test("Each member that is wrong, a body that is none, and a query without an address")
    func refused() async throws {
        try await CotterScene.with { scene in
            let long = JSONValue.string(String(repeating: "x", count: 256))
            for (body, name) in [
                ([:], "identifier"), (["client_user_id": "", "identifier": ""], "identifier"),
                (["identifier": "1014"], "identifier"), (["identifier": true], "identifier"),
                (["client_user_id": "1014", "identifier": "1014"], "identifier"),
                (["client_user_id": 1014], "client_user_id"), (["client_user_id": long], "client_user_id"),
                (["client_user_id": "1014", "identifiers": [.string(Self.mail)]], "identifiers"),
            ] as [(JSONValue, String)] {
                expectMessage(try await Self.create(body, scene), 400, "\(name) is missing or wrong")
            }
            for body in [[], "x", .null] as [JSONValue] {
                expectMessage(try await Self.create(body, scene), 400, "the body must be a JSON object")
            }
            for path in ["/user", "/user?identifier="] {
                expectMessage(try await Self.get(path, scene), 400, "identifier is missing or wrong")
            }
            #expect(try await Self.userCount(scene) == 1)
        }
    }

    @Test("A third party finds nobody by what they have proved elsewhere, and whom it has said to have the address")
    func thirdParties() async throws {
        try await CotterScene.with { scene in
            let user = scene.scene.user
            try await scene.claim("email", Self.mail)
            _ = try await scene.prove(Self.mail, in: TestBrowser(scene.server))
            let confirm = "/v1/admin/enrollments/\(scene.scene.phone.enrollment)/confirm"
            #expect(try await scene.scene.administrator.call(.POST, confirm).status == 204)
            // The user is the third party's, too.
            let browser = TestBrowser(scene.server)
            _ = try await scene.approve(Self.mail, in: browser)
            let made = try await scene.server.makeClient(
                "Calendar", ["third_party": true, "rights": ["users", "enrollments"], "vendors": ["cotter"]])
            let third = SignInPageScene(scene: scene.scene, browser: browser, credential: made.credential)
            try await third.set(["asked_browsers": "all", "registration": "open"])
            let page = try await browser.get(third.request())
            let allowed = try await browser.submit(page, to: "/signin/consent", [("decision", "allow")])
            #expect(allowed.result["code"] != nil, "\(allowed.reply)")
            let known = try await Self.get("/user/\(user)", by: made, scene).success()
            #expect(known["ID"] == .string(user) && known["identifier"] == "", "\(known)")
            let path = "/user?identifier=\(Self.mail)"
            let own = try await Self.get(path, scene).success()
            #expect(own["ID"] == .string(user), "\(own)")
            expectMessage(try await Self.get(path, by: made, scene), 404, Self.noUser)
            let device = try CotterDevice()
            expectMessage(try await Self.enroll(device, of: Self.mail, by: made, scene), 404, Self.noUser)
            let said = try await Self.create(["identifier": .string(Self.mail)], by: made, scene).success()
            #expect(said["ID"]?.string != user)
            let found = try await Self.get(path, by: made, scene).success()
            #expect(found == said)
            let enrolled = try await Self.enroll(device, of: Self.mail, by: made, scene).success()
            #expect(enrolled["ID"] == said["ID"])
        }
    }

    @Test(
        "A client's own name may have the form of a UUID or of an address: it is read and gets devices by it",
        arguments: ["8c7b6a5d-0981-4718-899b-bcd512de1aca", "anna@example.com", "+15551234567"])
    func ownNames(_ name: String) async throws {
        try await CotterScene.with { scene in
            let device = try CotterDevice()
            expectMessage(try await Self.enroll(device, of: name, scene), 404, Self.noUser)
            let made = try await Self.create(["client_user_id": .string(name)], scene).success()
            let read = try await Self.get("/user/\(name)", scene).success()
            #expect(read == made)
            let enrolled = try await Self.enroll(device, of: name, scene).success()
            #expect(enrolled["ID"] == made["ID"] && enrolled["enrolled"] == ["TRUSTED_DEVICE"])
        }
    }
}
