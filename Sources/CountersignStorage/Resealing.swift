import CountersignCore
public import CountersignWire

/// Seals everything again by the key that took the place of an earlier one, in batches, while the database is used.
///
/// One server at a time does it. A pass looks at every sealed value once: when it begins, nothing is sealed any more by
/// a key that is to go. Where a pass is cut off, the next one starts over and finds less to do.
public struct Resealing: Sendable {
    /// How far a pass is.
    private struct Place {
        var column = 0
        var row: [SQLValue]?
    }

    private var place: Place?
    /// The number of the key by which a whole pass has sealed everything.
    private var passed: UInt32?
    private let batch: Int

    /// Nothing is under way.
    public init() { self.init(batch: 200) }

    package init(batch: Int) { self.batch = batch }

    /// Does the next step of a change of sealing keys, if one is due.
    ///
    /// - Returns: what was done; nil when there is nothing to do now.
    public mutating func step(in store: SQLStore, at now: Timestamp) async throws -> Progress? {
        let ring = store.held.ring
        guard ring.isChanging else {
            place = nil
            return nil
        }
        if ring.mayPromote(at: now), try await store.change({ $0.promote(at: now) }) {
            place = nil
            return .promoted
        }
        guard ring.mayReseal(at: now), let current = ring.current?.number else { return nil }
        if passed != current {
            let from = place ?? Place()
            let (changed, next) = try await store.engine.write { [batch] connection in
                // Keys of more than a minute ago throw: another server may have taken the next step.
                (try Self.reseal(from: from, batch: batch, by: store.sealer, connection), wakes: [])
            }
            place = next
            guard next == nil else { return .resealed(changed) }
            passed = current
        }
        return try await store.change { ring in
            guard ring.mayReseal(at: now), ring.current?.number == current else { return false }
            ring.dropRetired()
            return true
        } ? .finished : nil
    }

    /// What a step did.
    public enum Progress: Equatable, Sendable {
        /// What is sealed from now on is sealed by the next key.
        case promoted
        /// So many values were sealed again.
        case resealed(Int)
        /// Nothing is sealed by an earlier key, and there is none.
        case finished
    }

    /// One batch of one column.
    ///
    /// - Returns: how many values were sealed again, and where to go on; nil at the end.
    private static func reseal(
        from place: Place, batch: Int, by sealer: Sealer, _ connection: any SQLConnection
    ) throws -> (Int, Place?) {
        let column = SealedColumn.all[place.column]
        let (statement, arguments) = column.rows(after: place.row, limit: batch)
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
        if rows.count == batch, let last = rows.last {
            return (changed, Place(column: place.column, row: Array(last[0..<column.key.count])))
        }
        return (changed, place.column + 1 < SealedColumn.all.count ? Place(column: place.column + 1) : nil)
    }
}

extension SQLStore {
    /// Whether a sealing key is on its way in or out.
    public var isResealing: Bool { held.ring.isChanging }

    /// Changes the ring of keys and reads it again.
    fileprivate func change(_ change: @escaping @Sendable (inout KeyRing) -> Bool) async throws -> Bool {
        // While another master key opens it as well, its wrap cannot be changed: that waits for the end of the rotation.
        guard try await masterKeys().count == 1 else { return false }
        let masterKey = held.masterKey
        let isChanged = try await engine.write { connection in
            (try KeyWraps.change(in: connection, openedBy: masterKey, change), wakes: [.keys])
        }
        if isChanged { try await refreshKeys() }
        return isChanged
    }
}
