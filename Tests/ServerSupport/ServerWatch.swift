import Encodings
package import Logging
import Synchronization
package import TestSupport

/// Knows the secrets of one test server, and searches for them in its whole log and in all of its replies.
///
/// ``TestServer`` records all requests and replies, and asks for the leaks when the server has ended. A leak fails the
/// test.
package final class ServerWatch: Sendable {
    /// A secret where it must not be.
    package struct Leak: Error, Hashable, CustomStringConvertible {
        /// The secret, and where it was found.
        package let description: String
    }

    /// Where a secret may appear.
    package enum Audience: Sendable {
        /// Nowhere.
        case nobody
        /// In the replies on paths with this ending.
        case replies(on: String)
        /// In any reply, as the text of a question may, but not in the log.
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
    /// The whole log.
    package let book = LogBook()

    package init() {}

    /// A logger that writes to the log book and to another logger.
    package func logger(besides other: Logger?) -> Logger {
        guard let other else { return book.logger }
        return Logger(label: "test") { [book] _ in MultiplexLogHandler([book.logger.handler, other.handler]) }
    }

    /// Adds a text; short texts, which could be words, and ids are not secrets.
    package func plant(_ text: String, _ name: String, for audience: Audience = .nobody) {
        guard text.utf8.count >= 12, !Self.isID(text) else { return }
        keep(Array(text.utf8), for: audience) { SecretForms(name, text: text) }
    }

    /// Adds bytes.
    package func plant(_ bytes: [UInt8], _ name: String, for audience: Audience = .nobody) {
        keep(bytes, for: audience) { SecretForms(name, bytes: bytes) }
    }

    /// Adds a text in its literal form only, for texts that come with every request.
    package func plant(verbatim text: String, _ name: String, for audience: Audience) {
        guard text.utf8.count >= 12 else { return }
        keep(Array(text.utf8), for: audience) { SecretForms(name, verbatim: text) }
    }

    /// Adds the number of a challenge, which may appear in replies but not in the log.
    package func plant(number: String) {
        state.withLock { _ = $0.numbers.insert(number) }
    }

    private func keep(_ key: [UInt8], for audience: Audience, _ forms: () -> SecretForms) {
        state.withLock { state in
            // The first audience is kept: where a secret was made, it is known best who may see it.
            if state.secrets[key] == nil { state.secrets[key] = Secret(forms: forms(), audience: audience) }
        }
    }

    private static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: "_")
        return parts.count == 2 && parts[0].count == 3 && CrockfordBase32.decode(parts[1]) != nil
    }

    /// Keeps a reply for a search at the end, because a secret may become known later.
    func note(_ path: String, _ summary: String, _ bytes: [UInt8]) {
        state.withLock { $0.replies.append((path: String(path.prefix { $0 != "?" }), summary: summary, bytes: bytes)) }
    }

    /// The secrets that were found in the log or in replies.
    package var leaks: [Leak] { leaks(in: book.entries) }

    /// The secrets that are in these log lines or in the replies.
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
        // There are few of these among many secrets, so one search for each ending serves all replies.
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
    /// The ending of the paths whose replies may contain the secret.
    fileprivate var ending: String? {
        if case .replies(let ending) = self { ending } else { nil }
    }

    /// Whether replies on paths with this ending may contain the secret.
    fileprivate func hears(_ ending: String) -> Bool {
        switch self {
        case .nobody: false
        case .replies(on: let own): own == ending
        case .anyReply: true
        }
    }
}
