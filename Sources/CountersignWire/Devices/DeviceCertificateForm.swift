import OpenPGP

/// What a device's certificate may consist of.
///
/// Receipts are good for as long as their certificate is, in whichever program reads it. So it holds what each of them
/// imports and judges as the server does: one binding of each key, without an end and not from the future, one harmless
/// revocation of each key that was replaced, and nothing that anybody else signed. Spec: design 3.1 and 3.4.
public enum DeviceCertificateForm {
    /// How large a certificate may be at enrollment, in octets.
    public static let sizeAtEnrollment = 4 * 1024
    /// How large it may grow, in octets.
    public static let size = 32 * 1024
    /// How long the part of a signature may be that it covers, in octets.
    static let signatureSize = 512
    /// By how much one change lets it grow, in octets, with room to spare: what ``changesLeft(in:)`` reckons with.
    static let growth = 1024
    /// How long before the server hears of it a key may have been replaced, in seconds: as long as a change may be under
    /// way, and the clocks' difference twice.
    static let longestChange: UnixSeconds = 420

    /// Time, flags, preferences, features and issuer, as GnuPG, Sequoia and this module write them; notations, and in
    /// bindings the back signature.
    private static let ofBindings: Set<UInt8> = [2, 7, 11, 16, 20, 21, 22, 23, 25, 27, 30, 32, 33, 34, 39]
    /// Time, issuer and reason.
    private static let ofRevocations: Set<UInt8> = [2, 16, 29, 33]
    /// Time and issuer; salts.
    private static let ofBackSignatures: Set<UInt8> = [2, 16, 20, 33]
    private static let lifetimes: Set<UInt8> = [3, 9]

    /// How many more changes a certificate of this size can take at the least.
    public static func changesLeft(in size: Int) -> Int { max(0, (Self.size - size) / growth) }

    /// Throws unless every part of a certificate is as it may be.
    ///
    /// - Parameters:
    ///   - certificate: a certificate in the canonical encoding.
    ///   - limit: how large it may be.
    ///   - latest: the latest time that anything in it may be dated.
    static func check(
        _ certificate: Certificate, atMost limit: Int, latest: UnixSeconds
    ) throws(DeviceCertificateRefusal) {
        guard certificate.encoded.count <= limit else { throw .size(limit) }
        let keys = certificate.keys.map(\.publicKey)
        guard Set(keys.map(\.point)).count == keys.count else { throw .repeatedPoint }
        let primary = certificate.primary.publicKey
        for component in certificate.components {
            guard component.foreignSignatures == 0 else { throw .foreignSignature }
            guard component.signatures.count(where: { $0.isStatement }) == component.statements,
                component.signatures.count(where: { !$0.isStatement }) <= component.revocations
            else { throw .signatures }
            let made = max(primary.createdAt, component.key?.createdAt ?? 0)
            for signature in component.signatures {
                try check(signature, signature.isStatement ? ofBindings : ofRevocations, since: made, latest: latest)
                if signature.isStatement, let key = component.key {
                    try checkBackSignature(of: signature, by: key)
                } else {
                    guard signature.subpackets.embeddedSignature == nil,
                        signature.isStatement
                            || signature.subpackets.revocationReason?.keepsEarlierSignatures == true
                    else { throw .signatures }
                }
            }
        }
    }

    private static func check(
        _ signature: Signature, _ admitted: Set<UInt8>, since: UnixSeconds, latest: UnixSeconds
    ) throws(DeviceCertificateRefusal) {
        guard signature.hashedSize <= signatureSize else { throw .signatureSize(signatureSize) }
        for subpacket in signature.hashedSubpackets {
            guard !lifetimes.contains(subpacket.type) else { throw .time }
            guard admitted.contains(subpacket.type) else { throw .subpacket(subpacket.type) }
        }
        let (fingerprint, keyID) = (signature.subpackets.issuer, signature.subpackets.issuerKeyID)
        guard fingerprint == nil || keyID == nil || fingerprint?.keyID == keyID else { throw .signatures }
        guard signature.createdAt >= since, signature.createdAt <= latest else { throw .time }
    }

    /// A back signature is made before the binding that holds it, after its key.
    private static func checkBackSignature(
        of binding: Signature, by key: PublicKey
    ) throws(DeviceCertificateRefusal) {
        guard let bytes = binding.subpackets.embeddedSignature else { return }
        let back: Signature
        do { back = try Signature(parsing: bytes) } catch { throw .openPGP(error) }
        try check(back, ofBackSignatures, since: key.createdAt, latest: binding.createdAt)
        // What the binding covers cannot be put into the canonical encoding any more.
        guard (try? back.canonical(by: key.fingerprint).body.count) ?? 0 >= back.body.count - fingerprintSize else {
            throw .signatures
        }
    }

    /// How much longer a back signature may be than in the canonical encoding: it may name its key a second time.
    private static let fingerprintSize = 23
}

extension Certificate.Component {
    /// How many statements there must be: one of each user ID and subkey, and of the primary key that of the user ID.
    fileprivate var statements: Int {
        switch subject {
        case .primary: 0
        case .userID, .subkey: 1
        }
    }

    /// How many revocations there may be.
    fileprivate var revocations: Int {
        switch subject {
        case .primary, .userID: 0
        case .subkey: 1
        }
    }
}

extension Signature {
    /// Whether it states something of a key, and does not take it back.
    var isStatement: Bool {
        switch type {
        case .keyRevocation, .subkeyRevocation, .certificationRevocation: false
        case .binary, .text, .genericCertification, .personaCertification, .casualCertification,
            .positiveCertification, .subkeyBinding, .primaryKeyBinding, .directKey:
            true
        }
    }
}
