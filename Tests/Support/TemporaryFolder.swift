package import Foundation

/// A folder for one test, which is removed with the value.
package final class TemporaryFolder: Sendable {
    /// The folder's URL. The path is short because gpg's agent puts a socket there, and socket paths are limited.
    package let url: URL

    /// Creates the folder; only its owner can read it.
    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "cs-\(UInt32.random(in: 0...(.max)))")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The path of a file in the folder.
    package func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file into the folder and returns its path.
    package func write(_ name: String, _ content: some Sequence<UInt8>) throws -> String {
        try Data(content).write(to: url.appending(path: name))
        return path(name)
    }

    /// The bytes of a file in the folder.
    package func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appending(path: name)))
    }
}
