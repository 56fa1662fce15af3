import Crypto
package import Encodings

/// What the browser sent to sign in with a passkey, read and not verified.
///
/// Spec: WebAuthn Level 3 §5.1.
package struct AssertionResponse: Sendable {
    /// The credential that it names, by which the caller finds the passkey.
    package let credentialID: CredentialID
    /// The user that it names, if it does.
    package let userHandle: UserHandle?
    let clientData: [UInt8]
    let authenticatorData: [UInt8]
    let signature: [UInt8]

    /// Reads an `AuthenticationResponseJSON`.
    package init(_ json: JSONValue) throws(WebAuthnError) {
        let credential = try CredentialJSON(json)
        credentialID = credential.id
        clientData = try credential.bytes("clientDataJSON")
        authenticatorData = try credential.bytes("authenticatorData")
        signature = try credential.bytes("signature")
        if let bytes = try credential.optionalBytes("userHandle") {
            guard let handle = UserHandle(bytes) else { throw .malformedResponse }
            userHandle = handle
        } else {
            userHandle = nil
        }
    }
}

/// What was kept of a passkey when it was registered or last used.
package struct Passkey: Sendable {
    /// Its credential id.
    package let credentialID: CredentialID
    /// Its public key.
    package let publicKey: CredentialPublicKey
    /// The user whose it is.
    package let userHandle: UserHandle
    /// The count of its last use.
    package let signCount: UInt32
    /// Whether the key can leave its device.
    package let isBackupEligible: Bool

    /// A passkey of these parts.
    package init(
        credentialID: CredentialID, publicKey: CredentialPublicKey, userHandle: UserHandle, signCount: UInt32,
        isBackupEligible: Bool
    ) {
        self.credentialID = credentialID
        self.publicKey = publicKey
        self.userHandle = userHandle
        self.signCount = signCount
        self.isBackupEligible = isBackupEligible
    }
}

/// A sign-in whose signature was verified; only the ceremony makes one.
package struct VerifiedAssertion: Sendable {
    /// What the count of uses says.
    ///
    /// Spec: WebAuthn Level 3 §7.2, step 22.
    package enum Counter: Equatable, Sendable {
        /// The authenticator does not count.
        case unused
        /// It grew.
        case grew
        /// It did not grow: there may be two copies of the key, or two sign-ins overtook each other.
        case didNotGrow
    }

    /// The user who signs in.
    package let userHandle: UserHandle
    /// The count to keep.
    package let signCount: UInt32
    /// What it says; it refuses nothing, since keys that are synced do not count.
    package let counter: Counter
    /// Whether the key has left its device, to keep.
    package let isBackedUp: Bool

    fileprivate init(_ data: AuthenticatorData, _ passkey: Passkey) {
        userHandle = passkey.userHandle
        signCount = data.signCount
        counter =
            if data.signCount == 0, passkey.signCount == 0 {
                .unused
            } else {
                data.signCount > passkey.signCount ? .grew : .didNotGrow
            }
        isBackedUp = data.flags.contains(.backedUp)
    }
}

extension PasskeyRelyingParty {
    /// The sign-in, after every check.
    ///
    /// The checks are made in the order of the specification. A signature on P-256 can be changed into another that
    /// verifies as well: nothing here is a name for the sign-in but the challenge. Spec: WebAuthn Level 3 §7.2.
    ///
    /// - Parameters:
    ///   - response: what the browser sent.
    ///   - challenge: the one of the options; the caller lets it be used once.
    ///   - passkey: the one with the credential id of the response.
    ///   - user: who signs in, when that was known before; nil when the passkey is to say it.
    package func verify(
        _ response: AssertionResponse, challenge: CeremonyChallenge, by passkey: Passkey, of user: UserHandle?
    ) throws(WebAuthnError) -> VerifiedAssertion {
        // check: AssertionTests.otherCredential
        guard response.credentialID == passkey.credentialID else { throw .otherCredential }
        guard let named = response.userHandle ?? user else { throw .missingUserHandle }
        // check: AssertionTests.passkeyOfAnother
        guard named == passkey.userHandle else { throw .wrongUser }
        // check: AssertionTests.passkeyOfKnownUser
        guard user == nil || user == named else { throw .wrongUser }
        try CollectedClientData(parsing: response.clientData).check(.get, challenge, origin: origin)
        let data = try AuthenticatorData(parsing: response.authenticatorData)
        try data.check(relyingParty: id)
        // check: AssertionTests.newCredential
        guard data.credential == nil else { throw .unexpectedCredential }
        // check: AssertionTests.backupEligibility
        guard data.flags.contains(.backupEligible) == passkey.isBackupEligible else { throw .backupEligibilityChanged }
        let input = response.authenticatorData + Array(SHA256.hash(data: response.clientData))
        // check: AssertionTests.signature
        guard passkey.publicKey.isValid(response.signature, for: input) else { throw .badSignature }
        return VerifiedAssertion(data, passkey)
    }
}
