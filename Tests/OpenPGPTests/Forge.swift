import TestSupport
import Crypto
@testable import OpenPGP

/// Makes OpenPGP objects with every mistake, byte by byte where our own writer would refuse.
enum Forge {
    /// A packet of any type with a header of the current format.
    static func packet(_ tag: PacketTag, _ body: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(packet: tag, body)
        return bytes
    }

    /// A subpacket with its length.
    static func subpacket(_ type: UInt8, _ content: [UInt8], critical: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(packetLength: content.count + 1)
        return bytes + [critical ? type | 0x80 : type] + content
    }

    /// The creation time subpacket.
    static func created(_ time: UnixSeconds = Holder.time) -> [UInt8] {
        var content: [UInt8] = []
        content.append(uint32: time)
        return subpacket(2, content)
    }

    /// Encrypts any packets to a key.
    static func seal(_ packets: [UInt8], to recipient: PublicKey) throws -> [UInt8] {
        let key = SessionKey()
        return packet(.encryptedSessionKey, try key.encrypted(to: recipient))
            + packet(.protectedData, try ProtectedData.encrypt(packets, with: key))
    }

    /// The content of a signature packet whose two integers need not be a signature.
    static func signatureBody(
        version: UInt8 = 4, type: UInt8 = 0, algorithm: UInt8 = 19, hash: UInt8 = 8, hashed: [UInt8] = created(),
        unhashed: [UInt8] = [], prefix: [UInt8] = [0, 0], integers: [[UInt8]] = [[1], [1]]
    ) -> [UInt8] {
        var body = [version, type, algorithm, hash]
        body.append(uint16: hashed.count)
        body += hashed
        body.append(uint16: unhashed.count)
        body += unhashed + prefix
        for integer in integers { body.append(mpi: integer) }
        return body
    }

    /// A signature that verifies, over bytes as they are hashed, with any subpackets.
    static func signature(
        type: SignatureType, overHashed data: [UInt8], by key: SigningKeyPair, hash: HashAlgorithm = .sha256,
        hashed: [UInt8], unhashed: [UInt8] = []
    ) async throws -> [UInt8] {
        var header: [UInt8] = [4, type.rawValue, 19, hash.rawValue]
        header.append(uint16: hashed.count)
        header += hashed
        var trailer: [UInt8] = [4, 0xFF]
        trailer.append(uint32: UInt32(header.count))
        let input = data + header + trailer
        guard let privateKey = key.privateKey as? P256.Signing.PrivateKey else { throw OpenPGPError.noUsableKey }
        let (value, prefix) =
            switch hash {
            case .sha256: try signed(SHA256.hash(data: input), by: privateKey)
            case .sha384: try signed(SHA384.hash(data: input), by: privateKey)
            case .sha512: try signed(SHA512.hash(data: input), by: privateKey)
            }
        return signatureBody(
            type: type.rawValue, hash: hash.rawValue, hashed: hashed, unhashed: unhashed, prefix: prefix,
            integers: [Array(value.prefix(32)), Array(value.suffix(32))])
    }

    private static func signed(
        _ digest: some Digest, by key: P256.Signing.PrivateKey
    ) throws -> (value: [UInt8], prefix: [UInt8]) {
        (Array(try key.signature(for: digest).rawRepresentation), Array(digest.prefix(2)))
    }

    /// A session key packet that wraps anything, by the key derivation written out once more.
    ///
    /// Spec: RFC 9580 §11.5.
    static func sessionKeyBody(wrapping content: [UInt8], to recipient: PublicKey) throws -> [UInt8] {
        guard case .ecdh(let publicKey, _) = recipient.material else { throw OpenPGPError.wrongKeyFlags }
        let ephemeral = P256.KeyAgreement.PrivateKey()
        let secret = try ephemeral.sharedSecretFromKeyAgreement(with: publicKey)
        let wrapped = try AES.KeyWrap.wrap(
            SymmetricKey(data: content), using: SymmetricKey(data: derivedKey(secret, recipient.fingerprint)))
        var body: [UInt8] = [3] + recipient.fingerprint.keyID + [18]
        body.append(mpi: ephemeral.publicKey.x963Representation)
        return body + [UInt8(wrapped.count)] + wrapped
    }

    private static func derivedKey(_ secret: SharedSecret, _ fingerprint: Fingerprint) -> [UInt8] {
        let oid: [UInt8] = [8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
        let parameters = oid + [18, 3, 1, 8, 9] + Array("Anonymous Sender    ".utf8) + fingerprint.bytes
        return Array(SHA256.hash(data: [0, 0, 0, 1] + secret.withUnsafeBytes { Array($0) } + parameters))
    }
}
