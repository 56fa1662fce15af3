import Foundation

/// A file that remembers how far a list was read.
struct CursorFile: Sendable {
    private let path: String
    /// Where the last run ended; nil if the file does not exist yet.
    let cursor: String?

    init(path: String) throws {
        self.path = path
        guard FileManager.default.fileExists(atPath: path) else {
            cursor = nil
            return
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandError("\(path) cannot be read: name another file with --cursor-file.")
        }
        cursor = text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Stores a place.
    ///
    /// The file is replaced as a whole, so an interrupted run leaves the earlier file.
    func put(_ cursor: String) throws {
        do {
            try Data("\(cursor)\n".utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandError("\(path) cannot be written: name another file with --cursor-file.")
        }
    }
}
