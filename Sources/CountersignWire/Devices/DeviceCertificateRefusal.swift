public import OpenPGP

/// Why a certificate is not one of a device.
public enum DeviceCertificateRefusal: Error, Equatable, Sendable {
    /// Not an OpenPGP certificate of the profile.
    case openPGP(OpenPGPError)
    /// The user ID is not the one that was asked for, or not the only one.
    case userID
    /// The keys or their flags are not those of a device: a primary key that certifies and signs, one subkey that
    /// authenticates, one that encrypts.
    case keys
    /// A key is made in the future or limited in time, or something in it is dated in the future or before its key.
    case time
    /// A key or user ID has other signatures than one binding, and one harmless revocation where it was replaced.
    case signatures
    /// Somebody else has signed it.
    case foreignSignature
    /// A signature in it says something that has no place there: a subpacket of this kind.
    case subpacket(UInt8)
    /// Two of its keys are the same point.
    case repeatedPoint
    /// What a signature in it covers of itself is longer than this many octets.
    case signatureSize(Int)
    /// It is larger than this many octets.
    case size(Int)

    /// The rule that is broken, in words, for who writes a device.
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
