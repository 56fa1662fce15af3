import CountersignWire
import TestSupport
import Testing

@Suite("RFC 3339 §5.6: moments in UTC")
struct TimestampTests {
    @Test("A number that is too large is the first or the last moment that there is")
    func saturates() {
        let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(Timestamp(seconds: .max) == last && Timestamp(seconds: .min) == first)
        #expect(Timestamp(seconds: 1).adding(seconds: .max) == last)
        #expect(Timestamp(seconds: -1).adding(seconds: .min) == first)
        #expect(last.adding(seconds: 1) == last && first.adding(seconds: -1) == first)
    }

    @Test(
        "Known moments",
        arguments: [
            ("1970-01-01T00:00:00.000Z", 0), ("1970-01-01T00:00:00.001Z", 1), ("1969-12-31T23:59:59.999Z", -1),
            ("1969-12-31T23:59:59.000Z", -1000), ("2000-02-29T12:30:45.678Z", 951_827_445_678),
            ("2026-11-20T10:15:02.123Z", 1_795_169_702_123), ("2038-01-19T03:14:08.000Z", 2_147_483_648_000),
            ("2100-02-28T23:59:59.999Z", 4_107_542_399_999), ("2100-03-01T00:00:00.000Z", 4_107_542_400_000),
            ("0000-01-01T00:00:00.000Z", -62_167_219_200_000), ("0000-02-29T00:00:00.000Z", -62_162_121_600_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("2024-12-31T23:59:59.500Z", 1_735_689_599_500),
        ] as [(String, Int64)])
    func known(text: String, milliseconds: Int64) throws {
        let time = try #require(Timestamp(text))
        #expect(time.milliseconds == milliseconds)
        #expect(time.description == text)
        #expect(Timestamp(milliseconds: milliseconds).description == text)
    }

    @Test("Both forms that are written are read again")
    func roundTrip() throws {
        var generator = SeededGenerator.announced(by: "TimestampTests.roundTrip")
        for _ in 0..<2000 {
            let time = Timestamp(
                milliseconds: Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator))
            #expect(Timestamp(time.description) == time)
            #expect(Timestamp(time.secondsDescription) == time.wholeSeconds)
            #expect(time.wholeSeconds.milliseconds == time.seconds * 1000)
            #expect((0..<1000).contains(time.milliseconds - time.wholeSeconds.milliseconds))
        }
    }

    @Test(
        "Any other form, and any moment that does not exist, is refused",
        arguments: [
            "", "2026-11-20", "2026-11-20T10:15:02", "2026-11-20T10:15:02z", "2026-11-20t10:15:02Z",
            "2026-11-20 10:15:02Z", "2026-11-20T10:15:02+00:00", "2026-11-20T10:15:02-00:00", "2026-11-20T10:15:02,1Z",
            "2026-11-20T10:15:02.1Z", "2026-11-20T10:15:02.12Z", "2026-11-20T10:15:02.1234Z",
            "2026-11-20T10:15:02.Z", "2026-11-20T10:15:02,123Z", "2026-11-20T10:15:02.12aZ", "2026-11-20T10:15:02.-12Z",
            "2026-11-20T10:15Z", "20261120T101502Z", "2026-11-20T10-15-02Z", "2026/11/20T10:15:02Z",
            " 2026-11-20T10:15:02Z", "2026-11-20T10:15:02Z ", "2026-11-20T10:15:02Z\n", "+026-11-20T10:15:02Z",
            "-026-11-20T10:15:02Z", "2026-1-20T10:15:02Z", "12026-11-20T10:15:02Z", "2026-11-20T1:15:02Z",
            "2026-00-20T10:15:02Z", "2026-13-20T10:15:02Z", "2026-99-20T10:15:02Z", "2026-11-00T10:15:02Z",
            "2026-11-31T10:15:02Z", "2026-11-99T10:15:02Z", "2026-02-29T10:15:02Z", "2100-02-29T10:15:02Z",
            "2024-02-30T10:15:02Z", "2026-11-20T24:00:00Z", "2026-11-20T10:60:02Z", "2026-11-20T10:15:60Z",
            "2016-12-31T23:59:60Z", "２０26-11-20T10:15:02Z", "٢٠٢٦-11-20T10:15:02Z", "2026-11-20T10:15:0\u{0}Z",
            "1795169702", "2026-W47-5T10:15:02Z", "2026-324T10:15:02.12Z",
        ])
    func refused(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("Seconds are rounded down, before 1970 too")
    func seconds() {
        #expect(Timestamp(milliseconds: 1999).seconds == 1)
        #expect(Timestamp(milliseconds: -1).seconds == -1)
        #expect(Timestamp(milliseconds: -1000).seconds == -1)
        #expect(Timestamp(milliseconds: -1001).seconds == -2)
        #expect(Timestamp(milliseconds: -1).wholeSeconds == Timestamp(seconds: -1))
        #expect(Timestamp(seconds: 5).adding(seconds: -6) == Timestamp(seconds: -1))
        #expect(Timestamp(milliseconds: 1) < Timestamp(milliseconds: 2))
    }

    @Test("RFC 9580 §3.5: what OpenPGP cannot count becomes the nearest moment it can")
    func openPGP() {
        #expect(Timestamp(milliseconds: -1).unixSeconds == 0)
        #expect(Timestamp(milliseconds: 1_795_169_702_999).unixSeconds == 1_795_169_702)
        #expect(Timestamp(seconds: 1 << 32).unixSeconds == .max)
    }
}
