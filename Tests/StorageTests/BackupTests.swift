import CountersignCore
import CountersignStorage
import CountersignWire
import Foundation
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@Suite("A copy of a SQLite database that is in use")
struct BackupTests {
    private func opened(_ path: String, of world: World) async throws -> SQLStore {
        try await SQLStore(
            sqlite: path, hub: ChangeHub(time: world.time), masterKey: try World.masterKey(), issuer: world.ports.issuer
        )
    }

    @Test("It holds everything that was committed before, opens by the same key, and is its owner's alone")
    func content() async throws {
        let world = try await World(.sqlite)
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let path = world.folder.path("it's a copy.sqlite")
        let content = try SQLiteBackup.make(of: World.database(in: world.folder), at: path)
        #expect(content.rows == ["clients": 1, "users": 1, "enrollments": 0, "challenges": 0, "receipts": 0])
        #expect(content.schema == Migrations.newest)
        #expect(content.masterKeys == [try World.masterKey().id])
        #expect(content.size > 10_000)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path)
        #expect(!names.contains { $0.hasSuffix(".part") })
        let copy = try await opened(path, of: world)
        let reference = try #require(UserReference("\(user)"))
        #expect(try await copy.read { try $0.links.find(reference, of: shop.id)?.id } == user)
        #expect(try await copy.callbackSecret(of: shop.id) != nil)
        #expect(
            try await copy.read({ try $0.issuerKeys() }).certificate.fingerprint
                == world.issuerKeys.certificate.fingerprint)
    }

    @Test("While others write, it is one moment: whole transactions, all of those before")
    func underLoad() async throws {
        let world = try await World(.sqlite)
        let shop = try await world.makeClient().client
        let before = 50
        for _ in 0..<before { _ = try await world.makeUser(of: shop) }
        let (written, write) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let writer = Task {
            while !Task.isCancelled {
                _ = try await world.makeUser(of: shop)
                write.yield()
            }
        }
        var progress = written.makeAsyncIterator()
        let path = world.folder.path("copy.sqlite")
        for number in 0..<5 {
            await progress.next()
            let content = try SQLiteBackup.make(of: World.database(in: world.folder), at: "\(path).\(number)")
            // A user and its link are written together.
            let copy = try SQLiteEngine(path: "\(path).\(number)", hub: world.hub)
            let links = try await copy.read {
                try $0.rows(SQLStatement("SELECT count(*) FROM user_links"), []).first?.integer(0)
            }
            #expect(links == content.rows["users"].map { Int64($0) })
            #expect((content.rows["users"] ?? 0) >= before)
        }
        writer.cancel()
        try await writer.value
    }

    @Test("What is there already is not touched")
    func existing() async throws {
        let world = try await World(.sqlite)
        let path = try world.folder.write("copy.sqlite", Array("precious".utf8))
        let error = #expect(throws: BackupFailure.self) {
            _ = try SQLiteBackup.make(of: World.database(in: world.folder), at: path)
        }
        #expect(error?.description == "\(path) is there already.")
        #expect(try world.folder.read("copy.sqlite") == Array("precious".utf8))
    }

    @Test("A folder that is not there, and a database that is not there")
    func missing() async throws {
        let world = try await World(.sqlite)
        let nowhere = world.folder.path("no/copy.sqlite")
        #expect(throws: BackupFailure.self) {
            _ = try SQLiteBackup.make(of: World.database(in: world.folder), at: nowhere)
        }
        let copy = world.folder.path("copy.sqlite")
        #expect(throws: BackupFailure.self) {
            _ = try SQLiteBackup.make(of: world.folder.path("none.sqlite"), at: copy)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path)
        #expect(!names.contains { $0.hasPrefix("copy") || $0.hasPrefix("none") })
    }

    @Test("A page that is damaged, whichever it is: no copy, or one that has lost nothing")
    func damaged() async throws {
        let world = try await World(.sqlite)
        let shop = try await world.makeClient().client
        for _ in 0..<100 { _ = try await world.makeUser(of: shop) }
        let good = world.folder.path("good.sqlite")
        let content = try SQLiteBackup.make(of: World.database(in: world.folder), at: good)
        let bytes = try world.folder.read("good.sqlite")
        let copy = world.folder.path("copy.sqlite")
        var refused = 0
        for page in stride(from: 0, to: bytes.count, by: 4096) {
            var damaged = bytes
            damaged.replaceSubrange(page..<page + 4096, with: [UInt8](repeating: 0xA5, count: 4096))
            let bad = try world.folder.write("bad.sqlite", damaged)
            #expect(throws: BackupFailure.self, "page \(page / 4096)") { _ = try SQLiteBackup.check(bad) }
            do {
                // What an index held is made anew from its table.
                #expect(try SQLiteBackup.make(of: bad, at: copy).rows == content.rows, "page \(page / 4096)")
                try FileManager.default.removeItem(atPath: copy)
            } catch is BackupFailure {
                refused += 1
                #expect(!FileManager.default.fileExists(atPath: copy))
            }
        }
        #expect(refused > 10)
    }
}
