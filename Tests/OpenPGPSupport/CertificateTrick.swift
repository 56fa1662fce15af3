import Crypto
package import TestSupport

@testable package import OpenPGP

/// Certificates of a device that are right for us and not, or not for good, for some program that verifies receipts; one
/// trick each.
///
/// Spec: docs/protocol/enrollment.md, *Keys and certificate*.
package enum CertificateTrick: String, CaseIterable, Sendable {
    /// None.
    case none
    // Which certification counts changes with time.
    case secondCertification, secondBinding, directKey, bindingInFiftyYears, bindingInTwoMinutes, bindingBeforeKey
    case lifetimeOfSignature, lifetimeOfKey
    // What some program does not import.
    case unknownSubpacket, unknownNote, longNotation, strangersCertification, strangersSignatureByRSA
    // What one key proves, another proves, too.
    case onePointTwice

    /// What the server says about it.
    package var detail: String? {
        switch self {
        case .none: nil
        case .secondCertification, .secondBinding, .directKey:
            "the user ID and each subkey must have one self-signature and no other"
        case .bindingInFiftyYears, .bindingInTwoMinutes, .bindingBeforeKey, .lifetimeOfSignature, .lifetimeOfKey:
            "a key is limited in time, or something is dated in the future or before its key"
        // The whole of it is looked at first.
        case .unknownSubpacket: "the certificate has more than 4096 octets"
        case .unknownNote: "a self-signature has a subpacket of type 101"
        case .longNotation: "what a self-signature covers of itself has more than 512 octets"
        case .strangersCertification, .strangersSignatureByRSA: "somebody else has signed the certificate"
        case .onePointTwice: "two keys are the same point of the curve"
        }
    }

    /// The certificate.
    ///
    /// - Parameters:
    ///   - holder: whose keys it is of.
    ///   - userID: its user ID.
    ///   - now: when everything of it is made that is not made at another time.
    package func encoded(of holder: Holder, userID text: String, at now: UnixSeconds) async throws -> [UInt8] {
        let primary = holder.primary.publicKey
        let userID = Certificate.UserID(text)
        let authentication = holder.authentication.publicKey
        var encryption = holder.encryption.publicKey
        if self == .onePointTwice, case .ecdsa(let key) = authentication.material {
            let same = try P256.KeyAgreement.PublicKey(x963Representation: key.x963Representation)
            encryption = PublicKey(.ecdh(same, keyWrap: .aes256), createdAt: encryption.createdAt)
        }
        var bytes: [UInt8] = []
        bytes.append(packet: .publicKey, primary.body)
        if self == .directKey {
            try await bytes.sign(.directKey, .key(primary), by: holder.primary, at: now) {
                $0.keyFlags = [.certify, .sign]
            }
        }
        bytes.append(packet: .userID, userID.bytes)
        let certified = SignedContent.userID(userID, of: primary)
        if self == .secondCertification {
            try await bytes.sign(.positiveCertification, certified, by: holder.primary, at: now) {
                $0.keyFlags = [.certify, .sign]
                $0.keyLifetime = 1
            }
        }
        try await bytes.sign(
            .positiveCertification, certified, by: holder.primary,
            at: self == .secondCertification ? 4_102_444_800 : now
        ) {
            $0.keyFlags = [.certify, .sign]
            if self == .longNotation {
                $0.notations = [Notation(name: "n@example.com", value: String(repeating: "x", count: 500))]
            }
            if self == .lifetimeOfSignature { $0.lifetime = 3600 }
        }
        switch self {
        case .strangersCertification:
            let stranger = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)
            try await bytes.sign(.genericCertification, certified, by: stranger, at: now) { _ in }
        case .strangersSignatureByRSA:
            bytes.append(packet: .signature, [4, 0x10, 1, 8, 0, 0, 0, 0, 0, 0, 0, 1, 1])
        default: break
        }
        bytes.append(packet: .publicSubkey, authentication.body)
        let bound = SignedContent.subkey(authentication, of: primary)
        let time =
            switch self {
            case .bindingInFiftyYears: now + 1_577_847_600
            case .bindingInTwoMinutes: now + 120
            case .bindingBeforeKey: authentication.createdAt - 1
            default: now
            }
        if self == .unknownSubpacket || self == .unknownNote {
            let hashed =
                HandmadeSignature.seconds(2, now) + HandmadeSignature.key(33, primary.fingerprint)
                + HandmadeSignature.subpacket(27, [0x20])
                + HandmadeSignature.subpacket(101, [UInt8](repeating: 1, count: self == .unknownNote ? 1 : 12_000))
            bytes.append(
                packet: .signature,
                try await HandmadeSignature.make(.subkeyBinding, over: bound, by: holder.primary, hashed: hashed).body)
        } else {
            for _ in 0..<(self == .secondBinding ? 2 : 1) {
                try await bytes.sign(.subkeyBinding, bound, by: holder.primary, at: time) {
                    $0.keyFlags = .authenticate
                    if self == .lifetimeOfKey { $0.keyLifetime = 3600 }
                }
            }
        }
        bytes.append(packet: .publicSubkey, encryption.body)
        let decrypts = SignedContent.subkey(encryption, of: primary)
        try await bytes.sign(.subkeyBinding, decrypts, by: holder.primary, at: now) { $0.keyFlags = .encrypt }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func sign(
        _ type: SignatureType, _ content: SignedContent, by key: SigningKeyPair, at time: UnixSeconds,
        _ complete: (inout Subpackets) -> Void
    ) async throws {
        append(packet: .signature, try await Signature.make(type, over: content, by: key, at: time, complete).body)
    }
}
