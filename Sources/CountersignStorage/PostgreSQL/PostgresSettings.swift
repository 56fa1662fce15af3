/// Where a PostgreSQL database is and how to use it.
public struct PostgresSettings: Sendable {
    /// How many connections a node holds unless told otherwise.
    public static let defaultConnections = 16

    /// Where it is.
    public let address: PostgresAddress
    /// How many connections to hold at most, besides one for news.
    public var connections = defaultConnections
    /// How to learn what other nodes commit.
    public var notices = PostgresNoticeMode.notified

    /// The usual settings.
    public init(address: PostgresAddress) {
        self.address = address
    }
}

/// How a node learns what others committed.
public enum PostgresNoticeMode: String, Sendable, CaseIterable {
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
