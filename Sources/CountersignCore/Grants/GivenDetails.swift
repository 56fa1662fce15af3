import CountersignWire
package import Encodings

// What a person has authorized in detail stays with the tokens, sealed: it may name accounts and people.

extension KeyedHasher {
    /// The form in which a row holds what a person has authorized in detail.
    ///
    /// - Parameters:
    ///   - details: what the person has authorized; nil for nothing.
    ///   - family: the tokens that it is for.
    func sealed(_ details: AuthorizationDetails?, for family: TokenFamilyID) throws -> String? {
        try details.map { Base64URL.encode(try sealed($0.json.encoded, for: TokenFamily.purpose(of: family))) }
    }
}

extension TokenFamily {
    fileprivate static func purpose(of family: TokenFamilyID) -> String { "authorization details \(family)" }

    /// What the person has authorized in detail; nil for nothing.
    ///
    /// Spec: RFC 9396 §7.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)``.
    package func details(ports: Ports) throws(StoreError) -> JSONValue? {
        guard let sealedDetails else { return nil }
        guard let sealed = Base64URL.decode(sealedDetails),
            let bytes = ports.hasher.opened(sealed, for: Self.purpose(of: id)),
            let json = try? JSONValue(parsing: bytes)
        else { throw .corruptRow("authorization details") }
        return json
    }
}
