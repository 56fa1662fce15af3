package import CountersignWire
import Encodings

/// An export of everything that is stored about a user, as far as the caller may see it.
///
/// The export is read in parts, each in its own transaction, so that no export blocks the database or fills the
/// memory. Each part first checks that all clients that knew the user at the beginning still do. If one does not,
/// data of the user are being erased, so the export ends without its last line.
package struct ExportUser: Sendable {
    /// One element of the export.
    package enum Part: Sendable {
        /// The user as the client knows them; the first element for a client.
        case linked(LinkedUser, UserClaims?)
        /// The user as operators see them; the first element for an operator.
        case known(KnownUser)
        /// An enrolled device, also one that was removed.
        case enrollment(Enrollment)
        /// An address that the user has proved; for operators alone.
        case identifier(VerifiedIdentifier)
        /// An address of the user on a client's word.
        case claim(ClaimedIdentifier)
        /// A browser that is signed in; for operators alone.
        case session(Session)
        /// A passkey; for operators alone.
        case passkey(RegisteredPasskey)
        /// What a client says of the user for itself; for operators, who see those of all clients.
        case claims(UserClaims, by: ClientID)
        /// What the user has allowed a client.
        case grant(Grant)
        /// The tokens that a client has of the user.
        case tokens(TokenFamily)
        /// A challenge with its question.
        case challenge(Challenge)
        /// A receipt.
        case receipt(StoredReceipt)
        /// An event of the audit.
        case event(AuditEvent)
    }

    /// The maximum number of rows for one read, because challenges and receipts may be large.
    static let batch = 50

    /// The position of the export.
    private enum Place: Sendable {
        case user
        case challenges(ListChallenges.Place?)
        case receipts([EnrollmentID], after: ChallengeID?)
        case events(after: Int64)
        case end
    }

    private let user: UserID
    private let scope: ListScope
    /// The clients that knew the user at the beginning, as far as the caller may see them.
    private let clients: Set<ClientID>
    private var place = Place.user

    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The export has begun.
        case begun(ExportUser)
        /// The caller knows no such user.
        case notFound
    }

    /// Begins an export, and records that in the audit.
    ///
    /// - Parameters:
    ///   - reference: the user.
    ///   - scope: what the caller may see.
    ///   - caller: the client that asks.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func begin(
        _ reference: UserReference, in scope: ListScope, by caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let user = try work.stores.named(reference, by: caller.client.id, in: scope) else { return .notFound }
            let clients = try work.stores.clientIDs(knowing: user, in: scope)
            try work.raise(.userExported(user))
            return .begun(ExportUser(user: user, scope: scope, clients: clients))
        }
    }

    /// Why an export cannot continue.
    package enum Interruption: Error, Hashable, Sendable {
        /// A client that knew the user at the beginning no longer does; for an operator, any client counts.
        case userGone
    }

    /// Reads the next elements of the export; nil after the last ones.
    ///
    /// - Throws: ``Interruption``, ``StoreError``.
    package mutating func next(ports: Ports) async throws -> [Part]? {
        let (user, scope, clients, place) = (user, scope, clients, place)
        let now = ports.time.now
        if case .end = place { return nil }
        let (parts, next) = try await ports.store.read { reader in
            guard try reader.clientIDs(knowing: user, in: scope).isSuperset(of: clients) else {
                throw Interruption.userGone
            }
            return try Self.parts(of: user, in: scope, at: place, now, reader)
        }
        self.place = next
        return parts
    }

    private static func parts(
        of user: UserID, in scope: ListScope, at place: Place, _ now: Timestamp, _ reader: any Stores
    ) throws -> ([Part], Place) {
        switch place {
        case .user:
            let enrollments = try reader.enrollments.all(of: user).filter { try scope.shows($0, reader) }
                .map(Part.enrollment)
            let signIns = try signIns(of: user, in: scope, now, reader)
            return (try [person(user, in: scope, reader)] + enrollments + signIns, .challenges(nil))
        case .challenges(let before):
            let entries = try reader.lists.challenges(in: scope, of: user, before: before, limit: batch)
            let parts = try entries.compactMap { try reader.challenges.find($0.id).map(Part.challenge) }
            guard let last = entries.last else {
                return (parts, .receipts(try reader.enrollments.all(of: user).map(\.id), after: nil))
            }
            return (parts, .challenges(ListChallenges.Place(last)))
        case .receipts(var enrollments, let after):
            guard let enrollment = enrollments.first else { return ([], .events(after: 0)) }
            let receipts = try reader.receipts.list(by: enrollment, in: scope, after: after, limit: batch)
            if receipts.isEmpty { enrollments.removeFirst() }
            let shown = try receipts.filter { try scope.shows($0, reader) }
            return (shown.map(Part.receipt), .receipts(enrollments, after: receipts.last?.challenge))
        case .events(let after):
            var filter = AuditFilter()
            filter.user = user
            if case .client(let client) = scope { filter.client = client }
            let events = try reader.audit.list(filter, after: after, limit: batch)
            let shown = try events.filter { try scope.shows($0.event, reader) }
            return (shown.map { .event($0.event) }, events.last.map { .events(after: $0.sequence) } ?? .end)
        case .end: return ([], .end)
        }
    }

    private static func signIns(
        of user: UserID, in scope: ListScope, _ now: Timestamp, _ reader: any Stores
    ) throws -> [Part] {
        let families = try reader.families.families(of: user)
        let (identifiers, claims) = try reader.identifiers.identifiers(of: user)
        let grants = try reader.grants.grants(of: user)
        switch scope {
        case .client(let client):
            return claims.filter { $0.client == client }.map(Part.claim)
                + grants.filter { $0.client == client }.map(Part.grant)
                + families.filter { $0.client == client }.map(Part.tokens)
        case .all:
            let sessions = try reader.sessions.sessions(of: user, at: now).map(Part.session)
            let passkeys = try reader.passkeys.passkeys(of: user).filter(\.isPresent)
            let own = try (reader.users.find(user)?.links ?? []).compactMap { link in
                try reader.links.claims(of: user, for: link.client).map { Part.claims($0, by: link.client) }
            }
            return identifiers.map(Part.identifier) + claims.map(Part.claim) + passkeys.map(Part.passkey) + sessions
                + grants.map(Part.grant) + families.map(Part.tokens) + own
        }
    }

    private static func person(
        _ user: UserID, in scope: ListScope, _ reader: any Stores
    ) throws -> Part {
        switch scope {
        case .client(let client):
            guard let linked = try reader.links.find(.id(user), of: client) else { throw Interruption.userGone }
            return .linked(linked, try reader.links.claims(of: user, for: client))
        case .all:
            guard let known = try reader.users.find(user) else { throw Interruption.userGone }
            return .known(known)
        }
    }
}

