import Crypto
import Encodings
@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §10.2: secret key blocks")
struct SecretKeyBlockTests {
    private let signing = P256.Signing.PrivateKey()
    private let authentication = P256.Signing.PrivateKey()
    private let decryption = P256.KeyAgreement.PrivateKey()
    private let certificate: Certificate
    private let block: SecretKeyBlock

    init() async throws {
        let pair = DecryptionKeyPair(decryption, createdAt: Holder.time, keyWrap: .aes128)
        certificate = try await Certificate.make(
            primary: SigningKeyPair(signing, createdAt: Holder.time), flags: [.certify, .sign],
            userID: "a <a@example.com>",
            subkeys: [
                .authentication(SigningKeyPair(authentication, createdAt: Holder.time)), .encryption(pair.publicKey),
            ], at: Holder.time)
        block = try SecretKeyBlock(
            certificate, keys: [.signing(signing), .signing(authentication), .decryption(decryption)])
    }

    private func expectWhole(_ read: SecretKeyBlock) throws {
        #expect(read.certificate.encoded == certificate.encoded)
        let keys = certificate.keys.map(\.fingerprint)
        let primary = try #require(read.signingKey(keys[0]))
        #expect(primary.publicKey.fingerprint == keys[0])
        #expect((primary.privateKey as? P256.Signing.PrivateKey)?.rawRepresentation == signing.rawRepresentation)
        let second = try #require(read.signingKey(keys[1]))
        #expect((second.privateKey as? P256.Signing.PrivateKey)?.rawRepresentation == authentication.rawRepresentation)
        let third = try #require(read.decryptionKey(keys[2]))
        #expect(third.publicKey.fingerprint == keys[2])
        #expect(
            (third.privateKey as? P256.KeyAgreement.PrivateKey)?.rawRepresentation == decryption.rawRepresentation)
        #expect(read.signingKey(keys[2]) == nil && read.decryptionKey(keys[0]) == nil)
    }

    @Test("All keys come back, with and without a passphrase, binary and armored", arguments: [nil, "", "pass é"])
    func roundTrip(passphrase: String?) throws {
        let (bytes, text) = (try block.encoded(passphrase: passphrase), try block.armored(passphrase: passphrase))
        try expectWhole(try SecretKeyBlock(parsing: bytes, passphrase: passphrase))
        try expectWhole(try SecretKeyBlock(armored: text, passphrase: passphrase))
        #expect(text.hasPrefix("-----BEGIN PGP PRIVATE KEY BLOCK-----\n"))
        for key in [signing.rawRepresentation, authentication.rawRepresentation, decryption.rawRepresentation] {
            let isReadable = bytes.firstRange(of: Array(key).drop { $0 == 0 }) != nil
            #expect(isReadable == (passphrase == nil))
        }
    }

    @Test("RFC 9580 §3.7.2.1: a wrong passphrase and a missing one are refused as what they are")
    func passphrases() throws {
        let bytes = try block.encoded(passphrase: "right")
        #expect(throws: OpenPGPError.passphraseNeeded) { try SecretKeyBlock(parsing: bytes) }
        for wrong in ["", "Right", "right ", "righ"] {
            #expect(throws: OpenPGPError.wrongPassphrase) { try SecretKeyBlock(parsing: bytes, passphrase: wrong) }
        }
    }

    @Test("A key that is kept elsewhere is missing, and the others are there")
    func keptElsewhere() throws {
        let partial = try SecretKeyBlock(certificate, keys: [.signing(authentication)])
        for passphrase in [nil, "secret"] {
            let read = try SecretKeyBlock(
                parsing: try partial.encoded(passphrase: passphrase), passphrase: passphrase)
            #expect(read.certificate.encoded == certificate.encoded)
            #expect(certificate.keys.map { read.signingKey($0.fingerprint) != nil } == [false, true, false])
            #expect(read.decryptionKey(certificate.keys[2].fingerprint) == nil)
        }
    }

    @Test("A private key that is not of the certificate is refused")
    func foreignKeys() throws {
        for key in [SecretKeyBlock.Key.signing(.init()), .decryption(.init())] {
            #expect(throws: OpenPGPError.noUsableKey) { try SecretKeyBlock(certificate, keys: [key]) }
        }
    }

    @Test("Nothing that prints a block shows a key")
    func printing() {
        var dumped = "\(block) \(String(reflecting: block))"
        dump(block, to: &dumped)
        for key in [signing.rawRepresentation, authentication.rawRepresentation, decryption.rawRepresentation] {
            #expect(!dumped.contains(Hex.encode(Array(key))))
            #expect(!dumped.contains(Array(key.prefix(4)).map(String.init).joined(separator: ", ")))
        }
        #expect(dumped.contains("•••"))
    }

    /// The block of the primary key alone, its secret fields replaced.
    private func withFields(_ fields: [UInt8], tag: PacketTag = .secretKey, body: [UInt8]? = nil) throws -> [UInt8] {
        let parts = try CertificateParts(certificate).parts
        let userID = try #require(parts.first { $0.tag == .userID })
        return Forge.packet(tag, (body ?? parts[0].body) + fields) + Forge.packet(.userID, userID.body)
            + Forge.packet(.signature, try #require(userID.signatures.first))
    }

    private var plainFields: [UInt8] {
        var fields: [UInt8] = []
        fields.append(mpi: signing.rawRepresentation)
        let sum = fields.reduce(0) { $0 + Int($1) }
        fields.append(uint16: sum & 0xFFFF)
        return [0] + fields
    }

    @Test("RFC 9580 §3.7.1, §3.7.2.1, §5.5.3: each form outside the profile is refused by name")
    func forms() throws {
        func refused(
            _ error: OpenPGPError, _ fields: [UInt8], passphrase: String? = "a",
            location: SourceLocation = #_sourceLocation
        ) throws {
            let bytes = try withFields(fields)
            #expect(throws: error, sourceLocation: location) {
                try SecretKeyBlock(parsing: bytes, passphrase: passphrase)
            }
        }
        _ = try SecretKeyBlock(parsing: try withFields(plainFields))
        let stretched = [3, 8] + [UInt8](repeating: 1, count: 8) + [0x60]
        let sealed = [UInt8](repeating: 2, count: 16) + [UInt8](repeating: 3, count: 54)
        for usage in [253, 9, 7, 1] as [UInt8] {
            try refused(.unsupportedKeyProtection(usage), [usage, 9] + stretched + sealed)
        }
        try refused(.unsupportedKeyProtection(255), [255, 9] + stretched + sealed)
        try refused(.wrongPassphrase, [254, 9] + stretched + sealed)
        for cipher in [7, 8] as [UInt8] { try refused(.wrongPassphrase, [254, cipher] + stretched + sealed) }
        for cipher in [0, 1, 2, 3, 10, 13] as [UInt8] {
            try refused(.unsupportedCipher(cipher), [254, cipher] + stretched + sealed)
        }
        for type in [0, 1, 4, 2, 100] as [UInt8] {
            try refused(.unsupportedStringToKey(type), [254, 9, type] + stretched.dropFirst() + sealed)
        }
        for hash in [1, 3, 11, 12, 0] as [UInt8] {
            try refused(.unsupportedHash(hash), [254, 9, 3, hash] + stretched.dropFirst(2) + sealed)
        }
        try refused(.unsupportedStringToKey(101), [254, 9, 101, 0] + Array("GNU".utf8) + [2])
        try refused(.truncated, [])
        try refused(.truncated, [254, 9] + stretched + sealed.prefix(36))
        for length in 1..<(2 + stretched.count + 16) {
            try refused(.truncated, Array(([254, 9] + stretched + sealed).prefix(length)))
        }
        try refused(.passphraseNeeded, [254, 9] + stretched + sealed, passphrase: nil)
    }

    @Test("RFC 9580 §5.5.3: an unprotected key whose checksum, length or size is wrong is refused")
    func plainDamage() throws {
        let fields = plainFields
        func refused(_ error: OpenPGPError, _ fields: [UInt8], location: SourceLocation = #_sourceLocation) throws {
            let bytes = try withFields(fields)
            #expect(throws: error, sourceLocation: location) { try SecretKeyBlock(parsing: bytes) }
        }
        for index in fields.indices.dropFirst() {
            var other = fields
            other[index] ^= 0x01
            try refused(.malformedPacket(.secretKey), other)
        }
        try refused(.malformedPacket(.secretKey), fields + [0])
        try refused(.truncated, [0])
        try refused(.truncated, [0, 0, 0])
        // A scalar of zero, with a checksum that fits.
        try refused(.malformedPacket(.secretKey), [0, 0, 0, 0, 0])
        try refused(.truncated, [0, 1, 0, 0, 1])
    }

    @Test("The public fields must follow from the secret ones, so that nobody can swap them")
    func swapped() throws {
        let other = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Holder.time).publicKey
        let bytes = try withFields(plainFields, body: other.body)
        #expect(throws: OpenPGPError.malformedPacket(.secretKey)) { try SecretKeyBlock(parsing: bytes) }
    }

    @Test("Public keys among secret ones, and damaged certificates, are refused")
    func packets() throws {
        #expect(throws: OpenPGPError.unexpectedPacket(.publicKey)) {
            try SecretKeyBlock(parsing: certificate.encoded)
        }
        let subkey = try #require(try CertificateParts(certificate).parts.last).body
        let bytes = try withFields(plainFields)
        #expect(throws: OpenPGPError.unexpectedPacket(.publicSubkey)) {
            try SecretKeyBlock(parsing: bytes + Forge.packet(.publicSubkey, subkey))
        }
        #expect(throws: OpenPGPError.unexpectedPacket(.publicSubkey)) {
            try SecretKeyBlock(parsing: try withFields(plainFields, tag: .secretSubkey))
        }
        #expect(throws: OpenPGPError.truncated) { try SecretKeyBlock(parsing: []) }
        #expect(throws: OpenPGPError.malformedArmor) { try SecretKeyBlock(armored: certificate.armored) }
        #expect(throws: OpenPGPError.tooLarge) {
            try SecretKeyBlock(parsing: [UInt8](repeating: 0, count: Certificate.maximumSize + 1))
        }
    }
}
