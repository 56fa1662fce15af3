import CountersignCore
import CountersignWire
import Encodings
import OpenPGP

/// A cache of values that were parsed from frequently read columns, above all keys, whose validation is expensive.
///
/// It saves only the parsing, never the read: a value is found only by the exact bytes that the current transaction has
/// read. So a changed or deleted row never yields its old value.
final class Parsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let columns: [SQLValue]
        let value: Value
    }

    private let entries: BoundedMap<Key, Entry>

    /// The number of values in the cache.
    var count: Int { entries.count }

    /// Creates a cache for at most this many values.
    init(limit: Int) {
        entries = BoundedMap(limit: limit)
    }

    /// The cached value for a row's key and these columns, or else the value that `make` parses from them.
    func value(_ key: Key, of columns: [SQLValue], _ make: () throws -> Value) throws -> Value {
        if let entry = entries[key],
            entry.columns.elementsEqual(columns, by: { $0.hasSameBytes(as: $1) })
        {
            return entry.value
        }
        let value = try make()
        entries.keep(Entry(columns: columns, value: value), as: key)
        return value
    }
}

extension SQLValue {
    /// Whether two values have the same bytes; texts that are only canonically equivalent do not.
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

/// The caches of parsed rows, by table.
struct ParsedRows: Sendable {
    /// A device's credential, PIN key, biometric key, description, and push target.
    typealias Device = (
        credential: Credential, pin: CertifiedKey?, biometric: CertifiedKey?, description: DeviceDescription,
        push: PushTarget?
    )

    /// The question, the short text for the notification, and the methods that may answer it.
    typealias Asked = (question: Question, alert: DisplayMessage, methods: [AnswerMethod])

    let devices = Parsed<EnrollmentID, Device>(limit: 4096)
    let challenges = Parsed<ChallengeID, Asked>(limit: 1024)
    let types = Parsed<String, ChallengeType>(limit: 256)
    let clients = Parsed<ClientID, Client>(limit: 256)
    let relyingParties = Parsed<ClientID, RelyingParty>(limit: 256)
    /// The issuer's certificate, by the name of its row.
    let certificates = Parsed<String, Certificate>(limit: 2)
}
