import Foundation

/// What a copy of a database holds, as it was read back.
package struct BackupContent: Hashable, Sendable {
    /// The tables whose rows a person counts by.
    static let counted = ["clients", "users", "enrollments", "challenges", "receipts"]

    /// The schema it has.
    package let schema: Int
    /// How many rows the tables have that a person counts by.
    package let rows: [String: Int]
    /// The master keys that open it.
    package let masterKeys: [MasterKeyID]
    /// Its size, in bytes.
    package let size: Int
}

/// Why there is no copy.
package struct BackupFailure: Error, CustomStringConvertible {
    /// What happened, and what to do where something can be done.
    package let description: String
}

/// A copy while it is made: it gets its name only when it is whole.
enum BackupFile {
    /// Makes a file that is its owner's alone, and gives it its name when it was filled and lasts.
    ///
    /// - Parameters:
    ///   - target: its name, which must not be there yet.
    ///   - fill: writes and checks it; given the name that it has until then, and its open descriptor.
    static func make(
        _ target: String, _ fill: (_ draft: String, _ descriptor: Int32) throws -> BackupContent
    ) throws -> BackupContent {
        let draft = target + ".part"
        unlink(draft)
        guard access(target, F_OK) != 0 else { throw BackupFailure(description: "\(target) is there already.") }
        // Made here for its mode: it holds everything.
        let file = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BackupFailure(description: "\(draft) cannot be written.") }
        defer {
            close(file)
            unlink(draft)
        }
        let content = try fill(draft, file)
        guard fsync(file) == 0 else {
            throw BackupFailure(description: "\(draft) cannot be written: is the disk full?")
        }
        // A link refuses to replace what came in between; a rename would not.
        guard link(draft, target) == 0 else { throw BackupFailure(description: "\(target) cannot be written.") }
        try syncNames(beside: target)
        return content
    }

    /// The size of a file, in bytes.
    static func size(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? Int) ?? 0
    }

    /// Makes the names in a file's folder last, not only what the files hold.
    private static func syncNames(beside file: String) throws {
        let folder = open(URL(filePath: file).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        defer { close(folder) }
        guard folder >= 0, fsync(folder) == 0 else {
            throw BackupFailure(description: "\(file) cannot be made to last.")
        }
    }
}
