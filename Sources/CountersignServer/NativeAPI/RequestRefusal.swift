import CountersignWire

/// What is wrong with a request to the native API, found before an operation is called.
enum RequestRefusal: Error {
    /// What a path may name.
    enum Resource {
        case challenge, client, enrollment, keyUse, message, type, user
    }

    /// The body does not say that it is JSON.
    case notJSON
    /// No such query parameter.
    case unknownParameter(String)
    /// A query parameter is not what it must be.
    case invalidParameter(String, expected: String)
    /// A query parameter cannot stand beside the others; why.
    case unfitParameter(String, why: String)
    /// The idempotency key is not one.
    case invalidIdempotencyKey
    /// The path names nothing that there could be; what may be said of that.
    case noSuch(Resource, detail: String? = nil)
    /// The caller does not authenticate as it must; what may be said of that.
    case unauthorized(detail: String? = nil)
    /// Too many wrong credentials; seconds until the next attempt is answered.
    case tooManyFailures(retryAfter: Int64)
    /// The device's signature is refused.
    case signature(MessageSignatureError)
    /// The caller is disabled.
    case clientDisabled
    /// The caller lacks a right, by its name in the API.
    case rightMissing(String)
}
