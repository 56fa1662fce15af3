import Encodings
package import Logging
import Synchronization
package import TestSupport

/// Knows the secrets of one test server, and reads everything it said: each line of its log, at every level, and each
/// reply, its fields as well.
///
/// ``TestServer`` notes what goes both ways and asks for the leaks when the server has ended; a leak fails the test.
package final class ServerWatch: Sendable {
    /// Secrets that stand where they must not.
    package struct Leak: Error, Hashable, CustomStringConvertible {
        /// What, and where.
        package let description: String
    }

    /// Who may say a secret.
    package enum Audience: Sendable {
        /// Nobody.
        case nobody
        /// The replies on paths that end like this.
        case replies(on: String)
        /// Any reply, as the text of a question; only the log may not.
        case anyReply
    }

    private struct Secret {
        let forms: SecretForms
        let audience: Audience
    }

    private struct State {
        var secrets: [[UInt8]: Secret] = [:]
        var numbers: Set<String> = []
        var replies: [(path: String, summary: String, bytes: [UInt8])] = []
    }

    private let state = Mutex(State())
    /// Everything that is logged.
    package let book = LogBook()

    /// A watch that knows nothing yet.
    package init() {}

    /// A logger whose lines are read, and given to another logger as well.
    package func logger(besides other: Logger?) -> Logger {
        guard let other else { return book.logger }
        return Logger(label: "test") { [book] _ in MultiplexLogHandler([book.logger.handler, other.handler]) }
    }

    /// Watches for a text; what could be a word or is an id is no secret.
    package func plant(_ text: String, _ name: String, for audience: Audience = .nobody) {
        guard text.utf8.count >= 12, !Self.isID(text) else { return }
        keep(Array(text.utf8), for: audience) { SecretForms(name, text: text) }
    }

    /// Watches for bytes.
    package func plant(_ bytes: [UInt8], _ name: String, for audience: Audience = .nobody) {
        keep(bytes, for: audience) { SecretForms(name, bytes: bytes) }
    }

    /// Watches for a text just as it stands: for what comes with every request.
    package func plant(verbatim text: String, _ name: String, for audience: Audience) {
        guard text.utf8.count >= 12 else { return }
        keep(Array(text.utf8), for: audience) { SecretForms(name, verbatim: text) }
    }

    /// Watches the log for the number of a challenge, which stands in replies.
    package func plant(number: String) {
        state.withLock { _ = $0.numbers.insert(number) }
    }

    private func keep(_ key: [UInt8], for audience: Audience, _ forms: () -> SecretForms) {
        state.withLock { state in
            // Who may say it is known best where it was made: what repeats it says nothing of that.
            if state.secrets[key] == nil { state.secrets[key] = Secret(forms: forms(), audience: audience) }
        }
    }

    private static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: "_")
        return parts.count == 2 && parts[0].count == 3 && CrockfordBase32.decode(parts[1]) != nil
    }

    /// Keeps a reply, to be read in the end: what is a secret may become known later.
    func note(_ path: String, _ summary: String, _ bytes: [UInt8]) {
        state.withLock { $0.replies.append((path: String(path.prefix { $0 != "?" }), summary: summary, bytes: bytes)) }
    }

    /// Every secret that the log or a reply holds.
    package var leaks: [Leak] { leaks(in: book.entries) }

    /// Every secret that these lines of a log, or a reply, hold.
    package func leaks(in lines: [String]) -> [Leak] {
        let state = state.withLock { $0 }
        let everything = SecretSearch(state.secrets.values.map(\.forms))
        var leaks = lines.flatMap { line in
            everything.names(in: line).map { Leak(description: "\($0) is in the log: \(line)") }
        }
        for line in lines
        where line.split(whereSeparator: { !$0.isLetter && !$0.isNumber }).contains(where: {
            state.numbers.contains(String($0))
        }) {
            leaks.append(Leak(description: "the number of a challenge is in the log: \(line)"))
        }
        // Few, of many secrets: looked for once, not for each of many replies.
        let endings = Set(state.secrets.values.compactMap { $0.audience.ending })
        var searches: [String: SecretSearch] = [:]
        for reply in state.replies {
            let ending = endings.first { reply.path.hasSuffix($0) } ?? ""
            let search =
                searches[ending]
                ?? SecretSearch(state.secrets.values.filter { !$0.audience.hears(ending) }.map(\.forms))
            searches[ending] = search
            leaks += search.names(in: reply.bytes).map { Leak(description: "\($0) is in \(reply.summary)") }
        }
        return leaks
    }
}

extension ServerWatch.Audience {
    /// The end of the paths whose replies may tell it.
    fileprivate var ending: String? {
        if case .replies(let ending) = self { ending } else { nil }
    }

    /// Whether replies on paths of this end may tell it.
    fileprivate func hears(_ ending: String) -> Bool {
        switch self {
        case .nobody: false
        case .replies(on: let own): own == ending
        case .anyReply: true
        }
    }
}
