import Foundation
import Testing

@testable import CountersignPrompts

@Suite("docs/reference/prompts.md says what the prompts say")
struct PromptPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    private static let file = root.appending(path: "docs/reference/prompts.md")

    @Test("Each state of each model has a row with its exact texts in both languages")
    func page() throws {
        let page = Self.page
        if ProcessInfo.processInfo.environment["COUNTERSIGN_WRITE_PROMPTS"] != nil {
            try page.write(to: Self.file, atomically: true, encoding: .utf8)
        }
        let written = try String(contentsOf: Self.file, encoding: .utf8)
        let lines = zip(written.split(separator: "\n"), page.split(separator: "\n"))
        if let (line, made) = lines.first(where: { $0 != $1 }) { Issue.record("written: \(line)\nmade: \(made)") }
        #expect(written == page)
    }

    @Test("Each screen has a heading, a way on or out where nothing is under way, and one filled button at most")
    func screens() {
        // These close themselves, or are no screen that is closed.
        let others: Set = [
            "WaitingModel: signedIn", "ScannerModel: cancelled", "CodeDisplayModel: cancelled",
            "PendingListModel: empty", "PendingListModel: failed",
        ]
        for examples in PromptExamples.all {
            #expect(!examples.screens.isEmpty)
            for (state, make) in examples.screens {
                let screen = make(PromptTexts(.english, timeZone: .gmt))
                #expect(!screen.heading.isEmpty, "\(examples.model): \(state)")
                #expect(screen.buttons.count { $0.role == .main } <= 1, "\(examples.model): \(state)")
                #expect(Set(screen.buttons.map(\.act)).count == screen.buttons.count, "\(state)")
                let isNoWayOut = !screen.isBusy && screen.buttons.isEmpty
                #expect(isNoWayOut == others.contains("\(examples.model): \(state)"), "\(examples.model): \(state)")
            }
        }
    }

    @Test("Each state of a model has an example, so that none is missing on the page", arguments: PromptExamples.all)
    func states(_ examples: PromptExamples) throws {
        let source = try String(
            contentsOf: Self.root.appending(path: "Sources/CountersignPrompts/Models/\(examples.model).swift"),
            encoding: .utf8)
        let start = try #require(source.firstRange(of: "    public enum State: Hashable, Sendable {\n"))
        let rest = source[start.upperBound...]
        let end = try #require(rest.firstRange(of: "\n    }\n"))
        let names = rest[..<end.lowerBound].matches(of: /\n {8}case (\w+)/).map { String($0.output.1) }
        #expect(names.count > 3)
        // A screen that is closed is not seen.
        for name in names where "\(examples.model) \(name)" != "WaitingModel closed" {
            #expect(examples.screens.contains { $0.state == name || $0.state.hasPrefix("\(name):") }, "\(name)")
        }
    }

    @Test("Every text is on some screen, or said of the time that is left")
    func texts() {
        let said: Set<PromptWord> = [.sayMinute, .sayHalfMinute, .sayTenSeconds]
        let marks = PromptWord.allCases.map { ($0, "§\($0.rawValue)§") }
        let marked = PromptTexts(
            .english, timeZone: .gmt, replacing: Dictionary(marks, uniquingKeysWith: { one, _ in one }))
        let screens = PromptExamples.all.flatMap { examples in examples.screens.map { $0.screen(marked) } }
        let shown = "\(screens) \(PromptExamples.frame(marked))"
        for (word, mark) in marks where !said.contains(word) { #expect(shown.contains(mark), "\(word)") }
    }

    private static var page: String {
        let languages = PromptLanguage.allCases.map { PromptTexts($0, timeZone: .gmt) }
        var lines = [
            "# What the prompts say", "",
            "Every state that a person can see in `CountersignPrompts`, with its texts. A test makes this page from the",
            "models and compares; `COUNTERSIGN_WRITE_PROMPTS=1 swift test --filter PromptPageTests` writes it.", "",
            "In a cell: the heading, the text, what is shown, the time that is left, the field with its problem,",
            "and the buttons. Moments are in UTC.", "", "## The frame of a question", "",
            "Above each state of `ApprovePromptModel` once the question is there:", "",
            "| English | German |", "|---|---|",
            "| \(languages.map { frame(PromptExamples.frame($0)) }.joined(separator: " | ")) |",
        ]
        lines += [
            "", "## What a screen reader is told of the time", "", "In `ApprovePromptModel` and `WaitingModel`:", "",
            "| Left | English | German |", "|---|---|---|",
        ]
        let marks: [(String, PromptWord)] = [
            ("1:00", .sayMinute), ("0:30", .sayHalfMinute), ("0:10", .sayTenSeconds),
        ]
        for (left, word) in marks {
            lines.append("| \(left) | \(languages.map { $0.text(word) }.joined(separator: " | ")) |")
        }
        for examples in PromptExamples.all {
            lines += ["", "## \(examples.model)", "", "| State | English | German |", "|---|---|---|"]
            for (state, screen) in examples.screens {
                lines.append("| \(state) | \(languages.map { cell(screen($0)) }.joined(separator: " | ")) |")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func frame(_ screen: PromptScreen) -> String {
        let facts = screen.facts.map { "\($0.label): \($0.value)" }
        let lines = ["\(screen.label ?? "") **\(screen.client ?? "")**"] + facts + [screen.timeLeft ?? ""]
        return plain(lines.joined(separator: "<br>"))
    }

    private static func cell(_ screen: PromptScreen) -> String {
        var lines = ["**\(screen.heading)**"] + screen.paragraphs
        lines += screen.details.map { "\($0.label): \($0.value)" }
        for group in screen.groups {
            lines.append("**\(group.title)**: \(group.lines.joined(separator: "<br>"))")
            lines.append(buttons(group.buttons))
        }
        if let label = screen.signedLabel { lines.append("\(label): …") }
        if let code = screen.code { lines.append("`\(code.written)`") }
        // That of a question is in its frame.
        if screen.client == nil, let left = screen.timeLeft { lines.append(left) }
        if let field = screen.field {
            lines.append("▢ \(field.label)" + (field.problem.map { " – \($0)" } ?? ""))
        }
        if !screen.buttons.isEmpty { lines.append(buttons(screen.buttons)) }
        return plain(lines.joined(separator: "<br>"))
    }

    private static func buttons(_ buttons: [PromptButton]) -> String {
        buttons.map { $0.role == .main ? "**[\($0.label)]**" : "[\($0.label)]" }.joined(separator: " ")
    }

    private static func plain(_ text: String) -> String {
        String(text.filter { $0 != "\u{2068}" && $0 != "\u{2069}" }).replacing("\n", with: "<br>")
            .replacing("|", with: "\\|")
    }
}
