import Crypto

/// The hash algorithm of a signature.
///
/// This module signs with SHA-256. It also reads the longer hashes of the family, because other programs prefer them.
/// Spec: RFC 9580 §9.5.
enum HashAlgorithm: UInt8 {
    case sha256 = 8
    case sha384 = 9
    case sha512 = 10

    /// Throws for broken hashes, and for those outside the profile.
    init(checking id: UInt8) throws(OpenPGPError) {
        if let algorithm = HashAlgorithm(rawValue: id) {
            self = algorithm
            return
        }
        // MD5, SHA-1 and RIPEMD-160.
        throw (1...3).contains(id) ? .weakHash(id) : .unsupportedHash(id)
    }

    /// The algorithm's name in a cleartext-signed message.
    ///
    /// Spec: RFC 9580 §9.5, the text names.
    var textName: String {
        switch self {
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }
}
