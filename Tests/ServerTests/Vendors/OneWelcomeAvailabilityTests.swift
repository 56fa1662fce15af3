import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("OneWelcome: by what a user can be asked")
struct OneWelcomeAvailabilityTests {
    private static let nobody: JSONValue = ["enabled": []]

    /// A portal whose types are those of the documentation's example, and no others.
    private static func with(_ body: @escaping @Sendable (OneWelcomeScene) async throws -> Void) async throws {
        try await OneWelcomeScene.with { scene in
            let administrator = scene.scene.administrator
            let clients: JSONValue = [.string(scene.portal.clientID)]
            for (name, type) in [
                ("with_sms", ["methods": ["confirm"], "fallback": "zz_sms"]), ("with_pin", ["methods": ["pin"]]),
                ("zz_sms", ["text_code": true, "clients": clients]),
            ] as [(String, JSONValue)] {
                _ = try await administrator.call(.PUT, "/v1/admin/types/\(name)", type).success()
            }
            for name in ["biometric", "confirm", "payment", "pin", "qr"] {
                #expect(try await administrator.call(.DELETE, "/v1/admin/types/\(name)").status == 204)
            }
            try await body(scene)
        }
    }

    @Test("Version 4: each type with its method and the devices; a PIN that is not set is not among them")
    func version4() async throws {
        try await Self.with { scene in
            let app: JSONValue = [
                "app_id": .string(scene.portal.clientID), "app_name": "ACME Shop", "device_id": .string(scene.device),
                "device_name": "Test phone",
            ]
            let path = "\(OneWelcomeScene.path)/user/customer-1/enabled"
            let sms: JSONValue = ["type": "zz_sms", "method": "SMS"]
            let push: JSONValue = [
                "type": "with_sms", "method": "PUSH", "sms_fallback_allowed": true, "apps_enrolled_for_push": [app],
            ]
            let otp: JSONValue = ["type": "otp", "method": "OTP"]
            #expect(try await scene.call(.GET, path).success() == ["enabled": [otp, push, sms]])
            _ = try await scene.phone.setPIN()
            let pin: JSONValue = [
                "type": "with_pin", "method": "PUSH_WITH_PIN", "sms_fallback_allowed": false,
                "apps_enrolled_for_push": [app],
            ]
            #expect(try await scene.call(.GET, path).success() == ["enabled": [otp, pin, push, sms]])
            let device = "\(OneWelcomeScene.path)/user/customer-1/device"
            #expect(
                try await scene.call(.GET, "\(device)/\(scene.device)/enabled").success()
                    == ["enabled": ["otp", "with_pin", "with_sms", "zz_sms"]])
            let other = "enr_00000000000000000000000000"
            for id in [other, "0D7293A4F2860EDA"] {
                #expect(try await scene.call(.GET, "\(device)/\(id)/enabled").success() == Self.nobody)
            }
        }
    }

    @Test("Version 3: the client is the one app")
    func version3() async throws {
        try await Self.with { scene in
            let path = "/oauth/api/v3/authenticate/user/customer-1"
            let app: JSONValue = ["id": .string(scene.portal.clientID), "name": "ACME Shop"]
            let all = try await scene.call(.GET, "\(path)/enabled").success()["enabled"]?.array ?? []
            #expect(all.compactMap { $0["apps_enrolled_for_push"] } == [[app]])
            #expect(
                try await scene.call(.GET, "\(path)/application/\(scene.portal.clientID)/enabled").success()
                    == ["enabled": ["otp", "with_sms", "zz_sms"]])
            #expect(try await scene.call(.GET, "\(path)/application/myApp/enabled").success() == Self.nobody)
        }
    }

    @Test("Nobody, and a user of another client's, are 200 with an empty list")
    func unknown() async throws {
        try await Self.with { scene in
            let rival = try await scene.server.makeClient("Rival", ["vendors": ["onewelcome"]])
            for path in ["enabled", "device/\(scene.device)/enabled"] {
                for user in ["nobody", "two%0Alines", "usr_00000000000000000000000000"] {
                    let reply = try await scene.call(.GET, "\(OneWelcomeScene.path)/user/\(user)/\(path)")
                    #expect(try reply.success() == Self.nobody)
                }
                let reply = try await scene.call(
                    .GET, "\(OneWelcomeScene.path)/user/customer-1/\(path)", by: rival)
                #expect(try reply.success() == Self.nobody)
            }
            // Whoever is linked and has no device can be sent a code.
            _ = try await scene.portal.makeUser("without-devices")
            let path = "\(OneWelcomeScene.path)/user/without-devices/enabled"
            let all = try await scene.call(.GET, path).success()["enabled"]?.array ?? []
            #expect(all.map { $0["type"] } == ["with_sms", "zz_sms"])
        }
    }
}
