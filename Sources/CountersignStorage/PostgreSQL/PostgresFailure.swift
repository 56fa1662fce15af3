import CPostgreSQL
import CountersignCore

/// What PostgreSQL said of a statement that failed.
struct PostgresFailure: Error {
    /// Its five-character code; nil when the connection broke.
    ///
    /// See the list of error codes in PostgreSQL's documentation.
    let state: String?
    /// Its first line, which names no values.
    let message: String
    /// The constraint that refused a row.
    var constraint: String?

    /// Whether the connection can be used no more.
    var isConnectionLost: Bool {
        guard let state else { return true }
        // 08: the connection itself. 57P: the server shuts down, crashed or starts. 25P03: it hung up on a transaction
        // that waited too long. 25006: it only reads, as a server does that is no longer the first.
        return state.hasPrefix("08") || state.hasPrefix("57P") || state == "25P03" || state == "25006"
    }

    /// Whether the same transaction may go through when it is run again: a clash of serializable transactions, a
    /// deadlock, a lock that was not to be had.
    var isClash: Bool { ["40001", "40P01", "55P03"].contains(state) }

    /// Whether a row with this key exists already.
    var isDuplicate: Bool { state == "23505" }

    /// The failure in the store's terms.
    var storeError: StoreError {
        guard let state else { return .unavailable }
        if isConnectionLost { return .unavailable }
        if isClash { return .serializationFailure }
        switch state {
        case "23505": return .uniqueViolation(constraint ?? message)
        // It took too long.
        case "57014": return .unavailable
        // 53: no room, no memory, too many connections; 58: the machine.
        case let state where state.hasPrefix("53") || state.hasPrefix("58"): return .unavailable
        default: return .engine("PostgreSQL \(state): \(message)")
        }
    }
}

extension PostgresFailure {
    /// The failure that a result tells of.
    init(_ result: OpaquePointer) {
        // The fields' codes of libpq's header: the error's code, its message, the constraint.
        func field(_ code: Character) -> String? {
            code.asciiValue.flatMap { PQresultErrorField(result, Int32($0)) }.map { String(cString: $0) }
        }
        state = field("C")
        message = field("M") ?? "no message"
        constraint = field("n")
    }
}
