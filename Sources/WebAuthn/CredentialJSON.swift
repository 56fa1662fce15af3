import Encodings

/// A credential as the browser writes it with `toJSON()`: the members that every ceremony has.
///
/// Spec: WebAuthn Level 3 §5.1.
struct CredentialJSON {
    /// The most bytes that a part of a response may have.
    static let maximumSize = CBORReader.maximumSize

    let id: CredentialID
    let extensions: JSONValue?
    private let response: JSONValue

    /// Reads a credential; members that are not known are ignored.
    init(_ json: JSONValue) throws(WebAuthnError) {
        guard let text = json["rawId"]?.string, json["id"]?.string?.hasSameBytes(as: text) == true,
            let bytes = Base64URL.decode(text), let response = json["response"], response.object != nil,
            let type = json["type"]?.string
        else { throw .malformedResponse }
        // check: ResponseTests.type
        guard type.hasSameBytes(as: "public-key") else { throw .notPublicKey }
        id = try CredentialID(bytes)
        extensions = json["clientExtensionResults"]
        self.response = response
    }

    /// The bytes of a part of the response.
    func bytes(_ name: String) throws(WebAuthnError) -> [UInt8] {
        guard let text = response[name]?.string, let bytes = Base64URL.decode(text) else { throw .malformedResponse }
        // check: ResponseTests.sizes
        guard bytes.count <= Self.maximumSize else { throw .tooLarge }
        return bytes
    }

    /// The bytes of a part that may be missing or `null`.
    func optionalBytes(_ name: String) throws(WebAuthnError) -> [UInt8]? {
        guard let value = response[name], value != .null else { return nil }
        return try bytes(name)
    }

    /// The ways to reach the authenticator, as far as they are words; nothing else is wrong with others.
    ///
    /// Spec: WebAuthn Level 3 §5.2.1.
    var transports: [String] {
        let words = (response["transports"]?.array ?? []).compactMap(\.string).filter { word in
            (1...32).contains(word.utf8.count)
                && word.utf8.allSatisfy {
                    $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                }
        }
        return Array(words.prefix(8))
    }
}
