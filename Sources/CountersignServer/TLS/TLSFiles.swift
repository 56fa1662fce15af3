import CountersignCore
import Foundation
import NIOSSL

/// The files with a server's certificate and its private key.
package struct TLSFiles: Hashable, Sendable {
    /// The file with the certificate chain, the server's own certificate first.
    package var certificate: String
    /// The file with the private key.
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Reads both files.
    ///
    /// Allows only TLS 1.2 and newer, ephemeral keys and authenticated encryption, and of 1.2 the suites that are
    /// recommended. Spec: RFC 9325 §3.1.1, §4.1, §4.2.
    ///
    /// - Parameter asksForCertificates: whether to ask callers for certificates of their own, which they may leave out.
    /// - Throws: ``StartError`` that names the file and what to do.
    func context(askingForCertificates asksForCertificates: Bool = false) throws -> NIOSSLContext {
        let chain = try chain()
        guard let key = try? NIOSSLPrivateKey(file: key, format: .pem) else {
            throw StartError("\(key) cannot be read as a private key in PEM that is not encrypted.")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        ]
        configuration.applicationProtocols = ["http/1.1"]
        if asksForCertificates {
            configuration.certificateVerification = .optionalVerification
            configuration.trustRoots = .certificates([])
        }
        guard let context = try? NIOSSLContext(configuration: configuration) else {
            throw StartError("\(self.key) is not the key of the certificate in \(certificate).")
        }
        return context
    }

    /// The SHA-256, in base64url, of the first certificate in a file.
    ///
    /// - Throws: ``StartError`` that names the file.
    package static func thumbprint(inFile path: String) throws -> String {
        guard let certificate = try? NIOSSLCertificate.fromPEMFile(path).first,
            let bytes = try? certificate.toDERBytes()
        else { throw StartError("\(path) cannot be read as a certificate in PEM.") }
        return ClientCertificate(bytes, isVerified: false).thumbprint
    }

    /// The certificate chain, the server's own certificate first.
    func chain() throws -> [NIOSSLCertificate] {
        guard let chain = try? NIOSSLCertificate.fromPEMFile(certificate), !chain.isEmpty else {
            throw StartError("\(certificate) cannot be read as a certificate in PEM.")
        }
        return chain
    }
}
