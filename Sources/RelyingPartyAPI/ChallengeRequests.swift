package import CountersignWire
package import Encodings

/// What a user has typed, out of a text message: `EnteredCode` of the contract.
package struct EnteredCode: Sendable {
    /// The digits.
    package var code: EntryNumber

    /// The request as JSON.
    package var json: JSONValue { Self.json(code: code.digits) }

    /// A request as a caller writes it, which the server judges.
    package static func json(code: String) -> JSONValue { ["code": .string(code)] }

    /// Reads a request.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        code = try members.required("code", "six digits") { $0.string.flatMap { EntryNumber($0) } }
        try members.refuseUnknown()
    }
}

/// What a device has brought back: `ReturnRequest` of the contract.
package struct ReturnRequest: Sendable {
    /// The code.
    package var code: Secret<String>

    /// A request with a code.
    package init(code: Secret<String>) {
        self.code = code
    }

    /// The request as JSON.
    package var json: JSONValue { .members([ReturnURI.parameter: .string(code.reveal())]) }

    /// Reads a request.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        code = Secret(try members.string(ReturnURI.parameter))
        try members.refuseUnknown()
    }
}
