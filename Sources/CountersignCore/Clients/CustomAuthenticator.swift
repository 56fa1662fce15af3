package import CountersignWire
package import Encodings

/// A way to answer that a client judges itself, by a hook of its own.
///
/// Spec: design 3.4.
package struct CustomAuthenticator: Hashable, Sendable {
    /// How many a client may have.
    package static let maximumCount = 10
    private static let deadlines: ClosedRange<Seconds> = 1...10
    private static let attempts: ClosedRange<Int64> = 1...10

    /// Its name, which types and devices call it by.
    package let name: AuthenticatorName
    /// Who judges: called as callbacks are, and answers at once.
    package let hook: CallbackURI
    /// How long the hook may take.
    package let deadline: Seconds
    /// How often in a row it may want another try before the device must register it anew.
    package let attempts: Int

    /// The authenticator as JSON.
    package var json: JSONValue {
        .members([
            "name": .string("\(name)"), "hook": .string(hook.description), "deadline": .integer(deadline.value),
            "attempts": .integer(Int64(attempts)),
        ])
    }

    /// Reads an authenticator that stands at a JSON pointer.
    ///
    /// - Parameters:
    ///   - json: the authenticator.
    ///   - pointer: where it stands.
    ///   - hook: accepts the URL of a hook, or not.
    package init(
        _ json: JSONValue, at pointer: String, hook: (String) -> CallbackURI?
    ) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        name = try members.required("name", "1 to 32 lower case letters, digits, - and _, beginning with a letter") {
            $0.string.flatMap { AuthenticatorName($0) }
        }
        self.hook = try members.required("hook", "an https URL (http to loopback in development mode)") {
            $0.string.flatMap(hook)
        }
        deadline = try members.optionalSeconds("deadline", in: Self.deadlines) ?? 5
        attempts = Int(try members.optionalInteger("attempts", in: Self.attempts) ?? 5)
        try members.refuseUnknown()
    }
}
