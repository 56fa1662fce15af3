package import CountersignWire

/// Identifies one request of one caller, so that a repeat of the request gets the first outcome.
///
/// Spec: docs/protocol/relying-party.md, *Idempotency*.
package struct IdempotencyKey: Sendable {
    /// How long an outcome is kept.
    package static let lifetime = Seconds.days(1)

    /// The scope in which the key is unique: the caller and the route.
    package let scope: String
    /// The key that the caller sent; for a request of a device, the hash of what it signed or sent.
    package let key: String
    /// The hash that distinguishes the request from others under the same key.
    ///
    /// It is a keyed hash of the body, or a plain hash if the body contains nothing that could be guessed.
    package let requestDigest: MessageDigest

    /// Identifies a request by its key and a keyed hash of its body.
    ///
    /// - Parameters:
    ///   - scope: the caller and the route.
    ///   - key: 1 to 255 visible ASCII characters; anything else gives nil.
    ///   - body: the body of the request.
    ///   - hasher: computes the keyed hash.
    package init?(scope: String, key: String, body: [UInt8], _ hasher: KeyedHasher) {
        self.init(scope: scope, key: key, requestDigest: hasher.digest(ofRequest: body))
    }

    /// Identifies a request by its key and a hash.
    ///
    /// - Parameters:
    ///   - scope: the caller and the route.
    ///   - key: 1 to 255 visible ASCII characters; anything else gives nil.
    ///   - requestDigest: the hash that distinguishes the request from others under the same key.
    package init?(scope: String, key: String, requestDigest: MessageDigest) {
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        self.scope = scope
        self.key = key
        self.requestDigest = requestDigest
    }
}
