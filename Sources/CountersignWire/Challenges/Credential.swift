import Encodings
public import OpenPGP

/// What an answer proves, weakest first.
public enum Assurance: String, Comparable, CaseIterable, Sendable {
    /// Only that something was approved.
    case event
    /// The signature covers the challenge, but not its text.
    case challenge
    /// The signature covers everything that was shown.
    case receipt

    /// Weaker first.
    public static func < (left: Assurance, right: Assurance) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .event: 0
        case .challenge: 1
        case .receipt: 2
        }
    }
}

/// The credential of a device.
public enum Credential: Sendable {
    /// The keys of an OpenPGP certificate.
    case openPGP(DeviceKeys)
    /// JSON Web Keys, by which answers are signed as JWTs or as short texts.
    case jwk(DeviceJWKs)

    /// What its answers prove.
    public var assurance: Assurance {
        switch self {
        case .openPGP: .receipt
        case .jwk(let keys): keys.form == .event ? .event : .challenge
        }
    }

    /// What names the device's key to people: the fingerprint of the certificate, or 20 octets of the JWK's thumbprint.
    public var fingerprint: Fingerprint {
        switch self {
        case .openPGP(let keys): keys.primary.fingerprint
        case .jwk(let keys): keys.fingerprint
        }
    }
}

/// The evidence that is stored of an answer, so that others can judge it later.
public enum Evidence: Equatable, Sendable {
    /// A signed receipt: the text and its signature, with the certificate as it was at the time.
    case receipt(CleartextMessage, certificate: [UInt8])
    /// A signed JWT, with the device's keys as they were at the time: JSON, as ``DeviceJWKs`` reads it.
    case jwt(String, keys: [UInt8])
    /// A signed text that names no challenge: JSON with the text and the signature, and the device's keys as above.
    case event(String, keys: [UInt8])

    /// What it proves.
    public var assurance: Assurance {
        switch self {
        case .receipt: .receipt
        case .jwt: .challenge
        case .event: .event
        }
    }

    /// What is served of it: the message signed in the clear, the JWT, or the JSON of an event.
    package var text: String {
        switch self {
        case .receipt(let message, _): message.encoded
        case .jwt(let text, _), .event(let text, _): text
        }
    }

    /// Whether two are the same bytes.
    public static func == (one: Evidence, other: Evidence) -> Bool {
        switch (one, other) {
        case (.receipt(let message, let certificate), .receipt(let otherMessage, let otherCertificate)):
            message.encoded.hasSameBytes(as: otherMessage.encoded) && certificate == otherCertificate
        case (.jwt(let text, let keys), .jwt(let otherText, let otherKeys)),
            (.event(let text, let keys), .event(let otherText, let otherKeys)):
            text.hasSameBytes(as: otherText) && keys == otherKeys
        case (.receipt, _), (.jwt, _), (.event, _): false
        }
    }
}

/// An answer whose signature, signer and text were checked, from any kind of device.
public struct VerifiedAnswer: Sendable {
    /// The user's decision.
    public let decision: Decision
    /// When the user decided, by the device's clock.
    public let answeredAt: Timestamp
    /// SHA-256 of the data for a custom authenticator that the answer names; nil where it names none.
    package let customDataHash: [UInt8]?
    /// The evidence to store.
    public let evidence: Evidence

    package init(decision: Decision, answeredAt: Timestamp, customDataHash: [UInt8]? = nil, evidence: Evidence) {
        self.decision = decision
        self.answeredAt = answeredAt
        self.customDataHash = customDataHash
        self.evidence = evidence
    }
}

/// The keys of a device's certificate, by their purpose.
public struct DeviceKeys: Sendable {
    /// Certifies the other keys; signs receipts and denials.
    public let primary: CertifiedKey
    /// Signs HTTP requests and nothing else.
    public let authentication: CertifiedKey
    /// Opens the server's messages.
    public let encryption: CertifiedKey

    /// Keys whose certificate was checked before.
    public init(primary: CertifiedKey, authentication: CertifiedKey, encryption: CertifiedKey) {
        self.primary = primary
        self.authentication = authentication
        self.encryption = encryption
    }
}

extension DeviceKeys {
    /// The one user ID of a device's certificate.
    ///
    /// Spec: docs/protocol/enrollment.md, *Keys and certificate*.
    public static func userID(of user: UserID, enrollment: EnrollmentID, issuer: Issuer) -> String {
        "\(user) <\(enrollment)@\(issuer.host)>"
    }

    /// Takes the keys from a certificate, which must be exactly that of a device at its enrollment.
    public init(
        of certificate: Certificate, userID: String, now: UnixSeconds
    ) throws(DeviceCertificateRefusal) {
        guard certificate.userIDs.count == 1, certificate.userIDs[0].text.hasSameBytes(as: userID) else {
            throw .userID
        }
        guard certificate.primary.flags == [.certify, .sign], certificate.subkeys.count == 2,
            let authentication = certificate.subkeys.first(where: { $0.flags == .authenticate }),
            let encryption = certificate.subkeys.first(where: { $0.flags == .encrypt }),
            case .ecdsa = authentication.publicKey.material, case .ecdh = encryption.publicKey.material
        else { throw .keys }
        guard
            certificate.keys.allSatisfy({ key in
                key.expiresAt == nil && key.revokedAt == nil && key.publicKey.createdAt <= now
            })
        else { throw .time }
        self.init(primary: certificate.primary, authentication: authentication, encryption: encryption)
    }
}
