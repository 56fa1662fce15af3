import Crypto
package import Encodings

/// What the browser sent to register a passkey, read and not verified.
///
/// Spec: WebAuthn Level 3 §5.1.
package struct RegistrationResponse: Sendable {
    /// The credential that it names.
    package let credentialID: CredentialID
    let clientData: [UInt8]
    let attestationObject: [UInt8]
    let transports: [String]
    let isDiscoverable: Bool?

    /// Reads a `RegistrationResponseJSON`.
    package init(_ json: JSONValue) throws(WebAuthnError) {
        let credential = try CredentialJSON(json)
        credentialID = credential.id
        clientData = try credential.bytes("clientDataJSON")
        attestationObject = try credential.bytes("attestationObject")
        transports = credential.transports
        isDiscoverable = credential.extensions?["credProps"]?["rk"]?.bool
    }
}

/// A new passkey; only the ceremony makes one.
package struct VerifiedRegistration: Sendable {
    /// Who vouches for the authenticator.
    package enum Attestation: Equatable, Sendable {
        /// Nobody.
        case none
        /// The passkey itself, which proves that its key was there.
        case byItself
    }

    /// Its credential id; the caller must refuse one that any user has already.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 26.
    package let credentialID: CredentialID
    /// Its public key.
    package let publicKey: CredentialPublicKey
    /// How often it was used, or 0 when the authenticator does not count.
    package let signCount: UInt32
    /// Whether the key can leave its device.
    package let isBackupEligible: Bool
    /// Whether it has left it.
    package let isBackedUp: Bool
    /// The model of the authenticator as it says, which nobody vouches for.
    package let aaguid: [UInt8]
    /// Who vouches for the authenticator.
    package let attestation: Attestation
    /// How the browser reaches the authenticator, as it says.
    package let transports: [String]
    /// Whether the passkey can be found without its id, as the browser says; nil when it does not say.
    package let isDiscoverable: Bool?

    fileprivate init(
        _ response: RegistrationResponse, _ data: AuthenticatorData, _ credential: AuthenticatorData.AttestedCredential,
        _ key: CredentialPublicKey, _ attestation: Attestation
    ) {
        credentialID = credential.id
        publicKey = key
        signCount = data.signCount
        isBackupEligible = data.flags.contains(.backupEligible)
        isBackedUp = data.flags.contains(.backedUp)
        aaguid = credential.aaguid
        self.attestation = attestation
        transports = response.transports
        isDiscoverable = response.isDiscoverable
    }
}

extension PasskeyRelyingParty {
    /// The new passkey, after every check that needs nothing but the response.
    ///
    /// The checks are made in the order of the specification. Extensions that nobody asked for are ignored.
    /// Spec: WebAuthn Level 3 §7.1.
    ///
    /// - Parameters:
    ///   - response: what the browser sent.
    ///   - challenge: the one of the options; the caller lets it be used once.
    package func verify(
        _ response: RegistrationResponse, challenge: CeremonyChallenge
    ) throws(WebAuthnError) -> VerifiedRegistration {
        try CollectedClientData(parsing: response.clientData).check(.create, challenge, origin: origin)
        let attestation = try AttestationObject(parsing: response.attestationObject)
        let data = try AuthenticatorData(parsing: attestation.authenticatorData)
        try data.check(relyingParty: id)
        guard let credential = data.credential else { throw .noCredential }
        // check: RegistrationTests.otherCredential
        guard credential.id == response.credentialID else { throw .otherCredential }
        let key = try CredentialPublicKey(cose: credential.publicKey)
        let kind = try attestation.verifiedKind(
            by: key, clientDataHash: Array(SHA256.hash(data: response.clientData)))
        return VerifiedRegistration(response, data, credential, key, kind)
    }
}
