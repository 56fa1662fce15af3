import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Synchronization
import Testing

/// What the user does when biometrics are asked for, and what the prompts said.
private final class Person: Sendable {
    private let state = Mutex((next: BiometricFailure?.none, prompts: [String]()))

    var prompts: [String] { state.withLock { $0.prompts } }

    func will(_ failure: BiometricFailure?) { state.withLock { $0.next = failure } }

    func see(_ prompt: String) -> BiometricFailure? {
        state.withLock { state in
            state.prompts.append(prompt)
            return state.next
        }
    }
}

@Suite("Approving with biometrics", .timeLimit(.minutes(15)))
struct BiometricTests {
    private static func with(
        _ body: @escaping @Sendable (SDKScene, Person) async throws -> Void
    ) async throws {
        let person = Person()
        let vault = InsecureSimulatedBiometrics(before: MemoryVault()) { person.see($0) }
        try await SDKScene.with(vault: vault) { scene in
            let type: JSONValue = [
                "methods": ["biometric", "pin"], "number_entry": false, "denial_pause": 0, "max_pending": 100,
            ]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/touch", type).success()
            try await body(scene, person)
        }
    }

    private static func open(_ scene: SDKScene) async throws -> (SDKScene.Asked, OpenedChallenge) {
        let asked = try await scene.ask(["type": "touch"])
        return (asked, try await scene.open(asked))
    }

    @Test("A registered biometric approves, and its own key has signed the receipt, for as long as it is good")
    func approval() async throws {
        try await Self.with { scene, person in
            try await scene.setPIN()
            try await scene.enrollment.registerBiometric(prompt: "Register?", pin: try PIN(SDKScene.pin))
            #expect(try await scene.enrollment.methods().hasBiometric)
            let (asked, question) = try await Self.open(scene)
            #expect(question.methods == [.biometric, .pin])
            try await question.approve(with: .biometric(prompt: "Pay?"))
            #expect(person.prompts == ["Register?", "Pay?"])
            let verified = try await scene.receipt(asked)
            #expect(verified.receipt.decision == .approved(.biometric, number: nil))
            #expect(verified.signer.notations == [AnswerMethod.biometric.notation(of: scene.server.issuer)])
            // After a relaunch, too.
            let app = try await scene.relaunched()
            let again = try await scene.ask(["type": "touch"])
            try await app.open(again.id, for: scene.enrollment.id).approve(with: .biometric(prompt: "Pay?"))
            #expect(try await scene.status(of: again).state == "approved")
        }
    }

    private static let codes: [BiometricFailure: String] = [
        .unavailable: "biometric_unavailable", .failed: "biometric_failed", .cancelled: "biometric_cancelled",
        .fallback: "biometric_fallback", .lockout: "biometric_lockout", .changed: "biometric_changed",
    ]

    @Test(
        "What went wrong is told apart, counts nothing, and the PIN answers the same challenge",
        arguments: BiometricFailure.allCases.filter { $0 != .notRegistered })
    func failure(_ failure: BiometricFailure) async throws {
        try await Self.with { scene, person in
            try await scene.setPIN()
            try await scene.enrollment.registerBiometric(prompt: "Register?", pin: try PIN(SDKScene.pin))
            let (asked, question) = try await Self.open(scene)
            person.will(failure)
            for _ in 0..<2 {
                let told = await code { try await question.approve(with: .biometric(prompt: "Pay?")) }
                #expect(told == Self.codes[failure])
            }
            #expect(scene.transport.requests(to: "/answer").isEmpty)
            #expect(try await scene.status(of: asked).state == "pending")
            #expect(await scene.approve(question) == "")
            #expect(try await scene.receipt(asked).receipt.decision == .approved(.pin, number: nil))
        }
    }

