import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("OneWelcome's calls, for clients that an operator has let make them")
struct OneWelcomeSwitchTests {
    @Test("A client that was not let, and one that was let make another product's calls, get 1000 at every call")
    func off() async throws {
        for vendors in [[], ["cotter", "okta"]] as [JSONValue] {
            try await OneWelcomeScene.with(client: ["vendors": vendors]) { scene in
                expectNumber(try await scene.post("\(OneWelcomeScene.path)/user", scene.push), 404, 1000)
                let sms: [(String, String)] = [("transaction_id", "x"), ("sms_code", "123456")]
                for path in ["sms", "sms/resend"] {
                    expectNumber(
                        try await scene.post("\(OneWelcomeScene.path)/user/customer-1/\(path)", sms), 404, 1000)
                }
                for path in [
                    "transaction/cf51a27a-df80-42ad-bdd7-936c476b2c87", "user/customer-1/enabled",
                    "user/customer-1/device/\(scene.device)/enabled",
                ] { expectNumber(try await scene.call(.GET, "\(OneWelcomeScene.path)/\(path)"), 404, 1000) }
                let devices = "/oauth/api/v4/users/customer-1/devices"
                for (method, path) in [
                    (HTTPMethod.GET, ""), (HTTPMethod.DELETE, ""), (HTTPMethod.DELETE, "/\(scene.device)"),
                    (HTTPMethod.POST, "/\(scene.device)/disableMobileAuthentication"),
                ] {
                    let reply = try await scene.call(method, devices + path)
                    #expect(reply.status == 403 && reply.json["code"] == "insufficient_permissions", "\(reply)")
                }
                // Nobody was asked, and nothing was removed.
                #expect(try await scene.scene.administrator.auditCount("challenge.asked") == 0)
                #expect(try await scene.phone.send(.GET, "/v1/enrollments/self").success()["state"] == "active")
            }
        }
    }

    @Test("Operators switch it, other settings stay, and the audit says what was set")
    func settings() async throws {
        try await OneWelcomeScene.with { scene in
            let administrator = scene.scene.administrator
            let path = "/v1/admin/clients/\(scene.portal.clientID)"
            let right = try await administrator.call(.PATCH, path, ["rights": ["challenges"]]).success()
            #expect(right["vendors"] == ["onewelcome"] && right["rights"] == ["challenges"])
            let all = try await administrator.call(
                .PATCH, path, ["vendors": ["okta", "onewelcome", "cotter"]]
            ).success()
            #expect(all["vendors"] == ["cotter", "okta", "onewelcome"] && all["rights"] == ["challenges"])
            let none = try await administrator.call(.PATCH, path, ["vendors": []]).success()
            #expect(none["vendors"] == nil && none["rights"] == ["challenges"])
            expectRefusal(
                try await administrator.call(.PATCH, path, ["vendors": ["duo"]]), 422, "invalid_member",
                at: "/vendors")
            expectRefusal(
                try await administrator.call(.PATCH, path, ["vendors": "okta"]), 422, "invalid_member", at: "/vendors")
            let events = try await administrator.auditEvents()
            let set = events.filter { $0["kind"] == "client.updated" }.compactMap { $0["detail"]?["vendors"] }
            #expect(set == [["cotter", "okta", "onewelcome"], []])
            let made = events.filter { $0["kind"] == "client.created" }.compactMap { $0["detail"]?["vendors"] }
            #expect(made == [["onewelcome"]])
        }
    }

    @Test("Switched off meanwhile: the user answers, the callback comes, and the portal asks for the result in vain")
    func meanwhile() async throws {
        try await CallbackReceiver.with { receiver in
            try await OneWelcomeScene.with(client: ["callback_uris": [.string(receiver.url)]]) { scene in
                var calls = receiver.calls.makeAsyncIterator()
                let transaction = try await scene.ask([("callback_uri", receiver.url)])
                let path = "/v1/admin/clients/\(scene.portal.clientID)"
                #expect(try await scene.scene.administrator.call(.PATCH, path, ["vendors": []]).status == 200)
                let challenge = try scene.challenge(transaction)
                _ = try await scene.phone.answer(challenge, .approved(.confirm, number: nil)).success()
                let call = try #require(await calls.next())
                #expect(
                    try JSONValue(parsing: call.body)
                        == ["callback_uri": .string(receiver.url), "transaction_id": .string(transaction)])
                expectNumber(try await scene.result(of: transaction), 404, 1000)
                // By our own calls it is there, and on again, the portal's find it, too.
                #expect(try await scene.scene.state(of: challenge) == "approved")
                let on: JSONValue = ["vendors": ["onewelcome"]]
                #expect(try await scene.scene.administrator.call(.PATCH, path, on).status == 200)
                #expect(try await scene.result(of: transaction).success()["is_authenticated"] == true)
            }
        }
    }

    @Test("What is not among the calls is 404, and another method is 405, in the shape of errors of OAuth")
    func unknown() async throws {
        try await OneWelcomeScene.with { scene in
            for path in [
                "/oauth/api", "/oauth/api/v2/authenticate/user", "\(OneWelcomeScene.path)",
                "/oauth/api/v4/users/customer-1/devices/\(scene.device)/disableFingerprint",
                "/oauth/api/v4/users/customer-1/devices/\(scene.device)/disablePushAuthentication",
            ] {
                let reply = try await scene.post(path, [])
                #expect(reply.status == 404 && reply.json["error"] == "invalid_request", "\(reply)")
            }
            let reply = try await scene.call(.GET, "\(OneWelcomeScene.path)/user")
            #expect(reply.status == 405 && reply.headers["allow"] == "POST", "\(reply)")
        }
    }
}
