import Foundation

/// The content of a backup, as read back from the finished file.
package struct BackupContent: Hashable, Sendable {
    /// The tables whose row counts are reported.
    static let counted = ["clients", "users", "enrollments", "challenges", "receipts"]

    /// The version of its schema.
    package let schema: Int
    /// The number of rows in each table of ``counted``.
    package let rows: [String: Int]
    /// The master keys that can open it.
    package let masterKeys: [MasterKeyID]
    /// Its size in bytes.
    package let size: Int
}

/// The backup could not be made or checked.
package struct BackupFailure: Error, CustomStringConvertible {
    /// What happened and, where possible, what to do about it.
    package let description: String
}

/// Writes a backup under a temporary name, and renames it only when it is complete.
enum BackupFile {
    /// Creates a file that only its owner can read, fills it, syncs it to disk and then gives it its final name.
    ///
    /// - Parameters:
    ///   - target: the final path, which must not exist yet.
    ///   - fill: writes and checks the content, given the temporary path and the open file descriptor.
    static func make(
        _ target: String, _ fill: (_ draft: String, _ descriptor: Int32) throws -> BackupContent
    ) throws -> BackupContent {
        let draft = target + ".part"
        unlink(draft)
        guard access(target, F_OK) != 0 else { throw BackupFailure(description: "\(target) is there already.") }
        // Created here to set its mode: a backup contains all data, so nobody else may read it.
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
        // `link` fails when the target was created in the meantime; `rename` would replace it.
        guard link(draft, target) == 0 else { throw BackupFailure(description: "\(target) cannot be written.") }
        try syncNames(beside: target)
        return content
    }

    /// The size of a file in bytes; 0 if it cannot be read.
    static func size(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? Int) ?? 0
    }

    /// Syncs the directory of a file, because syncing the file alone does not make its name durable.
    private static func syncNames(beside file: String) throws {
        let folder = open(URL(filePath: file).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        defer { close(folder) }
        guard folder >= 0, fsync(folder) == 0 else {
            throw BackupFailure(description: "\(file) cannot be made to last.")
        }
    }
}
