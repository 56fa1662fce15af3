import CountersignPages
import Testing

@Suite("A client's colour")
struct AccentTests {
    @Test("A colour that is easy to read on the panel becomes a stylesheet; without a dark one, dark uses the text's")
    func stylesheet() throws {
        let both = try PageAccent(light: "#8A1538", dark: "#ffb3c4").stylesheet
        #expect(
            both == ":root{--accent:#8a1538}\n@media(prefers-color-scheme:dark){:root{--accent:#ffb3c4}}\n")
        #expect(try PageAccent(light: "#00566b", dark: nil).stylesheet.contains("{--accent:var(--ink)}"))
    }

    @Test("A colour with less contrast than 4.5 to the panel of its scheme is refused")
    func contrast() throws {
        // 4.546 and 4.480 to the light panel, 4.509 and 4.448 to the dark one.
        _ = try PageAccent(light: "#6f6f6f", dark: nil)
        #expect(throws: PageAccent.Refusal.tooPaleForLight) { try PageAccent(light: "#707070", dark: nil) }
        _ = try PageAccent(light: "#000000", dark: "#848484")
        #expect(throws: PageAccent.Refusal.tooDarkForDark) { try PageAccent(light: "#000000", dark: "#838383") }
    }

    @Test(
        "Anything but a number sign and six digits is refused: it would be read as a stylesheet",
        arguments: ["", "8a1538", "#8a153", "#8a15380", "#8a153g", "red", "#8a1538}", "#８a1538", "#8a153\u{301}"])
    func malformed(_ text: String) {
        #expect(throws: PageAccent.Refusal.malformed) { try PageAccent(light: text, dark: nil) }
        #expect(throws: PageAccent.Refusal.malformed) { try PageAccent(light: "#000000", dark: text) }
    }
}
