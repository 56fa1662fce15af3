import Foundation

/// `CountersignFuzz --list`, `CountersignFuzz --seeds FOLDER`, or `CountersignFuzz PARSER` and libFuzzer's own options.
///
/// Built by `make fuzz` alone, with the switches of libFuzzer; see Fuzz/README.md.
let given = CommandLine.arguments.dropFirst()
switch given.first {
case "--list":
    print(Parser.all.map { "\($0)" }.joined(separator: "\n"))
case "--seeds":
    try await Seeds.write(to: given.dropFirst().first ?? "Fuzz/Corpus")
case let name?:
    guard let parser = Parser.all.first(where: { $0.description == name }) else { fallthrough }
    exit(FuzzedParser.run(parser, options: Array(given.dropFirst())))
case nil:
    FileHandle.standardError.write(Data("usage: CountersignFuzz --list | --seeds FOLDER | PARSER [OPTION…]\n".utf8))
    exit(2)
}
