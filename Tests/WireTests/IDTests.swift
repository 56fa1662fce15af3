import CountersignWire
import Encodings
import TestSupport
import Testing

@Suite("Ids that name their kind")
struct IDTests {
    private static let time = Timestamp(milliseconds: 1_795_169_702_123)
    private static let text = "chl_01m7w77m7b040g2081040g2081"

    @Test("An id is its prefix and 26 characters of Crockford's base 32")
    func written() {
        let id = ChallengeID(at: Self.time, random: [UInt8](repeating: 1, count: 10))
        #expect("\(id)" == Self.text)
        #expect(ChallengeID(Self.text) == id)
        #expect(
            "\(EventID(at: Timestamp(milliseconds: 0), random: [UInt8](repeating: 0, count: 10)))"
                == "evt_00000000000000000000000000")
        let last = UserID(at: Timestamp(milliseconds: 1 << 48 - 1), random: [UInt8](repeating: 255, count: 10))
        #expect("\(last)" == "usr_7zzzzzzzzzzzzzzzzzzzzzzzzz")
    }

    @Test("Whatever is written is read again, as exactly one spelling")
    func roundTrip() {
        var generator = SeededGenerator.announced(by: "IDTests.roundTrip")
        for _ in 0..<500 {
            let time = Timestamp(milliseconds: Int64.random(in: 0..<1 << 48, using: &generator))
            let id = ClientID(at: time, random: generator.bytes(10))
            #expect(ClientID("\(id)") == id)
            #expect(ClientID("\(id)".uppercased()) == nil)
        }
    }

    // Spec: RFC 9562 §4.
    @Test("As a UUID it is read again, in upper and lower case, and nothing else is")
    func uuid() {
        var generator = SeededGenerator.announced(by: "IDTests.uuid")
        for _ in 0..<500 {
            let time = Timestamp(milliseconds: Int64.random(in: 0..<1 << 48, using: &generator))
            let id = ChallengeID(at: time, random: generator.bytes(10))
            #expect(ChallengeID(uuid: id.uuid) == id && ChallengeID(uuid: id.uuid.uppercased()) == id)
        }
        for text in [
            "", Self.text, "cf51a27a-df80-42ad-bdd7-936c476b2c8", "cf51a27a-df80-42ad-bdd7-936c476b2c877",
            "cf51a27adf80-42ad-bdd7-936c476b2c87", "cf51a27a-df80-42ad-bdd7936c-476b2c87",
            "cf51a27g-df80-42ad-bdd7-936c476b2c87", "{cf51a27a-df80-42ad-bdd7-936c476b2c87}",
            "cf51a27a-df80-42ad-bdd7-936c476b2c87-",
        ] { #expect(ChallengeID(uuid: text) == nil, "\(text)") }
    }

    @Test("An id of one kind cannot pass for another")
    func kinds() {
        let suffix = Self.text.dropFirst(3)
        let prefixes = ["chl", "enr", "usr", "cli", "evt"]
        for prefix in prefixes {
            let text = prefix + suffix
            #expect((ChallengeID(text) != nil) == (prefix == "chl"))
            #expect((EnrollmentID(text) != nil) == (prefix == "enr"))
            #expect((UserID(text) != nil) == (prefix == "usr"))
            #expect((ClientID(text) != nil) == (prefix == "cli"))
            #expect((EventID(text) != nil) == (prefix == "evt"))
        }
        #expect(Set(prefixes).count == 5)
    }

    @Test(
        "Any other spelling is refused",
        arguments: [
            "", "chl", "chl_", "_01m7w77m7b040g2081040g2081", "01m7w77m7b040g2081040g2081",
            "chl_01m7w77m7b040g2081040g208", "chl_01m7w77m7b040g2081040g20811", "chl_01M7W77M7B040G2081040G2081",
            "CHL_01m7w77m7b040g2081040g2081", "chl-01m7w77m7b040g2081040g2081", "chl01m7w77m7b040g2081040g2081",
            "chl__01m7w77m7b040g2081040g2081", " chl_01m7w77m7b040g2081040g2081", "chl_01m7w77m7b040g2081040g2081 ",
            "chl_01m7w77m7b040g2081040g2081\n", "chl_81m7w77m7b040g2081040g2081", "chl_z1m7w77m7b040g2081040g2081",
            "chl_0im7w77m7b040g2081040g2081", "chl_0lm7w77m7b040g2081040g2081", "chl_o1m7w77m7b040g2081040g2081",
            "chl_u1m7w77m7b040g2081040g2081", "chl_01m7w77m7b-040g2081040g2081", "chl_01m7w77m7b040g208104\u{660}g2081",
            "chl_01m7w77m7b040g2081040g2081\u{301}", "chl_01m7w77m7b040g2081040g208\u{0}",
        ])
    func refused(text: String) {
        #expect(ChallengeID(text) == nil)
    }

    @Test("Older ids sort first, as values and as texts")
    func order() {
        var generator = SeededGenerator.announced(by: "IDTests.order")
        let ids = (0..<100).map { second in
            UserID(at: Timestamp(seconds: 1_795_169_702 + Int64(second)), random: generator.bytes(10))
        }
        #expect(ids.shuffled(using: &generator).sorted() == ids)
        #expect(ids.map { "\($0)" }.shuffled(using: &generator).sorted() == ids.map { "\($0)" })
    }
}
