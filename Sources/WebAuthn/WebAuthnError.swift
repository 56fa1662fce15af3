/// Why a ceremony is refused: one case for each check.
///
/// The steps are those of the Candidate Recommendation of 2026.
package enum WebAuthnError: Error, Equatable, Sendable {
    /// What the browser sent is not the JSON of a credential.
    ///
    /// Spec: WebAuthn Level 3 §5.1.
    case malformedResponse
    /// The credential is not of the type `public-key`.
    ///
    /// Spec: WebAuthn Level 3 §5.8.2.
    case notPublicKey
    /// A part of the response is larger than our limit; the specification has none.
    case tooLarge
    /// The client data are not the JSON of client data.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 6, and §7.2, step 9.
    case malformedClientData
    /// The client data belong to another kind of ceremony.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 7, and §7.2, step 10.
    case wrongType
    /// The challenge is not the one of this ceremony.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 8, and §7.2, step 11.
    case wrongChallenge
    /// The page was not ours.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 9, and §7.2, step 12.
    case wrongOrigin
    /// Our page was in a frame of another site.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 10, and §7.2, step 13.
    case crossOrigin
    /// The client data name a page around ours.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 11, and §7.2, step 14.
    case topOrigin
    /// Something that must be CBOR in canonical form is not.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 13.
    case cbor(CBORError)
    /// The attestation object has other members than format, statement and authenticator data.
    ///
    /// Spec: WebAuthn Level 3 §6.5.4.
    case malformedAttestationObject
    /// The authenticator data are too short or too long, or their extensions are no map.
    ///
    /// Spec: WebAuthn Level 3 §6.1.
    case malformedAuthenticatorData
    /// The authenticator answered for another relying party.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 14, and §7.2, step 15.
    case wrongRelyingParty
    /// Nobody touched the authenticator.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 15, and §7.2, step 16.
    case userNotPresent
    /// The authenticator did not verify who the user is.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 16, and §7.2, step 17.
    case userNotVerified
    /// The key is said to be backed up and said to be one that cannot be.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 17, and §7.2, step 18.
    case backedUpWithoutEligibility
    /// A key that could be backed up cannot any more, or the other way round.
    ///
    /// Spec: WebAuthn Level 3 §7.2, step 19.
    case backupEligibilityChanged
    /// A registration brings no key.
    ///
    /// Spec: WebAuthn Level 3 §6.5.
    case noCredential
    /// A sign-in brings a key.
    ///
    /// Spec: WebAuthn Level 3 §6.1.
    case unexpectedCredential
    /// A credential id is empty or has more than 1023 bytes.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 25.
    case credentialIDLength
    /// Two parts of the response name different credentials, or it names another than the given passkey.
    ///
    /// Spec: WebAuthn Level 3 §7.2, step 5.
    case otherCredential
    /// The key is for an algorithm that was not offered.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 20.
    case unsupportedAlgorithm
    /// The key is not a COSE key of its algorithm, with exactly the members that it needs.
    ///
    /// Spec: WebAuthn Level 3 §6.5.1 and §5.8.5.
    case malformedKey
    /// Others could forge signatures for the key: RSA below 2048 bits, or a point of small order.
    ///
    /// Spec: RFC 7518 §3.3, RFC 8725 §3.5.
    case weakKey
    /// The attestation has a format that is not accepted.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 21.
    case unsupportedAttestation
    /// The attestation has certificates.
    ///
    /// Spec: WebAuthn Level 3 §8.2.
    case attestationCertificates
    /// The attestation statement does not have the members of its format.
    ///
    /// Spec: WebAuthn Level 3 §8.7 and §8.2.
    case malformedAttestation
    /// The attestation claims another algorithm than that of the key.
    ///
    /// Spec: WebAuthn Level 3 §8.2.
    case attestationAlgorithm
    /// The credential's key did not sign the attestation that claims to be by it.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 22.
    case badAttestationSignature
    /// Nobody said who signs in: neither the authenticator nor, before, the caller.
    ///
    /// Spec: WebAuthn Level 3 §7.2, step 6.
    case missingUserHandle
    /// The passkey belongs to another user than the one who signs in.
    ///
    /// Spec: WebAuthn Level 3 §7.2, step 6.
    case wrongUser
    /// The passkey did not sign this.
    ///
    /// Spec: WebAuthn Level 3 §7.2, step 21.
    case badSignature
}
