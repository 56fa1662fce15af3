import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Synchronization
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Okta's calls: enrolling", .timeLimit(.minutes(15)))
struct OktaEnrollingTests {
    private func failure(
        _ result: Result<any AuthenticatorEnrollmentProtocol, DeviceAuthenticatorError>
    ) -> DeviceAuthenticatorError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test("A device enrolls, is there after a restart, and is removed on both sides")
    func life() async throws {
        try await OktaScene.with { scene in
            #expect(scene.authenticator.allEnrollments().isEmpty)
            let enrollment = try await scene.enroll()
            #expect(enrollment.user.id == scene.user && enrollment.user.name == nil)
            #expect(enrollment.organization.url == scene.config.orgURL)
            #expect(!enrollment.userVerificationEnabled && enrollment.isCIBAEnabled)
            let awaiting = try #require(enrollment as? any AwaitingEnrollment)
            #expect(awaiting.approvalNumber == nil && awaiting.activeAt == nil, "the shop waives it")
            let known = try #require(try await scene.enrollments().first)
            #expect(known["enrollment"] == .string(enrollment.enrollmentId) && known["push"] == nil)
            let again = try OktaScene.launched(scene.vault, scene.transport)
            #expect(again.allEnrollments().map(\.enrollmentId) == [enrollment.enrollmentId])
            let failure: DeviceAuthenticatorError? = await oktaOutcome { done in
                again.delete(enrollment: enrollment, authenticationToken: .bearer(""), completion: done)
            }
            #expect(failure == nil)
            #expect(again.allEnrollments().isEmpty)
            #expect(try await scene.enrollments().isEmpty)
            let second: DeviceAuthenticatorError? = await oktaOutcome { done in
                again.delete(enrollment: enrollment, authenticationToken: .bearer(""), completion: done)
            }
            guard case .storageError(.itemNotFound) = second else {
                Issue.record("\(String(describing: second))")
                return
            }
        }
    }

