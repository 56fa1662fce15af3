import Countersign
import CountersignWire
import Encodings
import Foundation

/// Shows challenges in a terminal and asks a person.
struct TerminalPhone: Sendable {
    let input: LineReader

    /// Shows a challenge and carries out the answer that the person types.
    func handle(_ pending: PendingChallenge) async throws {
        let question: OpenedChallenge
        do {
            question = try await pending.open()
        } catch {
            say("\n\(ShownText.isolated(pending.clientName)): \(ShownText.line("\(error)"))")
            return
        }
        try await handle(question)
    }

    /// Shows a challenge that is open, and carries out the answer that the person types.
    func handle(_ question: OpenedChallenge) async throws {
        say(Self.render(question))
        while true {
            say(Self.instructions(question), terminator: " ")
            guard let line = await input.next() else { return }
            guard let answer = Self.answer(line, to: question) else { continue }
            do {
                try await carryOut(answer, question)
                return
            } catch let error as CountersignError {
                say("\(ShownText.line("\(error)")) \(error.suggestion)")
                return
            }
        }
    }

    private enum Answer {
        case yes(number: String?)
        case no
        case notMe
    }

    private static func instructions(_ question: OpenedChallenge) -> String {
        let approve = question.numberLength.map { "Type the \($0) digits to approve" } ?? "Type y to approve"
        return "\(approve), n to deny, r if this was not you:"
    }

    /// The answer that a line means; nil if it means none.
    private static func answer(_ line: String, to question: OpenedChallenge) -> Answer? {
        let word = line.trimmingCharacters(in: .whitespaces).lowercased()
        switch word {
        case "n", "no": return .no
        case "r", "report": return .notMe
        case "y", "yes": return question.numberLength == nil ? .yes(number: nil) : nil
        default: return question.numberLength != nil && EntryNumber(word) != nil ? .yes(number: word) : nil
        }
    }

    private func carryOut(_ answer: Answer, _ question: OpenedChallenge) async throws {
        switch answer {
        case .no:
            try await question.deny()
            say("Denied.")
        case .notMe:
            try await question.report()
            say("Reported.")
        case .yes(let number):
            let approved = try await approve(question, number: number)
            say("Approved.\(Self.wayBack(approved))")
        }
    }

    /// Approves by the client's preferred method.
    ///
    /// If a biometric or a custom authenticator fails, it asks for the PIN; after a wrong PIN it asks again. All of
    /// this happens in the same challenge.
    private func approve(
        _ question: OpenedChallenge, number: String?
    ) async throws(CountersignError) -> Approved {
        switch question.methods.first {
        case .pin: break
        case .biometric:
            do throws(CountersignError) {
                return try await question.approve(with: .biometric(prompt: "Approve on this device"), number: number)
            } catch {
                guard case .biometric = error, question.methods.contains(.pin) else { throw error }
                say(ShownText.line("\(error)"))
            }
        case .custom(let name):
            if let approved = try await approve(question, number: number, byCustom: "\(name)") { return approved }
        case .confirm, nil:
            return try await question.approve(with: .confirmation, number: number)
        }
        while true {
            do throws(CountersignError) {
                say("PIN:", terminator: " ")
                guard let line = await input.nextHidden() else { throw .cancelled }
                say("")
                let pin = try PIN(line.trimmingCharacters(in: .whitespaces))
                return try await question.approve(with: .pin(pin), number: number)
            } catch .pinPolicy {
                say("A PIN has 4 to 32 digits.")
            } catch {
                guard case .pinIncorrect(let attemptsLeft) = error, attemptsLeft > 0 else { throw error }
                say(ShownText.line("\(error)"))
            }
        }
    }

    /// Approves by a custom authenticator, and repeats as long as the authenticator asks for another attempt.
    ///
    /// - Returns: nil if the PIN must be used instead.
    private func approve(
        _ question: OpenedChallenge, number: String?, byCustom name: String
    ) async throws(CountersignError) -> Approved? {
        while true {
            do throws(CountersignError) {
                say("\(name):", terminator: " ")
                guard let line = await input.nextHidden() else { throw .cancelled }
                say("")
                return try await question.approve(with: .custom(name, data: line), number: number)
            } catch {
                switch error {
                case .customRetry: say(ShownText.line("\(error)"))
                case .customFailed, .customNotRegistered, .customUnavailable:
                    guard question.methods.contains(.pin) else { throw error }
                    say(ShownText.line("\(error)"))
                    return nil
                default: throw error
                }
            }
        }
    }

    /// The whole challenge: every line that is signed, and the data of which only a hash is signed.
    static func render(_ question: OpenedChallenge) -> String {
        let width = max(44, question.signedLines.map(\.count).max() ?? 0)
        let rule = String(repeating: "─", count: width + 2)
        var lines = [
            "", "┌\(rule)┐", framed("\(ShownText.isolated(question.client.name)) asks:", width), framed("", width),
        ]
        lines += question.message.split(separator: "\n", omittingEmptySubsequences: false).map {
            framed(ShownText.isolated(String($0)), width)
        }
        lines.append(framed("", width))
        lines += question.details.map {
            framed("\(ShownText.isolated($0.label)): \(ShownText.isolated($0.value))", width)
        }
        if let context = question.context { lines.append(framed("From: \(ShownText.isolated("\(context)"))", width)) }
        lines.append("├\(rule)┤")
        lines.append(framed("Signed with your answer:", width))
        lines += question.signedLines.map { framed(ShownText.isolated($0), width) }
        lines.append("└\(rule)┘")
        if question.isLink {
            lines.append("Go on only if you followed the link yourself, on this device, where you started this.")
        } else if question.isClaimed {
            lines.append("Go on only if you saw the code on a screen of your own, where you started this yourself.")
        }
        if let data = question.signingData {
            // Everything but plain ASCII is escaped, so that this free text can neither control a terminal nor reverse
            // its direction.
            let escaped = JSONValue.string(data).text.unicodeScalars.map { $0.escaped(asASCII: !$0.isASCII) }
            lines.append("Signing data: \(escaped.joined())")
        }
        return lines.joined(separator: "\n")
    }

    /// Where an app would return to now: an approval by a link counts only when the browser is back there.
    static func wayBack(_ approved: Approved?) -> String {
        approved?.returnURL.map { "\nGo back, within two minutes: \($0.absoluteString)" } ?? ""
    }

    private static func framed(_ text: String, _ width: Int) -> String {
        // Characters that confine a direction have no width.
        let length = text.unicodeScalars.filter { $0.properties.generalCategory != .format }.count
        return "│ \(text)\(String(repeating: " ", count: max(0, width - length))) │"
    }
}

/// Lines of standard input, read on a separate thread, because a person may take any time.
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
        // All iterators of one stream share its buffer.
        var iterator = lines.makeAsyncIterator()
        return await iterator.next()
    }
}
