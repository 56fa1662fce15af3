import CountersignCore
import CountersignWire
import Crypto
import Encodings

private enum Statements {
    static let all = SQLStatement("SELECT name, sealed FROM secrets WHERE name LIKE 'data key %'")
    static let insert = SQLStatement(
        "INSERT INTO secrets (name, sealed, certificate) VALUES ($1, $2, NULL) ON CONFLICT (name) DO NOTHING")
    static let replace = SQLStatement("UPDATE secrets SET sealed = $2 WHERE name = $1 AND sealed = $3")
    static let delete = SQLStatement("DELETE FROM secrets WHERE name = $1")
    static let anyKeys = SQLStatement("SELECT name FROM secrets WHERE name = 'issuer keys'")
}

/// The wrapped keys of a database: one wrap, or two while the master key is being replaced.
///
/// The wraps are numbered. The first process that opens a new database creates number 1. A rotation adds the next
/// number and, once the new master key is in place, removes the earlier ones. In between, either master key opens the
/// database.
struct KeyWraps {
    /// One wrap of the key ring.
    private struct Wrap {
        let number: Int
        let sealed: [UInt8]
        let masterKey: MasterKeyID

        var name: String { "data key \(number)" }

        init?(_ row: SQLRow) throws {
            let blob = try row.blob(1)
            guard let number = Int(try row.text(0).dropFirst("data key ".count)), blob.count > MasterKeyID.length else {
                return nil
            }
            self.number = number
            masterKey = MasterKeyID(bytes: Array(blob.prefix(MasterKeyID.length)))
            sealed = Array(blob.dropFirst(MasterKeyID.length))
        }

        /// Replaces its keys, unless the row has changed in the meantime.
        ///
        /// - Returns: whether it was replaced.
        func replace(by ring: KeyRing, of masterKey: MasterKey, in connection: any SQLConnection) throws -> Bool {
            let row = try masterKey.wrapping(ring, number: number)
            return try connection.execute(Statements.replace, row + [.blob(self.masterKey.bytes + sealed)]) == 1
        }
    }

    private let wraps: [Wrap]

    private init(_ connection: any SQLConnection) throws {
        wraps = try connection.rows(Statements.all, []).compactMap(Wrap.init).sorted { $0.number < $1.number }
    }

    /// The master keys that open the database, newest last.
    var masterKeys: [MasterKeyID] { wraps.map(\.masterKey) }

    static func read(_ connection: any SQLConnection) throws -> KeyWraps { try KeyWraps(connection) }

    /// Reads the keys of a database, and creates them for a new one.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` when other master keys wrapped them; ``StoreError/engine(_:)`` when a
    ///   version from before the first release made the database.
    static func open(on engine: some SQLEngine, with masterKey: MasterKey) async throws -> KeyRing {
        let kept = try await engine.read { try KeyWraps($0) }
        if !kept.wraps.isEmpty { return try kept.opened(by: masterKey) }
        return try await engine.write { connection in
            // When two processes open a new database at the same time, the first one's keys count; it may have stored
            // them by now.
            let kept = try KeyWraps(connection)
            if !kept.wraps.isEmpty { return (try kept.opened(by: masterKey), changes: []) }
            guard try connection.rows(Statements.anyKeys, []).isEmpty else {
                throw StoreError.engine("it was made by a program before this one's first release: use a new folder")
            }
            try connection.execute(Statements.insert, try masterKey.wrapping(KeyRing.make(), number: 1))
            return (try KeyWraps(connection).opened(by: masterKey), changes: [])
        }
    }

    /// Unwraps the keys.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` when this master key does not open the database.
    func opened(by masterKey: MasterKey) throws -> KeyRing { try own(masterKey).ring }

    private func own(_ masterKey: MasterKey) throws -> (wrap: Wrap, ring: KeyRing) {
        guard let wrap = wraps.last(where: { $0.masterKey == masterKey.id }) else {
            let others = masterKeys.map { "\($0)" }.joined(separator: ", ")
            throw StoreError.corruptRow("the database opens by the master key \(others), and this is \(masterKey.id)")
        }
        let bytes = try Sealer(masterKey.wrappingKey).open(wrap.sealed, for: wrap.name)
        guard let ring = KeyRing(bytes: bytes) else { throw StoreError.corruptRow(wrap.name) }
        return (wrap, ring)
    }

    /// Allows another master key to open the database as well; replaces one that was added earlier.
    static func add(_ next: MasterKey, to connection: any SQLConnection, openedBy masterKey: MasterKey) throws {
        let wraps = try KeyWraps(connection)
        let (own, ring) = try wraps.own(masterKey)
        for wrap in wraps.wraps where wrap.number > own.number {
            try connection.execute(Statements.delete, [.text(wrap.name)])
        }
        // The current wrap is written again too, so that a concurrent change of the keys conflicts with it and is not
        // lost.
        let isWritten = try own.replace(by: ring, of: masterKey, in: connection)
        let row = try next.wrapping(ring, number: own.number + 1)
        guard isWritten, try connection.execute(Statements.insert, row) == 1 else {
            throw StoreError.serializationFailure
        }
    }

    /// Changes the keys, if only one master key opens them; the wrap of another one cannot be changed without that key.
    ///
    /// - Returns: false when there are several wraps, when the row changed in the meantime, or when `change` returns
    ///   false.
    static func change(
        in connection: any SQLConnection, openedBy masterKey: MasterKey, _ change: (inout KeyRing) -> Bool
    ) throws -> Bool {
        let wraps = try KeyWraps(connection)
        guard wraps.wraps.count == 1 else { return false }
        var (own, ring) = try wraps.own(masterKey)
        guard change(&ring) else { return false }
        return try own.replace(by: ring, of: masterKey, in: connection)
    }

    /// Removes the wraps of all earlier master keys, and adds a sealing key that none of them has ever wrapped.
    ///
    /// - Returns: whether this master key is the newest; if not, nothing was changed.
    static func retireEarlier(
        than masterKey: MasterKey, at now: Timestamp, in connection: any SQLConnection
    ) throws -> Bool {
        let wraps = try KeyWraps(connection)
        var (own, ring) = try wraps.own(masterKey)
        guard own.number == wraps.wraps.last?.number else { return false }
        let earlier = wraps.wraps.filter { $0.number < own.number }
        for wrap in earlier { try connection.execute(Statements.delete, [.text(wrap.name)]) }
        guard !earlier.isEmpty else { return true }
        ring.addSealingKey(at: now)
        guard try own.replace(by: ring, of: masterKey, in: connection) else { throw StoreError.serializationFailure }
        return true
    }
}

/// Identifies a master key without revealing anything about it.
package struct MasterKeyID: Hashable, Sendable, CustomStringConvertible {
    static let length = 8

    let bytes: [UInt8]

    /// The id in hexadecimal.
    package var description: String { Hex.encode(bytes) }
}

extension MasterKey {
    package var id: MasterKeyID {
        MasterKeyID(bytes: derived(for: "master key id").withUnsafeBytes { Array($0.prefix(MasterKeyID.length)) })
    }

    fileprivate var wrappingKey: SymmetricKey { derived(for: "wrap") }

    /// The row of a wrap: its name and its content.
    fileprivate func wrapping(_ ring: KeyRing, number: Int) throws -> [SQLValue] {
        let name = "data key \(number)"
        return [.text(name), .blob(id.bytes + (try Sealer(wrappingKey).seal(ring.bytes, for: name)))]
    }
}
