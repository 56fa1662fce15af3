import CountersignWire
import Encodings
import Testing

@Suite("The invitation in a QR code")
struct EnrollmentInvitationTests {
    private let invitation: EnrollmentInvitation
    private let json: JSONValue

    init() throws {
        let sample = try Sample()
        invitation = EnrollmentInvitation(
            issuer: sample.issuer, ticket: Secret("tkt_secret"), fingerprint: sample.device, user: sample.user,
            enrollment: sample.enrollment)
        json = try JSONValue(parsing: try #require(Base64.decode(invitation.text)))
    }

    @Test("An invitation is base 64 of JSON, and comes back")
    func roundTrip() {
        #expect(json.object?.members.map(\.name) == ["issuer", "ticket", "fingerprint", "user", "enrollment"])
        #expect(json["issuer"] == "https://login.example.com" && json["ticket"] == "tkt_secret")
        #expect(json["fingerprint"] == "9A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACAD")
        #expect(EnrollmentInvitation(invitation.text)?.text == invitation.text)
        #expect(EnrollmentInvitation(Base64.encode(json.setting(["more"], 1).encoded))?.text == invitation.text)
    }

    @Test("An invitation does not print its ticket")
    func prints() {
        var dumped = ""
        dump(invitation, to: &dumped)
        for text in ["\(invitation)", String(reflecting: invitation), dumped] {
            #expect(!text.contains("tkt_secret"))
        }
        #expect(invitation.ticket.reveal() == "tkt_secret")
    }

    @Test(
        "An invitation that lacks a member, or has a wrong one, is none",
        arguments: ["issuer", "ticket", "fingerprint", "user", "enrollment"])
    func members(name: String) {
        var values: [JSONValue?] = [nil, .null, 1, [], true]
        if name != "ticket" { values += ["", "x", "https://", "chl_01m7w77m7b040g2081040g2081", "9A9B"] }
        for value in values {
            #expect(EnrollmentInvitation(Base64.encode(json.setting([name], value).encoded)) == nil)
        }
    }

    @Test("Any other text of a QR code is none")
    func otherTexts() {
        let text = invitation.text
        for other in [
            "", " ", "https://example.com", " \(text)", "\(text)\n", "\(text)=", String(text.dropLast()),
            String(decoding: json.encoded, as: UTF8.self), Base64URL.encode(json.encoded) + "_",
            Base64.encode(Array("[]".utf8)), Base64.encode(Array("null".utf8)), Base64.encode([0xFF]),
            Base64.encode(json.encoded + [0x7D]), Base64.encode(json.encoded + json.encoded),
            Base64.encode(Array("{\"ticket\":\"a\",".utf8) + json.encoded.dropFirst()),
        ] {
            #expect(EnrollmentInvitation(other) == nil, "\(other)")
        }
    }

    @Test("A plain address cannot be slipped in for the issuer")
    func issuers() {
        for issuer in ["http://login.example.com", "https://login.example.com/", "https://user@login.example.com"] {
            #expect(EnrollmentInvitation(Base64.encode(json.setting(["issuer"], .string(issuer)).encoded)) == nil)
        }
    }
}
