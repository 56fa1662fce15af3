import CountersignCore
import Encodings
import Foundation

/// The content of a `pg_dump` file, read to its end.
///
/// `pg_restore` turns the file into a script. The script holds the rows in the format of `COPY`: one row on a line,
/// ended by `\.`. See PostgreSQL, *COPY*, *Text Format*.
struct PostgresArchive {
    private static let header = Array("COPY ".utf8)
    private static let headerEnd = " FROM stdin;"
    private static let rowsEnd = Array("\\.".utf8)
    private static let end = Array("-- PostgreSQL database dump complete".utf8)
    /// After how many seconds without a row `pg_restore` is ended: over some damaged files it goes on for ever.
    private static let longestSilence: Int32 = 30

    /// The number of rows of each table, by its qualified name.
    private(set) var counts: [String: Int] = [:]
    /// The version of the schema.
    private(set) var schema = 0
    /// The master keys that open the database, by the number of their wrap.
    private(set) var wraps: [Int: MasterKeyID] = [:]
    /// Whether the end of the script was read.
    private(set) var isComplete = false

    private let versions: String?
    private let secrets: String?
    private var table: String?
    private var count = 0
    private var columns: [String] = []
    /// The beginning of a line whose end was not read yet.
    private var begun: [UInt8] = []

    /// Reads a file with `pg_restore`.
    ///
    /// - Parameters:
    ///   - file: the path of the file.
    ///   - program: `pg_restore`.
    ///   - names: the qualified names of the tables, by their plain names.
    /// - Throws: ``BackupFailure`` when `pg_restore` fails or the script is incomplete.
    static func read(
        _ file: String, by program: PostgresProgram, names: [String: String]
    ) throws(BackupFailure) -> PostgresArchive {
        var archive = PostgresArchive(names: names)
        try program.run(["--file=-", file], silentFor: longestSilence) { archive.take($0) }
        guard archive.isComplete, archive.table == nil else {
            throw BackupFailure(description: "\(file) is damaged: it ends too early.")
        }
        return archive
    }

    init(names: [String: String]) {
        versions = names["schema_version"]
        secrets = names["secrets"]
    }

    /// Processes the next part of the script.
    mutating func take(_ data: Data) {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let end = rest.firstIndex(of: 0x0A) {
                if begun.isEmpty {
                    take(line: rest[..<end])
                } else {
                    let line = begun + rest[..<end]
                    begun = []
                    line.withUnsafeBytes { take(line: $0[...]) }
                }
                rest = rest[(end + 1)...]
            }
            begun += rest
        }
    }

    private mutating func take(line: Slice<UnsafeRawBufferPointer>) {
        guard let table else {
            if line.starts(with: Self.header) { beginTable(String(decoding: line, as: UTF8.self)) }
            if line.elementsEqual(Self.end) { isComplete = true }
            return
        }
        if line.count == Self.rowsEnd.count, line.elementsEqual(Self.rowsEnd) {
            counts[table] = count
            self.table = nil
            return
        }
        count += 1
        if table == versions || table == secrets { note(String(decoding: line, as: UTF8.self)) }
    }

    /// Parses `COPY schema.table (column, column) FROM stdin;`.
    private mutating func beginTable(_ line: String) {
        guard line.hasSuffix(Self.headerEnd) else { return }
        let parts = line.dropFirst(Self.header.count).dropLast(Self.headerEnd.count).split(
            separator: " (", maxSplits: 1)
        guard let name = parts.first else { return }
        table = String(name)
        count = 0
        columns = parts.count < 2 ? [] : parts[1].dropLast().split(separator: ", ").map(String.init)
    }

    /// Records the version of the schema and the master keys.
    private mutating func note(_ row: String) {
        let values = row.split(separator: "\t", omittingEmptySubsequences: false)
        func value(_ column: String) -> Substring? {
            columns.firstIndex(of: column).flatMap { $0 < values.count ? values[$0] : nil }
        }
        if table == versions {
            schema = max(schema, value("version").flatMap { Int($0) } ?? 0)
        } else if let name = value("name"), name.hasPrefix("data key "), let number = Int(name.dropFirst(9)),
            let sealed = value("sealed"), let bytes = Hex.decode(String(sealed.dropFirst("\\\\x".count))),
            bytes.count > MasterKeyID.length
        {
            wraps[number] = MasterKeyID(bytes: Array(bytes.prefix(MasterKeyID.length)))
        }
    }
}
