/// Where a PostgreSQL database is and how to use it.
package struct PostgresSettings: Sendable {
    /// The default number of connections of a node.
    package static let defaultConnections = 16

    package let address: PostgresAddress
    /// The maximum number of connections, besides the one of the listener.
    package var connections = defaultConnections
    /// How to learn what other nodes commit.
    package var notices = PostgresNoticeMode.notified

    /// Creates the default settings for an address.
    package init(address: PostgresAddress) {
        self.address = address
    }
}

/// How a node learns what other nodes have committed.
package enum PostgresNoticeMode: String, Sendable, CaseIterable {
    /// By PostgreSQL's notifications.
    case notified
    /// By reading several times a second, for PostgreSQL-compatible databases without notifications.
    case polled

    /// The longest time between two reads, in milliseconds.
    var pause: Int32 {
        switch self {
        case .notified: 1000
        case .polled: 100
        }
    }
}
