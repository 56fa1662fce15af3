/// Why a request gets no reply of a handler, whichever door it came to.
enum RequestFailure: Error {
    /// The head is not one of HTTP's, or a trusted proxy added fields that cannot be read.
    case malformed(MalformedRequest)
    /// The query cannot be decoded, or has a name twice.
    case malformedQuery
    /// The path is no route's.
    case unknownPath
    /// The path has no such method.
    case methodNotAllowed(allowed: String)
    /// The body has more than ``Incoming/maximumBodySize`` bytes.
    case bodyTooLarge
    /// The body took too long.
    case bodyTooSlow
    /// The connection ended before the body did.
    case bodyIncomplete
    /// The database is away, or the server is about to stop.
    case unavailable
    /// The server is at fault.
    case fault

    /// Whether the rest of the request could be read as the next one, so that the connection must end.
    ///
    /// Spec: RFC 9110 §15.5.9, §15.5.14.
    var endsConnection: Bool {
        switch self {
        case .malformed, .bodyTooLarge, .bodyTooSlow: true
        case .malformedQuery, .unknownPath, .methodNotAllowed, .bodyIncomplete, .unavailable, .fault: false
        }
    }
}
