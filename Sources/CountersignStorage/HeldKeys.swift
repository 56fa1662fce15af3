import CountersignCore
import CountersignWire
import Synchronization

/// The keys of a database as this process read them last.
///
/// Other servers and commands change them, so they are read again and again. Who could not read them for a minute does
/// nothing with older ones: by then another may have taken the next step of a rotation.
final class HeldKeys: IssuerKeySource {
    /// For how long keys may be used after they were read.
    static let patience = Duration.seconds(60)

    private struct Held {
        var masterKey: MasterKey
        var ring: KeyRing
        var sealer: Sealer
        var issuer: IssuerKeys?
        var readAt: Duration
        /// Whether the keys are read again; a command ends long before they are old.
        var isRefreshed = false
    }

    private let held: Mutex<Held>
    private let elapsed: @Sendable () -> Duration

    /// - Parameters:
    ///   - ring: the keys.
    ///   - masterKey: what opened them.
    ///   - elapsed: the time since any moment, by a clock that nobody sets.
    init(_ ring: KeyRing, openedBy masterKey: MasterKey, elapsed: @escaping @Sendable () -> Duration) {
        self.elapsed = elapsed
        held = Mutex(Held(masterKey: masterKey, ring: ring, sealer: ring.sealer, readAt: elapsed()))
    }

    /// The master key that opened the keys last.
    var masterKey: MasterKey { held.withLock { $0.masterKey } }

    /// The hashing key, which never changes.
    var dataKey: DataKey { held.withLock { $0.ring.dataKey } }

    /// The keys as they were read last, however long ago.
    var ring: KeyRing { held.withLock { $0.ring } }

    /// What seals and opens.
    ///
    /// - Throws: ``StoreError/unavailable`` when the keys are too old.
    func sealer() throws(StoreError) -> Sealer { try fresh().sealer }

    /// The issuer's keys.
    ///
    /// - Throws: ``StoreError/unavailable`` when the keys are too old, or were never read.
    func current() throws(StoreError) -> IssuerKeys {
        guard let keys = try fresh().issuer else { throw .unavailable }
        return keys
    }

    private func fresh() throws(StoreError) -> Held {
        let held = held.withLock { $0 }
        guard !held.isRefreshed || elapsed() - held.readAt < Self.patience else { throw .unavailable }
        return held
    }

    /// Reads the keys again.
    ///
    /// - Parameters:
    ///   - masterKey: what opens them.
    ///   - read: reads the ring by the master key, and the issuer's keys by what the ring seals.
    func refresh(
        by masterKey: MasterKey, _ read: (MasterKey) async throws -> (KeyRing, IssuerKeys?)
    ) async throws {
        // The age counts from before the reading: what changed while it ran is not known.
        let start = elapsed()
        let (ring, issuer) = try await read(masterKey)
        held.withLock {
            $0 = Held(
                masterKey: masterKey, ring: ring, sealer: ring.sealer, issuer: issuer, readAt: start,
                isRefreshed: $0.isRefreshed)
        }
    }

    /// From now on the keys get old.
    func startAging() { held.withLock { $0.isRefreshed = true } }
}
