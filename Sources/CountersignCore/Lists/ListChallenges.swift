package import CountersignWire
import Encodings

/// What a list of challenges looks at before it shows one: not what was asked, which may be long.
package struct ChallengeEntry: Sendable {
    /// The challenge.
    package let id: ChallengeID
    /// When it was asked.
    package let askedAt: Timestamp
    /// By which type.
    package let type: String
    /// How it stands, by the words of the API.
    package let state: String

    /// An entry of these parts.
    package init(id: ChallengeID, askedAt: Timestamp, type: String, state: String) {
        self.id = id
        self.askedAt = askedAt
        self.type = type
        self.state = state
    }
}

/// Lists challenges, newest first.
package enum ListChallenges {
    /// Which are meant.
    package struct Filter: Sendable {
        /// Of one user.
        package var user: UserID?
        /// By one type.
        package var type: TypeName?
        /// In one state, by the words of the API.
        package var state: String?

        /// All.
        package init() {}
    }

    /// Where a page ended.
    package struct Place: Hashable, Sendable, CustomStringConvertible {
        /// When its last challenge was asked.
        package let askedAt: Timestamp
        /// Which that is.
        package let id: ChallengeID

        init(_ entry: ChallengeEntry) {
            (askedAt, id) = (entry.askedAt, entry.id)
        }

        init?(_ text: String) {
            let parts = text.split(separator: " ")
            guard parts.count == 2, let time = Int64(parts[0]), let id = ChallengeID(parts[1]) else { return nil }
            (askedAt, self.id) = (Timestamp(milliseconds: time), id)
        }

        /// As it stands in a cursor.
        package var description: String { "\(askedAt.milliseconds) \(id)" }
    }

    /// The result of the operation.
    package typealias Outcome = ListOutcome<Challenge>

    /// Lists the challenges that a client has asked, or all.
    package static func list(
        _ filter: Filter, in scope: ListScope, cursor: String?, ports: Ports
    ) async throws -> Outcome {
        let listing = Listing(
            "challenges", scope, filters: ["user": filter.user, "type": filter.type, "state": filter.state],
            cursor: cursor, ports)
        return try await listing.read(after: Place.init) { place, reader in
            let entries = try reader.lists.challenges(
                in: scope, of: filter.user, before: place, limit: listing.limit)
            return try listing.page(of: entries, place: { "\(Place($0))" }) { entry in
                guard filter.type.map({ "\($0)".hasSameBytes(as: entry.type) }) ?? true,
                    filter.state.map({ $0.hasSameBytes(as: entry.state) }) ?? true
                else { return nil }
                return try reader.challenges.find(entry.id)
            }
        }
    }
}
