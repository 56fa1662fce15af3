import Countersign
import Encodings
import Foundation
import OneginiSDKiOS
import ServerTestSupport
import Synchronization
import Testing

@Suite("OneWelcome's calls: logging in, the PIN and authenticators", .timeLimit(.minutes(15)))
@MainActor
struct OneginiAuthenticationTests {
    @Test("A wrong PIN says how often is left, the right one logs in; logging out takes the token back")
    func pin() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let profile = try #require(app.userProfiles.first)
            let (out, error) = await OneginiTold.logout(app)
            #expect(out == profile.profileId && error.isEmpty)
            #expect(app.authenticatedUserProfile == nil && app.accessToken == nil)
            let person = OneginiPerson()
            person.typed = [OneginiWorld.wrongPIN, "pin", OneginiWorld.pin]
            app.authenticateUserWith(profile: profile, authenticator: nil, delegate: person)
            #expect(try await person.end() == "authenticated by pin")
            #expect(
                person.asked == [
                    "PIN, 5 of 5 left", "PIN, 4 of 5 left after authentication 9009",
                    "PIN, 3 of 5 left after authentication 9009",
                ])
            #expect(app.authenticatedUserProfile?.profileId == profile.profileId && app.accessToken != nil)
            world.server.clock.advance(seconds: 600)
            #expect(app.authenticatedUserProfile == nil && app.accessToken == nil, "the token is over")
            app.authenticateUserWith(profile: profile, authenticator: nil, delegate: person)
            #expect(try await person.end() == "generic 9006", "nobody types a PIN")
            let stranger = UserProfileImplementation(profileId: "enr_nobody")
            app.authenticateUserWith(profile: stranger, authenticator: nil, delegate: person)
            #expect(try await person.end() == "generic 10000")
        }
    }

    @Test("At the limit the PIN is locked, or the user is gone from this device, as the client has it")
    func limit() async throws {
        for (action, number) in [("lock", "authentication 9022"), ("remove", "generic 9003")] {
            try await OneginiWorld.with(pins: ["attempts": 2, "at_limit": .string(action)]) { world in
                let app = try await world.enrolled()
                let profile = try #require(app.userProfiles.first)
                let person = OneginiPerson()
                person.typed = [OneginiWorld.wrongPIN, OneginiWorld.wrongPIN]
                app.authenticateUserWith(profile: profile, authenticator: nil, delegate: person)
                #expect(try await person.end() == number)
                #expect(app.userProfiles.isEmpty == (action == "remove"))
                guard action == "lock" else { return }
                app.authenticateUserWith(profile: profile, authenticator: nil, delegate: person)
                #expect(try await person.end() == "authentication 9022")
            }
        }
    }

    @Test("The PIN is changed by the old one, and the new one counts; the rules are told before")
    func change() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let numbers = ["90210573": "", "123": "pin-validation 9014", "12345": "pin-validation 9012"]
            for (pin, number) in numbers {
                #expect(
                    await OneginiTold.by { app.validatePolicyCompliance(for: pin, completion: $0) } == number)
            }
            let person = OneginiPerson()
            person.typed = [OneginiWorld.wrongPIN, OneginiWorld.pin]
            person.chosen = ["90210573", "12345", "90210573"]
            app.changePin(delegate: person)
            #expect(try await person.end() == "changed")
            #expect(
                person.asked == [
                    "PIN, 5 of 5 left", "new PIN of 5", "PIN, 4 of 5 left after authentication 9009",
                    "new PIN of 5", "new PIN of 5 after pin-validation 9012",
                ])
            let id = try await world.ask("typed")
            person.typed = ["90210573"]
            #expect(try await world.handle(app, person) == "handled by pin")
            #expect(try await world.state(of: id) == "approved")
        }
    }

    @Test("Biometrics are registered by the PIN, log in, fall back to the PIN, and are deregistered")
    func biometrics() async throws {
        let failure = Mutex<BiometricFailure?>(nil)
        let vault = InsecureSimulatedBiometrics(before: MemoryVault()) { _ in failure.withLock { $0 } }
        try await OneginiWorld.with(vault: vault) { world in
            let app = try await world.enrolled()
            let profile = try #require(app.userProfiles.first)
            let biometric = try #require(app.authenticators(.nonRegistered, for: profile).first)
            #expect(biometric.type == .biometric && !biometric.isRegistered)
            let person = OneginiPerson()
            app.register(authenticator: biometric, delegate: person)
            #expect(try await person.end() == "registered biometric ")
            app.setPreferredAuthenticator(biometric)
            while app.preferredAuthenticator?.type != .biometric { try await Task.sleep(for: .milliseconds(5)) }
            app.authenticateUserWith(profile: profile, authenticator: nil, delegate: person)
            #expect(try await person.end() == "authenticated by biometric")
            person.typed = [OneginiWorld.pin, OneginiWorld.pin]
            failure.withLock { $0 = .failed }
            app.authenticateUserWith(profile: profile, authenticator: biometric, delegate: person)
            #expect(try await person.end() == "authenticated by pin")
            #expect(person.asked.last == "PIN, 5 of 5 left after authentication 9030")
            failure.withLock { $0 = .cancelled }
            app.authenticateUserWith(profile: profile, authenticator: biometric, delegate: person)
            #expect(try await person.end() == "generic 9006")
            app.deregister(authenticator: biometric, delegate: person)
            #expect(try await person.end() == "deregistered biometric")
            #expect(app.authenticators(.registered, for: profile).map(\.identifier) == ["pin"])
            let pin = try #require(app.authenticators(.all, for: profile).first)
            app.deregister(authenticator: pin, delegate: person)
            #expect(try await person.end() == "authenticator-deregistration 10008")
            app.register(authenticator: pin, delegate: person)
            #expect(try await person.end() == "authenticator-registration 10004")
        }
    }

    @Test("A user who is deregistered is gone here and at the server; without a network only here, and that is told")
    func deregistration() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let first = try #require(app.userProfiles.first)
            #expect(await OneginiTold.by { app.deregister(user: first, completion: $0) } == "")
            #expect(try await world.deviceCount() == 0 && app.userProfiles.isEmpty)
            try await world.register(app)
            let second = try #require(app.userProfiles.first)
            world.network.fail()
            #expect(await OneginiTold.by { app.deregister(user: second, completion: $0) } == "deregistration 10003")
            #expect(app.userProfiles.isEmpty && app.authenticatedUserProfile == nil)
            #expect(try await world.deviceCount() == 1)
        }
    }

    @Test("A user whose device the server no longer knows is gone from the device, and registers anew")
    func lost() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            for isDeregistered in [false, true] {
                let profile = try #require(app.userProfiles.first)
                world.network.forget()
                if isDeregistered {
                    #expect(await OneginiTold.by { app.deregister(user: profile, completion: $0) } == "")
                } else {
                    let person = OneginiPerson()
                    app.authenticateUserWith(profile: profile, authenticator: nil, delegate: person)
                    #expect(try await person.end() == "generic 9002")
                }
                #expect(app.userProfiles.isEmpty && app.authenticatedUserProfile == nil)
                world.network.forget(false)
                try await world.register(app)
            }
            #expect(app.userProfiles.count == 1)
        }
    }

    @Test("Implicitly, the device alone signs in, and nobody is logged in by that")
    func implicit() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let profile = try #require(app.userProfiles.first)
            _ = await OneginiTold.logout(app)
            #expect(
                await OneginiTold.by { app.implicitlyAuthenticate(user: profile, with: nil, completion: $0) } == "")
            #expect(app.implicitlyAuthenticatedUserProfile?.profileId == profile.profileId)
            #expect(app.authenticatedUserProfile == nil)
            #expect(await OneginiTold.by { app.enrollMobileAuth($0) } == "mobile-auth-enrollment 9010")
        }
    }
}
