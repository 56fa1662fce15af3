@testable import Countersign
import CountersignWire
import Crypto
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import TestSupport
import Testing

@Suite("A vault of a system's hardware and store")
struct HardwareVaultTests {
    private let items = FakeItems()
    private let hardware = FakeHardware()
    private let one: EnrollmentID
    private let digest = SHA256.hash(data: Array("hello".utf8))

    init() throws {
        one = try #require(EnrollmentID("enr_00000000000000000000000001"))
    }

    private func vault(
        _ invalidation: BiometricInvalidation = .bySystem, fallbackTitle: String? = nil,
        installation: Installation? = nil, steps: [HardwareVault.Step] = []
    ) throws -> HardwareVault {
        try HardwareVault(
            items: items, hardware: hardware, softwareKeys: .refused, invalidation: invalidation,
            fallbackTitle: fallbackTitle, installation: installation, steps: steps)
    }

    @Test("Every role of key is in the hardware, and only those that open challenges work while the device is locked")
    func protections() async throws {
        let vault = try vault()
        #expect(vault.storage == .enclave)
        var wanted: [KeyProtection] = []
        for role in KeyRole.allCases {
            switch role {
            case .encryption, .pin, .otherPIN: _ = try await vault.makeAgreementKey(role, for: one)
            case .primary, .authentication: _ = try await vault.makeSigningKey(role, for: one)
            case .biometric: _ = try await vault.makeBiometricKey(for: one, prompt: "Register?")
            }
            let isForBackground = role == .authentication || role == .encryption
            wanted.append(
                role == .biometric ? .biometrics(.bySystem) : isForBackground ? .afterFirstUnlock : .whenUnlocked)
        }
        #expect(hardware.protections == wanted)
        #expect(try await vault.records(of: one).isEmpty)
    }

    @Test("What Apple's systems are told of a key is as strict as what it is for")
    func rules() {
        let rules: [(KeyProtection, KeyAccessibility, KeyBiometry?)] = [
            (.afterFirstUnlock, .afterFirstUnlock, nil), (.whenUnlocked, .whenUnlocked, nil),
            (.biometrics(.bySystem), .whenPasscodeSet, .currentSet), (.biometrics(.byApp), .whenPasscodeSet, .anySet),
        ]
        for (protection, accessibility, biometry) in rules {
            #expect(protection.accessibility == accessibility && protection.biometry == biometry, "\(protection)")
        }
    }

