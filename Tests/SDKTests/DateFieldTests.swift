import CountersignWire
import Testing

@testable import Countersign

@Suite("RFC 9110 §5.6.7: the time that a reply tells")
struct DateFieldTests {
    private func date(_ field: String?) -> Timestamp? {
        TransportResponse(status: 200, headers: field.map { ["date": $0] } ?? [:], body: []).date
    }

    @Test(
        "A date in the form that senders must use is read",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("Thu, 29 Feb 2024 23:59:59 GMT", "2024-02-29T23:59:59Z"),
            ("Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z"),
            ("Thu, 31 Dec 2026 12:00:00 GMT", "2026-12-31T12:00:00Z"),
        ])
    func read(field: String, expected: String) throws {
        #expect(try #require(date(field)).secondsDescription == expected)
    }

    @Test(
        "Any other is as none: a clock is corrected by no guess",
        arguments: [
            nil, "", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 2026 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 11 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:60 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT GMT", "1994-11-06T08:49:37Z", "784111777",
        ] as [String?])
    func refused(field: String?) {
        #expect(date(field) == nil)
    }
}
