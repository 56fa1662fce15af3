package import OpenPGP

/// The issuer's own keys, and the bootstrap token.
///
/// All throw ``StoreError``.
package protocol KeyStore {
    func bootstrapToken() throws -> BootstrapToken?
    /// The issuer's own keys.
    func issuerKeys() throws -> IssuerKeyMaterial
    /// Replaces the issuer's certificate and keeps its keys from being changed by others until the transaction ends.
    ///
    /// - Parameters:
    ///   - known: the certificate as it was read.
    ///   - certificate: the one to be; nil to leave it as it is.
    /// - Returns: false when it is another than the known one by now; nothing was done then.
    func replaceCertificate(_ known: Certificate, by certificate: Certificate?) throws -> Bool
    func put(_ key: IssuerKey) throws
    func delete(_ key: IssuerKey) throws
    func put(_ token: BootstrapToken) throws
}
