package import CountersignWire
package import OpenPGP

/// Lists enrollments: for a client in the order of its users, for operators oldest first.
package enum ListEnrollments {
    /// Which enrollments to list; nil means all.
    package struct Filter: Sendable {
        /// The user of the enrollments.
        package var user: UserID?
        /// The fingerprint of the enrollment's key.
        package var fingerprint: Fingerprint?
        /// The state of the enrollments: its name in the API, and whether an enrollment has it.
        package var state: (word: String, matches: @Sendable (Enrollment) -> Bool)?

        /// A filter that matches all enrollments.
        package init() {}
    }

    /// The position at which a page ended.
    private struct Place {
        let user: UserID
        let enrollment: EnrollmentID

        init?(_ text: String) {
            let parts = text.split(separator: " ")
            guard parts.count == 2, let user = UserID(parts[0]), let enrollment = EnrollmentID(parts[1]) else {
                return nil
            }
            (self.user, self.enrollment) = (user, enrollment)
        }
    }

    /// The result of the operation.
    package typealias Outcome = ListOutcome<Enrollment>

    /// Lists enrollments.
    ///
    /// - Parameters:
    ///   - filter: which enrollments to list.
    ///   - scope: a client, to list the enrollments of its users; or all enrollments.
    ///   - cursor: where the previous page ended; nil for the first page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func list(
        _ filter: Filter, in scope: ListScope, cursor: String?, ports: Ports
    ) async throws -> Outcome {
        let listing = Listing(
            "enrollments", scope,
            filters: ["user": filter.user, "fingerprint": filter.fingerprint, "state": filter.state?.word],
            cursor: cursor, ports)
        return try await listing.read(after: Place.init) { place, reader in
            let candidates = try candidates(filter, in: scope, after: place, limit: listing.limit, reader)
            return try listing.page(of: candidates, place: { "\($0.user) \($0.enrollment)" }) { candidate in
                guard let enrollment = try reader.enrollments.find(candidate.enrollment),
                    try scope.shows(enrollment, reader)
                else { return nil }
                return filter.state?.matches(enrollment) ?? true ? enrollment : nil
            }
        }
    }

    private static func candidates(
        _ filter: Filter, in scope: ListScope, after place: Place?, limit: Int, _ reader: any Stores
    ) throws -> [(user: UserID, enrollment: EnrollmentID)] {
        let after = place.map { ($0.user, $0.enrollment) }
        guard filter.user != nil || filter.fingerprint != nil else {
            switch scope {
            case .client(let client): return try reader.lists.enrollments(of: client, after: after, limit: limit)
            case .all: return try reader.lists.enrollments(after: after?.1, limit: limit)
            }
        }
        let named = try filter.fingerprint.map { try reader.lists.enrolled($0).map { [$0] } ?? [] }
        let user = filter.user ?? named?.first?.user
        guard let user, try scope.includes(user, reader) else { return [] }
        let ids = try reader.enrollments.all(of: user).map { (user: user, enrollment: $0.id) }
        let meant = ids.filter { id in named?.contains { $0 == id } ?? true }
        return Array(meant.drop { id in place.map { id.enrollment <= $0.enrollment } ?? false }.prefix(limit))
    }
}

extension ListScope {
    /// Whether the scope shows a device of a user whom it includes: a client sees those that it believes.
    func shows(_ enrollment: Enrollment, _ reader: any Stores) throws -> Bool {
        switch self {
        case .client(let client): try reader.isBelieved(enrollment, at: client)
        case .all: true
        }
    }

    /// Whether the scope includes a user.
    func includes(_ user: UserID, _ reader: any Stores) throws -> Bool {
        switch self {
        case .client(let client): try reader.links.find(.id(user), of: client) != nil
        case .all: true
        }
    }
}
