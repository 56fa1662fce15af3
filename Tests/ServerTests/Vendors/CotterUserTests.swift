import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

// Spec: docs/decisions/0108-cotters-door.md.
@Suite("Cotter: a client's server enrolls and removes trusted devices")
struct CotterUserTests {
    @Test("Enrolled, found by its key in each spelling, removed", arguments: CotterDevice.Kind.allCases)
    func enrolls(_ kind: CotterDevice.Kind) async throws {
        try await CotterEventScene.with(kind) { scene in
            let methods =
                "/user/methods?cotter_user_id=customer-1&method=TRUSTED_DEVICE&public_key=\(scene.device.pathKey)"
            let path = "/user/enrolled/customer-1/TRUSTED_DEVICE/\(scene.device.pathKey)"
            let yes: JSONValue = ["enrolled": true, "method": "TRUSTED_DEVICE"]
            for path in [path, methods] { #expect(try await scene.app.get(path).success() == yes) }
            let listed = try await scene.app.scene.shop.call(
                .GET, "/v1/users/\(scene.app.scene.user)/enrollments"
            ).success()
            #expect(listed["enrollments"]?.array?.contains { $0["assurance"] == "event" } == true, "\(listed)")
            expectMessage(try await scene.enroll(scene.device), 400, "already enrolled")
            let removed = try await scene.enroll(scene.device, false).success()
            #expect(removed["enrolled"] == [] && removed["client_user_id"] == "customer-1")
            expectMessage(try await scene.enroll(scene.device, false), 404, "the user has no such device")
            let no: JSONValue = ["enrolled": false, "method": "TRUSTED_DEVICE"]
            for path in [path, methods] { #expect(try await scene.app.get(path).success() == no) }
            // A key is enrolled once.
            expectMessage(try await scene.enroll(scene.device), 400, "already enrolled")
        }
    }

    @Test("Flutter pads the key in a path, and a library between may escape the padding")
    func flutter() async throws {
        try await CotterEventScene.with(.flutter) { scene in
            let key = scene.device.pathKey
            #expect(key.hasSuffix("=") && Base64.decode(key) == Array(scene.device.publicKey.utf8))
            let yes: JSONValue = ["enrolled": true, "method": "TRUSTED_DEVICE"]
            for spelled in [key, key.replacing("=", with: "%3D")] {
                let query = "/user/methods?cotter_user_id=customer-1&public_key=\(spelled)&method=TRUSTED_DEVICE"
                let path = "/user/enrolled/customer-1/TRUSTED_DEVICE/\(spelled)"
                for call in [query, path] {
                    let reply = try await scene.app.get(call).success()
                    #expect(reply == yes, "\(call)")
                }
            }
        }
    }

    @Test("Whether a key is somebody's is told for the user's own key alone")
    func asked() async throws {
        try await CotterEventScene.with { scene in
            let no: JSONValue = ["enrolled": false, "method": "TRUSTED_DEVICE"]
            _ = try await scene.app.scene.shop.makeUser("customer-2")
            for user in ["customer-2", "nobody"] {
                let path = "/user/enrolled/\(user)/TRUSTED_DEVICE/\(scene.device.pathKey)"
                #expect(try await scene.app.get(path).success() == no)
            }
            for key in [try CotterDevice().pathKey, "x", "AAAA"] {
                let path = "/user/enrolled/customer-1/TRUSTED_DEVICE/\(key)"
                #expect(try await scene.app.get(path).success() == no)
            }
            let pin = try await scene.app.get("/user/enrolled/customer-1/PIN/\(scene.device.pathKey)").success()
            #expect(pin == ["enrolled": false, "method": "PIN"])
            expectMessage(
                try await scene.app.get("/user/methods?cotter_user_id=customer-1"), 400,
                "public_key is missing or wrong")
            expectMessage(
                try await scene.app.get("/user/enrolled/customer-1/TRUSTED_DEVICE"), 404, "there is no such call")
        }
    }

    @Test("An app enrolls and removes nothing: neither by its key, nor with a wrong secret, nor without the right")
    func publicClients() async throws {
        try await CotterEventScene.with { scene in
            let needed = "only a client that keeps a secret, and shows it, enrolls and removes devices by this call"
            for isEnrolled in [true, false] {
                let body: JSONValue = [
                    "method": "TRUSTED_DEVICE", "enrolled": .bool(isEnrolled), "code": .string(scene.device.publicKey),
                ]
                for path in ["/user/customer-1", "/user/methods?cotter_user_id=customer-1&oauth_token=true"] {
                    let reply = try await scene.server.send(
                        .PUT, "/api/v0\(path)",
                        headers: [
                            ("API_KEY_ID", scene.app.key), ("Content-Type", "application/json"),
                            ("API_SECRET_KEY", "w4FK6Zz0XIhtGY3o5biI"),
                        ], body: body.encoded, isContract: false)
                    expectMessage(reply, 401, needed)
                }
                let other = try await scene.server.makeClient("Other")
                let wrong = try await scene.enroll(scene.device, isEnrolled, by: other)
                #expect(wrong.status == 400 || wrong.status == 401, "\(wrong)")
            }
            let path = "/v1/admin/clients/\(scene.app.key)"
            let administrator = scene.app.scene.administrator
            #expect(try await administrator.call(.PATCH, path, ["rights": ["challenges"]]).status == 200)
            expectMessage(try await scene.enroll(scene.device, false), 401, needed)
        }
    }

    @Test("Each member that is wrong; nobody's device")
    func refused() async throws {
        try await CotterEventScene.with { scene in
            let device = try CotterDevice()
            for (name, value, message) in [
                ("method", "PIN", "the only method is TRUSTED_DEVICE"),
                ("method", nil, "the only method is TRUSTED_DEVICE"),
                ("code", nil, "code is missing or wrong"), ("code", "123456", "code is missing or wrong"),
                ("algorithm", "ED25519", "code is missing or wrong"), ("enrolled", nil, "enrolled is missing or wrong"),
            ] as [(String, JSONValue?, String)] {
                expectMessage(try await scene.enroll(device, changing: [name: value]), 400, message)
            }
            expectMessage(try await scene.enroll(device, for: "nobody"), 404, "there is no such user")
            for algorithm in [nil, "EC", "ECDSA"] as [JSONValue?] {
                _ = try await scene.enroll(try CotterDevice(), changing: ["algorithm": algorithm]).success()
            }
            _ = try await scene.enroll(try CotterDevice(), for: scene.app.scene.user).success()
        }
    }
}
