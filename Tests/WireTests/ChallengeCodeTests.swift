import CountersignWire
import Encodings
import Testing

@Suite("Design 3.7: codes of challenges, as pictures and as links")
struct ChallengeCodeTests {
    private let sample: Sample
    private let code: ChallengeCode

    init() throws {
        sample = try Sample()
        code = ChallengeCode(challenge: sample.challenge, otp: Secret("one-time"))
    }

    @Test("The text of a picture is base64, that of a link base64url behind #, of the same object")
    func texts() throws {
        let object = #"{"transaction_id":"\#(sample.challenge)","otp":"one-time"}"#
        #expect(code.text == Base64.encode(Array(object.utf8)))
        let link = code.link(to: sample.issuer)
        #expect(link == "https://login.example.com/q#\(Base64URL.encode(Array(object.utf8)))")
        let read = try #require(ChallengeCode(link: link, to: sample.issuer))
        #expect(read.challenge == sample.challenge && read.otp.isSame(as: code.otp))
        #expect(ChallengeCode(link) == nil && ChallengeCode(link: code.text, to: sample.issuer) == nil)
    }

    @Test(
        "A link to anywhere else is none",
        arguments: [
            "http://login.example.com/q#", "https://login.example.com:443/q#", "https://LOGIN.example.com/q#",
            "https://login.example.com/Q#", "https://login.example.com/q?#", "https://login.example.com/q/#",
            "https://login.example.com.evil.example/q#", "https://login.example.com@evil.example/q#",
            "https://evil.example/https://login.example.com/q#", " https://login.example.com/q#", "",
        ])
    func elsewhere(_ beginning: String) {
        let link = beginning + Base64URL.encode(code.json.encoded)
        #expect(ChallengeCode(link: link, to: sample.issuer) == nil)
    }

    @Test("What stands behind # is read in one spelling")
    func spellings() {
        let link = code.link(to: sample.issuer)
        for text in ["\(link)=", "\(link)\n", "\(link)#", String(link.dropLast()), "https://login.example.com/q#"] {
            #expect(ChallengeCode(link: text, to: sample.issuer) == nil, "\(text)")
        }
    }
}