    @Test("Opened again, it finds its keys in the hardware", arguments: BiometricInvalidation.allCases)
    func reopens(_ invalidation: BiometricInvalidation) async throws {
        let first = try vault(invalidation, fallbackTitle: "PIN")
        let primary = try await first.makeSigningKey(.primary, for: one)
        let biometric = try await first.makeBiometricKey(for: one, prompt: "Register?")
        let second = try vault(invalidation, fallbackTitle: "PIN")
        #expect(
            try await second.signingKey(.primary, of: one)?.publicKey.rawRepresentation
                == primary.publicKey.rawRepresentation)
        let found = try #require(try await second.biometricKey(of: one, prompt: "Pay?"))
        #expect(found.publicKey.rawRepresentation == biometric.publicKey.rawRepresentation)
        let signature = try await found.signature(for: digest)
        #expect(biometric.publicKey.isValidSignature(signature, for: digest))
        #expect(hardware.prompts == [BiometricPrompt("Pay?", fallbackTitle: "PIN")])
        try await second.removeKey(.biometric, of: one)
        #expect(try await second.biometricKey(of: one, prompt: "Pay?") == nil)
    }

    @Test("A check that fails says how, whoever ends the key", arguments: BiometricFailure.allCases)
    func failures(_ failure: BiometricFailure) async throws {
        for invalidation in BiometricInvalidation.allCases {
            hardware.checksEnd(nil)
            let key = try await vault(invalidation).makeBiometricKey(for: one, prompt: "Register?")
            hardware.checksEnd(failure)
            await #expect(throws: failure) { try await key.signature(for: digest) }
        }
    }

    @Test(
        "Changed biometrics end a key of the app's before anybody is asked, and nobody can say that they did not change"
    )
    func changedByApp() async throws {
        let key = try await vault(.byApp).makeBiometricKey(for: one, prompt: "Register?")
        _ = try await key.signature(for: digest)
        for state in [[2], nil] as [[UInt8]?] {
            hardware.biometricsBecome(state)
            await #expect(throws: BiometricFailure.changed) { try await key.signature(for: digest) }
        }
        #expect(hardware.prompts.count == 1)
        hardware.biometricsBecome([1])
        _ = try await key.signature(for: digest)
    }

    @Test("A key of the app's is not made where nobody can say later whether the biometrics have changed")
    func unknownBiometrics() async throws {
        hardware.biometricsBecome(nil)
        let vault = try vault(.byApp)
        await #expect(throws: BiometricFailure.unavailable) {
            try await vault.makeBiometricKey(for: one, prompt: "Register?")
        }
        #expect(hardware.protections.isEmpty)
        _ = try await self.vault().makeBiometricKey(for: one, prompt: "Register?")
    }

    @Test("The key that biometrics unlock is found by the app's prompt alone")
    func promptAlone() async throws {
        let vault = try vault()
        _ = try await vault.makeBiometricKey(for: one, prompt: "Register?")
        #expect(try await vault.signingKey(.biometric, of: one) == nil)
        #expect(try await vault.biometricKey(of: one, prompt: "Pay?") != nil)
    }

    @Test("The system decides whether changed biometrics end its key: what it lost is lost because they changed")
    func changedBySystem() async throws {
        let key = try await vault().makeBiometricKey(for: one, prompt: "Register?")
        hardware.biometricsBecome([2])
        _ = try await key.signature(for: digest)
        hardware.loseKeys()
        await #expect(throws: BiometricFailure.changed) { try await key.signature(for: digest) }
        hardware.biometricsBecome(nil)
        await #expect(throws: BiometricFailure.changed) { try await key.signature(for: digest) }
        // Nothing changed: it is another fault.
        hardware.biometricsBecome([1])
        await #expect(throws: FakeHardware.NoSuchKey.self) { try await key.signature(for: digest) }
    }

    @Test("Without hardware it is opened only if keys in software are allowed; it says so, and has no biometric")
    func softwareKeys() async throws {
        let none = FakeHardware(isAvailable: false)
        #expect(throws: HardwareVault.Failure.noHardware) { try HardwareVault(items: items, hardware: none) }
        #expect(items.all.isEmpty)
        let vault = try HardwareVault(items: items, hardware: none, softwareKeys: .allowed)
        #expect(vault.storage == .software)
        let primary = try await vault.makeSigningKey(.primary, for: one)
        let agreement = try await vault.makeAgreementKey(.encryption, for: one)
        await #expect(throws: BiometricFailure.unavailable) {
            try await vault.makeBiometricKey(for: one, prompt: "Register?")
        }
        #expect(none.protections.isEmpty)
        let again = try HardwareVault(items: items, hardware: none, softwareKeys: .allowed)
        #expect(
            try await again.signingKey(.primary, of: one)?.publicKey.rawRepresentation
                == primary.publicKey.rawRepresentation)
        #expect(
            try await again.agreementKey(.encryption, of: one)?.publicKey.rawRepresentation
                == agreement.publicKey.rawRepresentation)
        // Where there is hardware, nothing is in software, allowed or not.
        #expect(try HardwareVault(items: FakeItems(), hardware: hardware, softwareKeys: .allowed).storage == .enclave)
    }

    @Test(
        "An enrollment declares to the server where its keys are: in the hardware, or in software as it was allowed",
        arguments: [true, false])
    func declares(_ hasHardware: Bool) async throws {
        let vault = try HardwareVault(
            items: items, hardware: FakeHardware(isAvailable: hasHardware), softwareKeys: .allowed)
        try await SDKScene.with(vault: vault) { scene in
            let list = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
            let storage = list["enrollments"]?[0]?["device"]?["storage"]
            #expect(storage == .string(hasHardware ? "enclave" : "software"))
        }
    }

    @Test("A key that cannot be read is no missing key")
    func damaged() async throws {
        let vault = try vault()
        _ = try await vault.makeSigningKey(.primary, for: one)
        let name = "\(one)/key-primary"
        let stored = try #require(items.item(name))
        for item in [
            [], Array("{}".utf8), Array(String(decoding: stored, as: UTF8.self).replacing("1", with: "2").utf8),
        ] {
            items.write(item, as: name)
            await #expect(throws: HardwareVault.Failure.damaged(name)) {
                try await vault.signingKey(.primary, of: one)
            }
        }
    }

    @Test("A wipe leaves nothing, of no enrollment and not of the app")
    func wipes() async throws {
        let vault = try vault()
        _ = try await vault.makeSigningKey(.primary, for: one)
        try await vault.write([1], as: "enrollment", of: one)
        try await vault.writeAppRecord([1], as: "tokens-1")
        try await vault.wipe()
        #expect(items.all.isEmpty)
        #expect(try await self.vault().enrollments(with: "enrollment").isEmpty)
    }

    @Test("A store of an earlier version is brought to the newest, a step at a time; one of a newer version is refused")
    func migrates() throws {
        let note: @Sendable (String) -> HardwareVault.Step = { text in
            { items in try items.write((try items.item("app/log") ?? []) + Array(text.utf8), as: "app/log") }
        }
        _ = try vault()
        #expect(items.item("version") == Array("1".utf8))
        _ = try vault(steps: [note("a"), note("b")])
        #expect(items.item("app/log") == Array("ab".utf8))
        _ = try vault(steps: [note("a"), note("b"), note("c")])
        #expect(items.item("app/log") == Array("abc".utf8))
        #expect(items.item("version") == Array("4".utf8))
        #expect(throws: HardwareVault.Failure.newerVersion) { try vault(steps: [note("a")]) }
        for version in ["", "0", "x"] {
            items.write(Array(version.utf8), as: "version")
            #expect(throws: HardwareVault.Failure.damaged("version")) { try vault() }
        }
    }

    @Test("A step that fails is repeated, and those before it are not")
    func migratesOn() throws {
        let log: HardwareVault.Step = { items in
            try items.write((try items.item("app/log") ?? []) + [1], as: "app/log")
        }
        let fail: HardwareVault.Step = { _ in throw FakeItems.Failure() }
        _ = try vault()
        #expect(throws: FakeItems.Failure.self) { try vault(steps: [log, fail]) }
        _ = try vault(steps: [log, log])
        #expect(items.item("app/log") == [1, 1])
    }
}

