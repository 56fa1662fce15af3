import CountersignCore
package import CountersignWire

/// Seals everything again by the key that took the place of an earlier one, in batches, while the database is used.
///
/// One server at a time does it. A pass looks at every sealed value once: when it begins, nothing is sealed any more by
/// a key that is to go. Where a pass is cut off, the next one starts over and finds less to do.
package struct Resealing: Sendable {
    /// How far a pass is, and by which key it seals.
    private struct Pass {
        let key: UInt32
        var column = 0
        var row: [SQLValue]?
        /// Whether everything was looked at.
        var isWhole = false
    }

    /// The ring as this server saw it first, and when that was, by its own clock.
    private struct Sighting {
        let ring: [UInt8]
        let at: Duration
    }

    private var pass: Pass?
    private var seen: Sighting?
    private let batch: Int
    private let elapsed: @Sendable () -> Duration

    /// Nothing is under way.
    package init() { self.init(batch: 200, elapsed: SQLStore.elapsed) }

    package init(batch: Int = 200, elapsed: @escaping @Sendable () -> Duration) {
        self.batch = batch
        self.elapsed = elapsed
    }

    /// Does the next step of a change of sealing keys, if one is due.
    ///
    /// The times in the ring are those of other machines: whoever does a step has also seen the one before for as long.
    ///
    /// - Returns: what was done; nil when there is nothing to do now.
    package mutating func step(in store: SQLStore, at now: Timestamp) async throws -> Progress? {
        let ring = store.held.ring
        guard ring.isChanging else {
            (pass, seen) = (nil, nil)
            return nil
        }
        if seen?.ring != ring.bytes { seen = Sighting(ring: ring.bytes, at: elapsed()) }
        guard let seen, elapsed() - seen.at >= .seconds(RotateIssuerKey.settling) else { return nil }
        if ring.mayPromote(at: now) {
            return try await store.change { $0.promote(at: now) } ? .promoted : nil
        }
        guard ring.mayReseal(at: now), let current = ring.current?.number else { return nil }
        // A pass by another key is of another rotation: what it has not seen is sealed by keys that it does not know of.
        var pass = pass.flatMap { $0.key == current ? $0 : nil } ?? Pass(key: current)
        if !pass.isWhole {
            let from = pass
            let (changed, next) = try await store.engine.write { [batch] connection in
                // Keys of more than a minute ago throw: another server may have taken the next step.
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

    /// What a step did.
    package enum Progress: Equatable, Sendable {
        /// What is sealed from now on is sealed by the next key.
        case promoted
        /// So many values were sealed again.
        case resealed(Int)
        /// Nothing is sealed by an earlier key, and there is none.
        case finished
    }

    /// One batch of one column.
    ///
    /// - Returns: how many values were sealed again, and how far the pass is then.
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
            // What does not open by any key is left as it is: a message that was damaged is set aside by who sends it.
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
    /// Whether a sealing key is on its way in or out.
    package var isResealing: Bool { held.ring.isChanging }

    /// Changes the ring of keys and reads it again.
    fileprivate func change(_ change: @escaping @Sendable (inout KeyRing) -> Bool) async throws -> Bool {
        // While another master key opens it as well, its wrap cannot be changed: that waits for the end of the rotation.
        guard try await masterKeys().count == 1 else { return false }
        let masterKey = held.masterKey
        let isChanged = try await engine.write { connection in
            (try KeyWraps.change(in: connection, openedBy: masterKey, change), changes: [.keys])
        }
        if isChanged { try await refreshKeys() }
        return isChanged
    }
}
