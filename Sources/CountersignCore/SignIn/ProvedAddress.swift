import CountersignWire

/// An address that a person has proved, for a client that has asked for one by Cotter's calls.
package struct ProvedAddress: Equatable, Sendable {
    /// The address.
    package let identifier: VerifiedIdentifier
    /// The browser in which the person has signed in, in its own words; nil if it says nothing.
    package let userAgent: String?
}

extension Stores {
    /// The address of a kind that a user has proved, for one client: the one by whose code they have signed in, or else
    /// the one that they have named, or else their first; nil if they have proved none.
    ///
    /// - Parameters:
    ///   - kind: the kind.
    ///   - authentication: who has signed in, and how.
    ///   - wanted: what the client wants.
    ///   - hasher: hashes addresses.
    func proved(
        _ kind: PersonalAddress.Kind, by authentication: Authentication, for wanted: Wanted, _ hasher: KeyedHasher
    ) throws -> VerifiedIdentifier? {
        let (verified, claims) = try identifiers.identifiers(of: authentication.user)
        let known = (verified + claims.compactMap(\.proved)).filter {
            $0.isGood(at: wanted.client) && $0.address.kind == kind
        }
        if case .code(let id, kind) = authentication.evidence { return known.first { $0.id == id } }
        let named = wanted.identifier?.address.map { hasher.identifier($0) }
        return known.first { hasher.identifier($0.address) == named } ?? known.first
    }
}

extension UnitOfWork {
    /// Whether a person has proved what an app wants that was written for Cotter; true for every other client.
    func hasProved(_ wanted: Wanted, by authentication: Authentication) throws -> Bool {
        guard let kind = wanted.cotter else { return true }
        return try stores.proved(kind, by: authentication, for: wanted, hasher) != nil
    }
}
