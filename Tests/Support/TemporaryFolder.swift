package import Foundation

/// A folder of its own for one test, removed with the value.
package final class TemporaryFolder: Sendable {
    /// Where it is. Short, because the agent of gpg puts a socket into it and socket paths are limited.
    package let url: URL

    /// Makes the folder, readable by its owner alone.
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
