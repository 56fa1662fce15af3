import CountersignWire
import NIOHTTP1
import Encodings
import ServerTestSupport
import Testing

@Suite("Text that could deceive or not survive")
struct TextRefusalTests {
    /// Refused everywhere.
    private static let everywhere: [(String, String)] = [
        ("", "empty"), (" ", "empty"), ("\u{A0}\u{2003}", "empty"), ("\u{2800}", "empty"),
        ("a\u{0}b", "control_character"), ("a\tb", "control_character"), ("a\rb", "control_character"),
        ("a\u{1B}[2Jb", "control_character"), ("a\u{7F}b", "control_character"), ("a\u{85}b", "control_character"),
        ("a\u{2028}b", "line_separator"), ("a\u{2029}b", "line_separator"),
        ("a\u{202E}b", "bidirectional_control"), ("a\u{2066}b", "bidirectional_control"),
        ("a\u{2069}b", "bidirectional_control"), ("a\u{200E}b", "bidirectional_control"),
        ("a\u{200F}b", "bidirectional_control"), ("a\u{061C}b", "bidirectional_control"),
        ("a\u{200B}b", "invisible_character"), ("a\u{FEFF}b", "invisible_character"),
        ("a\u{AD}b", "invisible_character"), ("a\u{2060}b", "invisible_character"),
        ("a\u{3164}b", "invisible_character"), ("a\u{E0041}b", "invisible_character"),
        ("a\u{FE0F}b", "invisible_character"), ("a \u{200D}b", "invisible_character"),
        ("a\u{200C} b", "invisible_character"), ("\u{200D}a", "invisible_character"),
        ("1\u{200D}2", "invisible_character"), ("e\u{301}", "not_normalized"), ("\u{212B}", "not_normalized"),
        ("a\u{323}\u{307}", "not_normalized"), ("a\u{E000}b", "unassigned_character"),
        ("a\u{10FFFD}b", "unassigned_character"), ("a\u{378}b", "unassigned_character"),
        ("q" + String(repeating: "\u{301}", count: 7), "too_many_marks"),
        ("a ", "trailing_blank"), ("a\u{A0}", "trailing_blank"), ("a\u{3000}", "trailing_blank"),
        ("a\u{2800}", "trailing_blank"),
    ]
    /// Refused where lines may follow each other.
    private static let messages: [(String, String)] =
        everywhere + [
            ("\na", "outer_line_feed"), ("a\n", "outer_line_feed"), ("a\n\n\nb", "blank_lines"),
            ("a \nb", "trailing_blank"), ("a\n \nb", "trailing_blank"), ("\n", "empty"), ("\n\n\n", "empty"),
            ("a\r\nb", "control_character"),
        ]
    /// Refused where there is one line.
    private static let lines: [(String, String)] = everywhere + [("a\nb", "control_character")]

    private static func long(_ count: Int) -> (String, String) { (String(repeating: "ä", count: count), "too_long") }

    private func expectRefused(
        _ texts: [(String, String)], at pointer: String, in scene: Scene,
        _ send: (JSONValue) async throws -> Reply
    ) async throws {
        let before = try await scene.snapshot()
        for (text, reason) in texts {
            let reply = try await send(.string(text))
            let what = text.unicodeScalars.prefix(8).map { String($0.value, radix: 16) }.joined(separator: " ")
            expectRefusal(reply, 422, "text_refused", at: pointer, what)
            #expect(reply.json["reason"] == .string(reason), "\(what) \(reply)")
        }
        #expect(try await scene.snapshot() == before)
    }

    private func ask(_ scene: Scene, _ member: String, _ value: JSONValue) async throws -> Reply {
        var body = JSONObject(["user": .string(scene.user), "type": "payment", "message": "Pay?"])
        body[member] = value
        return try await scene.shop.call(.POST, "/v1/challenges", .object(body))
    }

    @Test("The messages of a challenge")
    func challengeMessages() async throws {
        try await Scene.with { scene in
            try await expectRefused(Self.messages + [Self.long(156)], at: "/message", in: scene) {
                try await ask(scene, "message", $0)
            }
            try await expectRefused(Self.messages, at: "/secure_message", in: scene) {
                try await ask(scene, "secure_message", $0)
            }
        }
    }

    @Test("Labels and values of details")
    func details() async throws {
        try await Scene.with { scene in
            let labels = Self.lines + [("a=b", "equals_sign"), ("=", "equals_sign"), Self.long(65)]
            try await expectRefused(labels, at: "/details/0/label", in: scene) {
                try await ask(scene, "details", [["label": $0, "value": "1"]])
            }
            try await expectRefused(Self.lines + [Self.long(1001)], at: "/details/1/value", in: scene) {
                try await ask(scene, "details", [["label": "a", "value": "1"], ["label": "b", "value": $0]])
            }
        }
    }

    @Test("Names of clients, and clients' own names for users")
    func names() async throws {
        try await Scene.with { scene in
            let names =
                Self.lines + [
                    ("ACME (Bank)", "parenthesis"), ("a)", "parenthesis"), ("(", "parenthesis"), Self.long(65),
                ]
            try await expectRefused(names, at: "/name", in: scene) {
                try await scene.administrator.call(.POST, "/v1/admin/clients", ["name": $0])
            }
            let externalIDs = Self.lines + [Self.long(256)]
            try await expectRefused(externalIDs, at: "/external_id", in: scene) {
                try await scene.shop.call(.POST, "/v1/users", ["external_id": $0])
            }
            try await expectRefused(externalIDs, at: "/external_id", in: scene) {
                try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", ["external_id": $0])
            }
        }
    }

    @Test("Every reason for which a text is refused is among those tried")
    func reasons() {
        let tried =
            (Self.messages + Self.lines).map(\.1) + ["too_long", "equals_sign", "parenthesis"]
            // `AnswerableTests` tries the other two.
            + ["line_too_long", "leading_blank"]
        #expect(Set(tried) == Set(TextRefusal.allCases.map(\.rawValue)))
    }

    @Test("What is good text is asked, to the last character that fits, and arrives as it was")
    func accepted() async throws {
        try await Scene.with { scene in
            let messages = [
                "a", String(repeating: "ä", count: 155), "Zahlen Sie 1.250,00 €?", "一千円を払いますか", "a\nb", "a\n\nb", "🙂",
                "नमस्\u{200D}ते", "-----BEGIN", "message:", "ﬁ", "a=b (c)", "\"\\\u{2019}",
            ]
            for message in messages {
                let id = try await scene.ask([
                    "message": .string(message), "secure_message": .string(message),
                    "details": [["label": "Betrag", "value": .string(message.replacing("\n", with: " "))]],
                ]).id
                let question = try await scene.phone.open(id).question
                #expect(question.message.text.utf8.elementsEqual(message.utf8))
            }
            let details = (1...32).map { JSONValue.members(["label": .string("L\($0)"), "value": "v"]) }
            let id = try await scene.ask(["details": .array(details)]).id
            #expect(try await scene.phone.open(id).question.details.map(\.label.text) == (1...32).map { "L\($0)" })
        }
    }
}
