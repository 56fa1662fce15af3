import CountersignWire
import Encodings
import JOSE
import OpenPGP

/// The data that a device stores for an enrollment, besides its keys.
struct StoredEnrollment: Sendable {
    /// The name of the vault's record.
    static let record = "enrollment"
    private static let version: Int64 = 1

    let id: EnrollmentID
    let user: UserID
    let issuer: Issuer
    /// When the keys were made; their fingerprints depend on this time.
    let createdAt: UnixSeconds
    /// The device's own certificate, without the keys of its PINs.
    var certificate: Certificate
    /// The issuer's certificate, whose primary key is pinned.
    var serverCertificate: Certificate
    /// When the issuer's certificate was fetched.
    var serverCertificateAt: Timestamp
    /// The issuer's keys for push envelopes.
    var pushKeys: JWKSet

    var json: JSONValue {
        .members([
            "v": .integer(Self.version), "enrollment": .string("\(id)"), "user": .string("\(user)"),
            "issuer": .string("\(issuer)"), "created_at": .integer(Int64(createdAt)),
            "certificate": .string(Base64.encode(certificate.encoded)),
            "server_certificate": .string(Base64.encode(serverCertificate.encoded)),
            "server_certificate_at": .integer(serverCertificateAt.milliseconds), "push_keys": pushKeys.json,
        ])
    }

    init(
        id: EnrollmentID, user: UserID, issuer: Issuer, createdAt: UnixSeconds, certificate: Certificate,
        serverCertificate: Certificate, serverCertificateAt: Timestamp, pushKeys: JWKSet
    ) {
        self.id = id
        self.user = user
        self.issuer = issuer
        self.createdAt = createdAt
        self.certificate = certificate
        self.serverCertificate = serverCertificate
        self.serverCertificateAt = serverCertificateAt
        self.pushKeys = pushKeys
    }

    init(_ bytes: [UInt8]) throws(CountersignError) {
        func certificate(_ value: JSONValue?) -> Certificate? {
            value?.string.flatMap { Base64.decode($0) }.flatMap { try? Certificate(parsing: $0) }
        }
        guard let json = try? JSONValue(parsing: bytes), json["v"] == .integer(Self.version),
            let id = json["enrollment"]?.string.flatMap({ EnrollmentID($0) }),
            let user = json["user"]?.string.flatMap({ UserID($0) }),
            let issuer = json["issuer"]?.string.flatMap({ Issuer($0) }),
            let createdAt = json["created_at"]?.integer,
            let own = certificate(json["certificate"]), let server = certificate(json["server_certificate"]),
            let pushKeys = json["push_keys"].flatMap({ try? JWKSet($0) })
        else { throw .vault("the record of an enrollment is damaged or of a newer version") }
        self.init(
            id: id, user: user, issuer: issuer, createdAt: UnixSeconds(clamping: createdAt), certificate: own,
            // An earlier version of the app stored no time of fetching.
            serverCertificate: server,
            serverCertificateAt: Timestamp(milliseconds: json["server_certificate_at"]?.integer ?? 0),
            pushKeys: pushKeys)
    }
}
