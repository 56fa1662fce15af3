import Encodings
import Foundation
import Testing

/// A file of known answers under `Vectors`.
enum Vector {
    /// The text of a file.
    static func text(_ path: String) throws -> String {
        let file = try #require(Bundle.module.url(forResource: "Vectors/\(path)", withExtension: nil), "\(path)")
        return try #require(String(strictUTF8: Array(try Data(contentsOf: file))), "\(path)")
    }

    /// The names of the files in a folder that end so; never none.
    static func names(in folder: String, suffix: String) -> [String] {
        let path = Bundle.module.resourceURL?.appending(path: "Vectors/\(folder)").path ?? ""
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { $0.hasSuffix(suffix) }
        precondition(!names.isEmpty, "no vectors in \(folder)")
        return names.sorted()
    }

    /// The `name: value` lines of a file.
    static func fields(_ path: String) throws -> [String: String] {
        var fields: [String: String] = [:]
        for line in try text(path).split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 1)
            fields[String(parts[0])] = parts.count == 2 ? String(parts[1]) : ""
        }
        return fields
    }
}
