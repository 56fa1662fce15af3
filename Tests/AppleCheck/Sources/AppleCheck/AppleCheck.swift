import Foundation
import SwiftParser
import SwiftSyntax

/// Copies Swift files without what a system of some version does not have.
///
/// Usage: AppleCheck PLATFORM VERSION FROM TO, with two folders; see scripts/apple-check.
@main
enum AppleCheck {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let level = Version(arguments[2]) else {
            print("usage: AppleCheck PLATFORM VERSION FROM TO")
            exit(2)
        }
        let (from, to) = (URL(filePath: arguments[3]), URL(filePath: arguments[4]))
        let names = try FileManager.default.subpathsOfDirectory(atPath: from.path).filter { $0.hasSuffix(".swift") }
        var isWrong = names.isEmpty
        for name in names.sorted() {
            let source = try String(contentsOf: from.appending(path: name), encoding: .utf8)
            let trimmer = Trimmer(platform: arguments[1], level: level)
            trimmer.walk(Parser.parse(source: source))
            for complaint in trimmer.unreadable {
                let line = source.utf8.prefix(complaint.offset).count { $0 == UInt8(ascii: "\n") } + 1
                print("\(from.appending(path: name).path):\(line): \(complaint)")
                isWrong = true
            }
            let copy = to.appending(path: name)
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
            try trimmer.trimmed(source).write(to: copy, atomically: true, encoding: .utf8)
        }
        if isWrong { exit(1) }
    }
}
