import CountersignCore
import CountersignWire
import Foundation
import Logging
import Synchronization

/// The operator's database of places, which is read again when its file changes.
///
/// Looking a place up reads some pages of a mapped file, almost always from memory: it takes microseconds, on the task
/// of the request and on no event loop. Only a change of the file takes longer, while it is copied.
final class PlacesFile: Places {
    /// How often the file is checked for changes.
    private static let pause = Duration.seconds(2)

    private struct State {
        var database: PlacesDatabase
        var file: FileState?
        /// Whether the log says that the database is damaged.
        var isDamageLogged = false
    }

    private let path: String
    private let copy: String
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads the file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - copy: a path for a copy of it, which only this process uses.
    ///   - logger: the log for changes of the file, and for damage.
    /// - Throws: ``StartError`` that names the file and what to do.
    init(_ path: String, copiedTo copy: String, logger: Logger) throws(StartError) {
        self.path = path
        self.copy = copy
        self.logger = logger
        let seen = FileState(path: path)
        state = Mutex(State(database: try PlacesDatabase.copying(path, to: copy), file: seen))
    }

    /// The place of an address; nil where it is not known, and for private addresses, whatever the file says.
    func place(of address: String) -> Place? {
        guard let address = IPAddress(address), !address.isPrivate else { return nil }
        let database = state.withLock { $0.database }
        do {
            return try database.place(of: address)
        } catch {
            logDamage(of: database)
            return nil
        }
    }

    /// Reads the file again whenever it changes.
    func watch() async throws {
        while true {
            try await Task.sleep(for: Self.pause)
            reloadIfChanged()
        }
    }

    /// Reads the file again if it has changed; if it is unusable, the earlier one stays in use and the log says why.
    private func reloadIfChanged() {
        // The state is taken before the file is read, so the next check sees a change in between.
        let seen = FileState(path: path)
        guard seen != state.withLock({ $0.file }) else { return }
        do {
            let database = try PlacesDatabase.copying(path, to: copy)
            state.withLock { $0 = State(database: database, file: seen) }
            logger.notice("places read", metadata: ["file": "\(path)", "type": "\(database.type)"])
        } catch {
            state.withLock { $0.file = seen }
            logger.error("places not changed", metadata: ["error": "\(error)"])
        }
    }

    /// Says once for each database that it is damaged.
    private func logDamage(of database: PlacesDatabase) {
        let isNew = state.withLock { state in
            guard state.database === database, !state.isDamageLogged else { return false }
            state.isDamageLogged = true
            return true
        }
        guard isNew else { return }
        logger.error(
            "the database of places is damaged: where it is, addresses stand alone", metadata: ["file": "\(path)"])
    }
}
