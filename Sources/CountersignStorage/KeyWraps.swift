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

/// The keys of a database, wrapped: once by the master key in use, and once more while another is to take its place.
///
/// The wraps are numbered. A database that is new gets number 1, whoever is first; a rotation adds the next one and, when
/// the new key is where it belongs, removes the earlier ones. In between the database opens by either.
struct KeyWraps {
    /// One wrap.
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

        /// Puts other keys into it, unless it was changed meanwhile.
        func replace(by ring: KeyRing, of masterKey: MasterKey, in connection: any SQLConnection) throws -> Bool {
            let row = try masterKey.wrapping(ring, number: number)
            return try connection.execute(Statements.replace, row + [.blob(self.masterKey.bytes + sealed)]) == 1
        }
    }

    private let wraps: [Wrap]

    private init(_ connection: any SQLConnection) throws {
        wraps = try connection.rows(Statements.all, []).compactMap(Wrap.init).sorted { $0.number < $1.number }
    }

    /// The master keys that open the database, the newest last.
    var masterKeys: [MasterKeyID] { wraps.map(\.masterKey) }

    /// The wraps that a database holds.
    static func read(_ connection: any SQLConnection) throws -> KeyWraps { try KeyWraps(connection) }

    /// The keys, made with a new database.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` when it was wrapped by other master keys.
    static func open(on engine: some SQLEngine, with masterKey: MasterKey) async throws -> KeyRing {
        let kept = try await engine.read { try KeyWraps($0) }
        if !kept.wraps.isEmpty { return try kept.opened(by: masterKey) }
        return try await engine.write { connection in
            // Of two first starts at once the first one counts, which may have done all of it meanwhile.
            let kept = try KeyWraps(connection)
            if !kept.wraps.isEmpty { return (try kept.opened(by: masterKey), changes: []) }
            guard try connection.rows(Statements.anyKeys, []).isEmpty else {
                throw StoreError.engine("it was made by a program before this one's first release: use a new folder")
            }
            try connection.execute(Statements.insert, try masterKey.wrapping(KeyRing.make(), number: 1))
            return (try KeyWraps(connection).opened(by: masterKey), changes: [])
        }
    }

    /// The keys as one of the wraps holds them.
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

    /// Lets another master key open the database as well; one that was to be the next before is forgotten.
    static func add(_ next: MasterKey, to connection: any SQLConnection, openedBy masterKey: MasterKey) throws {
        let wraps = try KeyWraps(connection)
        let (own, ring) = try wraps.own(masterKey)
        for wrap in wraps.wraps where wrap.number > own.number {
            try connection.execute(Statements.delete, [.text(wrap.name)])
        }
        // Also its own is written anew: a change of the keys at the same time clashes with it, and is not lost.
        let isWritten = try own.replace(by: ring, of: masterKey, in: connection)
        let row = try next.wrapping(ring, number: own.number + 1)
        guard isWritten, try connection.execute(Statements.insert, row) == 1 else {
            throw StoreError.serializationFailure
        }
    }

    /// Changes the keys, where one master key alone opens them: another's wrap cannot be changed without it.
    ///
    /// - Returns: false when there are several, when they were changed meanwhile, or when `change` says no.
    static func change(
        in connection: any SQLConnection, openedBy masterKey: MasterKey, _ change: (inout KeyRing) -> Bool
    ) throws -> Bool {
        let wraps = try KeyWraps(connection)
        guard wraps.wraps.count == 1 else { return false }
        var (own, ring) = try wraps.own(masterKey)
        guard change(&ring) else { return false }
        return try own.replace(by: ring, of: masterKey, in: connection)
    }

    /// Lets no master key open the database that was in use before this one, and brings in a sealing key that none of
    /// those ever wrapped.
    ///
    /// - Returns: whether this one is the newest; otherwise nothing was done.
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

/// What tells one master key from another without telling anything of it.
package struct MasterKeyID: Hashable, Sendable, CustomStringConvertible {
    static let length = 8

    let bytes: [UInt8]

    /// In hexadecimal.
    package var description: String { Hex.encode(bytes) }
}

extension MasterKey {
    /// What tells it from another.
    package var id: MasterKeyID {
        MasterKeyID(bytes: derived(for: "master key id").withUnsafeBytes { Array($0.prefix(MasterKeyID.length)) })
    }

    fileprivate var wrappingKey: SymmetricKey { derived(for: "wrap") }

    /// The row of a wrap.
    fileprivate func wrapping(_ ring: KeyRing, number: Int) throws -> [SQLValue] {
        let name = "data key \(number)"
        return [.text(name), .blob(id.bytes + (try Sealer(wrappingKey).seal(ring.bytes, for: name)))]
    }
}
