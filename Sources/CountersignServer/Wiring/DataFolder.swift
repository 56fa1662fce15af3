import CountersignStorage
import Encodings
import Foundation

/// Why the server cannot start: what happened, and what to do.
package struct StartError: Error, CustomStringConvertible, Equatable, Sendable {
    /// One or two sentences for the operator.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// A lock that keeps a second server out of a folder; the system releases it when the process ends, however it ends.
final class FolderLock: Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}

/// The folder with all data of a server on SQLite.
struct DataFolder: Sendable {
    let path: String

    /// The SQLite file, if the database is SQLite.
    let database: String
    var masterKey: String { "\(path)/master.key" }
    var bootstrapToken: String { "\(path)/bootstrap.token" }
    /// Where the database of places is copied for a moment; an earlier file of this name is removed.
    var placesCopy: String { "\(path)/.places.copy" }
    /// The folder for messages to people in development mode.
    var messages: String { "\(path)/outbox" }

    /// Describes a folder, which need not exist.
    ///
    /// - Parameters:
    ///   - path: the path of the folder.
    ///   - database: the SQLite file, if it is not in the folder.
    init(path: String, database: String? = nil) {
        self.path = path
        self.database = database ?? "\(path)/countersign.sqlite"
    }

    /// Creates the folder if it does not exist; only its owner can read it.
    func make() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StartError(
                "The data folder \(path) cannot be made. Choose another with --data, or mend its parent's rights.")
        }
    }

    /// Locks the folder for one server.
    func lock() throws -> FolderLock {
        try lock(
            named: "server.lock",
            refusal: "Another server runs on the data folder \(path). Stop it, or choose another folder with --data.")
    }

    /// Locks the folder for one process that does a certain task.
    func lock(named name: String, refusal: String) throws -> FolderLock {
        let file = open("\(path)/\(name)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StartError("The data folder \(path) is not writable.") }
        let lock = FolderLock(descriptor: file)
        giveToOwner(file)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { throw StartError(refusal) }
        return lock
    }

    /// The master key from its source.
    ///
    /// The source `.folder` is the environment, or else the folder's file. The file is created together with the
    /// database, so it must exist if the database exists.
    func masterKey(from source: MasterKeySource, _ environment: [String: String]) throws -> MasterKey {
        try masterKey(from: source, environment, isNew: !FileManager.default.fileExists(atPath: database)) {
            "\(masterKey) is missing, and \(database) cannot be used without it. Restore it from the backup."
        }
    }

    /// The master key of a database that several servers share; the first server creates it, and the operator copies
    /// it.
    func sharedMasterKey(
        from source: MasterKeySource, _ environment: [String: String], isNew: Bool
    ) throws -> MasterKey {
        try masterKey(from: source, environment, isNew: isNew) {
            """
            The database was made with a master key that is not here. Copy master.key from the first server's data \
            folder to \(masterKey), or set COUNTERSIGN_MASTER_KEY to what it holds.
            """
        }
    }

    private func masterKey(
        from source: MasterKeySource, _ environment: [String: String], isNew: Bool, ifMissing: () -> String
    ) throws -> MasterKey {
        switch source {
        case .folder: try ownMasterKey(environment, isNew: isNew, ifMissing: ifMissing)
        case .text(let text): try Self.masterKey(text.reveal(), from: "COUNTERSIGN_MASTER_KEY")
        case .file(let path): try Self.masterKey(try read(path) ?? "", from: path)
        case .command(let command): try Self.masterKey(try KeyCommand.run(command), from: "What `\(command)` prints")
        }
    }

    static func masterKey(_ text: String, from place: String) throws -> MasterKey {
        guard let key = MasterKey(base64: text) else {
            throw StartError("\(place) must be the base64 of 32 bytes.")
        }
        return key
    }

    private func ownMasterKey(
        _ environment: [String: String], isNew: Bool, ifMissing: () -> String
    ) throws -> MasterKey {
        if let text = environment["COUNTERSIGN_MASTER_KEY"] {
            return try Self.masterKey(text, from: "COUNTERSIGN_MASTER_KEY")
        }
        if let text = try read(masterKey) {
            guard let key = MasterKey(base64: text) else {
                throw StartError(
                    "\(masterKey) is damaged: it must hold the base64 of 32 bytes. Restore it from the backup.")
            }
            return key
        }
        guard isNew else { throw StartError(ifMissing()) }
        let bytes = SystemRandom().bytes(32)
        guard try place(Base64.encode(bytes) + "\n", as: masterKey, replacing: false),
            let key = MasterKey(bytes: Secret(bytes))
        else {
            // Another process has created the key first, so its key is used.
            return try ownMasterKey(environment, isNew: isNew, ifMissing: ifMissing)
        }
        return key
    }

    /// Writes the bootstrap token to a file that only its owner can read.
    func write(bootstrapToken token: Secret<String>) throws {
        _ = try place(token.reveal() + "\n", as: bootstrapToken, replacing: true)
    }

    func read(_ file: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw StartError("\(file) cannot be read. It must belong to the user the server runs as.")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes a file atomically and durably; a process that is killed meanwhile leaves only a draft.
    ///
    /// - Returns: false if the file exists and must not be replaced.
    func place(_ text: String, as file: String, replacing: Bool) throws -> Bool {
        let draft = file + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StartError("\(file) cannot be written.") }
        giveToOwner(descriptor)
        let bytes = Array(text.utf8)
        let isWritten = Foundation.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        defer { unlink(draft) }
        guard isWritten else { throw StartError("\(file) cannot be written: is the disk full?") }
        // `link` fails if another process has created the file meanwhile; `rename` replaces it.
        guard replacing ? rename(draft, file) == 0 : link(draft, file) == 0 else {
            if !replacing, errno == EEXIST { return false }
            throw StartError("\(file) cannot be written.")
        }
        try syncNames()
        return true
    }

    /// Gives a new file to the owner of the folder.
    ///
    /// Otherwise a command that root runs would leave files that the server cannot read.
    private func giveToOwner(_ descriptor: Int32) {
        var status = stat()
        guard geteuid() == 0, stat(path, &status) == 0, status.st_uid != 0 else { return }
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }

    /// Makes the entries of the folder durable, not only the contents of its files.
    func syncNames() throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StartError("The data folder \(path) cannot be read.") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StartError("The data folder \(path) cannot be written.") }
    }
}

extension MasterKey {
    /// Decodes a key from the environment or a file; nil if it is malformed.
    init?(base64 text: String) {
        guard let bytes = Base64.decode(text) else { return nil }
        self.init(bytes: Secret(bytes))
    }
}
