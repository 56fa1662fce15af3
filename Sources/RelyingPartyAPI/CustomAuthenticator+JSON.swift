package import CountersignWire
package import Encodings

extension CustomAuthenticator {
    /// The authenticator as JSON: `CustomAuthenticator` of the contract.
    package var json: JSONValue {
        Self.json(
            name: name.description, hook: hook.description, deadline: deadline.value, attempts: Int64(attempts))
    }

    /// An authenticator as a caller writes it, which the server judges.
    package static func json(name: String, hook: String, deadline: Int64?, attempts: Int64?) -> JSONValue {
        .members([
            "name": .string(name), "hook": .string(hook), "deadline": deadline.map(JSONValue.integer),
            "attempts": attempts.map(JSONValue.integer),
        ])
    }

    /// Reads an authenticator that stands at a JSON pointer: `CustomAuthenticatorRequest` of the contract.
    ///
    /// - Parameters:
    ///   - json: the authenticator.
    ///   - pointer: where it stands.
    ///   - hook: accepts the URL of a hook, or not.
    package init(
        _ json: JSONValue, at pointer: String = "", hook: (String) -> CallbackURI?
    ) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        self.init(
            name: try members.required(
                "name", "1 to 32 lower case letters, digits, - and _, beginning with a letter"
            ) { $0.string.flatMap { AuthenticatorName($0) } },
            hook: try members.required("hook", "an https URL (http to loopback in development mode)") {
                $0.string.flatMap(hook)
            },
            deadline: try members.optionalSeconds("deadline", in: 1...10) ?? 5,
            attempts: Int(try members.optionalInteger("attempts", in: 1...10) ?? 5))
        try members.refuseUnknown()
    }
}
