import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Okta: a device enrolls")
struct OktaEnrollmentTests {
    /// The request with another value at a path; nil leaves it out.
    private static func changed(_ request: JSONObject, _ path: [String], _ value: JSONValue?) -> JSONObject {
        var request = request
        guard let first = path.first else { return request }
        if path.count == 1 {
            request[first] = value
        } else {
            let inner = request[first]?.object ?? JSONObject()
            request[first] = .object(changed(inner, Array(path.dropFirst()), value))
        }
        return request
    }

    @Test("The reply has every member that the SDK needs; a device of ours and a JWK stand behind it")
    func enrolls() async throws {
        try await OktaScene.with { scene in
            var phone = try await scene.makePhone(verifies: true)
            let reply = try await phone.enroll()
            #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store", "\(reply)")
            let made = reply.json
            phone.enrollment = try phone.read(made)
            let id = JSONValue.string(phone.id)
            #expect(
                made.object?.members.map(\.name) == [
                    "id", "authenticatorId", "createdDate", "lastUpdated", "device", "user", "methods", "links",
                ])
            #expect(made["authenticatorId"] == .string(scene.client))
            // The SDK takes a time without a fraction for none.
            let created = try #require(made["createdDate"]?.string)
            #expect(created.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(created)")
            #expect(made["device"]?["status"] == "ACTIVE" && made["device"]?["id"] == id)
            #expect(made["device"]?["clientInstanceId"] == id && made["methods"]?["push"]?["id"] == id)
            let own = scene.server.issuer.uri(phone.path)
            #expect(made["links"]?["self"]?["href"] == .string(own))
            #expect(
                made["methods"]?["push"]?["links"]?["pending"] == [
                    "href": .string("\(own)/push/notifications"), "hints": ["allow": ["GET"]],
                ])
            let list = try await scene.shop.call(.GET, "/v1/users/\(phone.user)/enrollments").success()
            let device = try #require(list["enrollments"]?.array?.first)
            #expect(device["enrollment"] == id && device["state"] == "active")
            #expect(
                device["device"] == [
                    "name": "Anna's iPhone", "model": "iPhone12,4", "system": "iOS 15.2.0",
                    "app": "com.example.bank 3.1", "storage": "enclave",
                ], "\(device)")
            #expect(device["push"]?["service"] == "apns" && device["push"]?["environment"] == "development")
            #expect(device["push"]?["app"] == "com.example.bank")
            let events = try await scene.administrator.auditEvents()
            #expect(events.count { $0["kind"] == "enrollment.created" && $0["enrollment"] == id } == 1)
        }
    }

    @Test("Android's devices have RSA and a token of FCM; without a push token there are no pushes")
    func kinds() async throws {
        try await OktaScene.with { scene in
            let android = try await scene.makePhone("bert")
            let key = PrivateJWK(try RSAPrivateKey(), keyID: "rsa")
            var request = Self.changed(android.request, ["device", "platform"], "ANDROID")
            request = Self.changed(
                request, ["methods", "push", "keys", "proofOfPossession"], OktaPhone.jwk(key))
            request = Self.changed(request, ["methods", "push", "apsEnvironment"], nil)
            request = Self.changed(request, ["methods", "push", "pushToken"], "dQw4:APA91b")
            let made = try await android.enroll(request).success()
            let user = try #require(made["user"]?["id"]?.string)
            let list = try await scene.shop.call(.GET, "/v1/users/\(user)/enrollments").success()
            #expect(list["enrollments"]?.array?.first?["push"]?["service"] == "fcm", "\(list)")
            let silent = try await scene.makePhone("carla")
            request = Self.changed(silent.request, ["methods", "push", "pushToken"], "")
            request = Self.changed(request, ["device", "clientInstanceBundleId"], "My App")
            request = Self.changed(request, ["device", "displayName"], "A\u{202E}")
            let other = try await silent.enroll(request).success()
            let others = try await scene.shop.call(
                .GET, "/v1/users/\(try #require(other["user"]?["id"]?.string))/enrollments"
            ).success()
            let device = try #require(others["enrollments"]?.array?.first)
            #expect(device["push"] == nil && device["device"]?["name"] == "iPhone12,4", "\(device)")
            // The documents have the environment in upper case.
            let documented = try await scene.makePhone("dora")
            request = Self.changed(documented.request, ["methods", "push", "apsEnvironment"], "PRODUCTION")
            #expect(try await documented.enroll(request).status == 200)
        }
    }

    @Test("What is wrong is refused, spends nothing, and the right request enrolls")
    func refusals() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.makePhone(verifies: true)
            let request = phone.request
            func push(_ path: String...) -> [String] { ["methods", "push"] + path }
            let wrong: [([String], JSONValue?)] = [
                (["authenticatorId"], "aut123"), (["authenticatorId"], nil), (["device"], nil), (["methods"], [:]),
                (push("keys"), nil), (push("keys", "proofOfPossession"), [:]),
                (push("keys", "proofOfPossession", "kid"), nil),
                (push("keys", "proofOfPossession", "crv"), "P-384"),
                (push("keys", "proofOfPossession", "d"), "AQAB"),
                (push("keys", "userVerification"), OktaPhone.jwk(phone.possession)),
                (push("pushToken"), "not hex"), (push("apsEnvironment"), "sandbox"),
                (["device", "clientInstanceBundleId"], "My App"),
            ]
            for (path, value) in wrong {
                let reply = try await phone.enroll(Self.changed(request, path, value))
                expectCode(reply, 400, "E0000001")
            }
            for body in ["[]", "{", "\"x\""] {
                let reply = try await scene.server.send(
                    .POST, OktaScene.path,
                    headers: [("Authorization", "Bearer \(phone.token)"), ("Content-Type", "application/json")],
                    body: Array(body.utf8), isContract: false)
                expectCode(reply, 400, "E0000003")
            }
            // A later enrollment on the same phone: the SDK makes it a new device by itself.
            var later = Self.changed(request, ["device", "clientInstanceKey"], nil)
            later = Self.changed(later, ["device", "id"], "guo1")
            later = Self.changed(later, ["device", "deviceAttestation"], ["clientInstanceKeyAttestation": "a.b.c"])
            expectCode(try await phone.enroll(later), 410, "E0000153")
            #expect(try await phone.enroll().status == 200)
        }
    }

    @Test("Each sign-in enrolls one device, and no key is enrolled twice")
    func once() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            expectCode(try await phone.enroll(), 403, "E0000006")
            let other = OktaPhone(server: scene.server, client: scene.client, token: phone.token)
            expectCode(try await other.enroll(), 403, "E0000006")
            let thief = try await scene.makePhone("thief")
            let request = Self.changed(
                thief.request, ["methods", "push", "keys", "proofOfPossession"], OktaPhone.jwk(phone.possession))
            expectCode(try await thief.enroll(request), 400, "E0000001")
            #expect(try await thief.enroll().status == 200)
        }
    }

    @Test("Managing keeps the rules of enroll: the scope, the time, the strength, the block, and the client's right")
    func rules() async throws {
        try await OktaScene.with { scene in
            let weak = try #require(try await scene.signIn("anna", "okta.users.read.self")["access_token"]?.string)
            let reader = OktaPhone(server: scene.server, client: scene.client, token: weak)
            expectCode(try await reader.enroll(), 403, "E0000006")
            let phone = try await scene.makePhone("bert")
            let user = try #require(
                try await scene.pages.userinfo(phone.token).success()["sub"]?.string)
            let users = "/v1/users/\(user)"
            #expect(try await scene.shop.call(.PATCH, users, ["enrollment_blocked": true]).status == 200)
            expectCode(try await phone.enroll(), 403, "E0000006")
            #expect(try await scene.shop.call(.PATCH, users, ["enrollment_blocked": false]).status == 200)
            // Somebody who has a device does not enroll another one by a mail.
            _ = try await TestPhone.enrolled(for: user, by: scene.shop, at: scene.server)
            expectCode(try await phone.enroll(), 403, "E0000006")
            let late = try await scene.makePhone("carla")
            scene.server.clock.advance(seconds: 580)
            #expect(try await scene.pages.userinfo(late.token).status == 200)
            scene.server.clock.advance(seconds: 21)
            expectCode(try await late.enroll(), 401, "E0000011")
        }
    }

    @Test("A device beside another one waits, is told to it, and is let in by it alone")
    func waits() async throws {
        try await OktaScene.with { scene in
            let page = try await scene.pages.signIn(["scope": OktaScene.scopes])
            let redeemed = try await scene.pages.token([
                ("grant_type", "authorization_code"), ("code", try #require(page.result["code"])),
                ("redirect_uri", SignInPageScene.redirectURI), ("code_verifier", SignInPageScene.verifier),
                ("client_id", scene.client),
            ]).success()
            let token = try #require(redeemed["access_token"]?.string)
            var phone = OktaPhone(server: scene.server, client: scene.client, token: token)
            phone.enrollment = try phone.read(try await phone.enroll().success())
            #expect(phone.user == scene.scene.user)
            let question = try await scene.pages.pending()
            #expect(try await scene.scene.phone.open(question).question.type == .newDevice)
            let asked = try await scene.shop.ask(phone.user, ["type": "tap"])
            let path = "/v1/challenges/\(try #require(asked["id"]?.string))"
            let deliveries = try await scene.shop.call(.GET, path).success()["deliveries"]
            #expect(
                deliveries?.array?.map { $0["enrollment"] } == [.string("\(scene.scene.phone.enrollment)")],
                "the phone of ours alone")
            #expect(try await phone.pending() == [])
        }
    }
}
