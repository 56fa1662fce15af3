import CountersignCore
import CountersignStorage
import CountersignWire
import Foundation
import Logging

/// An open store, with the result of the preparation that precedes its use.
struct OpenedStore<Prepared: Sendable> {
    let store: SQLStore
    let masterKey: MasterKey
    let prepared: Prepared
    /// Whether this server is the only one that can use the database.
    let isAlone: Bool
}

extension OpenedStore {
    /// Opens a database, or creates it.
    ///
    /// - Parameters:
    ///   - settings: the choice of the database and the source of the master key.
    ///   - folder: the folder for the master key.
    ///   - hub: is notified of commits.
    ///   - issuer: the issuer.
    ///   - environment: the environment, which may hold the master key.
    ///   - logger: the log for a database that cannot be reached.
    ///   - prepare: the preparation; no other starting server runs it at the same time.
    static func open(
        _ settings: ServerSettings, _ folder: DataFolder, hub: ChangeHub, issuer: Issuer, environment: [String: String],
        logger: Logger, prepare: (SQLStore) async throws -> Prepared
    ) async throws -> OpenedStore {
        switch settings.database {
        case .sqlite:
            let masterKey = try folder.masterKey(from: settings.masterKey, environment)
            let (store, prepared) = try await telling(folder.database) {
                let store = try await SQLStore(
                    sqlite: folder.database, hub: hub, masterKey: masterKey, issuer: issuer,
                    migrates: settings.migrates)
                return (store, try await prepare(store))
            }
            return OpenedStore(store: store, masterKey: masterKey, prepared: prepared, isAlone: true)
        case .postgresql(let server):
            let (store, masterKey, prepared) = try await telling("The database \(server.address)") {
                try await SQLStore.open(
                    server, hub: hub, issuer: issuer, logger: logger, migrates: settings.migrates,
                    masterKey: { try folder.sharedMasterKey(from: settings.masterKey, environment, isNew: $0) },
                    prepare: prepare)
            }
            return OpenedStore(store: store, masterKey: masterKey, prepared: prepared, isAlone: false)
        }
    }

    /// Turns errors of the store into messages that help an operator.
    private static func telling<Result>(_ name: String, _ open: () async throws -> Result) async throws -> Result {
        do {
            return try await open()
        } catch let error as SQLStore.Unreachable {
            throw StartError("\(name) cannot be used: \(error.reason)")
        } catch StoreError.engine(let reason) {
            throw StartError("\(name) cannot be opened: \(reason)")
        } catch StoreError.corruptRow(let reason) {
            throw StartError("\(name) cannot be opened: \(reason). Restore the right master key from the backup.")
        } catch StoreError.unavailable {
            throw StartError("\(name) cannot be reached.")
        } catch StoreError.full {
            throw StartError("\(name) cannot be opened: there is no room on its disk. Make room, and start again.")
        }
    }
}

extension OpenedStore where Prepared == Void {
    /// Creates the issuer's keys at the first start, and reads them.
    static func readKeys(of store: SQLStore, at now: Timestamp, random: any RandomSource) async throws {
        do {
            _ = try await store.issuerKeys(at: now, random: random)
            try await store.refreshKeys()
        } catch StoreError.corruptRow {
            throw StartError(
                "The master key is not the one the database was made with. Restore the right one from the backup.")
        }
    }
}

extension DataFolder {
    /// The data folder of a server, which is created if it does not exist.
    init(_ settings: ServerSettings) throws {
        self.init(existing: settings)
        try make()
    }

    /// The data folder of a server, which need not exist.
    init(existing settings: ServerSettings) {
        var database: String?
        if case .sqlite(let path) = settings.database { database = path }
        self.init(path: settings.dataFolder, database: database)
    }
}
