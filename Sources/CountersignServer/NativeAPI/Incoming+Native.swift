import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes

/// What the routes of the native API read from a request.
extension Incoming {
    /// The body as JSON.
    ///
    /// The content type must be JSON: a browser then sends the request of another site's page only after a CORS
    /// preflight. Spec: RFC 9110 §15.5.16, RFC 8259 §11.
    func json() throws -> JSONValue {
        guard body.isEmpty || hasContent("application/json") else { throw RequestRefusal.notJSON }
        return try JSONValue(parsing: body)
    }

    /// The body as JSON, or an empty object if there is no body.
    func optionalJSON() throws -> JSONValue { body.isEmpty ? .members([:]) : try json() }

    /// An id in the path; a malformed id is answered like an unknown one.
    func id<Kind>(_ name: String, of resource: RequestRefusal.Resource) throws(RequestRefusal) -> ID<Kind> {
        guard let id = parameter(name).flatMap({ ID<Kind>($0) }) else { throw .noSuch(resource) }
        return id
    }

    func challenge() throws(RequestRefusal) -> ChallengeID { try id("challenge", of: .challenge) }

    func enrollment() throws(RequestRefusal) -> EnrollmentID { try id("enrollment", of: .enrollment) }

    func client() throws(RequestRefusal) -> ClientID { try id("client", of: .client) }

    func user() throws(RequestRefusal) -> UserReference {
        guard let user = parameter("user").flatMap({ UserReference($0) }) else { throw .noSuch(.user) }
        return user
    }

    /// Refuses query parameters that the route does not know.
    func refuseParameters(besides known: [String]) throws(RequestRefusal) {
        for name in query.keys.sorted() where !known.contains(where: { $0.hasSameBytes(as: name) }) {
            throw .unknownParameter(name)
        }
    }

    /// The value of a query parameter; nil if it is absent.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter.
    ///   - expected: what the value must be, to follow the words "must be".
    ///   - read: parses the value, or returns nil.
    func filter<Value>(
        _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws(RequestRefusal) -> Value? {
        guard let text = query[name] else { return nil }
        guard let value = read(text) else { throw .invalidParameter(name, expected: expected) }
        return value
    }

    func flag(_ name: String) throws(RequestRefusal) -> Bool? {
        try filter(name, "true or false") { text in text == "true" ? true : text == "false" ? false : nil }
    }

    /// The position at which the previous page ended; nil for the first page.
    func cursor<Place>(_ read: (String) -> Place?) throws(RequestRefusal) -> Place? {
        try filter("cursor", "that of an earlier page", read)
    }

    /// How long to wait; nil for no wait.
    func wait() throws(RequestRefusal) -> Seconds? {
        let length = try filter("wait", "a whole number from 0 to 60") { text in
            Int64(text).flatMap { (0...60).contains($0) ? Seconds($0) : nil }
        }
        return length == 0 ? nil : length
    }

    /// The idempotency key, which is valid for one caller and one route.
    func idempotencyKey(of caller: ClientID, _ hasher: KeyedHasher) throws(RequestRefusal) -> IdempotencyKey? {
        guard let key = headers[.idempotencyKey] else { return nil }
        let scope = "\(caller) \(method.rawValue) \(target)"
        guard let key = IdempotencyKey(scope: scope, key: key, body: body, hasher) else {
            throw .invalidIdempotencyKey
        }
        return key
    }
}
