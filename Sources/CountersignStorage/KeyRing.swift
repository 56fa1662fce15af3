import CountersignCore
import CountersignWire
import Crypto
import Encodings

/// What the master key wraps: the key from which hashes are made, and the keys that seal.
///
/// The hashing key stays for as long as the database lives: what is only compared, such as the numbers of open
/// challenges and known browsers, cannot be hashed anew. A sealing key takes the place of another when the master key
/// does, and everything that is sealed is sealed again.
struct KeyRing: Sendable {
    /// A key that seals.
    struct SealingKey: Sendable {
        enum State: UInt8, Sendable {
            /// Every server is to hold it before anything is sealed by it.
            case next
            /// It seals.
            case current
            /// It opens what is not sealed again yet.
            case retired
        }

        let number: UInt32
        var state: State
        /// When it came into the state.
        var since: Timestamp
        let key: Secret<[UInt8]>
    }

    /// The hashing key, and before the first rotation what the sealing key is derived from.
    let dataKey: DataKey
    /// The sealing keys by their numbers; exactly one is current.
    private(set) var sealing: [SealingKey]

    /// A new ring.
    static func make() -> KeyRing { KeyRing(DataKey.make()) }

    /// A ring whose one sealing key is derived from the data key.
    private init(_ dataKey: DataKey) {
        self.dataKey = dataKey
        let key = dataKey.derived(for: "seal").withUnsafeBytes { Array($0) }
        sealing = [SealingKey(number: 0, state: .current, since: Timestamp(milliseconds: 0), key: Secret(key))]
    }

    /// What seals and opens by this ring.
    var sealer: Sealer { Sealer(self) }

    /// The key that seals.
    var current: SealingKey? { sealing.first { $0.state == .current } }

    /// Whether a sealing key is on its way in or out.
    var isChanging: Bool { sealing.count > 1 }

    /// Brings in another sealing key; one that is only to come is dropped, for the earlier master key could open it.
    mutating func addSealingKey(at now: Timestamp) {
        let last = sealing.map(\.number).max() ?? 0
        sealing.removeAll { $0.state == .next }
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        sealing.append(SealingKey(number: last + 1, state: .next, since: now, key: Secret(key)))
    }

    /// Whether every server has held the next key for long enough.
    func mayPromote(at now: Timestamp) -> Bool { sealing.contains { $0.state == .next && isSettled($0, at: now) } }

    /// Lets the next key seal, if it may.
    ///
    /// - Returns: whether it does now and did not before.
    mutating func promote(at now: Timestamp) -> Bool {
        guard mayPromote(at: now), let next = sealing.firstIndex(where: { $0.state == .next }) else { return false }
        for index in sealing.indices where sealing[index].state == .current {
            sealing[index].state = .retired
            sealing[index].since = now
        }
        sealing[next].state = .current
        sealing[next].since = now
        return true
    }

    /// Whether nothing is sealed any more by a key that is to go.
    func mayReseal(at now: Timestamp) -> Bool {
        guard sealing.contains(where: { $0.state == .retired }), let current else { return false }
        return isSettled(current, at: now)
    }

    /// Lets go of the keys that nothing is sealed under.
    mutating func dropRetired() { sealing.removeAll { $0.state == .retired } }

    private func isSettled(_ key: SealingKey, at now: Timestamp) -> Bool {
        key.since.adding(seconds: RotateIssuerKey.settling) <= now
    }
}

/// As a wrap holds it: the data key alone before the first rotation; then also each sealing key with its number, state
/// and time, 45 bytes each.
extension KeyRing {
    private static let entryLength = 45

    var bytes: [UInt8] {
        guard sealing.count > 1 || sealing.first?.number != 0 else { return dataKey.bytes }
        return sealing.reduce(into: dataKey.bytes) { bytes, key in
            bytes += key.number.bigEndianBytes + [key.state.rawValue]
            bytes += key.since.milliseconds.bigEndianBytes + key.key.reveal()
        }
    }

    init?(bytes: [UInt8]) {
        guard let dataKey = DataKey(bytes: Array(bytes.prefix(32))) else { return nil }
        self.init(dataKey)
        let entries = bytes.dropFirst(32)
        guard !entries.isEmpty else { return }
        guard entries.count.isMultiple(of: Self.entryLength) else { return nil }
        sealing = []
        var rest = entries
        while !rest.isEmpty {
            let entry = Array(rest.prefix(Self.entryLength))
            rest = rest.dropFirst(Self.entryLength)
            guard let state = SealingKey.State(rawValue: entry[4]) else { return nil }
            let since = Int64(bigEndianBytes: entry[5..<13])
            sealing.append(
                SealingKey(
                    number: UInt32(bigEndianBytes: entry[..<4]), state: state,
                    since: Timestamp(milliseconds: since), key: Secret(Array(entry[13...]))))
        }
        guard sealing.filter({ $0.state == .current }).count == 1 else { return nil }
    }
}

extension FixedWidthInteger {
    /// The bytes, the most significant first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// The number whose bytes these are, the most significant first.
    init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}
