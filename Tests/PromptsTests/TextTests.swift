import Foundation
import Testing

@testable import CountersignPrompts

@Suite("The texts of the prompts")
struct TextTests {
    private static func placeholders(_ text: String) -> [String] {
        text.matches(of: /\{\{(\w+)\}\}/).map { String($0.output.1) }.sorted()
    }

    @Test("Every language has every text, and no other", arguments: PromptLanguage.allCases)
    func complete(_ language: PromptLanguage) {
        #expect(Set(PromptTexts.all(in: language).keys) == Set(PromptWord.allCases))
    }

    @Test("A text has the same values in each language", arguments: PromptWord.allCases)
    func values(_ word: PromptWord) {
        let english = PromptTexts.all(in: .english)[word] ?? ""
        for language in PromptLanguage.allCases {
            let text = PromptTexts.all(in: language)[word] ?? ""
            #expect(Self.placeholders(text) == Self.placeholders(english), "\(language)")
            #expect(!text.isEmpty && text == text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    @Test("The words are those that the pages are allowed", arguments: PromptWord.allCases)
    func words(_ word: PromptWord) {
        for language in PromptLanguage.allCases {
            let text = (PromptTexts.all(in: language)[word] ?? "").lowercased()
            for wrong in ["please", "bitte", "oops", "invalid", "ungültig", "!", "sorry"] {
                #expect(!text.contains(wrong), "\(language)")
            }
        }
    }

    @Test("What others wrote is confined, and is not read as a text of ours")
    func confined() {
        let texts = PromptTexts(.english)
        #expect(texts.text(.removeDevice, ["device": "א{{device}}"]) == "Remove \u{2068}א{{device}}\u{2069}")
        #expect(texts.text(.removeDevice) == "Remove {{device}}")
    }

    @Test("An app replaces texts by its own")
    func replaced() {
        let texts = PromptTexts(.english, replacing: [.approve: "Pay", .removeDevice: "Forget {{device}}"])
        #expect(texts.text(.approve) == "Pay" && texts.text(.decline) == "Decline")
        #expect(texts.text(.removeDevice, ["device": "x"]) == "Forget \u{2068}x\u{2069}")
    }

    @Test("A custom authenticator is called what the app calls it, and what it says may be for nobody")
    func customs() {
        let texts = PromptTexts(.english, replacing: [.customSays: ""], naming: ["voice": "your voice"])
        #expect(texts.text(using: .custom("voice")) == "Use \u{2068}your voice\u{2069}")
        #expect(texts.text(using: .custom("tune")) == "Use \u{2068}tune\u{2069}")
        let states: [ApprovePromptModel.State] = [
            .custom("voice", .again(attemptsLeft: 2, payload: "{}")), .customRefused("voice", payload: "{}"),
            .approved(PromptApproval(payload: "{}")),
        ]
        for state in states {
            let plain = state.screen(of: nil, account: nil, left: nil, PromptTexts(.english))
            let screen = state.screen(of: nil, account: nil, left: nil, texts)
            #expect(plain.paragraphs.contains { $0.contains("{}") })
            #expect(!screen.paragraphs.contains { $0.contains("{}") || $0.isEmpty })
        }
        #expect(states[0].screen(of: nil, account: nil, left: nil, texts).field?.label.contains("your voice") == true)
        let registered = CustomAuthenticatorModel.State.registered(payload: "{}").screen(of: "voice", .register, texts)
        #expect(registered.heading == "\u{2068}your voice\u{2069} is set up" && registered.paragraphs.isEmpty)
    }

    @Test("The person's first language that there is, whatever its region")
    func preferred() {
        #expect(PromptLanguage.preferred(["de-AT", "en"]) == .german)
        #expect(PromptLanguage.preferred(["fr-FR", "en-GB", "de"]) == .english)
        #expect(PromptLanguage.preferred(["DE_CH"]) == .german)
        #expect(PromptLanguage.preferred(["fr"]) == .english && PromptLanguage.preferred([]) == .english)
    }

    @Test("Moments and times that are left are written as on the pages")
    func times() {
        let english = PromptTexts(.english, timeZone: .gmt)
        let german = PromptTexts(.german, timeZone: .gmt)
        #expect(english.moment(1_795_428_900_000) == "10:15, 23 November 2026")
        #expect(german.moment(1_795_428_900_000) == "10:15 Uhr, 23. November 2026")
        #expect(english.left(.seconds(102)) == "\u{2068}1:42\u{2069} left")
        #expect(german.left(.milliseconds(59_001)) == "\u{2068}1:00\u{2069} übrig")
        #expect(english.left(.zero) == "\u{2068}0:00\u{2069} left")
    }

    @Test("Numbers are written in groups and said one by one")
    func codes() {
        #expect(PromptCode(number: "471932").written == "471 932")
        #expect(PromptCode(number: "471932").spoken == "4 7 1, 9 3 2")
        #expect(PromptCode(code: "AB-C").spoken == "A B - C")
    }
}
