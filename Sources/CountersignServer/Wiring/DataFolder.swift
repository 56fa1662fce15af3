import CountersignStorage
import Encodings
import Foundation

/// Why the server cannot start: what happened and what to do.
public struct StartError: Error, CustomStringConvertible, Equatable, Sendable {
    /// One or two sentences for the operator.
    public let description: String

    /// An error that says this.
    public init(_ description: String) {
        self.description = description
    }
}

/// The folder that holds everything a server on SQLite keeps.
struct DataFolder: Sendable {
    let path: String

    var database: String { "\(path)/countersign.sqlite" }
    private var masterKey: String { "\(path)/master.key" }
    var bootstrapToken: String { "\(path)/bootstrap.token" }

    /// Opens the folder, or makes it, readable by its owner alone.
    init(path: String) throws {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StartError(
                "The data folder \(path) cannot be made. Choose another with --data, or mend its parent's rights.")
        }
    }

    /// Takes the folder for one server; the lock ends with the process.
    func lock() throws {
        let file = open("\(path)/server.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StartError("The data folder \(path) is not writable.") }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            throw StartError(
                "Another server runs on the data folder \(path). Stop it, or choose another folder with --data.")
        }
    }

    /// The master key: from the environment, else from its file, which is made with a new database and must be there
    /// with an old one.
    func masterKey(from environment: [String: String]) throws -> MasterKey {
        if let text = environment["COUNTERSIGN_MASTER_KEY"] {
            guard let key = Base64.decode(text).flatMap({ MasterKey(bytes: $0) }) else {
                throw StartError("COUNTERSIGN_MASTER_KEY must be the base64 of 32 bytes.")
            }
            return key
        }
        if let text = try read(masterKey) {
            guard let key = Base64.decode(text).flatMap({ MasterKey(bytes: $0) }) else {
                throw StartError(
                    "\(masterKey) is damaged: it must hold the base64 of 32 bytes. Restore it from the backup.")
            }
            return key
        }
        guard !FileManager.default.fileExists(atPath: database) else {
            throw StartError(
                "\(masterKey) is missing, and \(database) cannot be used without it. Restore it from the backup.")
        }
        let bytes = SystemRandom().bytes(32)
        guard try writeNew(Base64.encode(bytes) + "\n", to: masterKey), let key = MasterKey(bytes: bytes) else {
            // Another first start was faster: its key counts.
            return try masterKey(from: environment)
        }
        return key
    }

    /// Keeps the bootstrap token where only the owner of the folder reads it.
    func write(bootstrapToken token: String) throws {
        try? FileManager.default.removeItem(atPath: bootstrapToken)
        guard try writeNew(token + "\n", to: bootstrapToken) else {
            throw StartError("\(bootstrapToken) cannot be written.")
        }
    }

    private func read(_ file: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw StartError("\(file) cannot be read. It must belong to the user the server runs as.")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes a file that does not exist yet, and syncs it; false when it does exist.
    private func writeNew(_ text: String, to file: String) throws -> Bool {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0, errno == EEXIST { return false }
        guard descriptor >= 0 else { throw StartError("\(file) cannot be written.") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Foundation.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw StartError("\(file) cannot be written: is the disk full?")
        }
        return true
    }
}
