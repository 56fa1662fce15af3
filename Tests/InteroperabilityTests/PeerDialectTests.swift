import Testing

@testable import TestSupport

@Suite("Which options sq takes")
struct PeerDialectTests {
    @Test(
        "By its version: those of Debian 12, those from 1.0 on, or none that these tests know",
        arguments: [
            ("0.25.0", .early), ("0.27.0", .early), ("0.28.0", nil), ("0.37.0", nil), ("0.40.0", nil),
            ("1.0.0", .stable),
            ("1.3.1", .stable), ("10.0.0", .stable), ("0", nil), ("", nil), ("x.y", nil),
        ] as [(String, SQ.Dialect?)])
    func dialect(version: String, dialect: SQ.Dialect?) {
        #expect(SQ.Dialect(version: version) == dialect)
    }
}
