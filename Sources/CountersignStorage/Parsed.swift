import CountersignCore
import CountersignWire
import Encodings
import OpenPGP
import Synchronization

/// What was made of the columns of rows that are read again and again: keys above all, whose points must be on the
/// curve.
///
/// It saves the work and never the reading: a value is found only by the very bytes that were read in the transaction
/// at hand, so a row that changed, or is gone, is never served as it was.
final class Parsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let columns: [SQLValue]
        let value: Value
    }

    private let entries = Mutex<[Key: Entry]>([:])
    private let limit: Int

    /// How many values are kept now.
    var count: Int { entries.withLock { $0.count } }

    /// Keeps at most so many values.
    init(limit: Int) {
        self.limit = limit
    }

    /// What was made of the columns of the row with this key before, or what `make` makes of them now.
    func value(_ key: Key, of columns: [SQLValue], _ make: () throws -> Value) throws -> Value {
        if let entry = entries.withLock({ $0[key] }),
            entry.columns.elementsEqual(columns, by: { $0.hasSameBytes(as: $1) })
        {
            return entry.value
        }
        let value = try make()
        entries.withLock { entries in
            // Which one goes does not matter much; the order of a hash table is as good as any.
            if entries.count >= limit, let other = entries.keys.first { entries[other] = nil }
            entries[key] = Entry(columns: columns, value: value)
        }
        return value
    }
}

extension SQLValue {
    /// Whether two values are the same bytes; texts that are only equivalent are not.
    fileprivate func hasSameBytes(as other: SQLValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.text(let left), .text(let right)): left.hasSameBytes(as: right)
        case (.blob(let left), .blob(let right)): left == right
        default: false
        }
    }
}

/// Everything that is kept of parsed rows, by table.
struct ParsedRows: Sendable {
    /// The keys of a device, those of its PIN and its biometrics, its description, and where it is reached by push.
    typealias Device = (
        keys: DeviceKeys, pin: CertifiedKey?, biometric: CertifiedKey?, description: DeviceDescription,
        push: PushTarget?
    )

    /// What is asked, the short message, and by which methods it may be answered.
    typealias Asked = (question: Question, alert: DisplayMessage, methods: [AnswerMethod])

    let devices = Parsed<EnrollmentID, Device>(limit: 4096)
    let challenges = Parsed<ChallengeID, Asked>(limit: 1024)
    let types = Parsed<String, ChallengeType>(limit: 256)
    let clients = Parsed<ClientID, Client>(limit: 256)
    /// The issuer's certificate, under the name of its row.
    let certificates = Parsed<String, Certificate>(limit: 1)
}
