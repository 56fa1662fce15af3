package import AsyncHTTPClient
import Foundation
import NIOSSL

/// Whose certificates are believed: those of `SSL_CERT_FILE`, as other programs have it, else the system's.
package enum TrustRoots {
    /// Has a client believe them.
    package static func apply(to configuration: inout HTTPClient.Configuration) {
        guard let file = ProcessInfo.processInfo.environment["SSL_CERT_FILE"], !file.isEmpty else { return }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(file)
        configuration.tlsConfiguration = tls
    }
}
