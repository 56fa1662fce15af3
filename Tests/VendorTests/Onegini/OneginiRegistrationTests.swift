import Countersign
import CountersignWire
import Foundation
import OneginiSDKiOS
import ServerTestSupport
import Testing

@Suite("OneWelcome's calls: registering", .timeLimit(.minutes(15)))
@MainActor
struct OneginiRegistrationTests {
    @Test("By a ticket: the device is enrolled, the PIN set, the user logged in; a relaunch finds them logged out")
    func ticket() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.launched()
            #expect(app.userProfiles.isEmpty && app.authenticatedUserProfile == nil && app.accessToken == nil)
            #expect(app.identityProviders.map(\.identifier) == ["browser", "ticket"] && !app.isStateless)
            let person = OneginiPerson()
            person.ticket = try await world.shop.makeTicket(for: world.user)
            person.chosen = ["11111", "12345", "123", OneginiWorld.pin]
            app.registerUserWith(identityProvider: app.identityProviders.last, scopes: nil, delegate: person)
            #expect(try await person.end() == "registered by ticket")
            #expect(
                person.asked == [
                    "ticket", "new PIN of 5", "new PIN of 5 after pin-validation 9013",
                    "new PIN of 5 after pin-validation 9012", "new PIN of 5 after pin-validation 9014",
                ])
            let profile = try #require(app.userProfiles.first)
            #expect(profile.isEqual(to: app.authenticatedUserProfile) && app.accessToken != nil)
            #expect(app.authenticators(.registered, for: profile).map(\.identifier) == ["pin"])
            #expect(app.preferredAuthenticator?.type == .pin)
            let url = try #require(URL(string: "https://api.example.com/orders"))
            #expect(try await app.headerFields(for: "GET", url)["Authorization"] != nil)
            #expect(try await world.deviceCount() == 1)
            let again = try await world.launched()
            #expect(again.userProfiles.map(\.profileId) == [profile.profileId])
            #expect(again.authenticatedUserProfile == nil && again.accessToken == nil)
            #expect(try await OneginiTold.pending(again).requests.isEmpty)
        }
    }

    @Test("Whoever gives up is not half registered, and what cannot be is told by its number")
    func failures() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.launched()
            @MainActor func outcome(_ person: OneginiPerson) async throws -> String {
                app.registerUserWith(identityProvider: app.identityProviders.last, scopes: nil, delegate: person)
                return try await person.end()
            }
            let person = OneginiPerson()
            #expect(try await outcome(person) == "generic 9006")
            person.ticket = "no ticket"
            #expect(try await outcome(person) == "registration 10022")
            person.ticket = try await world.shop.makeTicket(for: world.user)
            person.chosen = []
            #expect(try await outcome(person) == "generic 9006")
            #expect(try await world.deviceCount() == 0 && app.userProfiles.isEmpty)
            person.chosen = [OneginiWorld.pin]
            #expect(try await outcome(person) == "registration 10021", "a ticket is good once")
            app.registerUserWith(identityProvider: nil, scopes: nil, delegate: person)
            #expect(try await person.end() == "generic 9006", "nobody opens the browser")
            app.registerStatelessUserWith(identityProvider: nil, scopes: nil, delegate: person)
            #expect(try await person.end() == "registration 9034")
            world.network.fail()
            person.ticket = try await world.shop.makeTicket(for: world.user)
            #expect(try await outcome(person) == "generic 9000")
        }
    }

    @Test("Before the start, and with a configuration that lacks something, every call fails and none hangs")
    func notStarted() async throws {
        let client = ClientBuilder().setConfigModel(ConfigModel(dictionary: [:])).buildAlone()
        let (app, person) = (client.userClient, OneginiPerson())
        let nobody = UserProfileImplementation(profileId: "enr_nobody")
        #expect(await OneginiTold.by { client.start(completion: $0) } == "generic 10001")
        app.registerUserWith(identityProvider: nil, scopes: nil, delegate: person)
        #expect(try await person.end() == "generic 10001")
        app.authenticateUserWith(profile: nobody, authenticator: nil, delegate: person)
        #expect(try await person.end() == "generic 10001")
        app.changePin(delegate: person)
        #expect(try await person.end() == "change-pin 9010")
        #expect(await OneginiTold.by { app.enrollMobileAuth($0) } == "mobile-auth-enrollment 9010")
        #expect(
            await OneginiTold.by { app.enrollPushMobileAuth(with: Data(), completion: $0) }
                == "mobile-auth-enrollment 9010")
        #expect(await OneginiTold.by { app.deregister(user: nobody, completion: $0) } == "generic 10001")
        #expect(
            await OneginiTold.by { app.implicitlyAuthenticate(user: nobody, with: nil, completion: $0) }
                == "generic 10001")
        #expect(await OneginiTold.by { app.validatePolicyCompliance(for: "1", completion: $0) } == "generic 10001")
        #expect(try await OneginiTold.pending(app).error == "generic 10001")
        let (profile, error) = await OneginiTold.logout(app)
        #expect(profile == nil && error.isEmpty)
        app.handleOTPMobileAuthRequest(otp: "x", delegate: person)
        #expect(try await person.end() == "OTP: mobile-auth-request 9010")
    }

    @Test("In the browser, on a second device: the PIN is chosen, and the first one approves it by the number")
    func browser() async throws {
        try await OneginiWorld.with { world in
            let issuer = try #require(URL(string: "\(world.server.issuer)"))
            let phone = try await Countersign.Authenticator(
                issuer: issuer, app: AppDescription(name: "Acme", version: "3.1", deviceName: "Phone"),
                vault: MemoryVault())
            _ = try await phone.enroll(with: .ticket(try await world.shop.makeTicket(for: world.user)))
            let app = try await world.launched()
            let person = OneginiPerson()
            let visitor = PageVisitor(world.server)
            let approve: @Sendable (String?) async throws -> Void = { number in
                while true {
                    if let pending = try await phone.pendingChallenges().first {
                        _ = try await pending.open().approve(with: .confirmation, number: number)
                        return
                    }
                    try await Task.sleep(for: .milliseconds(25))
                }
            }
            person.browser = { try await visitor.signIn($0, approve) }
            person.approved = approve
            app.registerUserWith(identityProvider: nil, scopes: nil, delegate: person)
            #expect(try await person.end() == "registered by browser")
            #expect(person.asked == ["browser", "new PIN of 5", "approval"])
            #expect(app.authenticatedUserProfile != nil && app.accessToken != nil)
            #expect(try await world.deviceCount() == 2)
        }
    }
}
