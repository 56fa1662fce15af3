import OpenPGP

/// The permitted form of a device's certificate.
///
/// Receipts stay valid only as long as every program accepts their certificate. So a certificate holds only what all of
/// these programs import, and judge as the server does: one binding of each key, without an end and not from the
/// future; one harmless revocation of each key that was replaced; and nothing that anybody else signed. Spec:
/// docs/protocol/enrollment.md, *Keys and certificate*; docs/decisions/0059-what-a-receipt-depends-on.md.
public enum DeviceCertificateForm {
    /// The greatest size of a certificate at enrollment, in octets.
    public static let sizeAtEnrollment = 4 * 1024
    /// The greatest size to which it may grow, in octets.
    public static let size = 32 * 1024
    /// The greatest size of a signature's hashed part, in octets.
    static let signatureSize = 512
    /// The greatest growth by one change, in octets, with a margin; ``changesLeft(in:)`` computes with it.
    static let growth = 1024
    /// How long ago, in seconds, a key may have been replaced when the server receives the change: the longest time
    /// that a change may be under way, and twice the difference of the clocks.
    static let longestChange: UnixSeconds = 420

    /// The subpackets of bindings: time, flags, preferences, features and issuer, as GnuPG, Sequoia and this module
    /// write them; notations; the back signature.
    private static let ofBindings: Set<UInt8> = [2, 7, 11, 16, 20, 21, 22, 23, 25, 27, 30, 32, 33, 34, 39]
    /// The subpackets of revocations: time, issuer and reason.
    private static let ofRevocations: Set<UInt8> = [2, 16, 29, 33]
    /// The subpackets of back signatures: time and issuer; salts.
    private static let ofBackSignatures: Set<UInt8> = [2, 16, 20, 33]
    private static let lifetimes: Set<UInt8> = [3, 9]

    /// The least number of further changes for which a certificate of this size has room.
    public static func changesLeft(in size: Int) -> Int { max(0, (Self.size - size) / growth) }

    /// Throws unless every part of a certificate has the permitted form.
    ///
    /// - Parameters:
    ///   - certificate: a certificate in the canonical encoding.
    ///   - limit: its greatest size.
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

    /// A back signature must be made after its key and before the binding that contains it.
    private static func checkBackSignature(
        of binding: Signature, by key: PublicKey
    ) throws(DeviceCertificateRefusal) {
        guard let bytes = binding.subpackets.embeddedSignature else { return }
        let back: Signature
        do { back = try Signature(parsing: bytes) } catch { throw .openPGP(error) }
        try check(back, ofBackSignatures, since: key.createdAt, latest: binding.createdAt)
        // The binding covers the back signature, so it cannot be brought into the canonical encoding any more.
        guard (try? back.canonical(by: key.fingerprint).body.count) ?? 0 >= back.body.count - fingerprintSize else {
            throw .signatures
        }
    }

    /// How much longer than canonical a back signature may be: it may name its key a second time.
    private static let fingerprintSize = 23
}

extension Certificate.Component {
    /// How many statements there must be: one for each user ID and subkey; that of the user ID serves for the primary
    /// key.
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
    /// Whether it makes a statement about a key and is not a revocation.
    var isStatement: Bool {
        switch type {
        case .keyRevocation, .subkeyRevocation, .certificationRevocation: false
        case .binary, .text, .genericCertification, .personaCertification, .casualCertification,
            .positiveCertification, .subkeyBinding, .primaryKeyBinding, .directKey:
            true
        }
    }
}
