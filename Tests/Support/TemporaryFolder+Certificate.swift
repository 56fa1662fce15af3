extension TemporaryFolder {
    /// No certificate could be made.
    private struct NoCertificate: Error {
        let reason: String
    }

    /// Writes a self-signed certificate for a server on this machine, and its key: `tls.pem` and `tls.key`.
    package func writeCertificate() async throws {
        guard let openssl = Program.path(of: "openssl") else { throw NoCertificate(reason: "openssl is missing") }
        let made = try await RunningProgram.run(
            openssl,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                path("tls.key"), "-out", path("tls.pem"), "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1",
            ])
        guard made.status == 0 else { throw NoCertificate(reason: made.errors) }
    }
}
