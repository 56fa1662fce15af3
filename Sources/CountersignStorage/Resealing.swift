import CountersignCore
package import CountersignWire

/// Seals every value again with the key that replaced an earlier one, in batches, while the database is in use.
///
/// One server at a time does this. A pass looks at every sealed value once, which suffices: when it begins, no server
/// seals with a retired key any more. After an interruption, the next pass starts from the beginning and finds less to
/// do.
package struct Resealing: Sendable {
    /// The progress of a pass, and the key that it seals with.
    private struct Pass {
        let key: UInt32
        var column = 0
        var row: [SQLValue]?
        /// Whether all values were examined.
        var isWhole = false
    }

    /// The key ring, and when this server first saw it, by its own monotonic clock.
    private struct Sighting {
        let ring: [UInt8]
        let at: Duration
    }

    private var pass: Pass?
    private var seen: Sighting?
    private let batch: Int
    private let elapsed: @Sendable () -> Duration

    package init() { self.init(batch: 200, elapsed: SQLStore.elapsed) }

    package init(batch: Int = 200, elapsed: @escaping @Sendable () -> Duration) {
        self.batch = batch
        self.elapsed = elapsed
    }

    /// Does the next step of a rotation of the sealing key, if one is due.
    ///
    /// The times in the ring come from the clocks of other servers. So this server must also have seen the ring in its
    /// present state for the whole waiting period before it takes the next step.
    ///
    /// - Returns: what was done; nil when nothing is due now.
    package mutating func step(in store: SQLStore, at now: Timestamp) async throws -> Progress? {
        let ring = store.held.ring
        guard ring.isChanging else {
            (pass, seen) = (nil, nil)
            return nil
        }
        if seen?.ring != ring.bytes { seen = Sighting(ring: ring.bytes, at: elapsed()) }
        guard let seen, elapsed() - seen.at >= .seconds(RotateIssuerKey.settling.value) else { return nil }
        if ring.mayPromote(at: now) {
            return try await store.change { $0.promote(at: now) } ? .promoted : nil
        }
        guard ring.mayReseal(at: now), let current = ring.current?.number else { return nil }
        // A pass with another key belongs to another rotation; values that it has passed may be sealed with keys
        // retired since.
        var pass = pass.flatMap { $0.key == current ? $0 : nil } ?? Pass(key: current)
        if !pass.isWhole {
            let from = pass
            let (changed, next) = try await store.engine.write { [batch] connection in
                // This throws when the keys were read more than a minute ago: another server may have taken the next
                // step.
                (try Self.reseal(from, batch: batch, by: store.sealer, connection), changes: [])
            }
            self.pass = next
            guard next.isWhole else { return .resealed(changed) }
            pass = next
        }
        return try await store.change { ring in
            guard ring.mayReseal(at: now), ring.current?.number == current else { return false }
            ring.dropRetired()
            return true
        } ? .finished : nil
    }

    package enum Progress: Equatable, Sendable {
        /// From now on, the next key seals.
        case promoted
        /// This many values were sealed again.
        case resealed(Int)
        /// Nothing is sealed with a retired key any more, and the retired keys are removed.
        case finished
    }

    /// Seals one batch of one column again.
    ///
    /// - Returns: the number of values sealed again, and the new progress.
    private static func reseal(
        _ pass: Pass, batch: Int, by sealer: Sealer, _ connection: any SQLConnection
    ) throws -> (Int, Pass) {
        guard sealer.number == pass.key else { return (0, Pass(key: sealer.number)) }
        let column = SealedColumn.all[pass.column]
        let (statement, arguments) = column.rows(after: pass.row, limit: batch)
        let rows = try connection.rows(statement, arguments)
        var changed = 0
        for row in rows {
            let sealed = try row.blob(column.key.count)
            guard !sealed.starts(with: sealer.prefix) else { continue }
            let place = try column.place(row)
            // A value that no key opens stays as it is. The outbox, for example, sets a damaged message aside when it
            // leases it.
            guard let bytes = try? sealer.open(sealed, for: place) else { continue }
            try connection.send(
                column.replacement,
                Array(row[0..<column.key.count]) + [.blob(sealed), .blob(try sealer.seal(bytes, for: place))])
            changed += 1
        }
        var next = pass
        if rows.count == batch, let last = rows.last {
            next.row = Array(last[0..<column.key.count])
        } else if pass.column + 1 < SealedColumn.all.count {
            (next.column, next.row) = (pass.column + 1, nil)
        } else {
            next.isWhole = true
        }
        return (changed, next)
    }
}

extension SQLStore {
    /// Whether a rotation of the sealing key is in progress.
    package var isResealing: Bool { held.ring.isChanging }

    /// Changes the key ring and reads it again.
    fileprivate func change(_ change: @escaping @Sendable (inout KeyRing) -> Bool) async throws -> Bool {
        // While a second master key opens the database too, its wrap cannot be changed; the change waits until that
        // ends.
        guard try await masterKeys().count == 1 else { return false }
        let masterKey = held.masterKey
        let isChanged = try await engine.write { connection in
            (try KeyWraps.change(in: connection, openedBy: masterKey, change), changes: [.keys])
        }
        if isChanged { try await refreshKeys() }
        return isChanged
    }
}
