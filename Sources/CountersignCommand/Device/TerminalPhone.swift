import Countersign
import CountersignWire
import Encodings
import Foundation

/// Shows challenges in a terminal and asks a person.
struct TerminalPhone: Sendable {
    let input: LineReader

    /// Shows a challenge and carries out what the person types.
    func handle(_ pending: PendingChallenge) async throws {
        let question: OpenedChallenge
        do {
            question = try await pending.open()
        } catch {
            say("\n\(pending.clientName): \(error)")
            return
        }
        say(Self.render(question))
        while true {
            say(Self.instructions(question), terminator: " ")
            guard let line = await input.next() else { return }
            guard let answer = Self.answer(line, to: question) else { continue }
            do {
                try await answer()
                return
            } catch let error as CountersignError {
                say("\(error) \(error.suggestion)")
                return
            }
        }
    }

    private static func instructions(_ question: OpenedChallenge) -> String {
        let approve = question.numberLength.map { "Type the \($0) digits to approve" } ?? "Type y to approve"
        return "\(approve), n to deny, r if this was not you:"
    }

    /// What a line means, or nil when it means nothing.
    private static func answer(_ line: String, to question: OpenedChallenge) -> (@Sendable () async throws -> Void)? {
        let word = line.trimmingCharacters(in: .whitespaces).lowercased()
        switch word {
        case "n", "no":
            return {
                try await question.deny()
                say("Denied.")
            }
        case "r", "report":
            return {
                try await question.report()
                say("Reported.")
            }
        case "y", "yes":
            guard question.numberLength == nil else { return nil }
            return {
                try await question.approve(with: .confirmation)
                say("Approved.")
            }
        default:
            guard question.numberLength != nil, EntryNumber(word) != nil else { return nil }
            return {
                try await question.approve(with: .confirmation, number: word)
                say("Approved.")
            }
        }
    }

    /// All of a challenge: every line that is signed, and the data behind a hash.
    static func render(_ question: OpenedChallenge) -> String {
        let width = max(44, question.signedLines.map(\.count).max() ?? 0)
        let rule = String(repeating: "─", count: width + 2)
        var lines = ["", "┌\(rule)┐", framed("\(question.client.name) asks:", width), framed("", width)]
        lines += question.message.split(separator: "\n", omittingEmptySubsequences: false).map {
            framed(String($0), width)
        }
        lines.append(framed("", width))
        lines += question.details.map { framed("\($0.label): \($0.value)", width) }
        if let context = question.context { lines.append(framed("From: \(context)", width)) }
        lines.append("├\(rule)┤")
        lines.append(framed("Signed with your answer:", width))
        lines += question.signedLines.map { framed($0, width) }
        lines.append("└\(rule)┘")
        if let data = question.signingData {
            // Free text that is not shown as it is: escaped, it can do nothing to a terminal.
            lines.append("Signing data: \(JSONValue.string(data).text)")
        }
        return lines.joined(separator: "\n")
    }

    private static func framed(_ text: String, _ width: Int) -> String {
        "│ \(text)\(String(repeating: " ", count: max(0, width - text.count))) │"
    }
}

/// Lines of standard input, read on a thread of their own: a person thinks for as long as they like.
actor LineReader {
    static let standardInput = LineReader()

    private let lines: AsyncStream<String>

    private init() {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        lines = stream
        Thread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }.start()
    }

    /// The next line, or nil at the end of the input.
    func next() async -> String? {
        // Iterators of one stream share its buffer.
        var iterator = lines.makeAsyncIterator()
        return await iterator.next()
    }
}
