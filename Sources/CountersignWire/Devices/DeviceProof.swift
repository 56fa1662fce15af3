public import Crypto

/// What shows that a call comes from a device: read, and not yet verified.
public protocol DeviceProof: Sendable {
    /// Whose key it says it was made by: an enrollment's id, or a certificate's fingerprint.
    var keyID: String { get }
    /// When it says it was made, in seconds since 1970.
    var created: Int64 { get }
    /// What no other proof by the same key has.
    var nonce: String { get }

    /// Throws unless it was made by this key.
    func verify(by key: P256.Signing.PublicKey) throws(DeviceProofError)
}

/// Why a proof does not show that a call comes from a device.
public enum DeviceProofError: Error, Equatable, Sendable {
    /// It is not made as a proof of its kind is.
    case malformed
    /// It does not cover exactly the parts of the call that it must; the value names the part.
    case coverage(String)
    /// It was made for other content.
    case otherContent
    /// It names a key that is not the caller's.
    case otherKey
    /// It does not verify.
    case invalid
}
