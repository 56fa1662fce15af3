package import CountersignWire

/// Authenticates a client by the certificate of its connection (`tls_client_auth`, `self_signed_tls_client_auth`).
///
/// Spec: RFC 8705 §2.
package enum AuthenticateByCertificate {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client may authenticate by this certificate; it is not disabled.
        case authenticated
        /// The client has other certificates, or none, or is disabled; or there is no such client.
        case refused
    }

    /// Authenticates the client that a request names.
    ///
    /// - Throws: ``StoreError``.
    package static func authenticate(
        _ id: ClientID, by certificate: ClientCertificate, ports: Ports
    ) async throws -> Outcome {
        let (client, party) = try await ports.store.read { reader in
            (try reader.clients.find(id), try reader.relyingParties.find(id))
        }
        // check: CertificateClientTests.disabled
        guard client.map({ $0.disabledAt == nil }) == true else { return .refused }
        // check: StrictCertificateTests.refreshToken
        guard party?.certificate.map(certificate.fits) == true else { return .refused }
        return .authenticated
    }
}
