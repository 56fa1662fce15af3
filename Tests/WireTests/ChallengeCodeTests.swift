import CountersignWire
import Encodings
import Testing

@Suite("Codes of challenges, as pictures and as links")
struct ChallengeCodeTests {
    private let sample: Sample
    private let picture: ChallengeCode
    private let link: ChallengeCode

    init() throws {
        sample = try Sample()
        picture = ChallengeCode(challenge: sample.challenge, otp: Secret("qr.one-time"), form: .picture)
        link = ChallengeCode(challenge: sample.challenge, otp: Secret("link.one-time"), form: .link)
    }

    @Test("The text of a picture is base64, that of a link base64url behind #, of the same two members")
    func texts() throws {
        func object(_ otp: String) -> [UInt8] {
            Array(#"{"transaction_id":"\#(sample.challenge)","otp":"\#(otp)"}"#.utf8)
        }
        #expect(picture.text == Base64.encode(object("qr.one-time")))
        let url = link.link(to: sample.issuer)
        #expect(url == "https://login.example.com/q#\(Base64URL.encode(object("link.one-time")))")
        let read = try #require(ChallengeCode(link: url, to: sample.issuer))
        #expect(read.challenge == sample.challenge && read.otp.isSame(as: link.otp) && read.form == .link)
        let scanned = try #require(ChallengeCode(picture.text))
        #expect(scanned.otp.isSame(as: picture.otp) && scanned.form == .picture)
        #expect(ChallengeCode(url) == nil && ChallengeCode(link: picture.text, to: sample.issuer) == nil)
    }

    @Test("A picture made into a link is none, nor a link made into a picture, nor a code that says neither")
    func otherForm() {
        for code in [picture, link] {
            #expect((ChallengeCode(code.text) != nil) == (code.form == .picture))
            let url = code.link(to: sample.issuer)
            #expect((ChallengeCode(link: url, to: sample.issuer) != nil) == (code.form == .link))
        }
        for otp in ["", "one-time", "qr", "QR.one-time", " qr.one-time", "link", "qr\u{301}.one-time"] {
            let code = ChallengeCode(challenge: sample.challenge, otp: Secret(otp), form: .picture)
            #expect(ChallengeCode(code.text) == nil, "\(otp)")
            #expect(ChallengeCode(link: code.link(to: sample.issuer), to: sample.issuer) == nil, "\(otp)")
        }
    }

    @Test("A claim says how the code came, and says it in one of two words")
    func claims() throws {
        for code in [picture, link] {
            let read = try ChallengeCode(claim: code.claim)
            #expect(read.form == code.form && read.otp.isSame(as: code.otp) && read.challenge == code.challenge)
            #expect(code.claim["via"] == .string(code.form == .picture ? "qr" : "link"))
        }
        #expect(throws: JSONShapeError.missing(pointer: "/via")) { try ChallengeCode(claim: picture.json) }
        var object = picture.claim.object ?? [:]
        object["via"] = "picture"
        #expect(throws: JSONShapeError.invalid(pointer: "/via", expected: "\"qr\" or \"link\"")) {
            try ChallengeCode(claim: .object(object))
        }
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
        let text = beginning + Base64URL.encode(link.json.encoded)
        #expect(ChallengeCode(link: text, to: sample.issuer) == nil)
    }

    @Test("What stands behind # is read in one spelling")
    func spellings() {
        let url = link.link(to: sample.issuer)
        for text in ["\(url)=", "\(url)\n", "\(url)#", String(url.dropLast()), "https://login.example.com/q#"] {
            #expect(ChallengeCode(link: text, to: sample.issuer) == nil, "\(text)")
        }
    }
}
