import CountersignCore
import CountersignWire
import HTTPTypes
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 9440 §2.2, §3.2.
@Suite("From where a client's certificate is taken")
struct ClientCertificateFieldTests {
    private func certificate(
        from peer: String?, _ source: CertificateSource, _ values: [String]
    ) throws -> ClientCertificate? {
        var headers = HTTPFields()
        for value in values { headers.append(HTTPField(name: .clientCertificate, value: value)) }
        let proxies = TrustedProxies(
            networks: ["10.0.0.0/8"].compactMap { Network($0) }, certificates: source)
        return try proxies.certificate(from: peer.flatMap { IPAddress($0) }, headers)
    }

    @Test("A proxy is believed if it is trusted, and the operator has said what its word is worth")
    func believed() throws {
        let verified = ClientCertificate([1, 2, 3], isVerified: true)
        let unverified = ClientCertificate([1, 2, 3], isVerified: false)
        #expect(try certificate(from: "10.1.2.3", .proxy, [":AQID:"]) == verified)
        #expect(try certificate(from: "10.1.2.3", .unverified, [":AQID:"]) == unverified)
        #expect(try certificate(from: "192.0.2.1", .tls, [":AQID:"]) == unverified)
        for source in CertificateSource.allCases { #expect(try certificate(from: "10.1.2.3", source, []) == nil) }
    }

    @Test("Whoever else writes the field writes nothing, well-formed or not", arguments: [":AQID:", "odd"])
    func forged(_ value: String) throws {
        for source in [CertificateSource.proxy, .unverified] {
            #expect(try certificate(from: "192.0.2.1", source, [value]) == nil)
            #expect(try certificate(from: nil, source, [value]) == nil)
        }
        #expect(try certificate(from: "10.1.2.3", .off, [value]) == nil)
    }

    @Test(
        "RFC 9440 §2.2: what a trusted proxy writes is one byte sequence, once",
        arguments: [["odd"], [""], [":AQID:, :AQID:"], [":AQID:", ":AQID:"], [":AQID:", "odd"]])
    func malformed(_ values: [String]) throws {
        #expect(throws: MalformedRequest(description: "Client-Cert is malformed")) {
            try certificate(from: "10.1.2.3", .proxy, values)
        }
    }

    @Test("A server without TLS of its own does not start if certificates are to come from there")
    func withoutTLS() async throws {
        let folder = try TemporaryFolder()
        var settings = ServerSettings(dataFolder: folder.path("data"), port: 0)
        settings.proxies = TrustedProxies(certificates: .tls)
        await #expect(
            throws: StartError("Without a certificate of its own the server cannot ask for those of clients: name one.")
        ) {
            _ = try await Server(settings, environment: [:], logger: LogBook().logger)
        }
    }
}
