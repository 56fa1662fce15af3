package import CountersignWire
import Encodings

/// One transaction with everything that a rule may use in it: the rows, the time, who acts, and ids for new events and
/// messages.
///
/// A clash repeats the whole rule, so the rule must not have effects outside the transaction.
package final class UnitOfWork: StoreAccess {
    /// The stores of the transaction.
    package let stores: any Stores
    /// When the operation began; a repeated transaction keeps this time.
    package let now: Timestamp
    /// Who acts.
    package let actor: Actor
    let issuer: Issuer
    let hasher: KeyedHasher
    private let random: any RandomSource

    fileprivate init(_ stores: any Stores, at now: Timestamp, as actor: Actor, _ ports: Ports) {
        self.stores = stores
        self.now = now
        self.actor = actor
        issuer = ports.issuer
        hasher = ports.hasher
        random = ports.random
    }

    /// An id for an event, a message or another new row.
    func nextID<Kind>() -> ID<Kind> { random.id(at: now) }

    /// The state of an enrollment after its user's row is locked; nil if there is none.
    func locked(_ id: EnrollmentID) throws -> Enrollment? {
        guard let known = try enrollments.find(id) else { return nil }
        try users.lock(known.user)
        return try enrollments.find(id)
    }

    /// Notifies a topic when, and only when, the transaction commits.
    func notify(_ topic: ChangeTopic) { stores.notify(topic) }
}

extension Ports {
    /// Runs a rule in a transaction; see ``Store/commit(_:)``.
    ///
    /// - Parameters:
    ///   - now: when the operation began.
    ///   - actor: who acts.
    ///   - rule: the rule; it may run again after a clash.
    /// - Throws: ``StoreError``, and the errors of the rule.
    package func commit<Result: Sendable>(
        at now: Timestamp, as actor: Actor, _ rule: @escaping @Sendable (UnitOfWork) throws -> Result
    ) async throws -> Result {
        try await store.commit { [self] in try rule(UnitOfWork($0, at: now, as: actor, self)) }
    }

    /// Runs a rule in a transaction in which every write fails; see ``Store/read(_:)``.
    ///
    /// - Parameters:
    ///   - now: when the operation began.
    ///   - actor: who reads.
    ///   - rule: the rule.
    /// - Throws: ``StoreError``, and the errors of the rule.
    func read<Result: Sendable>(
        at now: Timestamp, as actor: Actor, _ rule: @escaping @Sendable (UnitOfWork) throws -> Result
    ) async throws -> Result {
        try await store.read { [self] in try rule(UnitOfWork($0, at: now, as: actor, self)) }
    }
}
