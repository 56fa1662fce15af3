import CountersignWire

/// Why a request to the native API is refused before an operation is called.
enum RequestRefusal: Error {
    /// The kinds of resources that a path can name.
    enum Resource {
        case address, challenge, client, enrollment, keyUse, message, passkey, type, user
    }

    /// The content type is not JSON, or the body is compressed.
    case notJSON
    /// The route does not know the query parameter.
    case unknownParameter(String)
    /// The value of the query parameter is not allowed.
    case invalidParameter(String, expected: String)
    /// The query parameter cannot be combined with the others, with the reason.
    case unfitParameter(String, why: String)
    /// The idempotency key is malformed, or missing where one is needed.
    case invalidIdempotencyKey
    /// The path names a resource that cannot exist, with an optional detail for the caller.
    case noSuch(Resource, detail: String? = nil)
    /// The caller is not authenticated, with an optional detail for the caller.
    case unauthorized(detail: String? = nil)
    /// There is no access token.
    case noToken
    /// The access token is not good, is over, or was not sent as it must be.
    case invalidToken(TokenScheme)
    /// There were too many wrong credentials; the seconds until the next attempt is answered.
    case tooManyFailures(retryAfter: Seconds)
    /// The signature of a device is refused.
    case signature(MessageSignatureError)
    /// The client is disabled.
    case clientDisabled
    /// The caller lacks a right, which has this name in the API.
    case rightMissing(String)
}
