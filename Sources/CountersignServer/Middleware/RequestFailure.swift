/// Why a request gets no reply from a handler, whichever door it came to.
enum RequestFailure: Error {
    /// The head is not valid HTTP, or the fields of a trusted proxy cannot be parsed.
    case malformed(MalformedRequest)
    /// The query cannot be decoded, or repeats a name.
    case malformedQuery
    /// No route has the path.
    case unknownPath
    /// The path exists, but not with this method.
    case methodNotAllowed(allowed: String)
    /// The body has more than ``Incoming/maximumBodySize`` bytes.
    case bodyTooLarge
    /// The body did not arrive in time.
    case bodyTooSlow
    /// The connection ended before the body did.
    case bodyIncomplete
    /// The database cannot be reached, or the server is about to stop.
    case unavailable
    /// There is no room on the database's disk.
    case noRoom
    /// The server has more requests than it can answer in time.
    case overloaded
    /// The server has failed.
    case fault

    /// Whether the connection must be closed, because the rest of the request could be read as the next request.
    ///
    /// Spec: RFC 9110 §15.5.9, §15.5.14.
    var endsConnection: Bool {
        switch self {
        case .malformed, .bodyTooLarge, .bodyTooSlow: true
        case .malformedQuery, .unknownPath, .methodNotAllowed, .bodyIncomplete, .unavailable, .noRoom, .overloaded,
            .fault:
            false
        }
    }
}
