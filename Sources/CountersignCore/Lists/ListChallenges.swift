package import CountersignWire
import Encodings

/// The columns by which a list of challenges is filtered; the question, which may be long, is not among them.
package struct ChallengeEntry: Sendable {
    /// The challenge.
    package let id: ChallengeID
    /// When the challenge was asked.
    package let askedAt: Timestamp
    /// The name of its type.
    package let type: String
    /// Its state, as the API names it.
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
    /// Which challenges to list; nil means all.
    package struct Filter: Sendable {
        /// The user of the challenges.
        package var user: UserID?
        /// The type of the challenges.
        package var type: TypeName?
        /// The state of the challenges, as the API names it.
        package var state: String?

        /// A filter that matches all challenges.
        package init() {}
    }

    /// The position at which a page ended.
    package struct Place: Hashable, Sendable, CustomStringConvertible {
        /// When the last challenge of the page was asked.
        package let askedAt: Timestamp
        /// The last challenge of the page.
        package let id: ChallengeID

        init(_ entry: ChallengeEntry) {
            (askedAt, id) = (entry.askedAt, entry.id)
        }

        init?(_ text: String) {
            let parts = text.split(separator: " ")
            guard parts.count == 2, let time = Int64(parts[0]), let id = ChallengeID(parts[1]) else { return nil }
            (askedAt, self.id) = (Timestamp(milliseconds: time), id)
        }

        /// The form in a cursor.
        package var description: String { "\(askedAt.milliseconds) \(id)" }
    }

    /// The result of the operation.
    package typealias Outcome = ListOutcome<Challenge>

    /// Lists challenges, newest first.
    ///
    /// - Parameters:
    ///   - filter: which challenges to list.
    ///   - scope: a client, to list the challenges that it sees, without those that ask about sign-ins; or all
    ///     challenges.
    ///   - cursor: where the previous page ended; nil for the first page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
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
