package import CountersignStorage
import CountersignWire
import Foundation
import Logging

/// What an operator can do with a server's data while the server is running.
package enum Administration {
    /// The result of a rotation of the master key.
    package struct Rotation: Sendable {
        /// The new key.
        package let next: MasterKeyID
        /// The file with the earlier key; nil if the operator keeps that key.
        package let keptAs: String?
        /// Whether the earlier key no longer opens the database; if it does, call ``finishRotation(_:)`` later.
        package let isFinished: Bool
    }

    /// Migrates a database to this program's schema, or creates the database.
    ///
    /// - Returns: the version of the schema.
    package static func migrate(_ settings: ServerSettings) async throws -> Int {
        let folder = try DataFolder(settings)
        return try await open(folder, settings, migrates: true).store.schemaVersion()
    }

    /// Copies the database while it is in use, and checks the copy.
    ///
    /// - Parameters:
    ///   - settings: the server's settings.
    ///   - target: the path of the copy, which must not exist.
    ///   - triesRestore: whether a copy from PostgreSQL is also restored, into a database that is created for this.
    package static func backup(
        _ settings: ServerSettings, to target: String, triesRestore: Bool = false
    ) throws -> BackupContent {
        do {
            switch settings.database {
            case .sqlite:
                guard !triesRestore else {
                    throw StartError("--try-restore is for PostgreSQL: a copy from SQLite is opened and read anyway.")
                }
                return try SQLiteBackup.make(of: existing(settings).database, at: target)
            case .postgresql(let server):
                return try PostgresBackup.make(of: server.address, at: target, triesRestore: triesRestore)
            }
        } catch let failure as BackupFailure {
            throw StartError(failure.description)
        }
    }

    /// Replaces the master key.
    ///
    /// A key in the data folder of a server on SQLite is replaced at once. If other servers may use the current key, or
    /// if the operator keeps the key elsewhere, both keys open the database until ``finishRotation(_:)``. Wherever this
    /// is interrupted, the key that is then in place opens the database.
    ///
    /// - Parameters:
    ///   - settings: the server's settings.
    ///   - file: the file with the new key, if the key is not kept in the data folder.
    package static func rotateMasterKey(_ settings: ServerSettings, to file: String?) async throws -> Rotation {
        let folder = try existing(settings)
        let lock = try folder.lock(named: "rotation.lock", refusal: "Another rotation is under way.")
        defer { withExtendedLifetime(lock) {} }
        switch (settings.masterKey, file) {
        case (.folder, nil): return try await rotate(in: folder, settings)
        case (.folder, _):
            throw StartError("The key in \(folder.masterKey) is replaced by a new one; do not name another.")
        case (_, let file?):
            guard let text = try folder.read(file) else { throw StartError("\(file) is not there.") }
            let next = try DataFolder.masterKey(text, from: file)
            let (store, current) = try await open(folder, settings)
            guard next.id != current.id else { throw StartError("\(file) holds the key that is in use.") }
            try await store.accept(next, besides: current)
            return Rotation(next: next.id, keptAs: nil, isFinished: false)
        case (_, nil):
            throw StartError("The key is not in the data folder: name the new one with --new-master-key-file.")
        }
    }

    private static func rotate(in folder: DataFolder, _ settings: ServerSettings) async throws -> Rotation {
        let (store, current) = try await open(folder, settings)
        let next = try folder.prepareNextKey()
        if let newest = try await store.masterKeys().last, newest != current.id, newest != next.id {
            throw StartError(
                """
                Another server's folder has the next master key already, \(newest). Copy it to \(folder.masterKey), then \
                run `countersign admin key finish`.
                """)
        }
        try await store.accept(next, besides: current)
        let kept = try folder.installNextKey(insteadOf: current)
        if case .postgresql = settings.database { return Rotation(next: next.id, keptAs: kept, isFinished: false) }
        _ = try await store.retireEarlier(than: next, at: SystemTime().now)
        return Rotation(next: next.id, keptAs: kept, isFinished: true)
    }

    /// Ends the use of all earlier master keys for the database; servers then seal everything again under a new key.
    ///
    /// - Returns: the key that is in use.
    /// - Throws: ``StartError`` if the settings still name the earlier key.
    package static func finishRotation(_ settings: ServerSettings) async throws -> MasterKeyID {
        let (store, current) = try await open(try existing(settings), settings)
        guard try await store.retireEarlier(than: current, at: SystemTime().now) else {
            throw StartError("The settings name the earlier key, \(current.id). Name the new one first, then finish.")
        }
        return current.id
    }

    /// The folder of an existing server; a command about a server must not create its folder.
    private static func existing(_ settings: ServerSettings) throws -> DataFolder {
        let folder = DataFolder(existing: settings)
        if case .sqlite = settings.database, !FileManager.default.fileExists(atPath: folder.database) {
            throw StartError("There is no database in \(settings.dataFolder). Name the server's folder with --data.")
        }
        return folder
    }

    static func open(
        _ folder: DataFolder, _ settings: ServerSettings, migrates: Bool = false
    ) async throws -> (store: SQLStore, masterKey: MasterKey) {
        guard let anyIssuer = Issuer("http://localhost") else { preconditionFailure("a loopback issuer is valid") }
        var settings = settings
        settings.migrates = migrates
        let silent = Logger(label: "administration") { _ in SwiftLogNoOpLogHandler() }
        let opened = try await OpenedStore.open(
            settings, folder, hub: ChangeHub(time: SystemTime()), issuer: anyIssuer, environment: [:], logger: silent
        ) { _ in }
        return (opened.store, opened.masterKey)
    }
}
