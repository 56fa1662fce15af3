import Crypto
import Encodings

/// What the authenticator says about a ceremony.
///
/// Spec: WebAuthn Level 3 §6.1.
struct AuthenticatorData {
    /// The flags that have a meaning here; others are ignored.
    struct Flags: OptionSet {
        let rawValue: UInt8

        static let userPresent = Flags(rawValue: 1 << 0)
        static let userVerified = Flags(rawValue: 1 << 2)
        static let backupEligible = Flags(rawValue: 1 << 3)
        static let backedUp = Flags(rawValue: 1 << 4)
        static let hasCredential = Flags(rawValue: 1 << 6)
        static let hasExtensions = Flags(rawValue: 1 << 7)
    }

    /// A new credential.
    ///
    /// Spec: WebAuthn Level 3 §6.5.1.
    struct AttestedCredential {
        /// The model of the authenticator; often zeros.
        let aaguid: [UInt8]
        let id: CredentialID
        /// The COSE key, which is CBOR and not yet read as a key.
        let publicKey: [UInt8]
    }

    private let relyingPartyHash: [UInt8]
    let flags: Flags
    let signCount: UInt32
    let credential: AttestedCredential?

    /// Reads authenticator data; extensions must be a map, and are not looked at.
    init(parsing bytes: [UInt8]) throws(WebAuthnError) {
        guard bytes.count >= 37 else { throw .malformedAuthenticatorData }
        relyingPartyHash = Array(bytes[..<32])
        flags = Flags(rawValue: bytes[32])
        signCount = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var offset = 37
        credential = flags.contains(.hasCredential) ? try Self.credential(bytes, &offset) : nil
        if flags.contains(.hasExtensions) {
            // check: AuthenticatorDataTests.extensions
            guard try Self.skipValue(bytes, &offset).members != nil else { throw .malformedAuthenticatorData }
        }
        // check: AuthenticatorDataTests.lengths
        guard offset == bytes.count else { throw .malformedAuthenticatorData }
    }

    private static func credential(
        _ bytes: [UInt8], _ offset: inout Int
    ) throws(WebAuthnError) -> AttestedCredential {
        guard bytes.count >= offset + 18 else { throw .malformedAuthenticatorData }
        let aaguid = Array(bytes[offset..<offset + 16])
        let length = Int(bytes[offset + 16]) << 8 | Int(bytes[offset + 17])
        offset += 18
        guard bytes.count >= offset + length else { throw .malformedAuthenticatorData }
        let id = try CredentialID(Array(bytes[offset..<offset + length]))
        offset += length
        let start = offset
        _ = try skipValue(bytes, &offset)
        return AttestedCredential(aaguid: aaguid, id: id, publicKey: Array(bytes[start..<offset]))
    }

    private static func skipValue(_ bytes: [UInt8], _ offset: inout Int) throws(WebAuthnError) -> CBORValue {
        do throws(CBORError) {
            var reader = try CBORReader(bytes, from: offset)
            defer { offset = reader.offset }
            return try reader.value()
        } catch {
            throw .cbor(error)
        }
    }

    /// Refuses an answer for others, and one without the user.
    ///
    /// Spec: WebAuthn Level 3 §7.1, steps 14 to 17, and §7.2, steps 15 to 18.
    func check(relyingParty id: String) throws(WebAuthnError) {
        // check: AuthenticatorDataTests.relyingParty
        guard relyingPartyHash == Array(SHA256.hash(data: Array(id.utf8))) else { throw .wrongRelyingParty }
        // check: AuthenticatorDataTests.userPresent
        guard flags.contains(.userPresent) else { throw .userNotPresent }
        // check: AuthenticatorDataTests.userVerified
        guard flags.contains(.userVerified) else { throw .userNotVerified }
        // check: AuthenticatorDataTests.backup
        guard flags.contains(.backupEligible) || !flags.contains(.backedUp) else { throw .backedUpWithoutEligibility }
    }
}
