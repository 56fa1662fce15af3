import Encodings
package import JOSE

/// What an app that was written for Cotter calls the thing that is approved, such as `LOGIN`: capital letters and
/// underscores.
package struct EventName: Hashable, Sendable {
    /// The most octets of a name.
    private static let longest = 64

    /// The name.
    package let text: String

    /// Reads a name, or nil.
    ///
    /// Digits are refused: the name stands before a number in what is signed, and nothing between them.
    package init?(_ text: String) {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        guard (1...Self.longest).contains(text.utf8.count),
            text.utf8.allSatisfy({ letters.contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        self.text = text
    }
}

/// What a device of an app that was written for Cotter signs to answer.
///
/// It is one text after the other, without anything between. It names neither the challenge nor what was shown, so that
/// it is evidence of the weakest kind.
///
/// Spec: docs/protocol/jwk-devices.md, *Events*.
package struct SignedEvent: Hashable, Sendable {
    /// By what such devices answer.
    package static let method = "TRUSTED_DEVICE"
    /// The most octets that a key or a signature may have before it is decoded.
    private static let longest = 4096

    /// The user, as the app names them.
    package let user: String
    /// The client, as the app writes its id.
    package let client: String
    /// What is approved.
    package let name: EventName
    /// When, in seconds since 1970.
    package let timestamp: Int64
    /// Whether it is approved.
    package let isApproved: Bool

    /// An event of these parts.
    package init(user: String, client: String, name: EventName, timestamp: Int64, isApproved: Bool) {
        self.user = user
        self.client = client
        self.name = name
        self.timestamp = timestamp
        self.isApproved = isApproved
    }

    /// What is signed.
    package var text: String { "\(user)\(client)\(name.text)\(timestamp)\(Self.method)\(isApproved)" }

    /// Reads a device's key in any of the forms that such apps send: X.509 in DER or 32 octets of Ed25519, in base64 that
    /// may be wrapped.
    ///
    /// - Parameters:
    ///   - text: the key.
    ///   - algorithm: what the app says of the algorithm; nil where it says nothing.
    /// - Returns: nil for no such key, or one of another algorithm.
    package static func key(_ text: String, algorithm: String?) -> JWSPublicKey? {
        guard let bytes = bytes(text),
            let key = try? bytes.count == 32 ? JWSPublicKey(ed25519: bytes) : JWSPublicKey(derRepresentation: bytes)
        else { return nil }
        switch (algorithm, key) {
        case (nil, _), ("EC", .p256), ("ECDSA", .p256), ("RSA", .rsa), ("ED25519", .ed25519): return key
        default: return nil
        }
    }

    /// Reads base64 that may be wrapped into lines.
    package static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= longest else { return nil }
        let blanks = Array(" \r\n\t".utf8)
        return Base64.decode(String(decoding: text.utf8.filter { !blanks.contains($0) }, as: UTF8.self))
    }
}
