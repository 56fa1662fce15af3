package import CountersignWire
package import JOSE

/// The keys that sign tokens, and the public halves that verify them.
package struct TokenKeys: Sendable {
    /// Signs access tokens, and ID tokens by ES256; nil before the first client is registered that gets tokens.
    package let es256: PrivateJWK?
    /// Signs ID tokens by RS256; nil before the first client is registered that gets such tokens.
    package let rs256: PrivateJWK?
    /// Signs, by Ed25519, what apps and servers verify that were written for Cotter; nil before the first client is
    /// registered that makes such calls.
    package let cotter: PrivateJWK?
    /// The public halves of the current keys, the next ones and the retired ones.
    package let published: JWKSet
    /// The public halves of the keys of ``cotter``: apart from the others, so that no token is ever verified by them.
    package let publishedForCotter: JWKSet

    /// The key for ID tokens by an algorithm.
    package func key(_ algorithm: IDTokenAlgorithm) -> PrivateJWK? {
        switch algorithm {
        case .es256: es256
        case .rs256: rs256
        }
    }

    /// Checks, before anything is spent for tokens, that the keys are there that sign them: another server may just have
    /// made them.
    ///
    /// - Throws: ``StoreError/unavailable``.
    func require(_ algorithm: IDTokenAlgorithm) throws {
        guard es256 != nil, key(algorithm) != nil else { throw StoreError.unavailable }
    }
}

extension IDTokenAlgorithm {
    /// The use of the keys that sign by it.
    var use: KeyUse {
        switch self {
        case .es256: .token
        case .rs256: .tokenRS256
        }
    }
}
