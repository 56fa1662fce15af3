import CountersignWire
import Encodings
import Foundation
import Testing

/// The texts are of `scripts/make-deceptive-texts`, which knows nothing of our rules but their names.
@Suite("A thousand texts that could deceive a person are refused by their names")
struct DeceptiveTextTests {
    private static let texts: [(text: String, refusal: TextRefusal)] = {
        guard let file = Bundle.module.url(forResource: "Deceptive/texts", withExtension: "jsonl"),
            let lines = try? Data(contentsOf: file).split(separator: 0x0A)
        else { return [] }
        return lines.compactMap { line in
            guard let row = try? JSONValue(parsing: Array(line)), let text = row["text"]?.string,
                let refusal = row["refusal"]?.string.flatMap(TextRefusal.init(rawValue:))
            else { return nil }
            return (text, refusal)
        }
    }()

    @Test("There are a thousand, no two alike, of every reason but those of labels, names and lengths")
    func corpus() {
        #expect(Self.texts.count == 1000)
        #expect(Set(Self.texts.map { Array($0.text.utf8) }).count == 1000)
        // The last two are those of `DisplayTextTests` alone.
        let others: Set<TextRefusal> = [
            .tooLong, .lineTooLong, .leadingBlank, .equalsSign, .parenthesis, .unassignedCharacter, .tooManyMarks,
        ]
        #expect(Set(Self.texts.map(\.refusal)) == Set(TextRefusal.allCases).subtracting(others))
    }

    @Test("As a message, which a client sends and a type may say")
    func messages() {
        for (text, refusal) in Self.texts {
            #expect(throws: refusal, "\(text.debugDescription)") { try DisplayMessage(text) }
        }
    }

    @Test("As a line: a detail, a device's name, a client's name; there no LF has a place, whatever it is for")
    func lines() {
        for (text, refusal) in Self.texts {
            let refusal = text.utf8.contains(0x0A) ? .controlCharacter : refusal
            #expect(throws: refusal, "\(text.debugDescription)") { try DisplayLine(text) }
            #expect(throws: refusal, "\(text.debugDescription)") { try Detail(label: "Payee", value: text) }
            #expect(throws: refusal, "\(text.debugDescription)") { try Detail(label: text, value: "ACME") }
            #expect(throws: refusal, "\(text.debugDescription)") { try ClientName(text) }
        }
    }

    @Test("In a challenge that a device opens: a server that lets them pass shows nothing")
    func opened() throws {
        let sample = try Sample()
        let body = ChallengeBody(
            question: try sample.fullQuestion(), user: sample.user, enrollment: sample.enrollment, methods: [.confirm],
            numberEntry: 6,
            expiresAt: Sample.time, locale: nil
        ).json
        for place in [["message"], ["context"], ["client", "name"]] {
            for (text, _) in Self.texts {
                let error = #expect(throws: JSONShapeError.self, "\(text.debugDescription)") {
                    try ChallengeBody(body.setting(place, .string(text)))
                }
                guard case .invalid(pointer: "/" + place.joined(separator: "/"), _)? = error else {
                    Issue.record("\(text.debugDescription) as \(place): \(String(describing: error))")
                    continue
                }
            }
        }
    }
}