    @Test("Without one registered, or without a vault that can, nothing is sent")
    func notRegistered() async throws {
        try await Self.with { scene, person in
            try await scene.setPIN()
            let (_, question) = try await Self.open(scene)
            #expect(
                await code { try await question.approve(with: .biometric(prompt: "Pay?")) }
                    == "biometric_not_registered")
            #expect(
                await code { try await scene.enrollment.removeBiometric(pin: try PIN(SDKScene.pin)) }
                    == "biometric_not_registered")
            #expect(person.prompts.isEmpty && scene.transport.requests(to: "/answer").isEmpty)
        }
        try await SDKScene.with { scene in
            #expect(
                await code { try await scene.enrollment.registerBiometric(prompt: "Register?") }
                    == "biometric_unavailable")
        }
    }

    @Test("Once there is a PIN no biometric changes without it; before, only for ten minutes or with a ticket")
    func authority() async throws {
        try await Self.with { scene, _ in
            try await scene.enrollment.registerBiometric(prompt: "Register?")
            scene.server.clock.advance(seconds: 600)
            // It goes with its own signature; the ticket of a first PIN is one that waives its wait.
            try await scene.enrollment.registerBiometric(prompt: "Again?")
            #expect(
                await code { try await scene.enrollment.setPIN(try PIN(SDKScene.pin)) } == "authority_needed")
            let first = try await scene.shop.makeTicket(for: scene.user)
            try await scene.enrollment.setPIN(try PIN(SDKScene.pin), authority: .ticket(first))
            let ticket = try await scene.shop.makeTicket(for: scene.user)
            #expect(
                await code {
                    try await scene.enrollment.registerBiometric(prompt: "Again?", authority: .ticket(ticket))
                } == "pin_required")
            #expect(
                await code {
                    try await scene.enrollment.registerBiometric(prompt: "?", pin: try PIN(SDKScene.wrongPIN))
                } == "pin_incorrect")
            #expect(try await scene.enrollment.methods().attemptsLeft == 4)
            // The vault's key is another one now, and the server's is not: it must be registered anew.
            let (_, question) = try await Self.open(scene)
            #expect(await code { try await question.approve(with: .biometric(prompt: "?")) } == "biometric_changed")
            try await scene.enrollment.registerBiometric(prompt: "Again?", pin: try PIN(SDKScene.pin))
            #expect(await code { try await question.approve(with: .biometric(prompt: "?")) } == "")
        }
    }

    @Test("A removed biometric approves nothing; a receipt that it signed stays good")
    func removed() async throws {
        try await Self.with { scene, _ in
            try await scene.setPIN()
            try await scene.enrollment.registerBiometric(prompt: "Register?", pin: try PIN(SDKScene.pin))
            let (asked, question) = try await Self.open(scene)
            try await question.approve(with: .biometric(prompt: "Pay?"))
            try await scene.enrollment.removeBiometric(pin: try PIN(SDKScene.pin))
            #expect(try await !scene.enrollment.methods().hasBiometric)
            let (_, next) = try await Self.open(scene)
            #expect(
                await code { try await next.approve(with: .biometric(prompt: "Pay?")) } == "biometric_not_registered")
            #expect(try await scene.receipt(asked).receipt.decision == .approved(.biometric, number: nil))
            #expect(await scene.approve(next) == "")
            // And the PIN is changed as ever, over the certificate that has grown.
            try await scene.enrollment.changePIN(from: try PIN(SDKScene.pin), to: try PIN("90210573"))
            let (_, last) = try await Self.open(scene)
            #expect(await scene.approve(last, "90210573") == "")
        }
    }

    @Test("A registration whose reply is lost is made once, and the device finds out")
    func lostReply() async throws {
        try await Self.with { scene, _ in
            try await scene.setPIN()
            scene.transport.happen { request, send in
                let response = try await send(request)
                if request.method == "POST", request.url.path.hasSuffix("/methods") { throw FaultyTransport.Lost() }
                return response
            }
            let told = await code {
                try await scene.enrollment.registerBiometric(prompt: "Register?", pin: try PIN(SDKScene.pin))
            }
            #expect(told == "network")
            scene.transport.happen(nil)
            let app = try await scene.relaunched()
            let asked = try await scene.ask(["type": "touch"])
            try await app.open(asked.id, for: scene.enrollment.id).approve(with: .biometric(prompt: "Pay?"))
            #expect(try await scene.status(of: asked).state == "approved")
            #expect(try await scene.vault.records(of: scene.enrollment.id) == ["app", "enrollment", "pin"])
        }
    }
}
