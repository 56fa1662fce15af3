package import Encodings

/// What is kept of an outcome for a repeat of its request, in a form of Core's own; it may hold secrets, and is sealed.
package struct KeptForm: Sendable {
    private let values: JSONObject

    /// These values by their names.
    package init(_ values: KeyValuePairs<String, JSONValue?>) {
        self.values = JSONObject(values)
    }

    /// Reads what was stored, or nil.
    package init?(stored: [UInt8]) {
        guard let values = (try? JSONValue(parsing: stored))?.object else { return nil }
        self.values = values
    }

    /// The form as it is stored, before it is sealed.
    package var stored: [UInt8] { JSONValue.object(values).encoded }

    /// A value.
    subscript(name: String) -> JSONValue? { values[name] }

    /// What is made of a text, or nil where there is none.
    func read<Value>(_ name: String, _ read: (String) -> Value?) -> Value? { self[name]?.string.flatMap(read) }
}

/// The kept form of an outcome, with what told its request from others.
package struct KeptReply: Sendable {
    /// What is kept.
    package let form: KeptForm
    /// What told the request from others.
    package let requestDigest: MessageDigest

    /// A form with the digest of its request.
    package init(form: KeptForm, requestDigest: MessageDigest) {
        self.form = form
        self.requestDigest = requestDigest
    }
}
