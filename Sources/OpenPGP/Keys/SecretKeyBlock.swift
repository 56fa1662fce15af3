public import Crypto
import Encodings

/// A certificate together with the private halves of its keys, in the format of `gpg --export-secret-keys`.
///
/// It exchanges keys in software with other programs. It never contains a key in hardware: a block may lack any of its
/// private keys, even the primary one, which is then stored elsewhere. Spec: RFC 9580 §10.2.
public struct SecretKeyBlock: Sendable {
    /// A private key in software.
    public enum Key: Sendable {
        /// Signs.
        case signing(P256.Signing.PrivateKey)
        /// Decrypts.
        case decryption(P256.KeyAgreement.PrivateKey)
    }

    /// The certificate.
    public let certificate: Certificate
    private let keys: Secret<[Fingerprint: Key]>

    /// A certificate with private keys.
    ///
    /// Throws ``OpenPGPError/noUsableKey`` for a private key whose public half is not in the certificate.
    public init(_ certificate: Certificate, keys: [Key]) throws(OpenPGPError) {
        var found: [Fingerprint: Key] = [:]
        for key in keys {
            guard let owner = certificate.keys.first(where: { key.belongs(to: $0.publicKey) }) else {
                throw .noUsableKey
            }
            found[owner.fingerprint] = key
        }
        self.certificate = certificate
        self.keys = Secret(found)
    }

    /// Reads a block.
    ///
    /// - Parameters:
    ///   - bytes: the binary block.
    ///   - passphrase: the passphrase that protects the keys; nil if there is none.
    public init(parsing bytes: some Collection<UInt8>, passphrase: String? = nil) throws(OpenPGPError) {
        guard bytes.count <= Certificate.maximumSize else { throw .tooLarge }
        var encoded: [UInt8] = []
        var keys: [Key] = []
        for packet in try Packet.sequence(Array(bytes)[...]) {
            guard packet.tag == .secretKey || packet.tag == .secretSubkey else {
                guard packet.tag != .publicKey, packet.tag != .publicSubkey else { throw .unexpectedPacket(packet.tag) }
                encoded.append(packet: packet.tag, packet.body)
                continue
            }
            var reader = ByteReader(packet.body)
            let publicKey = try PublicKey(reading: &reader, tag: packet.tag)
            let scalar = try SecretKeyMaterial.scalar(reading: &reader, of: packet.tag, passphrase: passphrase)
            // The passphrase does not protect the public fields: they are accepted only if they follow from the secret
            // ones.
            if let scalar {
                guard let key = Key(scalar, for: publicKey) else { throw .malformedPacket(packet.tag) }
                keys.append(key)
            }
            encoded.append(packet: packet.tag == .secretKey ? .publicKey : .publicSubkey, publicKey.body)
        }
        try self.init(try Certificate(parsing: encoded), keys: keys)
    }

    /// Reads an armored block.
    ///
    /// - Parameters:
    ///   - text: the armored block.
    ///   - passphrase: the passphrase that protects the keys; nil if there is none.
    public init(armored text: some StringProtocol, passphrase: String? = nil) throws(OpenPGPError) {
        try self.init(parsing: try Armor.decode(text, as: .privateKey), passphrase: passphrase)
    }

    /// The block as bytes.
    ///
    /// - Parameter passphrase: the passphrase that is to protect the keys; with nil, anybody who has the bytes can read
    ///   them.
    public func encoded(passphrase: String?) throws(OpenPGPError) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in try CertificateParts(certificate).parts {
            switch part.tag {
            case .publicKey, .publicSubkey:
                let key = keys.reveal()[try PublicKey(parsing: part.body).fingerprint]
                let fields = try SecretKeyMaterial.encoded(key?.scalar, passphrase: passphrase)
                bytes.append(packet: part.tag == .publicKey ? .secretKey : .secretSubkey, part.body + fields)
            default:
                bytes.append(packet: part.tag, part.body)
            }
            for signature in part.signatures { bytes.append(packet: .signature, signature) }
        }
        return bytes
    }

    /// The block in armor, in the format that gpg imports.
    ///
    /// - Parameter passphrase: the passphrase that is to protect the keys; with nil, anybody who has the text can read
    ///   them.
    public func armored(passphrase: String?) throws(OpenPGPError) -> String {
        Armor.encode(try encoded(passphrase: passphrase), as: .privateKey)
    }

    /// The pair of a signing key; nil if the block does not have its private half, or the key does not sign.
    public func signingKey(_ fingerprint: Fingerprint) -> SigningKeyPair? {
        guard case .signing(let key)? = keys.reveal()[fingerprint], let publicKey = publicKey(fingerprint) else {
            return nil
        }
        return SigningKeyPair(key, createdAt: publicKey.createdAt)
    }

    /// The pair of a decryption key; nil if the block does not have its private half, or the key does not decrypt.
    public func decryptionKey(_ fingerprint: Fingerprint) -> DecryptionKeyPair? {
        guard case .decryption(let key)? = keys.reveal()[fingerprint], let publicKey = publicKey(fingerprint),
            case .ecdh(_, let keyWrap) = publicKey.material
        else { return nil }
        return DecryptionKeyPair(key, createdAt: publicKey.createdAt, keyWrap: keyWrap)
    }

    private func publicKey(_ fingerprint: Fingerprint) -> PublicKey? {
        certificate.keys.first { $0.fingerprint == fingerprint }?.publicKey
    }
}

extension SecretKeyBlock.Key {
    /// The private key with this scalar, if it belongs to a public key.
    fileprivate init?(_ scalar: [UInt8], for publicKey: PublicKey) {
        switch publicKey.material {
        case .ecdsa:
            guard let key = try? P256.Signing.PrivateKey(rawRepresentation: scalar) else { return nil }
            self = .signing(key)
        case .ecdh:
            guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: scalar) else { return nil }
            self = .decryption(key)
        }
        guard belongs(to: publicKey) else { return nil }
    }

    fileprivate var scalar: [UInt8] {
        switch self {
        case .signing(let key): Array(key.rawRepresentation)
        case .decryption(let key): Array(key.rawRepresentation)
        }
    }

    fileprivate func belongs(to publicKey: PublicKey) -> Bool {
        switch (self, publicKey.material) {
        case (.signing(let key), .ecdsa(let other)): key.publicKey.rawRepresentation == other.rawRepresentation
        case (.decryption(let key), .ecdh(let other, _)): key.publicKey.rawRepresentation == other.rawRepresentation
        case (.signing, .ecdh), (.decryption, .ecdsa): false
        }
    }
}
