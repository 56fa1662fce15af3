import TestSupport
@testable import OpenPGP

/// The parts of a certificate, each a packet, to be put together rightly or wrongly.
struct CertificateForge {
    static let time = Holder.time

    let holder: Holder
    let name = Certificate.UserID("usr_1 <enr_1@login.example.com>")

    init() async throws {
        holder = try await Holder()
    }

    var primary: PublicKey { holder.primary.publicKey }
    var key: [UInt8] { Forge.packet(.publicKey, primary.body) }
    var userID: [UInt8] { Forge.packet(.userID, name.bytes) }

    func subkey(_ key: PublicKey) -> [UInt8] { Forge.packet(.publicSubkey, key.body) }

    /// A signature packet by the primary key unless another is given.
    func signature(
        _ type: SignatureType, over content: SignedContent, by signer: SigningKeyPair? = nil,
        at time: UnixSeconds = time, _ complete: (inout Subpackets) -> Void = { _ in }
    ) async throws -> [UInt8] {
        let signature = try await Signature.make(
            type, over: content, by: signer ?? holder.primary, at: time, complete)
        return Forge.packet(.signature, signature.body)
    }

    /// The certification of the user ID.
    func certification(
        by signer: SigningKeyPair? = nil, at time: UnixSeconds = time, flags: KeyFlags = [.certify, .sign],
        _ complete: (inout Subpackets) -> Void = { _ in }
    ) async throws -> [UInt8] {
        try await signature(.positiveCertification, over: .userID(name, of: primary), by: signer, at: time) {
            $0.keyFlags = flags
            complete(&$0)
        }
    }

    /// The binding of a subkey.
    func binding(
        of subkey: PublicKey, flags: KeyFlags, by signer: SigningKeyPair? = nil, at time: UnixSeconds = time,
        _ complete: (inout Subpackets) -> Void = { _ in }
    ) async throws -> [UInt8] {
        try await signature(.subkeyBinding, over: .subkey(subkey, of: primary), by: signer, at: time) {
            $0.keyFlags = flags
            complete(&$0)
        }
    }

    /// The primary key with its certified user ID: the shortest certificate.
    func head() async throws -> [UInt8] { key + userID + (try await certification()) }
}
