import Countersign
import CountersignWire
import DeviceAuthenticator
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Synchronization
import Testing

@Suite("Okta's calls: resolving a challenge", .timeLimit(.minutes(15)))
struct OktaResolvingTests {
    @Test("What is asked is told whole, and the person's answer arrives")
    func answers() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let details: JSONValue = [["label": "Amount", "value": "EUR 1,250.00"]]
            let context: JSONValue = ["ip": "203.0.113.7"]
            let answers: [(UserConsentResponse, String)] = [
                (.approved, "approved"), (.denied, "denied"), (.none, "denied"),
            ]
            for (answer, state) in answers {
                let (challenge, _) = try await scene.asked(
                    "payment", enrollment, ["details": details, "context": context])
                #expect(challenge.originURL == scene.config.orgURL && challenge.appInstanceName == "ACME Shop")
                #expect(abs(challenge.transactionTime.timeIntervalSinceNow) < 60)
                #expect(challenge.clientLocation?.contains("203.0.113.7") == true && challenge.clientOS == nil)
                #expect(challenge.userResponse == .userNotResponded)
                let text = (challenge as? any CIBAChallengeProtocol)?.cibaBindingMessage
                #expect(text == "Pay EUR 1,250.00 to ACME GmbH?\nAmount: EUR 1,250.00")
                let person = OktaPerson(answer)
                #expect(await person.resolve(challenge) == nil)
                #expect(person.steps == ["consent"])
                #expect(try await scene.state(of: challenge.transactionId) == state)
                let again = await person.resolve(challenge)
                #expect(oktaCode(again) == "already_answered")
            }
            #expect(try await scene.pending(enrollment).isEmpty)
        }
    }

    @Test("A step that the app lets go of ends the attempt, sends nothing, and the challenge waits")
    func dropped() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let (challenge, _) = try await scene.asked("payment", enrollment)
            #expect(await OktaPerson(nil).resolve(challenge)?.errorCode == -5)
            #expect(try await scene.state(of: challenge.transactionId) == "pending")
            #expect(await OktaPerson(.denied).resolve(challenge) == nil)
        }
    }

    @Test("What the SDK does by default is a denial; the first answer counts")
    func defaults() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let (challenge, _) = try await scene.asked("payment", enrollment)
            let failure: DeviceAuthenticatorError? = await oktaOutcome { done in
                challenge.resolve(
                    onRemediation: { step in
                        step.defaultProcess()
                        (step as? RemediationStepUserConsent)?.provide(.approved)
                    }, onCompletion: done)
            }
            #expect(failure == nil)
            #expect(try await scene.state(of: challenge.transactionId) == "denied")
        }
    }

    @Test("Where a number must be typed there is a step for it; the default of that step leaves the challenge waiting")
    func number() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let (challenge, number) = try await scene.asked("numbered", enrollment)
            let absent = OktaPerson(.approved)
            #expect(await absent.resolve(challenge)?.errorCode == -5)
            #expect(absent.steps == ["consent", "number of 6"])
            #expect(try await scene.state(of: challenge.transactionId) == "pending")
            #expect(await OktaPerson(.approved, number: number).resolve(challenge) == nil)
            #expect(try await scene.state(of: challenge.transactionId) == "approved")
            let (other, right) = try await scene.asked("numbered", enrollment)
            let wrong = EntryNumber(value: ((UInt32(right) ?? 0) + 1) % 1_000_000).digits
            #expect(oktaCode(await OktaPerson(.approved, number: wrong).resolve(other)) == "number_incorrect")
            #expect(try await scene.state(of: other.transactionId) == "failed")
        }
    }

    @Test("Biometrics approve; whoever closes the prompt or is not recognised approves by nothing else")
    func biometrics() async throws {
        let next = Mutex<BiometricFailure?>(nil)
        let vault = InsecureSimulatedBiometrics(before: MemoryVault()) { _ in next.withLock { $0 } }
        try await OktaScene.with(vault: vault) { scene in
            let enrollment = try await scene.enroll(
                EnrollmentParameters(deviceToken: .empty, enableUserVerification: true))
            for type in ["preferred", "required"] {
                let (challenge, _) = try await scene.asked(type, enrollment)
                let failures: [(BiometricFailure, RemediationStepMessageReasonType)] = [
                    (.cancelled, .userVerificationCancelledByUser), (.fallback, .userVerificationCancelledByUser),
                    (.failed, .userVerificationFailed), (.lockout, .userVerificationFailed),
                    (.changed, .userVerificationKeyCorruptedOrMissing),
                ]
                for (failure, reason) in failures {
                    next.withLock { $0 = failure }
                    let person = OktaPerson(.approved)
                    #expect(await person.resolve(challenge)?.errorCode == -3)
                    #expect(person.steps == ["consent", "message"])
                    #expect(person.messages.first?.reasonType == reason)
                    #expect(person.messages.first?.messageType == .nonFatalError)
                    #expect(person.messages.first?.challenge?.transactionId == challenge.transactionId)
                    #expect(try await scene.state(of: challenge.transactionId) == "pending")
                }
                next.withLock { $0 = nil }
                #expect(await OktaPerson(.approved).resolve(challenge) == nil)
                #expect(try await scene.state(of: challenge.transactionId) == "approved")
            }
        }
    }

    @Test("A device that lost its biometric approves by possession where that is enough, and is told so")
    func unverified() async throws {
        let next = Mutex<BiometricFailure?>(nil)
        let vault = InsecureSimulatedBiometrics(before: MemoryVault()) { _ in next.withLock { $0 } }
        try await OktaScene.with(vault: vault) { scene in
            let enrollment = try await scene.enroll(
                EnrollmentParameters(deviceToken: .empty, enableUserVerification: true))
            let (preferred, _) = try await scene.asked("preferred", enrollment)
            let (required, _) = try await scene.asked("required", enrollment)
            next.withLock { $0 = .unavailable }
            let person = OktaPerson(.approved)
            #expect(await person.resolve(preferred) == nil)
            #expect(person.messages.map(\.reasonType) == [.userVerificationKeyNotEnrolled])
            #expect(try await scene.state(of: preferred.transactionId) == "approved")
            let refused = await OktaPerson(.approved).resolve(required)
            guard case .securityError(.localAuthenticationPasscodeNotSet) = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(try await scene.state(of: required.transactionId) == "pending")
        }
    }

    @Test("Whoever asks for a PIN alone asks for more than these calls can")
    func pin() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let made = try await Authenticator(
                issuer: scene.config.orgURL,
                app: AppDescription(name: "Acme", version: "3.1", deviceName: "Test phone"), vault: scene.vault)
            try await #require(await made.enrollments.first).setPIN(PIN("83517"))
            let (challenge, _) = try await scene.asked("typed", enrollment)
            #expect(oktaCode(await OktaPerson(.approved).resolve(challenge)) == "method_missing")
            #expect(try await scene.state(of: challenge.transactionId) == "pending")
            #expect(await OktaPerson(.denied).resolve(challenge) == nil)
        }
    }

    @Test("An answer that is there before needs no step, unless it approves what nobody has seen")
    func preset() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let (bare, _) = try await scene.asked("payment", enrollment)
            bare.userResponse = .userApproved
            let nobody = OktaPerson(nil)
            #expect(await nobody.resolve(bare) == nil)
            #expect(nobody.steps.isEmpty)
            #expect(try await scene.state(of: bare.transactionId) == "approved")
            let (denied, _) = try await scene.asked("payment", enrollment)
            denied.userResponse = .userDenied
            #expect(await nobody.resolve(denied) == nil)
            #expect(nobody.steps.isEmpty)
            #expect(try await scene.state(of: denied.transactionId) == "denied")
            let details: JSONValue = [["label": "Amount", "value": "EUR 1,250.00"]]
            let (unseen, _) = try await scene.asked("payment", enrollment, ["details": details])
            unseen.userResponse = .userApproved
            #expect(await nobody.resolve(unseen)?.errorCode == -5)
            #expect(nobody.steps == ["consent"])
            #expect(unseen.userResponse == .userNotResponded)
            #expect(try await scene.state(of: unseen.transactionId) == "pending")
            unseen.userResponse = .userApproved
            unseen.userResponse = .userNotResponded
            #expect(await OktaPerson(.denied).resolve(unseen) == nil)
        }
    }

    @Test("Whoever does not wait for the end has the same answer sent")
    func documented() async throws {
        try await OktaScene.with { scene in
            let enrollment = try await scene.enroll()
            let (challenge, _) = try await scene.asked("payment", enrollment)
            challenge.resolve { step in (step as? RemediationStepUserConsent)?.provide(.approved) }
            let status = try await scene.shop.call(.GET, "/v1/challenges/\(challenge.transactionId)?wait=30").success()
            #expect(status["state"]?.string == "approved")
        }
    }
}