@Suite("A vault of a system's store, and the app that is installed anew")
struct InstallationTests {
    private let items = FakeItems()
    private let folder: TemporaryFolder
    private let one: EnrollmentID

    init() throws {
        folder = try TemporaryFolder()
        one = try #require(EnrollmentID("enr_00000000000000000000000001"))
    }

    private var marker: URL { folder.url.appending(path: "in the app/installation") }

    private func open(_ reinstallation: Reinstallation? = .wipes) throws -> HardwareVault {
        try HardwareVault(
            items: items, hardware: FakeHardware(),
            installation: reinstallation.map { Installation(marker: marker, after: $0) })
    }

    private func enrolled() async throws {
        let vault = try open()
        #expect(vault.arrival == .first)
        _ = try await vault.makeSigningKey(.primary, for: one)
        try await vault.write([1], as: "enrollment", of: one)
        #expect(try open().arrival == .known)
        #expect(items.item("\(one)/enrollment") == [1])
    }

    @Test("Keys that outlived the app are wiped by a new installation")
    func reinstalled() async throws {
        try await enrolled()
        try FileManager.default.removeItem(at: marker)
        let vault = try open()
        #expect(vault.arrival == .reinstalled)
        #expect(try await vault.enrollments(with: "enrollment").isEmpty)
        #expect(Set(items.all.keys) == ["installation", "version"])
        #expect(try open().arrival == .known)
    }

    @Test("They are kept if the app says so, and it is told")
    func kept() async throws {
        try await enrolled()
        try FileManager.default.removeItem(at: marker)
        let vault = try open(.keeps)
        #expect(vault.arrival == .reinstalled)
        #expect(try await vault.enrollments(with: "enrollment") == [one])
        #expect(try open().arrival == .known)
        #expect(items.item("\(one)/enrollment") == [1])
    }

    @Test("The mark of another installation is that of a new one")
    func other() async throws {
        try await enrolled()
        try Data("another".utf8).write(to: marker)
        #expect(try open().arrival == .reinstalled)
        #expect(items.item("\(one)/enrollment") == nil)
    }

    @Test("An app that was restored on another device has no keys there, and is told")
    func restored() async throws {
        try await enrolled()
        for name in items.names() { items.remove(name) }
        let vault = try open()
        #expect(vault.arrival == .restored)
        #expect(try open().arrival == .known)
    }

