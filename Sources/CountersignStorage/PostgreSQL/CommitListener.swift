import CountersignCore
import CountersignWire
import Foundation
import Synchronization

/// Learns what other nodes have committed and notifies them of this node's commits, on its own connection and thread.
///
/// Each transaction writes the topics that it changed into the table of commits. A PostgreSQL notification only says
/// that it is time to read that table. A node also reads it every second without a notification, or more often if the
/// database has no notifications. So a notice may be late, but it is never lost, and no commit waits for the lock that
/// PostgreSQL takes when a committing transaction notifies.
final class CommitListener: Sendable {
    static let channel = "countersign"
    private static let listen = SQLStatement("LISTEN \(channel)")
    private static let notify = SQLStatement("SELECT pg_notify('\(channel)', '')")
    /// Other nodes read the table themselves, so it does not matter when this notification reaches the disk.
    private static let relax = SQLStatement("SELECT set_config('synchronous_commit', 'off', false)")
    /// How often old rows of the table of commits are deleted.
    private static let sweepEvery = Duration.seconds(60)

    /// The name of this node.
    let node: String
    /// The prefix that distinguishes this node's commits from others'.
    let prefix: String
    private let address: PostgresAddress
    private let notices: PostgresNoticeMode
    private let hub: ChangeHub
    private let start: Int64
    private let isStopped = Mutex(false)
    private let signal: ThreadSignal

    /// Creates a listener for a database.
    ///
    /// - Parameters:
    ///   - address: the address of the database.
    ///   - start: the result of ``horizon(of:)`` at the start.
    ///   - notices: how the node learns of other nodes' commits.
    ///   - hub: is notified of their topics.
    init(
        _ address: PostgresAddress, from start: Int64, notices: PostgresNoticeMode, hub: ChangeHub
    ) throws(StoreError) {
        self.address = address
        self.notices = notices
        self.hub = hub
        self.start = start
        node = String(UInt64.random(in: 0...(.max)), radix: 36)
        prefix = "\(node)-"
        signal = try ThreadSignal()
    }

    /// The transaction number before which all transactions have ended.
    static func horizon(of connection: PostgresConnection) throws -> Int64 {
        try connection.rows(PostgresCommits.news, [.integer(.max), .text("")]).first?.integer(0) ?? 0
    }

    func follow() {
        let thread = Thread { [self] in work() }
        thread.name = "postgres-news"
        thread.start()
    }

    func stop() {
        isStopped.withLock { $0 = true }
        signal.ring()
    }

    /// Notifies the other nodes soon that there are new rows in the table of commits.
    func tell() {
        if notices == .notified { signal.ring() }
    }

    private func work() {
        var reader = Reader(besides: prefix, from: start)
        while !isStopped.withLock({ $0 }) {
            do {
                try follow(on: try PostgresConnection(to: address), &reader)
            } catch {
                Thread.sleep(forTimeInterval: .random(in: 0.2...0.6))
            }
        }
    }

    private func follow(on connection: PostgresConnection, _ reader: inout Reader) throws {
        try connection.execute(Self.relax, [])
        if notices == .notified { try connection.execute(Self.listen, []) }
        var sweptAt = ContinuousClock.now
        // The first read finds what was committed while there was no connection.
        var isNotified = true
        while !isStopped.withLock({ $0 }) {
            // This node's own notifications come back to it, and tell it nothing.
            if isNotified || reader.isDue(after: .milliseconds(notices.pause)) {
                switch try reader.read(on: connection) {
                case .topics(let topics): hub.notify(topics)
                case .unknown: hub.notifyAll()
                }
            }
            signal.wait(beside: connection.socket, atMost: notices.pause)
            // Taken before the notification: a commit from here on signals again.
            if signal.take() { try connection.execute(Self.notify, []) }
            isNotified = try connection.takeNotifications()
            if ContinuousClock.now - sweptAt > Self.sweepEvery {
                try connection.execute(PostgresCommits.sweep, [])
                sweptAt = .now
            }
        }
    }

    /// How far the table of commits was read.
    private struct Reader {
        /// What changed.
        enum News {
            case topics([ChangeTopic])
            /// It is unknown what changed.
            case unknown
        }

        /// The prefix of this node's own commits, of which its tasks are notified without reading.
        private let own: String
        private var from: Int64
        /// The ids of rows that were already read although earlier transactions had not ended.
        private var known: Set<String> = []
        private var readAt = ContinuousClock.now

        init(besides own: String, from start: Int64) {
            self.own = own
            from = start
        }

        /// Whether the table was last read this long ago or longer.
        func isDue(after pause: Duration) -> Bool { ContinuousClock.now - readAt >= pause }

        /// The topics that other nodes have changed since the last call.
        mutating func read(on connection: PostgresConnection) throws -> News {
            let rows = try connection.rows(PostgresCommits.news, [.integer(from), .text(own)])
            let previous = from
            from = try rows.first?.integer(0) ?? from
            // Rows may have been deleted in the meantime, or the database was restored to an earlier state.
            guard ContinuousClock.now - readAt < PostgresCommits.memory, from >= previous else {
                readAt = .now
                return .unknown
            }
            readAt = .now
            var read: Set<String> = []
            var topics: [ChangeTopic] = []
            for row in rows {
                guard let number = try row.optionalInteger(1) else { continue }
                let id = try row.text(2)
                if number >= from { read.insert(id) }
                guard !known.contains(id) else { continue }
                topics += [ChangeTopic](words: try row.text(3))
            }
            known = read
            return .topics(topics)
        }
    }
}

/// What the word of a kind of messages begins with.
private let outboxPrefix = "outbox:"

extension [ChangeTopic] {
    /// The topics as the table of commits holds them.
    var words: String {
        map { topic in
            switch topic {
            case .challenge(let id): id.description
            case .enrollment(let id): id.description
            case .authorization(let id): id.description
            case .outbox(let kind): "\(outboxPrefix)\(kind.rawValue)"
            case .keys: "keys"
            }
        }.joined(separator: " ")
    }

    /// Skips topics that only another version of this program knows.
    init(words: String) {
        self = words.split(separator: " ").flatMap { word -> [ChangeTopic] in
            // A node of an earlier version does not say which messages are due.
            if word == "outbox" { return OutboxMessage.Kind.allCases.map(ChangeTopic.outbox) }
            return ChangeTopic(word: String(word)).map { [$0] } ?? []
        }
    }
}

extension ChangeTopic {
    fileprivate init?(word: String) {
        if word.hasPrefix(outboxPrefix) {
            let name = String(word.dropFirst(outboxPrefix.count))
            guard let kind = OutboxMessage.Kind(rawValue: name) else { return nil }
            self = .outbox(kind)
        } else if word == "keys" {
            self = .keys
        } else if let id = ChallengeID(word) {
            self = .challenge(id)
        } else if let id = EnrollmentID(word) {
            self = .enrollment(id)
        } else if let id = AuthorizationID(word) {
            self = .authorization(id)
        } else {
            return nil
        }
    }
}
