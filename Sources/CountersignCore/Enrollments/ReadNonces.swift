import CountersignWire
import Synchronization

/// The nonces of the reads that devices have made, in memory only: a read counts once for each node and each run of it.
///
/// A read that is replayed at another node, or after a restart, within the time that its proof is accepted shows what it
/// showed before, and changes nothing: what it shows is sealed to the device, or is the device's own state. A change
/// spends its nonce in the database.
///
/// The nonces are kept in two generations, each as long as a proof can be accepted.
final class ReadNonces: Sendable {
    /// What came of spending a nonce.
    enum Spending: Equatable {
        /// It is spent now.
        case spent
        /// It was spent before.
        case replayed
        /// The device has made too many reads.
        case tooMany
        /// All devices together have made too many.
        case full
    }

    /// The longest time from when a nonce is spent to when its proof is refused for its age.
    private static let lifetime = 2 * ReplayGuard.tolerance + 1 + ReplayGuard.margin
    /// About how many bytes an entry takes besides its text.
    private static let overhead = 64

    private struct Generation {
        var nonces: [String: Set<String>] = [:]
        var size = 0
    }

    private struct Generations {
        var young = Generation()
        var old = Generation()
        var began: Timestamp?

        func count(of scope: String) -> Int {
            (young.nonces[scope]?.count ?? 0) + (old.nonces[scope]?.count ?? 0)
        }
    }

    private let most: Int
    private let capacity: Int
    private let generations = Mutex(Generations())

    /// Nothing spent yet.
    ///
    /// - Parameters:
    ///   - most: how many nonces one device may have spent; more than any phone sends in some minutes.
    ///   - capacity: how many bytes the nonces of all devices may take.
    init(most: Int = 8192, capacity: Int = 64 * 1024 * 1024) {
        self.most = most
        self.capacity = capacity
    }

    /// Spends the nonce of a read.
    func spend(_ replayGuard: ReplayGuard, at now: Timestamp) -> Spending {
        generations.withLock { all in
            if all.began.map({ now >= $0.adding(Self.lifetime) }) ?? true {
                all = Generations(old: all.young, began: now)
            }
            let (scope, text) = (replayGuard.scope, replayGuard.text)
            // check: ReadNoncesTests.once
            guard all.young.nonces[scope]?.contains(text) != true, all.old.nonces[scope]?.contains(text) != true else {
                return .replayed
            }
            // check: ReadNoncesTests.limits
            guard all.count(of: scope) < most else { return .tooMany }
            let size = text.utf8.count + Self.overhead
            // check: ReadNoncesTests.limits
            guard all.young.size + all.old.size + size <= capacity else { return .full }
            all.young.nonces[scope, default: []].insert(text)
            all.young.size += size
            return .spent
        }
    }
}

extension Ports {
    /// Spends the replay guard of a call that only reads.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - now: the current time.
    /// - Returns: why the call is refused; nil if it may be carried out.
    /// - Throws: ``StoreError/unavailable`` if all devices together make too many reads.
    func spendRead(of call: DeviceCall, at now: Timestamp) throws(StoreError) -> DeviceRefusal? {
        switch readNonces.spend(call.replayGuard, at: now) {
        case .spent: nil
        case .replayed: .nonceReplayed
        case .tooMany: .tooManyReads(retryAfter: ReplayGuard.tolerance)
        case .full: throw .unavailable
        }
    }

    /// Carries out a read of a device: checks that its enrollment may call, and that the call is not a replay.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - isSuspendedToo: whether a suspended device may use the operation.
    ///   - now: the current time.
    ///   - refused: the outcome of a refused call.
    ///   - rule: the operation, in a transaction that can only read, with the calling enrollment.
    /// - Throws: ``StoreError``; ``StoreError/unavailable`` also if all devices together make too many reads.
    func read<Outcome: Sendable>(
        for call: DeviceCall, evenSuspended isSuspendedToo: Bool = false, at now: Timestamp,
        refused: @escaping @Sendable (DeviceRefusal) -> Outcome,
        _ rule: @escaping @Sendable (UnitOfWork, Enrollment) throws -> Outcome
    ) async throws -> Outcome {
        if let refusal = try spendRead(of: call, at: now) { return refused(refusal) }
        return try await read(at: now, as: call.actor) { [self] work in
            guard let caller = try work.enrollments.find(call.enrollment) else { return refused(.unknownEnrollment) }
            return try refusal(reading: caller, evenSuspended: isSuspendedToo).map(refused) ?? rule(work, caller)
        }
    }
}
