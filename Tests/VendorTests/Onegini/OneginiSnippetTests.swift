import Countersign
import Encodings
import Foundation
import NIOHTTP1
import OneginiSDKiOS
import ServerTestSupport
import Testing
import VendorSnippets

/// The samples of OneWelcome's document, `Tests/VendorTests/Snippets/004`, each run against a real server.
///
/// They are serialized because some of them use the one shared client.
@Suite("OneWelcome's samples", .serialized, .timeLimit(.minutes(15)))
@MainActor
struct OneginiSnippetTests {
    /// The app, started as the shared client, with its user registered.
    private static func shared(_ world: OneginiWorld) async throws -> any UserClient {
        let client = world.builder().build()
        #expect(await OneginiTold.by { client.start(completion: $0) } == "")
        try await world.register(SharedUserClient.instance)
        return SharedUserClient.instance
    }

    /// How a sample's request has ended, which happens once.
    private static func end(_ app: any SampleDelegate) async throws -> String {
        while app.ends.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(50))
        #expect(app.ends.count == 1)
        return app.ends.first ?? ""
    }

    @Test("004/01, 02, 04: enrolling, enrolling for pushes, and what waits")
    func calls() async throws {
        try await OneginiWorld.with { world in
            let app = try await Self.shared(world)
            let profile = try #require(app.userProfiles.first)
            S004x01.run()
            while !app.isMobileAuthEnrolled(for: profile) { try await Task.sleep(for: .milliseconds(5)) }
            S004x02.run(app, Data(repeating: 7, count: 32))
            while !app.isPushMobileAuthEnrolled(for: profile) { try await Task.sleep(for: .milliseconds(5)) }
            let before = world.network.count(to: "/v1/enrollments/self/challenges")
            S004x04.run()
            while world.network.count(to: "/v1/enrollments/self/challenges") == before {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    @Test("The program of the guide starts, enrolls, and answers pushes as a person types")
    func guide() async throws {
        try await OneginiWorld.with { world in
            let guide = OneWelcomeGuide()
            #expect(await OneginiTold.by { guide.start(vault: MemoryVault(), completion: $0) } == "")
            #expect(SharedClient.instance.configModel[ConfigModel.Key.baseURL] == "https://login.example.com")
            // The server is not the guide's.
            let app = try await Self.shared(world)
            let profile = try #require(app.userProfiles.first)
            guide.enroll(deviceToken: Data(repeating: 7, count: 32))
            while !app.isPushMobileAuthEnrolled(for: profile) { try await Task.sleep(for: .milliseconds(5)) }
            let answers = [
                ("payment", "yes", "approved"), ("payment", "no", "denied"), ("typed", OneginiWorld.pin, "approved"),
            ]
            for (type, typed, state) in answers {
                Console.type(typed)
                let id = try await world.ask(type)
                let alert: [String: Any] = ["title": "ACME Shop", "body": "Pay?"]
                let own: [String: Any] = ["v": 1, "id": id, "enrollment": profile.profileId, "jws": "a.b.c"]
                guide.received(["aps": ["alert": alert] as [String: Any], "countersign": own])
                while try await world.state(of: id) == "pending" { try await Task.sleep(for: .milliseconds(20)) }
                #expect(try await world.state(of: id) == state)
            }
        }
    }

    @Test("004/03: a notification that is tapped hands over its payload")
    func notification() {
        let app = S004x03()
        #expect(app.open(["countersign": "x"]) && app.handled.count == 1)
        #expect(app.handled.first?["countersign"] as? String == "x")
    }

    @Test("004/05, 06: confirming, and a text that is no PIN, which ends when no try is left and costs none")
    func answers() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let confirming = S004x05.app()
            let first = try await world.ask("payment")
            app.handlePendingMobileAuthRequest(try await world.pending(app), delegate: confirming)
            #expect(try await Self.end(confirming) == "handled by nothing")
            #expect(try await world.state(of: first) == "approved")
            let typing = S004x06.app()
            let second = try await world.ask("typed")
            app.handlePendingMobileAuthRequest(try await world.pending(app), delegate: typing)
            #expect(try await Self.end(typing) == "9009")
            #expect(try await world.state(of: second) == "pending")
            #expect(try await world.handle(app, OneginiPerson()) == "handled by pin")
        }
    }

    @Test("004/07: the first answer to a biometric challenge counts")
    func biometrics() async throws {
        let vault = InsecureSimulatedBiometrics(before: MemoryVault()) { prompt in
            ["Biometrics", "Confirm money transfer"].contains(prompt) ? nil : .failed
        }
        try await OneginiWorld.with(vault: vault) { world in
            let app = try await world.enrolled()
            let profile = try #require(app.userProfiles.first)
            let person = OneginiPerson()
            let biometric = try #require(app.authenticators(.nonRegistered, for: profile).first)
            app.register(authenticator: biometric, delegate: person)
            #expect(try await person.end() == "registered biometric ")
            let id = try await world.ask("touch")
            let sample = S004x07.app()
            app.handlePendingMobileAuthRequest(try await world.pending(app), delegate: sample)
            #expect(try await Self.end(sample) == "handled by biometric")
            #expect(try await world.state(of: id) == "approved")
        }
    }

    @Test("004/08: the first answer to a custom authenticator's challenge counts")
    func custom() async throws {
        let verdicts: [JSONValue] = [["result": "ok"], ["result": "ok"]]
        try await CallbackReceiver.with(saying: verdicts) { receiver in
            try await OneginiWorld.with(hook: receiver.url) { world in
                let app = try await world.enrolled()
                let profile = try #require(app.userProfiles.first)
                let person = OneginiPerson()
                person.phrases = ["correct horse"]
                let phrase = try #require(app.authenticators(.nonRegistered, for: profile).last)
                app.register(authenticator: phrase, delegate: person)
                #expect(try await person.end() == "registered phrase ")
                let id = try await world.ask("spoken")
                let sample = S004x08.app()
                app.handlePendingMobileAuthRequest(try await world.pending(app), delegate: sample)
                #expect(try await Self.end(sample) == "handled by phrase")
                #expect(try await world.state(of: id) == "approved")
            }
        }
    }

    @Test("004/09, 10, 13, 14: the app is told the end under either name")
    func ends() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let samples: [(any MobileAuthRequestDelegate, String)] = [
                (S004x09.app(confirms: true), "approved"), (S004x13.app(confirms: true), "approved"),
                (S004x10.app(confirms: false), "denied"), (S004x14.app(confirms: false), "denied"),
            ]
            for (sample, state) in samples {
                let id = try await world.ask("payment")
                app.handlePendingMobileAuthRequest(try await world.pending(app), delegate: sample)
                while try await world.state(of: id) == "pending" { try await Task.sleep(for: .milliseconds(25)) }
                #expect(try await world.state(of: id) == state)
                // What has ended waits no more.
                #expect(try await OneginiTold.pending(app).requests.isEmpty)
            }
        }
    }

    @Test("004/11, 12: a one-time password is handled, and confirmed")
    func oneTimePassword() async throws {
        try await OneginiWorld.with { world in
            let app = try await Self.shared(world)
            #expect(await OneginiTold.by { app.enrollMobileAuth($0) } == "")
            let asked = try await world.shop.call(
                .POST, "/v1/challenges", ["type": "qr", "message": "Sign in to ACME?"]
            ).success()
            let sample = S004x12.app()
            S004x11.run("no code", sample)
            S004x11.run(try #require(asked["code"]?["qr"]?.string), sample)
            #expect(try await Self.end(sample) == "handled by nothing")
            let id = try #require(asked["id"]?.string)
            #expect(try await world.state(of: id) == "approved")
        }
    }
}