extension ListScope {
    /// Whether the scope shows a receipt: a client has been told of a sign-in's yes, and of a no not always.
    ///
    /// Of a challenge that is kept no longer the audit says it; where that is not kept either, nobody knows.
    fileprivate func shows(_ receipt: StoredReceipt, _ reader: any Stores) throws -> Bool {
        guard case .client = self else { return true }
        if let challenge = try reader.challenges.find(receipt.challenge) {
            // As in ``ShowReceipt``: the approval waits for its return code.
            // check: ReturnTests.exported
            guard challenge.state.isEnded else { return false }
            return !challenge.purpose.isOfSignIn || challenge.state.status.state == "approved"
        }
        if try reader.event(.challengeApproved, of: receipt.challenge) != nil { return true }
        return try reader.isOfSignIn(receipt.challenge) == false
    }

    /// Whether the scope shows an event: a client sees neither whom a sign-in has asked, nor why it has asked nobody.
    fileprivate func shows(_ event: AuditEvent, _ reader: any Stores) throws -> Bool {
        guard case .client = self else { return true }
        switch event.kind {
        case .userCodeIncorrect, .userCodeLocked: return false
        // An approval that is not brought back is as if nobody had answered.
        case .challengeReturning: return false
        case .signedIn: return true
        default:
            guard let challenge = event.challenge else { return true }
            // The event says it, which is kept for longer than its challenge; those of earlier versions do not.
            return try event.detail["sign_in"] != true && reader.isOfSignIn(challenge) == false
        }
    }
}

extension Stores {
    /// Whether a sign-in asks a challenge; nil where neither it nor what the audit says of it is kept.
    fileprivate func isOfSignIn(_ id: ChallengeID) throws -> Bool? {
        if let challenge = try challenges.find(id) { return challenge.purpose.isOfSignIn }
        return try event(.challengeAsked, of: id)?.detail["sign_in"]?.bool
    }

    /// The first event of a kind about a challenge.
    fileprivate func event(_ kind: AuditEventKind, of challenge: ChallengeID) throws -> AuditEvent? {
        var filter = AuditFilter()
        filter.kind = kind
        filter.challenge = challenge
        return try audit.list(filter, after: 0, limit: 1).first?.event
    }
}

extension Stores {
    /// The clients that know a user, among those that a scope includes.
    fileprivate func clientIDs(knowing user: UserID, in scope: ListScope) throws -> Set<ClientID> {
        switch scope {
        case .client(let client): try links.find(.id(user), of: client) == nil ? [] : [client]
        case .all: Set(try users.find(user)?.links.map(\.client) ?? [])
        }
    }
}
