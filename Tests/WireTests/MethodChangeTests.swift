import CountersignWire
import Encodings
import OpenPGP
import Testing

@Suite("What is signed")
struct MethodChangeTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    private func change(_ old: Fingerprint?, _ new: Fingerprint?) -> MethodChange {
        MethodChange(
            sample.changeHeader, method: .pin, old: old, new: new, certificate: [1, 2, 3])
    }

    @Test("The text, line by line")
    func text() throws {
        #expect(
            change(sample.device, nil).text == """
                Countersign change v1
                issuer: https://login.example.com
                enrollment: \(sample.enrollment)
                nonce: \(sample.nonce)
                method: pin
                old: \(sample.device)
                certificate: AQID
                """)
    }

    @Test("Set, replaced and removed are read as they were written; what changes nothing is not read")
    func roundTrip() throws {
        let other = try #require(Fingerprint(bytes: [UInt8](repeating: 7, count: 20)))
        for (old, new) in [(nil, other), (sample.device, other), (sample.device, nil)] as [(Fingerprint?, Fingerprint?)]
        {
            let change = change(old, new)
            #expect(MethodChange(change.text) == change)
        }
        #expect(MethodChange(change(nil, nil).text) == nil)
        #expect(MethodChange(change(other, other).text) == nil)
    }

    @Test("A text that differs in one place is none")
    func altered() throws {
        let text = change(nil, sample.device).text
        for (place, other) in [
            ("Countersign change v1", "Countersign receipt v1"), ("v1\n", "v1\n\n"), ("issuer: ", "issuer:  "),
            ("enrollment: enr_", "enrollment: usr_"), ("method: pin", "method: PIN"), ("method: pin\n", ""),
            ("new: ", "new: 0x"), ("AQID", "AQI"), ("AQID", "AQID\n"), ("AQID", "AQID="),
            ("nonce: 00", "nonce: "), ("certificate: AQID", "old: \(sample.device)\ncertificate: AQID"),
        ] {
            let altered = text.replacing(place, with: other, maxReplacements: 1)
            #expect(altered != text && MethodChange(altered) == nil, "\(place)")
        }
        for end in text.indices { #expect(MethodChange(String(text[..<end])) == nil) }
    }

    @Test("Request and reply travel as JSON and back")
    func json() throws {
        let request = MethodChangeRequest(message: [1], authorization: [2], ticket: Secret("t"))
        let read = try MethodChangeRequest(request.json)
        #expect(read.message == [1] && read.authorization == [2] && read.ticket?.reveal() == "t")
        let bare = try MethodChangeRequest(["message": "AQ=="])
        #expect(bare.authorization == nil && bare.ticket == nil)
        #expect(throws: JSONShapeError.unknownMember(pointer: "/pin")) {
            try MethodChangeRequest(["message": "AQ==", "pin": "1234"])
        }
        for state in MethodsReply.PINState.allCases {
            let reply = MethodsReply(
                nonce: sample.nonce, pin: state, attemptsLeft: 3, policy: .standard, hasBiometric: state == .set,
                changesLeft: 7)
            #expect(try MethodsReply(reply.json) == reply)
        }
        // A server that lies about the cost is not followed.
        let cheap: JSONValue = [
            "nonce": .string("\(sample.nonce)"), "pin": ["state": "none", "attempts_left": 5, "policy": ["cost": 1]],
        ]
        #expect(throws: JSONShapeError.self) { try MethodsReply(cheap) }
    }
}