    @Test("Another app of the same maker finds nothing of this one, and deletes nothing of it")
    func otherApp() async throws {
        func open(_ app: String) throws -> HardwareVault {
            let store = FakeService(items: items, name: Installation.store(sharedBy: nil, of: app))
            return try HardwareVault(
                items: store, hardware: FakeHardware(),
                installation: Installation(marker: folder.url.appending(path: "\(app)/installation"), after: .wipes))
        }
        let first = try open("com.acme.bank")
        try await first.write([1], as: "enrollment", of: one)
        let second = try open("com.acme.shop")
        #expect(second.arrival == .first)
        #expect(try await second.enrollments(with: "enrollment").isEmpty)
        #expect(try open("com.acme.bank").arrival == .known)
        #expect(try await first.enrollments(with: "enrollment") == [one])
        // Those who share a group share the items.
        #expect(
            Installation.store(sharedBy: "group", of: "com.acme.bank")
                == Installation.store(sharedBy: "group", of: "com.acme.shop"))
    }

    @Test("An update that shares another file is the same installation, and deleting the app ends it all the same")
    func otherGroup() async throws {
        try await enrolled()
        func open(_ group: String) throws -> Arrival? {
            let shared = folder.url.appending(path: "\(group)/installation")
            return try HardwareVault(
                items: items, hardware: FakeHardware(),
                installation: Installation(marker: shared, own: marker, after: .wipes)
            ).arrival
        }
        for group in ["one", "two", "one"] { #expect(try open(group) == .known, "\(group)") }
        #expect(items.item("\(one)/enrollment") == [1])
        // Another app keeps the shared file.
        try FileManager.default.removeItem(at: marker)
        #expect(try open("one") == .known)
        for group in ["one", "two"] {
            try FileManager.default.removeItem(at: folder.url.appending(path: group))
        }
        try FileManager.default.removeItem(at: marker)
        #expect(try open("one") == .reinstalled)
        #expect(items.item("\(one)/enrollment") == nil)
    }

    @Test("An extension that is started before the app deletes nothing and makes no mark")
    func earlyExtension() async throws {
        func openInExtension() throws -> HardwareVault {
            try HardwareVault(
                items: items, hardware: FakeHardware(),
                installation: Installation(marker: marker, after: .wipes, isExtension: true))
        }
        #expect(try openInExtension().arrival == .first)
        #expect(items.item("installation") == nil && !FileManager.default.fileExists(atPath: marker.path))
        try await enrolled()
        #expect(try openInExtension().arrival == .known)
        try FileManager.default.removeItem(at: marker)
        #expect(try openInExtension().arrival == .reinstalled)
        #expect(items.item("\(one)/enrollment") == [1] && !FileManager.default.fileExists(atPath: marker.path))
        let vault = try open()
        #expect(vault.arrival == .reinstalled && items.item("\(one)/enrollment") == nil)
        // What the app enrolls anew stays.
        try await vault.write([2], as: "enrollment", of: one)
        #expect(try openInExtension().arrival == .known)
        #expect(items.item("\(one)/enrollment") == [2])
    }

    @Test("A vault that was wiped is a new one of the same installation")
    func wiped() async throws {
        try await enrolled()
        try await open().wipe()
        #expect(Set(items.all.keys) == ["installation"])
        #expect(try open().arrival == .known)
    }

    @Test("A mark that is there and cannot be read deletes nothing")
    func unreadable() async throws {
        try await enrolled()
        try FileManager.default.removeItem(at: marker)
        try FileManager.default.createDirectory(at: marker, withIntermediateDirectories: false)
        #expect(throws: (any Error).self) { try open() }
        #expect(items.item("\(one)/enrollment") == [1])
    }

    @Test("An app and its extension that arrive at the same moment agree, and neither deletes the other's keys")
    func together() async throws {
        for _ in 0..<20 {
            for name in items.names() { items.remove(name) }
            try? FileManager.default.removeItem(at: marker)
            try await withThrowingTaskGroup { group in
                for number in 0..<4 {
                    group.addTask { try await open().write([1], as: "record-\(number)", of: one) }
                }
                try await group.waitForAll()
            }
            #expect(try open().arrival == .known)
            #expect(try await open().records(of: one).count == 4)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: marker.deletingLastPathComponent().path).count == 1)
    }

    @Test("Whoever names no mark notices nothing and deletes nothing, as an extension without the app's files")
    func without() async throws {
        try await enrolled()
        try FileManager.default.removeItem(at: marker)
        let vault = try open(nil)
        #expect(vault.arrival == nil)
        #expect(try await vault.enrollments(with: "enrollment") == [one])
    }
}
