/// The kind of ``AuthorizationID``.
package enum AuthorizationIDKind: IDKind {
    /// The letters `aut`.
    package static let prefix = "aut"
}

/// The kind of ``SessionID``.
package enum SessionIDKind: IDKind {
    /// The letters `ses`.
    package static let prefix = "ses"
}

/// The kind of ``TokenFamilyID``.
package enum TokenFamilyIDKind: IDKind {
    /// The letters `fam`.
    package static let prefix = "fam"
}

/// The kind of ``IdentifierID``.
package enum IdentifierIDKind: IDKind {
    /// The letters `idn`.
    package static let prefix = "idn"
}

/// The kind of ``VerificationID``.
package enum VerificationIDKind: IDKind {
    /// The letters `ver`.
    package static let prefix = "ver"
}

/// The kind of ``PasskeyID``.
package enum PasskeyIDKind: IDKind {
    /// The letters `psk`.
    package static let prefix = "psk"
}

/// Names an authorization: somebody's wish to be signed in at a client.
package typealias AuthorizationID = ID<AuthorizationIDKind>
/// Names a session: a browser's sign-in at the issuer.
package typealias SessionID = ID<SessionIDKind>
/// Names a token family: the tokens that one redemption gave.
package typealias TokenFamilyID = ID<TokenFamilyIDKind>
/// Names an identifier: an address of a user.
package typealias IdentifierID = ID<IdentifierIDKind>
/// Names a verification: a code that is sent to an address.
package typealias VerificationID = ID<VerificationIDKind>
/// Names a passkey of a user.
package typealias PasskeyID = ID<PasskeyIDKind>