    @Test("An enrollment is deleted from the device alone, and the server keeps it")
    func local() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            try enrollment.deleteFromDevice()
            #expect(scene.authenticator.allEnrollments().isEmpty)
            #expect(try await scene.enrollments().count == 1)
        }
    }

    @Test("A push token comes with enrolling, and a newer one is told for all enrollments at the server")
    func pushes() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll(EnrollmentParameters(deviceToken: Data([0xAB, 0xCD])))
            #expect(try await scene.enrollments().first?["push"]?["app"] == .string(OktaScene.bundleIdentifier))
            #expect(try await scene.enrollments().first?["push"]?["environment"] == "production")
            let other = try await scene.shop.makeUser("customer-2")
            scene.transport.know("b", as: try await scene.shop.makeTicket(for: other))
            _ = try await scene.enrolled(by: .bearer("b")).get()
            func told() async throws -> JSONValue? {
                try await scene.shop.call(.GET, "/v1/users/\(other)/enrollments").success()["enrollments"]?[0]?["push"]
            }
            #expect(try await told() != nil)
            let failure: DeviceAuthenticatorError? = await oktaOutcome { done in
                enrollment.updateDeviceToken(Data([1, 2]), authenticationToken: .bearer(""), completion: done)
            }
            #expect(failure == nil)
            #expect(try await told() != nil)
            // What is no token is the app's mistake.
            let empty: DeviceAuthenticatorError? = await oktaOutcome { done in
                enrollment.updateDeviceToken(Data(), authenticationToken: .bearer(""), completion: done)
            }
            #expect(empty?.errorCode == -6)
        }
    }

    @Test("A token that the server does not know, and one that could bring a field along, enroll nothing")
    func refused() async throws {
        try await OktaScene.with { scene in
            let unknown = failure(await scene.enrolled(by: .bearer("unknown")))
            #expect(oktaCode(unknown) == "E0000011" && unknown?.errorCode == -1)
            guard case .serverAPIError(let result, _) = unknown else { return }
            #expect(result.response?.statusCode == 401 && result.response?.url == scene.config.orgURL)
            #expect(failure(await scene.enrolled(by: .bearer("a\r\nb")))?.errorCode == -6)
            scene.transport.fail(true)
            #expect(failure(await scene.enrolled(by: .bearer("a")))?.errorCode == -2)
            #expect(scene.authenticator.allEnrollments().isEmpty)
        }
    }

    @Test("Where biometrics are wanted and cannot be registered, nothing is enrolled")
    func whole() async throws {
        try await OktaScene.with { scene in
            scene.transport.know(OktaScene.token, as: try await scene.shop.makeTicket(for: scene.user))
            var parameters = EnrollmentParameters(deviceToken: .empty)
            parameters.enableUserVerification(enable: true)
            parameters.enableCIBATransactions(enable: false)
            let error = failure(await scene.enrolled(by: .bearer(OktaScene.token), parameters))
            guard case .securityError(.localAuthenticationPasscodeNotSet) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(scene.authenticator.allEnrollments().isEmpty)
            #expect(try await scene.enrollments().isEmpty)
        }
    }

    @Test("Where the network is lost before all that was wanted is there, the device keeps nothing")
    func lostInBetween() async throws {
        try await OktaScene.with { scene in
            scene.transport.know(OktaScene.token, as: try await scene.shop.makeTicket(for: scene.user))
            scene.transport.fail(after: "/v1/enrollments")
            var parameters = EnrollmentParameters(deviceToken: .empty)
            parameters.enableUserVerification(enable: true)
            let error = failure(await scene.enrolled(by: .bearer(OktaScene.token), parameters))
            guard case .securityError(.localAuthenticationPasscodeNotSet) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(scene.authenticator.allEnrollments().isEmpty)
        }
    }

    @Test("Biometrics are registered and removed, and the system's prompt has the app's text")
    func biometrics() async throws {
        let prompts = Mutex([String]())
        let vault = InsecureSimulatedBiometrics(before: MemoryVault()) { prompt in
            prompts.withLock { $0.append(prompt) }
            return nil
        }
        try await OktaScene.with(vault: vault) { scene in
            func set(_ enable: Bool) async -> DeviceAuthenticatorError? {
                guard let enrollment = scene.authenticator.allEnrollments().first else { return .pushNotRecognized }
                return await oktaOutcome { done in
                    enrollment.setUserVerification(
                        authenticationToken: .bearer(OktaScene.token), enable: enable, completion: done)
                }
            }
            let parameters = EnrollmentParameters(deviceToken: .empty, enableUserVerification: true)
            let enrolled = try await scene.enroll(parameters)
            #expect(enrolled.userVerificationEnabled)
            #expect(await set(false) == nil)
            #expect(scene.authenticator.allEnrollments().map(\.userVerificationEnabled) == [false])
            #expect(await set(false) == nil, "it was off")
            #expect(await set(true) == nil)
            #expect(scene.authenticator.allEnrollments().map(\.userVerificationEnabled) == [true])
        }
        #expect(prompts.withLock { Set($0) } == ["It is me", "Remove"])
    }

    @Test("An enrollment that was removed at the server is gone, and says by whom")
    func removed() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let path = "/v1/users/\(scene.user)/enrollments/\(enrollment.enrollmentId)"
            #expect(try await scene.shop.call(.DELETE, path).status == 204)
            let result: Result<[any PushChallengeProtocol], DeviceAuthenticatorError> = await oktaOutcome { done in
                enrollment.retrievePushChallenges(
                    authenticationToken: .bearer(""), allowedClockSkewInSeconds: 60, completion: done)
            }
            guard case .failure(let error) = result, case .serverAPIError(let reply, let model) = error else {
                Issue.record("\(result)")
                return
            }
            #expect(model?.errorCode == .enrollmentDeleted && model?.errorCode?.isResourceDeleted == true)
            #expect(reply.statusCode == 410)
            #expect(scene.authenticator.allEnrollments().isEmpty)
        }
    }

    @Test("An enrollment that the server no longer knows says so, and is deleted all the same")
    func lost() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            scene.transport.forget()
            let result: Result<[any PushChallengeProtocol], DeviceAuthenticatorError> = await oktaOutcome { done in
                enrollment.retrievePushChallenges(
                    authenticationToken: .bearer(""), allowedClockSkewInSeconds: 60, completion: done)
            }
            guard case .failure(let error) = result, case .serverAPIError(let reply, let model) = error else {
                Issue.record("\(result)")
                return
            }
            #expect(model?.errorCode == .enrollmentNotFound && model?.errorCode?.isResourceDeleted == true)
            #expect(reply.statusCode == 404)
            #expect(scene.authenticator.allEnrollments().count == 1, "nothing that is signed has said so")
            let failure: DeviceAuthenticatorError? = await oktaOutcome { done in
                scene.authenticator.delete(
                    enrollment: enrollment, authenticationToken: .bearer(""), completion: done)
            }
            #expect(failure == nil)
            #expect(scene.authenticator.allEnrollments().isEmpty)
        }
    }

    @Test("Calls that wait do so on threads of their own: as many as one likes wait at once")
    func waits() async throws {
        try await OktaScene.with { scene in
            _ = try await scene.enroll()
            let counts = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<64 { group.addTask { scene.authenticator.allEnrollments().count } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == Array(repeating: 1, count: 64))
        }
    }

    @Test("The device shows its possession for a token, and the person who is signed in to the app stays so")
    func maintenance() async throws {
        try await OktaScene.with { scene in
            let settings: JSONValue = [
                "profile": "native", "redirect_uris": ["http://127.0.0.1/callback"], "asked_browsers": "all",
                "registration": "closed",
            ]
            let path = "/v1/admin/clients/\(scene.shop.clientID)/openid"
            #expect(try await scene.server.administrator.call(.PUT, path, settings).status == 200)
            _ = try await scene.enroll()
            // The client is known after a restart, too.
            let app = try OktaScene.launched(scene.vault, scene.transport)
            let enrollment = try #require(app.allEnrollments().first)
            let scopes = ["okta.myAccount.appAuthenticator.maintenance.manage"]
            let result: Result<Oauth2Credential, DeviceAuthenticatorError> = await oktaOutcome { done in
                enrollment.retrieveMaintenanceToken(scopes: scopes, completion: done)
            }
            let credential = try result.get()
            #expect(credential.scope == "openid" && credential.refresh_token == nil)
            let expiresIn = try #require(credential.expires_in)
            #expect((1...600).contains(expiresIn))
            #expect(credential.token_type == "DPoP" && credential.access_token == credential.token?.reveal())
            let url = try #require(URL(string: "\(scene.server.issuer)/oauth2/userinfo"))
            let fields = try await #require(credential.token).headerFields(for: "GET", url)
            #expect(fields["Authorization"] == "DPoP \(credential.access_token)" && fields["DPoP"] != nil)
            let encoded = String(decoding: try JSONEncoder().encode(credential), as: UTF8.self)
            #expect(encoded.contains("\"access_token\"") && !encoded.contains("\"token\""))
            let id = try #require(EnrollmentID(enrollment.enrollmentId))
            #expect(try await scene.vault.record("oidc-client", of: id) == Array(scene.shop.clientID.utf8))
            let other = try OpenIDClient(
                OpenIDRegistration(
                    issuer: scene.config.orgURL, clientID: scene.shop.clientID,
                    redirectURI: try #require(URL(string: "http://127.0.0.1/callback"))),
                vault: scene.vault)
            #expect(try await other.signedIn() == nil)
            // Without a registration there are no tokens.
            try await scene.vault.write(Array("cli_unknown".utf8), as: "oidc-client", of: id)
            let refused: Result<Oauth2Credential, DeviceAuthenticatorError> = await oktaOutcome { done in
                enrollment.retrieveMaintenanceToken(completion: done)
            }
            guard case .failure(let error) = refused else {
                Issue.record("a token for nobody")
                return
            }
            #expect(error.errorCode == -5, "\(error)")
        }
    }

    @Test("What the server wants of enrollments is told without asking it; CIBA is not the device's to forbid")
    func policies() async throws {
        try await OktaScene.with { scene in
            scene.transport.fail(true)
            let result: Result<any AuthenticatorPolicyProtocol, DeviceAuthenticatorError> = await oktaOutcome { done in
                scene.authenticator.downloadPolicy(
                    authenticationToken: .bearer(""), authenticatorConfig: scene.config, completion: done)
            }
            #expect(try result.get().userVerificationSetting == .preferred)
            scene.transport.fail(false)
            let enrollment = try await scene.enroll()
            for enable in [true, false] {
                let failure: DeviceAuthenticatorError? = await oktaOutcome { done in
                    enrollment.enableCIBATransactions(
                        authenticationToken: .bearer(""), enable: enable, completion: done)
                }
                #expect((failure == nil) == enable && failure?.errorCode == (enable ? nil : -5))
            }
        }
    }
}
