import CountersignCore
import CountersignStorage
import StorageTestSupport
import Testing

@Suite("SQLite, Result Values From A Query: a value is read whole, as what it is")
struct SQLiteValueTests {
    @Test(
        "Text has the bytes it has, of any length, also when it was a number until it was asked for",
        arguments: [
            ("''", ""), ("'a'", "a"), ("'\u{E9}\u{20AC}\u{1F600}'", "\u{E9}\u{20AC}\u{1F600}"),
            ("'a' || char(0) || 'b'", "a\0b"), ("1.5", "1.5"), ("-1234567.125", "-1234567.125"), ("1.0", "1.0"),
        ])
    func text(expression: String, expected: String) async throws {
        let world = try await World(.sqlite)
        let row = try #require(try await world.sql("SELECT \(expression)").first)
        #expect(Array(try row.text(0).utf8) == Array(expected.utf8))
        #expect(throws: StoreError.corruptRow("column 0")) { try row.integer(0) }
        #expect(throws: StoreError.corruptRow("column 0")) { try row.blob(0) }
    }

    @Test(
        "Bytes are neither cut at a zero nor lost when there are none",
        arguments: [("x''", []), ("x'00'", [0]), ("x'ff00ff'", [255, 0, 255]), ("zeroblob(3)", [0, 0, 0])]
            as [(String, [UInt8])])
    func blob(expression: String, expected: [UInt8]) async throws {
        let world = try await World(.sqlite)
        let row = try #require(try await world.sql("SELECT \(expression)").first)
        #expect(try row.blob(0) == expected)
        #expect(throws: StoreError.corruptRow("column 0")) { try row.text(0) }
    }

    @Test("Whole numbers keep all their bits, and NULL is none of the kinds")
    func numbers() async throws {
        let world = try await World(.sqlite)
        let row = try #require(
            try await world.sql("SELECT 9223372036854775807, -9223372036854775807 - 1, 0, NULL").first)
        #expect(try (0..<3).map { try row.integer($0) } == [.max, .min, 0])
        #expect(try row.optionalInteger(3) == nil && row.optionalText(3) == nil && row.optionalBlob(3) == nil)
        #expect(throws: StoreError.corruptRow("column 3")) { try row.integer(3) }
        #expect(throws: StoreError.corruptRow("column 3")) { try row.text(3) }
        #expect(throws: StoreError.corruptRow("column 3")) { try row.blob(3) }
        #expect(throws: StoreError.corruptRow("column 0")) { try row.text(0) }
    }
}
