import CountersignPages
import Testing

@Suite("A client's colour as a stylesheet")
struct AccentTests {
    @Test("The stylesheet sets the colour of both schemes; without a dark one, dark uses the text's")
    func stylesheet() {
        let both = PageAccent(light: 0x8A1538, dark: 0xFFB3C4).stylesheet
        #expect(both == ":root{--accent:#8a1538}\n@media(prefers-color-scheme:dark){:root{--accent:#ffb3c4}}\n")
        #expect(PageAccent(light: 0x00566B, dark: nil).stylesheet.contains("{--accent:var(--ink)}"))
    }

    @Test("Its path names the colours, leads to the same stylesheet, and changes with it")
    func path() throws {
        var paths: Set<String> = []
        for (light, dark) in [(0x8A1538, 0xFFB3C4), (0x8A1538, nil), (0x00000A, 0x0), (0x0, nil)] as [(UInt32, UInt32?)]
        {
            let accent = PageAccent(light: light, dark: dark)
            let name = try #require(accent.path.split(separator: "/").last)
            #expect(accent.path == "\(PageAccent.folder)/\(name)")
            #expect(PageAccent(name: String(name)) == accent)
            paths.insert(accent.path)
        }
        #expect(paths.count == 4)
    }

    @Test(
        "No other name leads to a stylesheet",
        arguments: [
            "", "8a1538", "8a1538-ffb3c4", "8a1538-ffb3c4-0000000000000000.css", "8A1538-FFB3C4-", "#8a1538-ink-",
            "8a1538}-ink-", "+a1538-ink-", "8a1538-8a153-", "1008a1538-ink-", "8a1538-none-", "-1-ink-",
        ])
    func malformed(_ name: String) throws {
        #expect(PageAccent(name: name) == nil)
        // Not with the mark of another stylesheet either.
        let mark = try #require(PageAccent(light: 0x8A1538, dark: nil).path.split(separator: "-").last)
        #expect(PageAccent(name: name + mark) == nil)
    }
}
