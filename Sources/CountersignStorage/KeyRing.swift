import CountersignCore
import CountersignWire
import Crypto
import Encodings

/// The keys that the master key wraps: the data key for hashing, and the sealing keys.
///
/// The data key never changes: values that are only compared, such as the numbers of open challenges and known
/// browsers, cannot be hashed again. The sealing key is replaced whenever the master key is, and then every sealed
/// value is sealed again.
struct KeyRing: Sendable {
    /// A key that seals values.
    struct SealingKey: Sendable {
        enum State: UInt8, Sendable {
            /// It does not seal yet: every server must have read it first.
            case next
            /// It seals.
            case current
            /// It only opens the values that are not sealed again yet.
            case retired
        }

        let number: UInt32
        var state: State
        /// When it entered its state.
        var since: Timestamp
        let key: Secret<[UInt8]>
    }

    /// The key for hashing; before the first rotation, the sealing key is derived from it too.
    let dataKey: DataKey
    /// The sealing keys; exactly one is current.
    private(set) var sealing: [SealingKey]

    static func make() -> KeyRing { KeyRing(DataKey.make()) }

    /// Creates a ring whose only sealing key is derived from the data key.
    private init(_ dataKey: DataKey) {
        self.dataKey = dataKey
        let key = dataKey.derived(for: "seal").withUnsafeBytes { Array($0) }
        sealing = [SealingKey(number: 0, state: .current, since: Timestamp(milliseconds: 0), key: Secret(key))]
    }

    var sealer: Sealer { Sealer(self) }

    var current: SealingKey? { sealing.first { $0.state == .current } }

    /// Whether a rotation of the sealing key is in progress.
    var isChanging: Bool { sealing.count > 1 }

    /// Adds a sealing key in the state `next`.
    ///
    /// It replaces an existing `next` key, because an earlier master key has wrapped that one too.
    mutating func addSealingKey(at now: Timestamp) {
        let last = sealing.map(\.number).max() ?? 0
        sealing.removeAll { $0.state == .next }
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        sealing.append(SealingKey(number: last + 1, state: .next, since: now, key: Secret(key)))
    }

    /// Whether every server has had enough time to read the next key.
    func mayPromote(at now: Timestamp) -> Bool { sealing.contains { $0.state == .next && isSettled($0, at: now) } }

    /// Makes the next key current, if enough time has passed.
    ///
    /// - Returns: whether the current key changed.
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

    /// Whether no server seals with a retired key any more, so that sealing everything again will miss nothing.
    func mayReseal(at now: Timestamp) -> Bool {
        guard sealing.contains(where: { $0.state == .retired }), let current else { return false }
        return isSettled(current, at: now)
    }

    /// Removes the retired keys; no value may be sealed with them any more.
    mutating func dropRetired() { sealing.removeAll { $0.state == .retired } }

    private func isSettled(_ key: SealingKey, at now: Timestamp) -> Bool {
        key.since.adding(RotateIssuerKey.settling) <= now
    }
}

/// The serialised form in a wrap: 32 bytes of the data key and, after the first rotation, 45 bytes for each sealing
/// key: number, state, time and key.
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
    /// The bytes, most significant first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// Reads a number from its bytes, most significant first.
    init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}
