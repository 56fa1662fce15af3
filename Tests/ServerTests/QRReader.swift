import Foundation
import TestSupport

/// A reader of QR codes that is not ours: zbarimg.
enum QRReader {
    /// Whether it is installed; `scripts/install-packages test` sees to that.
    static var isThere: Bool { Program.path(of: "zbarimg") != nil }

    struct Unreadable: Error {
        let output: String
    }

    /// What a picture says that is drawn as one square for each dark module.
    static func read(svg: String) throws -> String {
        guard let view = svg.firstMatch(of: /viewBox="0 0 (\d+) \1"/), let size = Int(view.1) else {
            throw Unreadable(output: svg)
        }
        var modules = [[Bool]](repeating: [Bool](repeating: false, count: size), count: size)
        for square in svg.matches(of: /M(\d+) (\d+)h1v1h-1z/) {
            guard let column = Int(square.1), let row = Int(square.2), row < size, column < size else {
                throw Unreadable(output: svg)
            }
            modules[row][column] = true
        }
        return try read(modules)
    }

    /// What a picture for a terminal says: two modules in a character.
    static func read(blocks: String) throws -> String {
        var modules: [[Bool]] = []
        for line in blocks.split(separator: "\n") {
            let line = line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
            modules.append(line.map { $0 == "█" || $0 == "▀" })
            modules.append(line.map { $0 == "█" || $0 == "▄" })
        }
        return try read(modules)
    }

    /// As a picture of the plainest format there is, eight points for each module.
    private static func read(_ modules: [[Bool]]) throws -> String {
        let scale = 8
        let lines = modules.flatMap { row in
            let line = row.flatMap { [String](repeating: $0 ? "1" : "0", count: scale) }.joined(separator: " ")
            return [String](repeating: line, count: scale)
        }
        let folder = try TemporaryFolder()
        let file = folder.path("code.pbm")
        let picture = "P1\n\((modules.first?.count ?? 0) * scale) \(lines.count)\n\(lines.joined(separator: "\n"))\n"
        try Data(picture.utf8).write(to: URL(filePath: file))
        guard let program = Program.path(of: "zbarimg") else { throw Unreadable(output: "zbarimg is not installed") }
        let result = try Program.run(program, ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file])
        guard result.status == 0 else { throw Unreadable(output: result.errors) }
        return String(result.output.dropLast())
    }
}
