import Countersign
import CountersignWire
import Foundation
import Synchronization
import Testing

@Suite("A vault that fails once after the server has taken a change", .timeLimit(.minutes(15)))
struct FaultyVaultTests {
    /// Runs with a PIN set, with a vault that fails at one operation once the reply to the next change has come.
    private static func with(
        failingAt operation: FaultyVault.Operation,
        _ body: @escaping @Sendable (SDKScene, FaultyVault) async throws -> Void
    ) async throws {
        let vault = FaultyVault()
        try await SDKScene.with(vault: vault) { scene in
            try await scene.setPIN()
            try await scene.enrollment.registerBiometric(prompt: "Register?", pin: try PIN(SDKScene.pin))
            let before = scene.transport.bodies(to: "/methods").count
            let replies = Mutex(0)
            scene.transport.happen { request, send in
                let response = try await send(request)
                guard request.method == "POST", request.url.path.hasSuffix("/methods") else { return response }
                let isFirst = replies.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { vault.failOnce(at: operation) }
                return response
            }
            try await body(scene, vault)
            let bodies = scene.transport.bodies(to: "/methods").dropFirst(before)
            #expect(bodies.count == 2 && Set(bodies).count == 1)
        }
    }

    @Test(
        "A changed PIN is kept by asking the server again, and the key of the old one is gone",
        arguments: [FaultyVault.Operation.read("pin"), .removeKey(.pin), .write("pin"), .remove("method-change")])
    func changedPIN(_ operation: FaultyVault.Operation) async throws {
        try await Self.with(failingAt: operation) { scene, vault in
            try await scene.enrollment.changePIN(from: try PIN(SDKScene.pin), to: try PIN("90210573"))
            #expect(try await vault.agreementKey(.pin, of: scene.enrollment.id) == nil)
            #expect(try await vault.records(of: scene.enrollment.id) == ["app", "enrollment", "pin"])
            let (_, question) = try await scene.openTyped()
            #expect(await scene.approve(question, "90210573") == "")
        }
    }

    @Test(
        "A removed PIN is forgotten by asking the server again, and its key with it",
        arguments: [FaultyVault.Operation.removeKey(.pin), .remove("pin")])
    func removedPIN(_ operation: FaultyVault.Operation) async throws {
        try await Self.with(failingAt: operation) { scene, vault in
            try await scene.enrollment.removePIN(try PIN(SDKScene.pin))
            #expect(try await vault.agreementKey(.pin, of: scene.enrollment.id) == nil)
            #expect(try await vault.records(of: scene.enrollment.id) == ["app", "enrollment"])
            #expect(try await scene.enrollment.methods().pin == .none)
        }
    }

    @Test(
        "A removed biometric is forgotten by asking the server again, and its key with it",
        arguments: [FaultyVault.Operation.write("enrollment"), .removeKey(.biometric)])
    func removedBiometric(_ operation: FaultyVault.Operation) async throws {
        try await Self.with(failingAt: operation) { scene, vault in
            try await scene.enrollment.removeBiometric(pin: try PIN(SDKScene.pin))
            #expect(try await vault.biometricKey(of: scene.enrollment.id, prompt: "?") == nil)
            #expect(try await vault.records(of: scene.enrollment.id) == ["app", "enrollment", "pin"])
            #expect(try await !scene.enrollment.methods().hasBiometric)
        }
    }
}
