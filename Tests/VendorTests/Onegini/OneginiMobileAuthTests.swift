import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OneginiSDKiOS
import ServerTestSupport
import Synchronization
import Testing

/// An app that answers nothing: it has no method at all but the two that tell the end.
@MainActor
private final class SilentDelegate: MobileAuthRequestDelegate {
    let ends = OneginiTold.Calls<String>()

    func userClient(
        _ userClient: any UserClient, didHandle request: any MobileAuthRequest,
        authenticator: OneginiSDKiOS.Authenticator?, info customAuthenticatorInfo: (any CustomInfo)?
    ) {
        ends.note("handled")
    }

    func userClient(
        _ userClient: any UserClient, didFailToHandleMobileAuthenticationRequest request: any MobileAuthRequest,
        authenticator: OneginiSDKiOS.Authenticator?, error: any Error
    ) {
        ends.note(OneginiTold.number(error))
    }
}

@Suite("OneWelcome's calls: mobile authentication", .timeLimit(.minutes(15)))
@MainActor
struct OneginiMobileAuthTests {
    @Test("Before a user is enrolled nothing of it surfaces; then it does, also after a relaunch, logged out")
    func enrollment() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.launched()
            try await world.register(app)
            let profile = try #require(app.userProfiles.first)
            let id = try await world.ask("payment")
            #expect(!app.isMobileAuthEnrolled(for: profile))
            #expect(try await OneginiTold.pending(app).requests.isEmpty)
            let person = OneginiPerson()
            let announced = OneginiAnnouncement(transactionId: id, userProfile: profile)
            app.handlePendingMobileAuthRequest(announced, delegate: person)
            #expect(try await person.end() == "mobile-auth-request 9021")
            #expect(
                await OneginiTold.by { app.enrollPushMobileAuth(with: Data([1]), completion: $0) }
                    == "mobile-auth-enrollment 9021")
            #expect(await OneginiTold.by { app.enrollForMobileAuth($0) } == "")
            #expect(app.isMobileAuthEnrolled(for: profile) && !app.isPushMobileAuthEnrolled(for: profile))
            #expect(
                await OneginiTold.by {
                    app.enrollPushMobileAuth(with: Data(repeating: 1, count: 32), completion: $0)
                } == "")
            let again = try await world.launched()
            #expect(again.isMobileAuthEnrolled(for: profile) && again.isPushMobileAuthEnrolled(for: profile))
            let pending = try await world.pending(again)
            #expect(pending.transactionId == id && pending.userProfile.isEqual(to: profile))
            #expect(pending.message == "Pay EUR 1,250.00 to ACME GmbH?" && pending.userInfo == nil)
            #expect((pending.timeToLive ?? 0) > 0 && pending.date != nil)
            #expect(try await world.handle(again, person) == "handled by nothing")
            #expect(try await world.state(of: id) == "approved")
        }
    }

    @Test("What is to be shown is one text: message, details, place; a yes approves and a no denies, once")
    func confirmation() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let person = OneginiPerson()
            let id = try await world.ask(
                "payment",
                [
                    "details": [["label": "Amount", "value": "EUR 1,250.00"]], "context": ["ip": "203.0.113.7"],
                    "signing_data": "invoice 4711",
                ])
            #expect(try await world.handle(app, person) == "handled by nothing")
            let request = try #require(person.request)
            #expect(request.transactionId == id && request.type == "payment" && request.userInfo == nil)
            #expect(request.message == "Pay EUR 1,250.00 to ACME GmbH?\nAmount: EUR 1,250.00\n203.0.113.7")
            #expect(request.signingData == "invoice 4711")
            #expect(try await world.state(of: id) == "approved")
            let other = try await world.ask("payment")
            person.confirms = false
            #expect(try await world.handle(app, person) == "generic 9006")
            #expect(try await world.state(of: other) == "denied")
            app.handlePendingPushMobileAuthRequest(
                OneginiAnnouncement(transactionId: other, userProfile: request.userProfile), delegate: person)
            #expect(try await person.end() == "mobile-auth-request 10013", "it has ended")
        }
    }

    @Test("By the PIN, after a wrong one; whoever gives up denies")
    func pin() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let person = OneginiPerson()
            person.typed = [OneginiWorld.wrongPIN, OneginiWorld.pin]
            let id = try await world.ask("typed")
            #expect(try await world.handle(app, person) == "handled by pin")
            #expect(person.asked == ["PIN, 5 of 5 left", "PIN, 4 of 5 left after authentication 9009"])
            #expect(try await world.state(of: id) == "approved")
            let other = try await world.ask("typed")
            #expect(try await world.handle(app, person) == "generic 9006")
            #expect(try await world.state(of: other) == "denied")
        }
    }

    @Test("By biometrics; when they fail or are not wanted, by the PIN; a prompt that is closed denies nothing")
    func biometrics() async throws {
        let failure = Mutex<BiometricFailure?>(nil)
        let vault = InsecureSimulatedBiometrics(before: MemoryVault()) { _ in failure.withLock { $0 } }
        try await OneginiWorld.with(vault: vault) { world in
            let app = try await world.enrolled()
            let profile = try #require(app.userProfiles.first)
            let person = OneginiPerson()
            let biometric = try #require(app.authenticators(.nonRegistered, for: profile).first)
            app.register(authenticator: biometric, delegate: person)
            #expect(try await person.end() == "registered biometric ")
            _ = try await world.ask("touch")
            #expect(try await world.handle(app, person) == "handled by biometric")
            failure.withLock { $0 = .failed }
            person.typed = [OneginiWorld.pin]
            _ = try await world.ask("touch")
            #expect(try await world.handle(app, person) == "handled by pin")
            #expect(person.asked.last == "PIN, 5 of 5 left after authentication 9030")
            person.prompt = nil
            person.typed = [OneginiWorld.pin]
            _ = try await world.ask("touch")
            #expect(try await world.handle(app, person) == "handled by pin")
            #expect(person.asked.last == "PIN, 5 of 5 left")
            failure.withLock { $0 = .cancelled }
            person.prompt = "Pay?"
            let id = try await world.ask("touch")
            #expect(try await world.handle(app, person) == "generic 9006")
            #expect(try await world.state(of: id) == "pending")
        }
    }

    @Test("By a custom authenticator, which asks again, refuses, and says so to the app; then by the PIN")
    func custom() async throws {
        let verdicts: [JSONValue] = [
            ["result": "ok", "payload": "welcome"], ["result": "retry", "payload": "colder"],
            ["result": "ok", "payload": "seen"], ["result": "fail", "payload": "never"],
        ]
        try await CallbackReceiver.with(saying: verdicts) { receiver in
            try await OneginiWorld.with(hook: receiver.url) { world in
                let app = try await world.enrolled()
                let profile = try #require(app.userProfiles.first)
                let person = OneginiPerson()
                let phrase = try #require(app.authenticators(.nonRegistered, for: profile).last)
                #expect(phrase.type == .custom && phrase.identifier == "phrase")
                person.phrases = ["correct horse"]
                app.register(authenticator: phrase, delegate: person)
                #expect(try await person.end() == "registered phrase welcome")
                person.phrases = ["wrong", "correct horse"]
                _ = try await world.ask("spoken")
                #expect(try await world.handle(app, person) == "handled by phrase 2000 seen")
                #expect(person.asked.suffix(2) == ["custom", "custom after authentication 9027"])
                person.phrases = ["wrong"]
                person.typed = [OneginiWorld.pin]
                let id = try await world.ask("spoken")
                #expect(try await world.handle(app, person) == "handled by pin")
                #expect(person.asked.last == "PIN, 5 of 5 left after authentication 9027")
                #expect(try await world.state(of: id) == "approved")
                app.authenticateUserWith(profile: profile, authenticator: phrase, delegate: person)
                #expect(try await person.end() == "authentication 10017")
            }
        }
    }

    @Test("An app without a method for it, a number that nobody could type, and a removed device: one end each")
    func cannotBeHandled() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let silent = SilentDelegate()
            for type in ["payment", "typed"] {
                let id = try await world.ask(type)
                app.handlePendingMobileAuthRequest(try await world.pending(app), delegate: silent)
                #expect(await silent.ends.once() == "mobile-auth-request 10018")
                #expect(try await world.state(of: id) == "pending", "and it is not denied")
                _ = try await world.shop.call(.DELETE, "/v1/challenges/\(id)").success()
            }
            let person = OneginiPerson()
            let numbered = try await world.ask("payment", ["number_entry": true])
            #expect(try await world.handle(app, person) == "mobile-auth-request 10018")
            #expect(try await world.state(of: numbered) == "pending")
            let profile = try #require(app.userProfiles.first)
            let path = "/v1/users/\(world.user)/enrollments/\(profile.profileId)"
            #expect(try await world.shop.call(.DELETE, path).status == 204)
            app.handlePendingMobileAuthRequest(
                OneginiAnnouncement(transactionId: numbered, userProfile: profile), delegate: person)
            #expect(try await person.end() == "mobile-auth-request 9020")
            #expect(app.userProfiles.isEmpty && app.authenticatedUserProfile == nil)
        }
    }

    @Test("The same request is handled once at a time; one that nobody answers ends with its time")
    func once() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let waiting = WaitingDelegate()
            // Long enough for a machine on which all other tests run, too.
            _ = try await world.ask("payment", ["expires_in": 120])
            let pending = try await world.pending(app)
            app.handlePendingMobileAuthRequest(pending, delegate: waiting)
            while waiting.confirmation == nil { try await Task.sleep(for: .milliseconds(5)) }
            let person = OneginiPerson()
            app.handlePendingMobileAuthRequest(pending, delegate: person)
            #expect(try await person.end() == "mobile-auth-request 9029")
            // Letting go of it is an end as well, and comes at once.
            waiting.confirmation = nil
            #expect(await waiting.ends.once() == "mobile-auth-request 10018")
            world.server.clock.advance(seconds: 117)
            app.handlePendingMobileAuthRequest(pending, delegate: waiting)
            #expect(await waiting.ends.once() == "mobile-auth-request 10013")
        }
    }

    @Test("A push is told from others, and its request is handled with nobody logged in")
    func push() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let profile = try #require(app.userProfiles.first)
            _ = await OneginiTold.logout(app)
            let id = try await world.ask("payment")
            let alert: [String: Any] = ["title": "ACME Shop", "body": "Pay?"]
            let own: [String: Any] = ["v": 1, "id": id, "enrollment": profile.profileId, "jws": "a.b.c"]
            let userInfo: [AnyHashable: Any] = ["aps": ["alert": alert] as [String: Any], "countersign": own]
            #expect(app.pendingMobileAuthRequest(from: ["aps": ["alert": "News"] as [String: Any]]) == nil)
            let pending = try #require(app.pendingMobileAuthRequest(from: userInfo))
            #expect(pending.transactionId == id && pending.userProfile.isEqual(to: profile))
            #expect(pending.message == "Pay?" && pending.userInfo?["countersign"] != nil)
            let person = OneginiPerson()
            app.handlePendingMobileAuthRequest(pending, delegate: person)
            #expect(try await person.end() == "handled by nothing")
            #expect(person.request?.message == "Pay EUR 1,250.00 to ACME GmbH?", "the push is not believed")
            #expect(person.request?.userInfo?["aps"] != nil)
        }
    }

    @Test("A one-time password is handled for whoever is logged in, and fails before there is a request otherwise")
    func oneTimePassword() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.enrolled()
            let asked = try await world.shop.call(
                .POST, "/v1/challenges", ["type": "qr", "message": "Sign in to ACME?"]
            ).success()
            let otp = try #require(asked["code"]?["qr"]?.string)
            let id = try #require(asked["id"]?.string)
            #expect(app.canHandleOTPMobileAuthRequest(otp: otp) && !app.canHandleOTPMobileAuthRequest("no code"))
            let person = OneginiPerson()
            app.handleOTPMobileAuthRequest(otp: "no code", delegate: person)
            #expect(try await person.end() == "OTP: mobile-auth-request 10018")
            app.handleOTPMobileAuthRequest(otp, for: person)
            #expect(try await person.end() == "handled by nothing")
            #expect(person.request?.message == "Sign in to ACME?" && person.request?.transactionId == id)
            #expect(try await world.state(of: id) == "approved")
            _ = await OneginiTold.logout(app)
            let silent = SilentDelegate()
            app.handleOTPMobileAuthRequest(otp: otp, delegate: silent)
            #expect(await silent.ends.once() == "mobile-auth-request 9010", "also told without the method for it")
        }
    }
}

/// A request as an app may have kept it.
private final class OneginiAnnouncement: PendingMobileAuthRequest {
    let transactionId: String
    let userProfile: any UserProfile
    let date: Date? = nil
    let timeToLive: TimeInterval? = nil
    let message: String? = nil
    var userInfo: [AnyHashable: Any]? { nil }

    init(transactionId: String, userProfile: any UserProfile) {
        self.transactionId = transactionId
        self.userProfile = userProfile
    }
}

/// An app that keeps a confirmation and does not answer it.
@MainActor
private final class WaitingDelegate: MobileAuthRequestDelegate {
    let ends = OneginiTold.Calls<String>()
    var confirmation: ((Bool) -> Void)?

    func userClient(
        _ userClient: any UserClient, didReceiveConfirmation confirmation: @escaping (Bool) -> Void,
        for request: any MobileAuthRequest
    ) {
        self.confirmation = confirmation
    }

    func userClient(
        _ userClient: any UserClient, didFailToHandleRequest request: any MobileAuthRequest,
        authenticator: OneginiSDKiOS.Authenticator?, error: any Error
    ) {
        ends.note(OneginiTold.number(error))
    }
}
