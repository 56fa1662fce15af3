import CountersignStorage
import Encodings
import Foundation

/// Why the server cannot start: what happened and what to do.
package struct StartError: Error, CustomStringConvertible, Equatable, Sendable {
    /// One or two sentences for the operator.
    package let description: String

    /// An error that says this.
    package init(_ description: String) {
        self.description = description
    }
}

/// What keeps a second server out of a folder, as long as it lives; it ends with the process, however that ends.
final class FolderLock: Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}

/// The folder that holds everything a server on SQLite keeps.
struct DataFolder: Sendable {
    let path: String

    /// The SQLite file, where that is the database.
    let database: String
    var masterKey: String { "\(path)/master.key" }
    var bootstrapToken: String { "\(path)/bootstrap.token" }
    /// Where messages to people go in development mode.
    var messages: String { "\(path)/outbox" }

    /// A folder.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - database: the SQLite file, if it is not in the folder.
    init(path: String, database: String? = nil) {
        self.path = path
        self.database = database ?? "\(path)/countersign.sqlite"
    }

    /// Makes the folder when it is not there, readable by its owner alone.
    func make() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StartError(
                "The data folder \(path) cannot be made. Choose another with --data, or mend its parent's rights.")
        }
    }

    /// Takes the folder for one server.
    func lock() throws -> FolderLock {
        try lock(
            named: "server.lock",
            refusal: "Another server runs on the data folder \(path). Stop it, or choose another folder with --data.")
    }

    /// Takes the folder for one doer of something.
    func lock(named name: String, refusal: String) throws -> FolderLock {
        let file = open("\(path)/\(name)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StartError("The data folder \(path) is not writable.") }
        let lock = FolderLock(descriptor: file)
        giveToOwner(file)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { throw StartError(refusal) }
        return lock
    }

    /// The master key: from the environment, else from its file, which is made with a new database and must be there
    /// with an old one.
    func masterKey(from source: MasterKeySource, _ environment: [String: String]) throws -> MasterKey {
        try masterKey(from: source, environment, isNew: !FileManager.default.fileExists(atPath: database)) {
            "\(masterKey) is missing, and \(database) cannot be used without it. Restore it from the backup."
        }
    }

    /// The master key of a database that several servers share: made by the first, brought to the others.
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
            // Another first start was faster: its key counts.
            return try ownMasterKey(environment, isNew: isNew, ifMissing: ifMissing)
        }
        return key
    }

    /// Keeps the bootstrap token where only the owner of the folder reads it.
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

    /// Writes a file so that it is there whole or not at all, and lasts: whoever is killed here leaves a draft behind.
    ///
    /// - Returns: false when the file exists and is not to be replaced.
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
        // A link refuses to replace what another process was faster to make; a rename replaces.
        guard replacing ? rename(draft, file) == 0 : link(draft, file) == 0 else {
            if !replacing, errno == EEXIST { return false }
            throw StartError("\(file) cannot be written.")
        }
        try syncNames()
        return true
    }

    /// Gives a new file to whom the folder belongs.
    ///
    /// A command that root runs would leave files behind that the server cannot read.
    private func giveToOwner(_ descriptor: Int32) {
        var status = stat()
        guard geteuid() == 0, stat(path, &status) == 0, status.st_uid != 0 else { return }
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }

    /// Makes the names in the folder last, not only what the files hold.
    func syncNames() throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StartError("The data folder \(path) cannot be read.") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StartError("The data folder \(path) cannot be written.") }
    }
}

extension MasterKey {
    /// The key that a file or the environment holds, or nil.
    init?(base64 text: String) {
        guard let bytes = Base64.decode(text) else { return nil }
        self.init(bytes: Secret(bytes))
    }
}
