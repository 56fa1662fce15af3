import Crypto

/// The key of one message, and its encryption to the holder of an ECDH key.
///
/// Spec: RFC 9580 §5.1.5, §11.5.
struct SessionKey {
    static let aes256: UInt8 = 9
    private static let ecdh: UInt8 = 18
    private static let paddedSize = 40

    let key: SymmetricKey

    /// A new random key for AES-256.
    init() {
        key = SymmetricKey(size: .bits256)
    }

    private init(_ key: SymmetricKey) {
        self.key = key
    }

    /// The content of a version 3 session key packet for one recipient.
    func encrypted(to recipient: PublicKey) throws(OpenPGPError) -> [UInt8] {
        guard case .ecdh(let publicKey, let keyWrap) = recipient.material else { throw .wrongKeyFlags }
        let ephemeral = Self.ephemeralKey()
        guard let secret = try? ephemeral.sharedSecretFromKeyAgreement(with: publicKey),
            let wrapped = try? AES.KeyWrap.wrap(
                SymmetricKey(data: padded()), using: Self.wrappingKey(secret, keyWrap, recipient))
        else { throw .noUsableKey }
        var body: [UInt8] = [3]
        body += recipient.fingerprint.keyID
        body.append(Self.ecdh)
        body.append(mpi: Array(ephemeral.publicKey.x963Representation))
        body.append(UInt8(wrapped.count))
        body += wrapped
        return body
    }

    /// A key for one agreement.
    ///
    /// `P256.KeyAgreement.PrivateKey()` signs something and verifies it to test the new key, which costs more than the
    /// agreement itself. A random number below the order is just as good a key; another number is refused, and a new
    /// one is drawn. Spec: FIPS 186-5 A.2.2.
    private static func ephemeralKey() -> P256.KeyAgreement.PrivateKey {
        while true {
            let number = SymmetricKey(size: .bits256)
            if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: number) { return key }
        }
    }

    /// Decrypts a session key packet.
    static func decrypted(
        from body: ArraySlice<UInt8>, with recipient: DecryptionKeyPair
    ) async throws -> SessionKey {
        let (ephemeral, wrapped) = try encryptedParts(body)
        guard case .ecdh(_, let keyWrap) = recipient.publicKey.material,
            let secret = try? await recipient.privateKey.sharedSecret(with: ephemeral),
            let padded = try? AES.KeyWrap.unwrap(wrapped, using: wrappingKey(secret, keyWrap, recipient.publicKey))
        else { throw OpenPGPError.decryptionFailed }
        return SessionKey(try unpadded(padded.withUnsafeBytes { Array($0) }))
    }

    /// The key ID to which a session key packet is addressed; nil for an unsupported version or algorithm.
    static func recipientKeyID(of body: ArraySlice<UInt8>) throws(OpenPGPError) -> [UInt8] {
        var reader = ByteReader(body)
        let version = try reader.byte()
        guard version == 3 else { throw .unsupportedVersion(.encryptedSessionKey, version: version) }
        return Array(try reader.bytes(8))
    }

    private static func encryptedParts(
        _ body: ArraySlice<UInt8>
    ) throws(OpenPGPError) -> (P256.KeyAgreement.PublicKey, ArraySlice<UInt8>) {
        var reader = ByteReader(body.dropFirst(9))
        let algorithm = try reader.byte()
        guard algorithm == ecdh else { throw .unsupportedKeyAlgorithm(algorithm) }
        let point = try reader.mpi(atMost: 515, in: .encryptedSessionKey)
        let wrapped = try reader.bytes(Int(try reader.byte()))
        guard reader.isAtEnd, let ephemeral = try? P256.KeyAgreement.PublicKey(x963Representation: point) else {
            throw .malformedPacket(.encryptedSessionKey)
        }
        return (ephemeral, wrapped)
    }

    /// Cipher, key and checksum, padded so that the length does not reveal the cipher.
    ///
    /// Spec: RFC 9580 §11.5.
    private func padded() -> [UInt8] {
        let bytes = key.withUnsafeBytes { Array($0) }
        var message = [Self.aes256] + bytes
        message.append(uint16: bytes.checksum)
        let padding = Self.paddedSize - message.count
        return message + [UInt8](repeating: UInt8(padding), count: padding)
    }

    private static func unpadded(_ message: [UInt8]) throws(OpenPGPError) -> SymmetricKey {
        guard let padding = message.last, padding > 0, message.count >= Int(padding) + 3,
            message.suffix(Int(padding)).allSatisfy({ $0 == padding })
        else { throw .decryptionFailed }
        let content = message.dropLast(Int(padding))
        let key = Array(content.dropFirst().dropLast(2))
        guard let cipher = content.first, content.suffix(2).reduce(0, { $0 << 8 | Int($1) }) == key.checksum else {
            throw .decryptionFailed
        }
        guard cipher == aes256 else { throw .unsupportedCipher(cipher) }
        guard key.count == 32 else { throw .decryptionFailed }
        return SymmetricKey(data: key)
    }

    /// OpenPGP's key derivation: it hashes the counter, then the shared secret, then its parameters with the
    /// fingerprint of the recipient's subkey.
    ///
    /// Spec: RFC 9580 §11.5.
    private static func wrappingKey(
        _ secret: SharedSecret, _ keyWrap: PublicKey.KeyWrap, _ recipient: PublicKey
    ) -> SymmetricKey {
        var hash = SHA256()
        hash.update(data: [0, 0, 0, 1])
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        var parameters = [UInt8(PublicKey.curveOID.count)] + PublicKey.curveOID
        parameters += [ecdh, 3, 1, HashAlgorithm.sha256.rawValue, keyWrap.rawValue]
        parameters += Array("Anonymous Sender    ".utf8)
        parameters += recipient.fingerprint.bytes
        hash.update(data: parameters)
        return SymmetricKey(data: Array(hash.finalize()).prefix(keyWrap == .aes128 ? 16 : 32))
    }
}
