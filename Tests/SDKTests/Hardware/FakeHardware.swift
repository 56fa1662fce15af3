import Countersign
import Crypto
import Foundation
import OpenPGP
import Synchronization

/// A system's store of items, in memory.
final class FakeItems: ItemStore {
    struct Failure: Error {}

    private let items = Mutex<[String: [UInt8]]>([:])

    var all: [String: [UInt8]] { items.withLock { $0 } }

    func item(_ name: String) -> [UInt8]? { items.withLock { $0[name] } }

    func write(_ item: [UInt8], as name: String) { items.withLock { $0[name] = item } }

    func remove(_ name: String) { items.withLock { $0[name] = nil } }

    func names() -> [String] { items.withLock { Array($0.keys) } }
}

/// The items of one name in a store in which several apps keep theirs.
struct FakeService: ItemStore {
    let items: FakeItems
    let name: String

    func item(_ name: String) -> [UInt8]? { items.item("\(self.name)|\(name)") }

    func write(_ item: [UInt8], as name: String) { items.write(item, as: "\(self.name)|\(name)") }

    func remove(_ name: String) { items.remove("\(self.name)|\(name)") }

    func names() -> [String] {
        items.names().filter { $0.hasPrefix("\(name)|") }.map { String($0.dropFirst(name.count + 1)) }
    }
}

/// Hardware for keys that is software, and a user whose biometrics it checks.
final class FakeHardware: HardwareKeys {
    /// It has no such key.
    struct NoSuchKey: Error {}

    private struct State {
        var signing: [[UInt8]: P256.Signing.PrivateKey] = [:]
        var agreement: [[UInt8]: P256.KeyAgreement.PrivateKey] = [:]
        var protections: [KeyProtection] = []
        var prompts: [BiometricPrompt] = []
        var biometrics: [UInt8]? = [1]
        var failure: BiometricFailure?
        var next: UInt8 = 0

        mutating func reference(_ protection: KeyProtection) -> [UInt8] {
            protections.append(protection)
            next += 1
            return [next]
        }
    }

    let isAvailable: Bool
    private let state = Mutex(State())

    init(isAvailable: Bool = true) {
        self.isAvailable = isAvailable
    }

    /// What each key was made for, in order.
    var protections: [KeyProtection] { state.withLock { $0.protections } }
    /// What the user was shown.
    var prompts: [BiometricPrompt] { state.withLock { $0.prompts } }

    /// The user's biometrics become others, or none that the system tells.
    func biometricsBecome(_ biometrics: [UInt8]?) { state.withLock { $0.biometrics = biometrics } }

    /// The next checks end so; nil to be recognised.
    func checksEnd(_ failure: BiometricFailure?) { state.withLock { $0.failure = failure } }

    /// The hardware loses its keys.
    func loseKeys() { state.withLock { $0.signing = [:] } }

    func makeSigningKey(_ protection: KeyProtection) -> [UInt8] {
        state.withLock { state in
            let reference = state.reference(protection)
            state.signing[reference] = P256.Signing.PrivateKey()
            return reference
        }
    }

    func makeAgreementKey(_ protection: KeyProtection) -> [UInt8] {
        state.withLock { state in
            let reference = state.reference(protection)
            state.agreement[reference] = P256.KeyAgreement.PrivateKey()
            return reference
        }
    }

    func signingKey(_ reference: [UInt8]) throws -> any SigningKey {
        guard let key = state.withLock({ $0.signing[reference] }) else { throw NoSuchKey() }
        return key
    }

    func agreementKey(_ reference: [UInt8]) throws -> any AgreementKey {
        guard let key = state.withLock({ $0.agreement[reference] }) else { throw NoSuchKey() }
        return key
    }

    func biometrics() throws(BiometricFailure) -> [UInt8]? {
        let (biometrics, failure) = state.withLock { ($0.biometrics, $0.failure) }
        if failure == .unavailable { throw .unavailable }
        return biometrics
    }

    func signature(
        for digest: SHA256Digest, with reference: [UInt8], after prompt: BiometricPrompt
    ) async throws -> P256.Signing.ECDSASignature {
        let failure = state.withLock { state in
            state.prompts.append(prompt)
            return state.failure
        }
        if let failure { throw failure }
        return try await signingKey(reference).signature(for: digest)
    }
}
