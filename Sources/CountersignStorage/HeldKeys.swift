import CountersignCore
import CountersignWire
import Synchronization

/// A database's keys as this process last read them.
///
/// Other servers and commands change the keys, so a server reads them again regularly. When it could not read them for
/// a minute, it no longer uses the old ones, because another server may have taken the next step of a rotation by then.
final class HeldKeys: IssuerKeySource {
    /// How long keys may be used after they were read.
    static let patience = Duration.seconds(60)

    private struct Held {
        var masterKey: MasterKey
        var ring: KeyRing
        var sealer: Sealer
        var issuer: IssuerKeys?
        var readAt: Duration
        /// Whether the keys expire.
        ///
        /// They do in a server, which reads them again; a command ends before its keys are old.
        var isRefreshed = false
    }

    private let held: Mutex<Held>
    private let elapsed: @Sendable () -> Duration

    /// - Parameters:
    ///   - ring: the keys.
    ///   - masterKey: the master key that unwrapped them.
    ///   - elapsed: a monotonic clock: the time since a fixed moment.
    init(_ ring: KeyRing, openedBy masterKey: MasterKey, elapsed: @escaping @Sendable () -> Duration) {
        self.elapsed = elapsed
        held = Mutex(Held(masterKey: masterKey, ring: ring, sealer: ring.sealer, readAt: elapsed()))
    }

    /// The master key that last unwrapped the keys.
    var masterKey: MasterKey { held.withLock { $0.masterKey } }

    /// The data key, which never changes.
    var dataKey: DataKey { held.withLock { $0.ring.dataKey } }

    /// The keys as last read, however old they are.
    var ring: KeyRing { held.withLock { $0.ring } }

    /// Seals and opens values with the current keys.
    ///
    /// - Throws: ``StoreError/unavailable`` when the keys are too old.
    func sealer() throws(StoreError) -> Sealer { try fresh().sealer }

    /// The issuer's keys.
    ///
    /// - Throws: ``StoreError/unavailable`` when the keys are too old or were never read.
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
    ///   - masterKey: the master key that unwraps them.
    ///   - read: reads the key ring with the master key, and the issuer's keys with the key ring.
    func refresh(
        by masterKey: MasterKey, _ read: (MasterKey) async throws -> (KeyRing, IssuerKeys?)
    ) async throws {
        // The age counts from before the read, because the keys may have changed during it.
        let start = elapsed()
        let (ring, issuer) = try await read(masterKey)
        held.withLock {
            $0 = Held(
                masterKey: masterKey, ring: ring, sealer: ring.sealer, issuer: issuer, readAt: start,
                isRefreshed: $0.isRefreshed)
        }
    }

    /// From now on, the keys expire when they are not refreshed.
    func startAging() { held.withLock { $0.isRefreshed = true } }
}
