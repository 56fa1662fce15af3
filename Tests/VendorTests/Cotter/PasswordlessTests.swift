import Cotter
import Countersign
import CountersignPrompts
import CountersignWire
import Encodings
import Foundation
import ServerTestSupport
import Testing
import UIKitStandIn

/// Goes on with what a callback was told.
private func resume<Value: Sendable>(
    _ continuation: CheckedContinuation<Value, any Error>, _ value: Value?, _ error: (any Error)?
) {
    guard let value else { return continuation.resume(throwing: error ?? CancellationError()) }
    continuation.resume(returning: value)
}

extension CotterTests {
    @MainActor
    @Suite("Signing in on the page, and the calls without a view controller")
    struct Passwordlessly {
        @Test("A person signs in on the page, which is told the address, and the tokens are there")
        func page() async throws {
            try await CotterWorld.with { world in
                let person = PagePerson(world, phone: try await world.phone())
                let device = world.device { $0.browser = person }
                let identity = try await signIn(device)
                #expect(identity.user.id == world.user && identity.identifier.identifier == CotterWorld.address)
                #expect(identity.identifier.identifierType == "EMAIL" && identity.oauthToken.expiresIn > 0)
                #expect(identity.oauthToken.authMethod == "TRUSTED_DEVICE" && identity.oauthToken.tokenType == "DPoP")
                #expect(identity.oauthToken.accessToken == Cotter.getAccessToken())
                #expect(identity.oauthToken.refreshToken.isEmpty && identity.oauthToken.idToken.isEmpty)
                let query = try #require(person.pages.first?.query())
                #expect(query.contains("login_hint=hello%40example.com") && !query.contains(CotterWorld.secret))
            }
        }

        @Test("Whoever signs in on the page is told by the server's word, and never by the app's suggestion")
        func somebodyElse() async throws {
            try await CotterWorld.with { world in
                let phone = try await world.phone()
                for (scopes, told) in [(["openid", "email"], CotterWorld.address), (["openid"], "")] {
                    let device = world.device {
                        $0.browser = PagePerson(world, phone: phone)
                        $0.scopes = scopes
                    }
                    let identity = try await signIn(device, suggesting: "anna@example.com")
                    #expect(identity.identifier.identifier == told)
                    #expect(identity.user.identifier == (told.isEmpty ? nil : told) && identity.user.id == world.user)
                }
            }
        }

        @Test("Whoever closes the page is told so, and so is an app that has no browser")
        func closed() async throws {
            try await CotterWorld.with { world in
                let person = PagePerson(world, phone: try await world.phone(), isWilling: false)
                let device = world.device { $0.browser = person }
                await #expect(throws: CotterError.verificationCancelled) { try await signIn(device) }
                let bare = world.device()
                let missing = CountersignError.configurationInvalid("there is no browser: set Cotter.settings.browser")
                await #expect(throws: CotterError.general(message: "\(missing)")) { try await signIn(bare) }
            }
        }

        @Test("Without a ticket a device enrolls by a sign-in on the page, and is trusted once the phone has let it in")
        func registered() async throws {
            try await CotterWorld.with { world in
                let phone = try await world.phone()
                let device = world.device {
                    $0.ticket = nil
                    $0.browser = PagePerson(world, phone: phone)
                }
                Cotter.configure(
                    apiSecretKey: CotterWorld.secret, apiKeyID: "",
                    configuration: ["base_url": "\(world.server.issuer)"])
                let user = Task { try await register() }
                let (waiting, number) = try await device.number()
                _ = try await phone.asked().approve(with: .confirmation, number: number)
                let further = try #require(waiting.model as? FurtherDeviceModel)
                while further.state != .active { try await Task.sleep(for: .milliseconds(25)) }
                await waiting.perform(.close)
                let registered = try await user.value
                #expect(registered.id == world.user && registered.identifier == CotterWorld.address)
                #expect(try await login().tokenType == "DPoP")
                #expect(device.shown == nil)
            }
        }

        @Test("A sign-in on the page that enrolls a device takes nobody's place who is signed in")
        func keepsWhoIsSignedIn() async throws {
            try await CotterWorld.with { world in
                let phone = try await world.phone()
                let device = world.device {
                    $0.ticket = nil
                    $0.browser = PagePerson(world, phone: phone)
                }
                try await signIn(device)
                let told = Told()
                device.cotter.registerNewDevice(vc: device.screen, cb: told.callback)
                _ = try await device.number()
                device.screen.dismiss(animated: true)
                #expect(try await told.once().error == .device(.enrollmentWaiting))
                // The sign-in in the vault is now what counts; that of the enrolling could not be refreshed.
                world.server.clock.advance(seconds: 3600)
                let token = try await Cotter.accessToken()
                let url = try #require(URL(string: "\(world.server.issuer)/oauth2/userinfo"))
                let headers = try await token.headerFields(for: "GET", url)
                let request = TransportRequest(method: "GET", url: url, headers: headers, timeout: 20)
                let response = try await world.transport().send(request)
                #expect(response.status == 200 && Cotter.getLoggedInUserID() == world.user)
            }
        }

        @Test("A question is shown over what is on the screen, also after a launch by a push")
        func questions() async throws {
            try await CotterWorld.with { world in
                let device = try await world.trustedDevice()
                _ = try await world.shop.ask(world.user, ["type": "confirm"])
                for isByPush in [false, true] {
                    let (prompt, model, _) = try await device.question { _ in
                        guard isByPush else { return Passwordless.shared.checkEvent(identifier: CotterWorld.address) }
                        Cotter.configureWithLaunchOptions(
                            launchOptions: [.remoteNotification: ["aps": ["alert": "Pay"]]], apiSecretKey: "",
                            apiKeyID: "", configuration: ["base_url": "\(world.server.issuer)"])
                    }
                    #expect(model.question?.client == "ACME Shop")
                    await prompt.perform(.close)
                    #expect(device.shown == nil)
                }
            }
        }

        @Test("What is called before anything was configured says so, once")
        func unconfigured() async throws {
            Cotter.settings = CotterSettings()
            let told = Told()
            Passwordless.shared.registerDevice(identifier: CotterWorld.address, cb: told.callback)
            let (token, error) = try await told.once()
            let unconfigured = CotterError.general(message: "Make a Cotter, or call Cotter.configure, first.")
            #expect(error == unconfigured && token.isEmpty && Cotter.getAccessToken() == nil)
            let removed = Told()
            Passwordless.shared.removeDevice(identifier: CotterWorld.address, cb: removed.callback)
            #expect(try await removed.once().error == unconfigured)
            await #expect(throws: unconfigured) { _ = try await login() }
        }

        private func register() async throws -> CotterUser {
            try await withCheckedThrowingContinuation { continuation in
                Passwordless.shared.register(identifier: CotterWorld.address) { user, error in
                    resume(continuation, user, error)
                }
            }
        }

        @discardableResult
        private func signIn(
            _ device: CotterDevice, suggesting address: String = CotterWorld.address
        ) async throws -> CotterIdentity {
            try await withCheckedThrowingContinuation { continuation in
                device.cotter.startPasswordlessLogin(
                    parentView: device.screen, input: address, identifierField: "email", type: "EMAIL",
                    directLogin: true, userID: nil, authMethod: .otp
                ) { identity, error in
                    resume(continuation, identity, error)
                }
            }
        }

        private func login() async throws -> CotterOAuthToken {
            try await withCheckedThrowingContinuation { continuation in
                Passwordless.shared.login(identifier: CotterWorld.address) { tokens, error in
                    resume(continuation, tokens, error)
                }
            }
        }
    }
}
