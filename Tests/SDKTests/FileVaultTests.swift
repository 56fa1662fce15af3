import Countersign
import CountersignWire
import Crypto
import Foundation
import OpenPGP
import TestSupport
import Testing

@Suite("Vaults of files")
struct FileVaultTests {
    private let folder: TemporaryFolder
    private let id: EnrollmentID
    private var place: URL { folder.url.appending(path: "vault") }

    init() throws {
        folder = try TemporaryFolder()
        id = try #require(EnrollmentID("enr_00000000000000000000000001"))
    }

    private func filled() async throws -> FileVault {
        let vault = try FileVault(at: place)
        _ = try await vault.makeSigningKey(.primary, for: id)
        _ = try await vault.makeAgreementKey(.encryption, for: id)
        try await vault.write(Array("a secret record".utf8), as: "record", of: id)
        return vault
    }

    private var files: [URL] {
        let enumerator = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
        return (enumerator?.allObjects ?? []).compactMap { $0 as? URL }
    }

    @Test("Folders are their owner's alone (0700), and so are files (0600)")
    func permissions() async throws {
        _ = try await filled()
        #expect(files.count >= 5)
        for url in files + [place] {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect((attributes[.posixPermissions] as? Int) == (isFolder ? 0o700 : 0o600), "\(url.lastPathComponent)")
        }
    }

    @Test("A folder that was there before is closed to others")
    func existingFolder() async throws {
        try FileManager.default.createDirectory(
            at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        _ = try await filled()
        let attributes = try FileManager.default.attributesOfItem(atPath: place.path)
        #expect((attributes[.posixPermissions] as? Int) == 0o700)
    }

    @Test("Everything is there again when the vault is opened again")
    func reopened() async throws {
        let key = try await filled().signingKey(.primary, of: id)
        let again = try FileVault(at: place)
        #expect(try await again.record("record", of: id) == Array("a secret record".utf8))
        let found = try await again.signingKey(.primary, of: id)
        #expect(found?.publicKey.rawRepresentation == key?.publicKey.rawRepresentation)
        #expect(try await again.agreementKey(.encryption, of: id) != nil)
        #expect(try await again.enrollments(with: "record") == [id])
    }

    @Test("Nothing lies in the open, and no draft stays behind")
    func sealed() async throws {
        let vault = try await filled()
        for _ in 0..<20 { try await vault.write(Array("a secret record".utf8), as: "record", of: id) }
        for url in files where url.lastPathComponent != "wrapping.key" && !url.hasDirectoryPath {
            let content = try Data(contentsOf: url)
            #expect(content.range(of: Data("secret".utf8)) == nil)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: place.appending(path: "\(id)").path)
        #expect(names.sorted() == ["key-encryption", "key-primary", "record"])
    }

    /// What happens to a file of a vault.
    enum Harm: CaseIterable, Sendable {
        case bitFlipped, cut, emptied, swapped, ofAnotherEnrollment
    }

    @Test("A file that was tampered with is refused", arguments: Harm.allCases)
    func tampered(_ harm: Harm) async throws {
        let vault = try await filled()
        try await vault.write(Array("another".utf8), as: "other", of: id)
        let file = place.appending(path: "\(id)/record")
        var content = Array(try Data(contentsOf: file))
        switch harm {
        case .bitFlipped: content[content.count / 2] ^= 1
        case .cut: content.removeLast()
        case .emptied: content = []
        case .swapped: content = Array(try Data(contentsOf: place.appending(path: "\(id)/other")))
        case .ofAnotherEnrollment:
            let other = try #require(EnrollmentID("enr_00000000000000000000000002"))
            try await vault.write(Array("a secret record".utf8), as: "record", of: other)
            content = Array(try Data(contentsOf: place.appending(path: "\(other)/record")))
        }
        try Data(content).write(to: file)
        await #expect(throws: FileVault.Damaged.self) { try await vault.record("record", of: id) }
        // The others are as they were.
        #expect(try await vault.record("other", of: id) == Array("another".utf8))
    }

    @Test("A damaged wrapping key refuses the vault", arguments: [0, 31, 33])
    func damagedWrappingKey(_ count: Int) async throws {
        _ = try await filled()
        try Data([UInt8](repeating: 1, count: count)).write(to: place.appending(path: "wrapping.key"))
        #expect(throws: FileVault.Damaged.self) { try FileVault(at: place) }
    }

    @Test("Another wrapping key opens nothing")
    func otherWrappingKey() async throws {
        _ = try await filled()
        try Data([UInt8](repeating: 1, count: 32)).write(to: place.appending(path: "wrapping.key"))
        let vault = try FileVault(at: place)
        await #expect(throws: FileVault.Damaged.self) { try await vault.record("record", of: id) }
        await #expect(throws: FileVault.Damaged.self) { try await vault.signingKey(.primary, of: id) }
    }

    @Test("A damaged record of an enrollment is told when the app starts")
    func damagedEnrollment() async throws {
        try await SDKScene.with(vault: try FileVault(at: place)) { [place] scene in
            let file = place.appending(path: "\(scene.enrollment.id)/enrollment")
            try Data("x".utf8).write(to: file)
            #expect(await code { _ = try await scene.relaunched() } == "vault")
        }
    }

    @Test("An app that is started again finds its enrollment and can answer")
    func relaunch() async throws {
        try await SDKScene.with(vault: try FileVault(at: place)) { [place] scene in
            let asked = try await scene.ask()
            let app = try await scene.relaunched(vault: try FileVault(at: place))
            #expect(await app.enrollments.map(\.id) == [scene.enrollment.id])
            let question = try await app.open(asked.id, for: scene.enrollment.id)
            try await question.approve(with: .confirmation, number: asked.number)
            #expect(try await scene.status(of: asked).state == "approved")
        }
    }

    @Test("Many first openings at once agree on one wrapping key")
    func concurrentOpenings() async throws {
        let place = place
        let id = id
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await FileVault(at: place).write([1], as: "record-\(number)", of: id) }
            }
            try await group.waitForAll()
        }
        let vault = try FileVault(at: place)
        for number in 0..<20 { #expect(try await vault.record("record-\(number)", of: id) == [1]) }
    }

    @Test("An app and its extension hold the same vault at once")
    func twoHolders() async throws {
        let (app, helper) = (try FileVault(at: place), try FileVault(at: place))
        let id = id
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for turn: UInt8 in 0..<250 {
                    try await app.write([turn], as: "record", of: id)
                    if turn.isMultiple(of: 5) { try await app.removeAll(of: id) }
                }
            }
            group.addTask {
                for _ in 0..<500 {
                    // There whole, or not at all: never half, never an error.
                    let record = try await helper.record("record", of: id)
                    #expect(record == nil || record?.count == 1)
                    _ = try await helper.records(of: id)
                    _ = try await helper.enrollments(with: "record")
                }
            }
            try await group.waitForAll()
        }
    }
}
