import Encodings

/// What the browser says about a ceremony.
///
/// Spec: WebAuthn Level 3 §5.8.1.
struct CollectedClientData {
    /// The kind of ceremony.
    enum Kind: String {
        case create = "webauthn.create"
        case get = "webauthn.get"
    }

    private let type: String
    private let challenge: String
    private let origin: String
    private let isCrossOrigin: Bool
    private let hasTopOrigin: Bool

    /// Reads the JSON; members that are not known are ignored.
    ///
    /// A byte order mark is skipped, as the specification asks. Bytes that are not UTF-8 and names that occur twice are
    /// refused: no browser writes them. Spec: WebAuthn Level 3 §7.1, steps 5 and 6, §7.2, steps 8 and 9.
    init(parsing bytes: [UInt8]) throws(WebAuthnError) {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard let object = try? JSONValue(parsing: text).object, let type = object["type"]?.string,
            let challenge = object["challenge"]?.string, let origin = object["origin"]?.string,
            let isCrossOrigin = (object["crossOrigin"] ?? false).bool
        else { throw .malformedClientData }
        self.type = type
        self.challenge = challenge
        self.origin = origin
        self.isCrossOrigin = isCrossOrigin
        hasTopOrigin = object["topOrigin"] != nil
    }

    /// Refuses client data of another ceremony, or of a page that is not ours alone.
    ///
    /// Spec: WebAuthn Level 3 §7.1, steps 7 to 11, and §7.2, steps 10 to 14.
    func check(_ kind: Kind, _ challenge: CeremonyChallenge, origin: String) throws(WebAuthnError) {
        // check: ClientDataTests.type
        guard type.hasSameBytes(as: kind.rawValue) else { throw .wrongType }
        let expected = Base64URL.encode(challenge.bytes)
        // check: ClientDataTests.challenge
        guard constantTimeEqual(Array(self.challenge.utf8), Array(expected.utf8)) else { throw .wrongChallenge }
        // check: ClientDataTests.origin
        guard self.origin.hasSameBytes(as: origin) else { throw .wrongOrigin }
        // check: ClientDataTests.crossOrigin
        guard !isCrossOrigin else { throw .crossOrigin }
        // check: ClientDataTests.topOrigin
        guard !hasTopOrigin else { throw .topOrigin }
    }
}
