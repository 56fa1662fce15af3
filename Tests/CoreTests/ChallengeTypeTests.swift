import CountersignWire
import Encodings
import RelyingPartyAPI
import Testing

@testable import CountersignCore

@Suite("Challenge types")
struct ChallengeTypeTests {
    private let name = TypeName.confirm

    @Test("Members left out get the values of the type that exists from the start")
    func standard() throws {
        let type = try ChallengeType([:], name: name)
        #expect(type.json == ChallengeType.confirm.json)
        #expect(
            type.json == [
                "name": "confirm", "methods": ["confirm"], "qr": false, "text_code": false, "expires_in": 120,
                "number_entry": true,
                "signing_data": true, "assurance": "receipt", "aal2": false, "max_pending": 3, "max_asks": 10,
                "denial_pause": 30,
                "max_resends": 3, "texts": [:],
            ])
    }

    @Test("A type as the API shows it may be sent back", arguments: Assurance.allCases)
    func roundTrip(_ assurance: Assurance) throws {
        let type = ChallengeType(
            name: name, methods: [.confirm], lifetime: 86400, numberEntry: false, signingData: false,
            assurance: assurance, fallback: .pin, maximumPending: 1000, maximumAsks: 1, denialPause: 0,
            maximumResends: 0,
            texts: [
                .english: try DisplayMessage("Pay?"), try #require(LanguageTag("pt-BR")): try DisplayMessage("Pagar?"),
            ],
            clients: [AskScene.id(1), AskScene.id(2)])
        let read = try ChallengeType(type.json, name: name)
        #expect(read.json == type.json)
        #expect(read.texts == type.texts && read.clients == type.clients)
        #expect(type.json["texts"] == ["en": "Pay?", "pt-BR": "Pagar?"])
    }

    @Test("A text that could deceive, or that no notification could hold, is refused where it stands")
    func texts() throws {
        for (text, refusal) in [
            ("Pay?\u{202E}", TextRefusal.bidirectionalControl), ("Pay? ", .trailingBlank), ("", .empty),
            (String(repeating: "x", count: 156), .tooLong),
        ] {
            #expect(throws: RefusedText(refusal, at: "/texts/de")) {
                try ChallengeType(["texts": ["en": "Pay?", "de": .string(text)]], name: name)
            }
        }
        let longest = String(repeating: "x", count: 155)
        #expect(
            try ChallengeType(["texts": ["de": .string(longest)]], name: name).text(in: LanguageTag("de"))?.text
                == longest)
    }

    @Test(
        "Every member is checked, and the refusal names it",
        arguments: [
            ("/name", ["name": "other"]), ("/methods", ["methods": []]), ("/methods", ["methods": ["fingerprint"]]),
            ("/methods", ["methods": ["confirm", "confirm"]]), ("/methods", ["methods": "confirm"]),
            ("/methods", ["methods": [1]]), ("/expires_in", ["expires_in": 9]), ("/expires_in", ["expires_in": 86401]),
            ("/expires_in", ["expires_in": "120"]), ("/number_entry", ["number_entry": 1]),
            ("/signing_data", ["signing_data": "true"]), ("/assurance", ["assurance": "Receipt"]),
            ("/aal2", ["aal2": "yes"]), ("/fallback", ["fallback": "confirm"]), ("/fallback", ["fallback": "Other"]),
            ("/max_pending", ["max_pending": 0]), ("/max_pending", ["max_pending": 1001]),
            ("/max_asks", ["max_asks": 0]), ("/max_asks", ["max_asks": -1]),
            ("/max_resends", ["max_resends": -1]), ("/max_resends", ["max_resends": 101]),
            ("/attempts", ["attempts": 0]), ("/attempts", ["attempts": 101]), ("/attempts", ["attempts": "3"]),
            ("/denial_pause", ["denial_pause": -1]), ("/denial_pause", ["denial_pause": 3601]),
            ("/texts", ["texts": ["Pay?"]]), ("/texts/german", ["texts": ["german": "Zahlen?"]]),
            ("/texts/d~1e", ["texts": ["d/e": "Zahlen?"]]), ("/texts/de", ["texts": ["de": 1]]),
            ("/texts/DE", ["texts": ["de": "Zahlen?", "DE": "Zahlen?"]]), ("/clients", ["clients": []]),
            ("/clients", ["clients": ["shop"]]), ("/clients", ["clients": "cli_00000000000000000000000000"]),
        ] as [(String, JSONValue)])
    func refused(_ pointer: String, _ json: JSONValue) {
        let error = #expect(throws: JSONShapeError.self) { try ChallengeType(json, name: name) }
        guard case .invalid(pointer, _)? = error else {
            Issue.record("\(String(describing: error)) does not name \(pointer)")
            return
        }
    }

    @Test("A member nobody knows and a value that is not an object are refused")
    func shape() {
        #expect(throws: JSONShapeError.unknownMember(pointer: "/lifetime")) {
            try ChallengeType(["lifetime": 60], name: name)
        }
        #expect(throws: JSONShapeError.invalid(pointer: "", expected: "an object")) {
            try ChallengeType([], name: name)
        }
    }

    @Test("The edges of what is allowed are allowed")
    func edges() throws {
        let shortest = try ChallengeType(["expires_in": 10, "max_pending": 1, "max_asks": 1], name: name)
        #expect(shortest.lifetime == 10)
        #expect(shortest.maximumPending == 1)
        let longest = try ChallengeType(["expires_in": 86400, "max_asks": 1000], name: name)
        #expect(longest.lifetime == 86400)
        #expect(longest.maximumAsks == 1000)
        #expect(try ChallengeType(["max_resends": 0], name: name).maximumResends == 0)
        #expect(try ChallengeType(["max_resends": 100], name: name).maximumResends == 100)
    }
}
