import CPostgreSQL
import CountersignCore

/// Arguments in libpq's layout: integers and texts as text, bytes as binary.
struct PostgresArguments {
    private static let text: Int32 = 0
    private static let binary: Int32 = 1

    private var bytes: [UInt8] = []
    private var starts: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    init() {}

    /// The number of arguments.
    var count: Int { starts.count }

    /// Lays out arguments.
    ///
    /// - Throws: ``StoreError/engine(_:)`` for a text with U+0000, as on SQLite: libpq would send only the part before
    ///   it.
    init(_ values: [SQLValue]) throws(StoreError) {
        try append(values)
    }

    /// Lays out more arguments behind those that there are.
    mutating func append(_ values: [SQLValue]) throws(StoreError) {
        for value in values {
            switch value {
            case .null:
                starts.append(nil)
                lengths.append(0)
                formats.append(Self.text)
            case .integer(let number): append(String(number).utf8, Self.text)
            case .text(let text):
                guard !text.utf8.contains(0) else { throw .engine("a text holds U+0000") }
                append(text.utf8, Self.text)
            case .blob(let blob): append(blob, Self.binary)
            }
        }
    }

    private mutating func append(_ value: some Collection<UInt8>, _ format: Int32) {
        starts.append(bytes.count)
        bytes.append(contentsOf: value)
        lengths.append(Int32(bytes.count - (starts.last.flatMap { $0 } ?? 0)))
        formats.append(format)
        // A value in text format ends with a zero byte.
        bytes.append(0)
    }

    func send(
        _ send: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> Int32
    ) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            let values = starts.map { start in
                start.flatMap { buffer.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
            }
            return send(Int32(values.count), values, lengths, formats)
        }
    }
}

/// The result of a statement.
struct PostgresResult {
    private(set) var rows: [SQLRow] = []
    /// The number of changed rows.
    private(set) var changes = 0
    /// The command tag that the server returned.
    private(set) var command = ""

    init() {}

    /// Reads a result in binary format.
    init(_ result: OpaquePointer) {
        changes = Int(String(cString: PQcmdTuples(result))) ?? 0
        command = String(cString: PQcmdStatus(result))
        let columns = PQnfields(result)
        rows = (0..<PQntuples(result)).map { row in
            SQLRow((0..<columns).map { SQLValue(row: row, column: $0, of: result) })
        }
    }
}

extension SQLValue {
    /// The types of our columns and of counts.
    ///
    /// See PostgreSQL, *pg_type*.
    private enum TypeID {
        static let bool: Oid = 16
        static let bytea: Oid = 17
        static let int8: Oid = 20
        static let int2: Oid = 21
        static let int4: Oid = 23
    }

    fileprivate init(row: Int32, column: Int32, of result: OpaquePointer) {
        guard PQgetisnull(result, row, column) == 0, let address = PQgetvalue(result, row, column) else {
            self = .null
            return
        }
        let bytes = UnsafeRawBufferPointer(start: address, count: Int(PQgetlength(result, row, column)))
        switch PQftype(result, column) {
        case TypeID.bytea:
            self = .blob(Array(bytes))
        case TypeID.int8, TypeID.int4, TypeID.int2, TypeID.bool:
            // The first byte carries the sign.
            let first = bytes.first.map { Int64(Int8(bitPattern: $0)) } ?? 0
            self = .integer(bytes.dropFirst().reduce(first) { $0 << 8 | Int64($1) })
        default:
            self = .text(String(decoding: bytes, as: UTF8.self))
        }
    }
}
