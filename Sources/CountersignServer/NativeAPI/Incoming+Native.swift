import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes

/// What routes of the native API read of a request.
extension Incoming {
    /// The body as JSON.
    ///
    /// A body must say that it is JSON: then no page of another site can have a browser send it without asking first.
    /// Spec: RFC 9110 §15.5.16, RFC 8259 §11.
    func json() throws -> JSONValue {
        guard body.isEmpty || hasContent("application/json") else { throw RequestRefusal.notJSON }
        return try JSONValue(parsing: body)
    }

    /// The body of a request that may come without one.
    func optionalJSON() throws -> JSONValue { body.isEmpty ? .members([:]) : try json() }

    /// A part of the path that names something; what it cannot name is not there.
    func id<Kind>(_ name: String, of resource: RequestRefusal.Resource) throws(RequestRefusal) -> ID<Kind> {
        guard let id = parameter(name).flatMap({ ID<Kind>($0) }) else { throw .noSuch(resource) }
        return id
    }

    /// The challenge the path names.
    func challenge() throws(RequestRefusal) -> ChallengeID { try id("challenge", of: .challenge) }

    /// The enrollment the path names.
    func enrollment() throws(RequestRefusal) -> EnrollmentID { try id("enrollment", of: .enrollment) }

    /// The client the path names.
    func client() throws(RequestRefusal) -> ClientID { try id("client", of: .client) }

    /// The user the path names.
    func user() throws(RequestRefusal) -> UserReference {
        guard let user = parameter("user").flatMap({ UserReference($0) }) else { throw .noSuch(.user) }
        return user
    }

    /// Refuses a query parameter nobody knows.
    func refuseParameters(besides known: [String]) throws(RequestRefusal) {
        for name in query.keys.sorted() where !known.contains(where: { $0.hasSameBytes(as: name) }) {
            throw .unknownParameter(name)
        }
    }

    /// What a query parameter means, or nil where it is not there.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - expected: what it must be, after "must be".
    ///   - read: reads it, or nil.
    func filter<Value>(
        _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws(RequestRefusal) -> Value? {
        guard let text = query[name] else { return nil }
        guard let value = read(text) else { throw .invalidParameter(name, expected: expected) }
        return value
    }

    /// A query parameter that is true or false.
    func flag(_ name: String) throws(RequestRefusal) -> Bool? {
        try filter(name, "true or false") { text in text == "true" ? true : text == "false" ? false : nil }
    }

    /// Where the page before ended; nil for the first page.
    func cursor<Place>(_ read: (String) -> Place?) throws(RequestRefusal) -> Place? {
        try filter("cursor", "that of an earlier page", read)
    }

    /// For how many seconds to wait, or nil not to.
    func wait() throws(RequestRefusal) -> Int64? {
        let seconds = try filter("wait", "a whole number from 0 to 60") { text in
            Int64(text).flatMap { (0...60).contains($0) ? $0 : nil }
        }
        return seconds == 0 ? nil : seconds
    }

    /// The idempotency key, scoped to the caller and the route.
    func idempotencyKey(of caller: ClientID, _ hasher: KeyedHasher) throws(RequestRefusal) -> IdempotencyKey? {
        guard let key = headers[.idempotencyKey] else { return nil }
        let scope = "\(caller) \(method.rawValue) \(target)"
        guard let key = IdempotencyKey(scope: scope, key: key, body: body, hasher) else {
            throw .invalidIdempotencyKey
        }
        return key
    }
}
