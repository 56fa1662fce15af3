package import CountersignWire

/// Authenticates a client by the certificate of its connection (`tls_client_auth`, `self_signed_tls_client_auth`).
///
/// Spec: RFC 8705 §2.
package enum AuthenticateByCertificate {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client may authenticate by this certificate; it is not disabled.
        case authenticated
        /// The client has other certificates, or none, or is disabled.
        case refused
    }

    /// Authenticates the client that a request names, and that was read for it with how it uses the provider.
    package static func authenticate(
        _ client: Client, _ party: RelyingParty, by certificate: ClientCertificate
    ) -> Outcome {
        // check: CertificateClientTests.disabled
        guard client.disabledAt == nil else { return .refused }
        // check: StrictCertificateTests.refreshToken
        guard party.certificate.map(certificate.fits) == true else { return .refused }
        return .authenticated
    }
}
