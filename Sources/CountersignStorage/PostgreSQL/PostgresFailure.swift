import CPostgreSQL
import CountersignCore

/// The failure of a statement, as PostgreSQL reported it.
struct PostgresFailure: Error {
    /// The five-character SQLSTATE code; nil when the connection broke.
    ///
    /// See the list of error codes in PostgreSQL's documentation.
    let state: String?
    /// The first line of the message, which contains no values.
    let message: String
    /// The name of the constraint that was violated.
    var constraint: String?

    /// Whether the connection can no longer be used.
    var isConnectionLost: Bool {
        guard let state else { return true }
        // 08: the connection failed. 57P: the server is shutting down, has crashed or is starting. 25P03: it closed a
        // transaction that was idle for too long. 25006: it is read-only, as a server is that is no longer the primary.
        return state.hasPrefix("08") || state.hasPrefix("57P") || state == "25P03" || state == "25006"
    }

    /// Whether the same transaction may succeed when it is run again: after a serialization failure, a deadlock, or a
    /// lock that was not available.
    var isClash: Bool { ["40001", "40P01", "55P03"].contains(state) }

    /// Whether a row with this key exists already.
    var isDuplicate: Bool { state == "23505" }

    /// The failure as a ``StoreError``.
    var storeError: StoreError {
        guard let state else { return .unavailable }
        if isConnectionLost { return .unavailable }
        if isClash { return .serializationFailure }
        switch state {
        case "23505": return .uniqueViolation(constraint ?? message)
        // The statement was cancelled because it took too long.
        case "57014": return .unavailable
        case "53100": return .full
        // 53: too little memory, or too many connections. 58: an error of the server's machine.
        case let state where state.hasPrefix("53") || state.hasPrefix("58"): return .unavailable
        default: return .engine("PostgreSQL \(state): \(message)")
        }
    }
}

extension PostgresFailure {
    /// The failure that a result describes.
    init(_ result: OpaquePointer) {
        // The field codes of libpq's header: SQLSTATE, primary message and constraint name.
        func field(_ code: Character) -> String? {
            code.asciiValue.flatMap { PQresultErrorField(result, Int32($0)) }.map { String(cString: $0) }
        }
        state = field("C")
        message = field("M") ?? "no message"
        constraint = field("n")
    }
}
