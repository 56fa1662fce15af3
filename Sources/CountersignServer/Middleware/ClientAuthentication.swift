import CountersignCore
import CountersignWire

/// The result of authenticating a client.
enum ClientAuthentication {
    /// The client is authenticated and not disabled.
    case client(ClientCaller)
    /// The credentials are wrong or name no client; the caller cannot tell which.
    case failed
    /// The access token is not good, or is over.
    case invalidToken
    /// The credentials are wrong, and so were too many before them; the seconds until the next attempt is answered.
    case tooManyFailures(retryAfter: Seconds)
    /// The credentials are right, but the client is disabled.
    case disabled
}
