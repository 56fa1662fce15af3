package import Encodings

/// The outcome of a request, in the form in which it is kept for a repeat of the request.
///
/// It may contain secrets, so the store seals it.
package struct KeptForm: Sendable {
    private let values: JSONObject

    /// A form of these named values; nil values are left out.
    package init(_ values: KeyValuePairs<String, JSONValue?>) {
        self.values = JSONObject(values)
    }

    /// Reads a stored form; nil if the bytes are not a JSON object.
    package init?(stored: [UInt8]) {
        guard let values = (try? JSONValue(parsing: stored))?.object else { return nil }
        self.values = values
    }

    /// The form as a JSON object, as it is before the store seals it.
    package var stored: [UInt8] { JSONValue.object(values).encoded }

    /// The value of this name; nil if there is none.
    subscript(name: String) -> JSONValue? { values[name] }

    /// Reads the text of this name; nil if there is no text, or `read` returns nil for it.
    func read<Value>(_ name: String, _ read: (String) -> Value?) -> Value? { self[name]?.string.flatMap(read) }
}

/// The kept form of an outcome, with the hash of its request.
package struct KeptReply: Sendable {
    /// The form.
    package let form: KeptForm
    /// The hash that distinguishes the request from others under the same key.
    package let requestDigest: MessageDigest

    /// A reply of these parts.
    package init(form: KeptForm, requestDigest: MessageDigest) {
        self.form = form
        self.requestDigest = requestDigest
    }
}
