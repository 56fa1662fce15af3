package import OpenPGP

/// The issuer's own keys, and the bootstrap token.
///
/// All functions throw ``StoreError``.
package protocol KeyStore {
    func bootstrapToken() throws -> BootstrapToken?
    /// The issuer's own keys and certificate.
    func issuerKeys() throws -> IssuerKeyMaterial
    /// Replaces the issuer's certificate, and keeps others from changing the issuer's keys until the transaction ends.
    ///
    /// - Parameters:
    ///   - known: the certificate that the caller has read.
    ///   - certificate: the new certificate; nil to leave the certificate as it is.
    /// - Returns: false if the stored certificate is not the known one; then nothing was done.
    func replaceCertificate(_ known: Certificate, by certificate: Certificate?) throws -> Bool
    func put(_ key: IssuerKey) throws
    func delete(_ key: IssuerKey) throws
    func put(_ token: BootstrapToken) throws
}
