/// The name of a credential, which its authenticator chose: 1 to 1023 bytes.
package struct CredentialID: Hashable, Sendable {
    /// Its bytes.
    package let bytes: [UInt8]

    /// A credential id of these bytes.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 25.
    package init(_ bytes: [UInt8]) throws(WebAuthnError) {
        // check: RegistrationTests.idLength
        guard (1...1023).contains(bytes.count) else { throw .credentialIDLength }
        self.bytes = bytes
    }
}

/// The name of a user towards authenticators: 1 to 64 bytes that say nothing about the person.
package struct UserHandle: Hashable, Sendable {
    /// Its bytes.
    package let bytes: [UInt8]

    /// A user handle of these bytes, or nil when there are none or too many.
    ///
    /// Spec: WebAuthn Level 3 §5.4.3.
    package init?(_ bytes: [UInt8]) {
        // check: ResponseTests.userHandles
        guard (1...64).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}

/// The random bytes that tie a ceremony to its options: 16 to 128 of them, used once.
package struct CeremonyChallenge: Hashable, Sendable {
    /// Its bytes.
    package let bytes: [UInt8]

    /// A challenge of these bytes, or nil when they are too few to be unguessable, or too many.
    ///
    /// Spec: WebAuthn Level 3 §13.5.3.
    package init?(_ bytes: [UInt8]) {
        // check: RegistrationTests.challenges
        guard (16...128).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}
