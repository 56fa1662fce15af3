import Testing

@testable import OpenPGP

extension Certificate {
    /// The certificate with a revocation that a program hands out by itself, or together with what it revokes.
    func with(revocation bytes: [UInt8], of key: Fingerprint) throws -> Certificate {
        let packets = try Packet.sequence(bytes[...])
        guard let first = packets.first, first.tag == .signature else {
            return try merged(with: try Certificate(parsing: bytes))
        }
        let revoked = try #require(keys.first { $0.fingerprint == key })
        var parts = try CertificateParts(self)
        parts.append(try Signature(parsing: first.body), to: revoked.publicKey.body)
        return try Certificate(parsing: parts.encoded)
    }
}
