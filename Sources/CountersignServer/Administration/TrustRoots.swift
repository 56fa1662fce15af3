package import AsyncHTTPClient
import Foundation
import NIOSSL

/// The trusted root certificates: those in `SSL_CERT_FILE`, as in other programs, or else the system's.
package enum TrustRoots {
    /// Makes a client trust them.
    package static func apply(to configuration: inout HTTPClient.Configuration) {
        guard let file = ProcessInfo.processInfo.environment["SSL_CERT_FILE"], !file.isEmpty else { return }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(file)
        configuration.tlsConfiguration = tls
    }
}
