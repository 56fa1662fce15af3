import CountersignCore
import CountersignWire
import Logging
import Synchronization

/// The operator's database of places, which is read again when its file changes.
///
/// Looking a place up reads some pages of a mapped file, almost always from memory: it takes microseconds, on the task
/// of the request and on no event loop. Only a change of the file takes longer, while it is copied.
final class PlacesFile: Places {
    private let path: String
    private let logger: Logger
    private let file: WatchedFiles<PlacesDatabase?>

    /// Reads the file.
    ///
    /// Where it cannot be copied, for want of room, the server does without places until it can.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - copy: a path for a copy of it, which only this process uses.
    ///   - logger: the log for changes of the file, and for damage.
    ///   - rest: how long to wait before a file that could not be read is tried again.
    /// - Throws: ``StartError`` that names the file and what to do.
    init(_ path: String, copiedTo copy: String, logger: Logger, resting rest: Duration = .seconds(60)) throws {
        self.path = path
        self.logger = logger
        file = try WatchedFiles(
            [path], named: "places", logger: logger,
            describedBy: { ["file": "\(path)", "type": "\($0?.type ?? "")"] },
            read: { try PlacesDatabase.copying(path, to: copy) }, resting: rest,
            or: { $0 is PlacesDatabase.NotCopied ? .some(nil) : nil })
    }

    /// The place of an address; nil where it is not known, and for private addresses, whatever the file says.
    func place(of address: String) -> Place? {
        guard let address = IPAddress(address), !address.isPrivate, let database = file.value else { return nil }
        do {
            return try database.place(of: address)
        } catch {
            tellDamage(of: database)
            return nil
        }
    }

    /// Reads the file again whenever it changes.
    func watch() async throws { try await file.watch() }

    /// Says in the log, once for each database, that it is damaged.
    private func tellDamage(of database: PlacesDatabase) {
        guard file.value === database, !database.isDamageTold.exchange(true, ordering: .relaxed) else { return }
        logger.error(
            "the database of places is damaged: where it is, addresses stand alone", metadata: ["file": "\(path)"])
    }
}
