package import CountersignWire

/// Names one request of one caller, so that a repeat gets the first outcome.
///
/// Spec: design 4.
package struct IdempotencyKey: Sendable {
    /// How long an outcome is kept.
    package static let lifetime = Seconds.days(1)

    /// The caller and the route.
    package let scope: String
    /// What the caller sent.
    package let key: String
    /// What tells the request from others: a keyed hash of its body, or a hash where it holds nothing to guess.
    package let requestDigest: MessageDigest

    /// Names a request by what the caller sent with it, and by its body, which is kept as a keyed hash.
    ///
    /// Accepts a key of 1 to 255 visible ASCII characters.
    package init?(scope: String, key: String, body: [UInt8], _ hasher: KeyedHasher) {
        self.init(scope: scope, key: key, requestDigest: hasher.digest(ofRequest: body))
    }

    /// Accepts a key of 1 to 255 visible ASCII characters.
    package init?(scope: String, key: String, requestDigest: MessageDigest) {
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        self.scope = scope
        self.key = key
        self.requestDigest = requestDigest
    }
}
