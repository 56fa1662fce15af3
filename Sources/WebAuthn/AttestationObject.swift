/// A new credential with what its authenticator says about itself.
///
/// Spec: WebAuthn Level 3 §6.5.4.
struct AttestationObject {
    private let format: String
    private let statement: CBORValue
    /// The authenticator data, not yet read.
    let authenticatorData: [UInt8]

    /// Reads an attestation object.
    ///
    /// Spec: WebAuthn Level 3 §7.1, step 13.
    init(parsing bytes: [UInt8]) throws(WebAuthnError) {
        let map: CBORValue
        do throws(CBORError) { map = try CBORValue(parsing: bytes) } catch { throw .cbor(error) }
        guard map.members?.count == 3, let format = map["fmt"]?.text, let statement = map["attStmt"],
            statement.members != nil, let authenticatorData = map["authData"]?.bytes
        else { throw .malformedAttestationObject }
        self.format = format
        self.statement = statement
        self.authenticatorData = authenticatorData
    }

    /// The kind of the attestation, which is verified.
    ///
    /// We ask for none, so a browser replaces every other statement by none, except one that the credential's own key
    /// signed. What comes here with certificates, or in another format, comes from no such browser; to take it for none
    /// would be to accept what nobody verified. Spec: WebAuthn Level 3 §7.1, steps 21 and 22.
    func verifiedKind(
        by key: CredentialPublicKey, clientDataHash: [UInt8]
    ) throws(WebAuthnError) -> VerifiedRegistration.Attestation {
        switch Array(format.utf8) {
        case Array("none".utf8):
            // Spec: WebAuthn Level 3 §8.7.
            // check: AttestationTests.noneWithContent
            guard statement.members?.isEmpty == true else { throw .malformedAttestation }
            return .none
        case Array("packed".utf8):
            // check: AttestationTests.certificates
            guard statement["x5c"] == nil else { throw .attestationCertificates }
            // Spec: WebAuthn Level 3 §8.2.
            guard statement.members?.count == 2, let algorithm = statement["alg"]?.integer,
                let signature = statement["sig"]?.bytes
            else { throw .malformedAttestation }
            // check: AttestationTests.algorithm
            guard algorithm == key.algorithm.rawValue else { throw .attestationAlgorithm }
            // check: AttestationTests.signature
            guard key.isValid(signature, for: authenticatorData + clientDataHash) else {
                throw .badAttestationSignature
            }
            return .byItself
        default: throw .unsupportedAttestation
        }
    }
}
