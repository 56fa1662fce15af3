public import OpenPGP

/// Why a certificate is not acceptable for a device.
public enum DeviceCertificateRefusal: Error, Equatable, Sendable {
    /// It is not an OpenPGP certificate of the profile.
    case openPGP(OpenPGPError)
    /// The user ID is not the required one, or not the only one.
    case userID
    /// The keys or their flags are not those of a device: a primary key that certifies and signs, one subkey that
    /// authenticates, one that encrypts.
    case keys
    /// A key is made in the future or limited in time, or something in it is dated in the future or before its key.
    case time
    /// A key or user ID has other signatures than one binding, and one harmless revocation where it was replaced.
    case signatures
    /// Somebody else has signed the certificate.
    case foreignSignature
    /// A signature in it has a subpacket of this kind, which is not permitted.
    case subpacket(UInt8)
    /// Two of its keys are the same point.
    case repeatedPoint
    /// The hashed part of a signature in it is longer than this many octets.
    case signatureSize(Int)
    /// It is larger than this many octets.
    case size(Int)

    /// The broken rule in words, for developers of devices.
    public var words: String {
        switch self {
        case .openPGP(let error): "the certificate cannot be read: \(error.words)"
        case .userID: "the one user ID must be that of the ticket"
        case .keys: "the keys or their flags are not those of a device"
        case .time: "a key is limited in time, or something is dated in the future or before its key"
        case .signatures: "the user ID and each subkey must have one self-signature and no other"
        case .foreignSignature: "somebody else has signed the certificate"
        case .subpacket(let type): "a self-signature has a subpacket of type \(type)"
        case .repeatedPoint: "two keys are the same point of the curve"
        case .signatureSize(let limit): "what a self-signature covers of itself has more than \(limit) octets"
        case .size(let limit): "the certificate has more than \(limit) octets"
        }
    }
}
