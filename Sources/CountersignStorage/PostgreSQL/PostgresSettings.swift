/// Where a PostgreSQL database is and how to use it.
package struct PostgresSettings: Sendable {
    /// How many connections a node holds unless told otherwise.
    package static let defaultConnections = 16

    /// Where it is.
    package let address: PostgresAddress
    /// How many connections to hold at most, besides one for news.
    package var connections = defaultConnections
    /// How to learn what other nodes commit.
    package var notices = PostgresNoticeMode.notified

    /// The usual settings.
    package init(address: PostgresAddress) {
        self.address = address
    }
}

/// How a node learns what others committed.
package enum PostgresNoticeMode: String, Sendable, CaseIterable {
    /// It is notified.
    case notified
    /// It looks several times a second; for databases that speak PostgreSQL's protocol and cannot notify.
    case polled

    /// After how many milliseconds to look without a notification.
    var pause: Int32 {
        switch self {
        case .notified: 1000
        case .polled: 100
        }
    }
}
