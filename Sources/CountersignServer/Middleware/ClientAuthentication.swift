import CountersignCore

/// What came of a client's attempt to authenticate.
enum ClientAuthentication {
    /// The client is known and may call.
    case client(ClientCaller)
    /// The credentials are wrong, or name no client: the same to the caller.
    case failed
    /// The credentials are wrong, as too many before; seconds until the next attempt is answered.
    case tooManyFailures(retryAfter: Int64)
    /// The credentials are right, and the client is disabled.
    case disabled
}
