import Crypto
import Encodings
@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §10.1: certificates that are refused")
struct CertificateRefusalTests {
    private let forge: CertificateForge
    private let other: Holder

    init() async throws {
        forge = try await CertificateForge()
        other = try await Holder()
    }

    private func expect(_ error: OpenPGPError, _ parts: [UInt8]..., sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(throws: error, sourceLocation: sourceLocation) { try Certificate(parsing: Array(parts.joined())) }
    }

    @Test("RFC 9580 §5.11: a user ID that the primary key did not certify, or that is not UTF-8, is refused")
    func userIDs() async throws {
        let certification = try await forge.certification()
        expect(.unboundComponent(.userID), forge.key)
        expect(.unboundComponent(.userID), forge.key, forge.userID)
        expect(.unboundComponent(.userID), forge.key, forge.userID, try await forge.certification(by: other.primary))
        expect(.unboundComponent(.userID), forge.key, forge.userID, forge.userID, certification)
        let altered = Forge.packet(.userID, forge.name.bytes.dropLast() + [0x21])
        expect(.badSignature, forge.key, altered, certification)
        expect(.badSignature, Forge.packet(.publicKey, other.primary.publicKey.body), forge.userID, try await lying())
        expect(.malformedPacket(.userID), forge.key, Forge.packet(.userID, [0xC3]), certification)
    }

    /// A certification that names the other key, made by this one.
    private func lying() async throws -> [UInt8] {
        try await forge.certification { $0.issuer = other.primary.publicKey.fingerprint }
    }

    @Test("RFC 9580 §5.2.1.8: a subkey that the primary key did not bind is refused")
    func subkeys() async throws {
        let (head, key) = (try await forge.head(), forge.holder.encryption.publicKey)
        let subkey = forge.subkey(key)
        let unbound = OpenPGPError.unboundComponent(.publicSubkey)
        let binding = try await forge.binding(of: key, flags: .encrypt)
        expect(unbound, head, subkey)
        expect(unbound, head, subkey, subkey, binding)
        expect(unbound, head, subkey, try await forge.binding(of: key, flags: .encrypt, by: other.primary))
        expect(.badSignature, head, forge.subkey(other.encryption.publicKey), binding)
        let foreign = try await forge.signature(.subkeyBinding, over: .subkey(key, of: other.primary.publicKey))
        expect(.badSignature, head, subkey, foreign)
        let pretended = try await forge.binding(of: key, flags: .encrypt, by: other.primary) {
            $0.issuer = forge.primary.fingerprint
        }
        expect(.badSignature, head, subkey, pretended)
        let revocation = try await forge.signature(.subkeyRevocation, over: .subkey(key, of: forge.primary))
        expect(unbound, head, subkey, revocation)
    }

    @Test("RFC 9580 §5.2.1.9: a signing subkey must have accepted the primary key")
    func backSignatures() async throws {
        let (head, pair) = (try await forge.head(), forge.holder.authentication)
        let subkey = forge.subkey(pair.publicKey)
        func parts(_ embedded: [UInt8]?, _ flags: KeyFlags = .sign) async throws -> [UInt8] {
            head + subkey
                + (try await forge.binding(of: pair.publicKey, flags: flags) { $0.embeddedSignature = embedded })
        }
        func back(
            _ type: SignatureType = .primaryKeyBinding, by signer: SigningKeyPair? = nil, of primary: PublicKey? = nil
        ) async throws -> [UInt8] {
            try await Signature.make(
                type, over: .subkey(pair.publicKey, of: primary ?? forge.primary), by: signer ?? pair, at: Holder.time
            ).body
        }
        _ = try Certificate(parsing: try await parts(try await back()))
        for flags in [.sign, .certify, [.sign, .authenticate]] as [KeyFlags] {
            expect(.unboundComponent(.publicSubkey), try await parts(nil, flags))
        }
        _ = try Certificate(parsing: try await parts(nil, .authenticate))
        expect(.unexpectedSignatureType(0x18), try await parts(try await back(.subkeyBinding)))
        expect(.badSignature, try await parts(try await back(by: forge.holder.primary)))
        expect(.badSignature, try await parts(try await back(of: other.primary.publicKey)))
        expect(.truncated, try await parts([]))
        expect(.truncated, try await parts(try await back().dropLast()))
        expect(.malformedPacket(.signature), try await parts(try await back() + [0]))
        expect(.unsupportedVersion(.signature, version: 6), try await parts([6]))
    }

    @Test("A back signature outside the signed area counts, since the subkey itself vouches for it")
    func unhashedBackSignature() async throws {
        let pair = forge.holder.authentication
        let back = try await Signature.make(
            .primaryKeyBinding, over: .subkey(pair.publicKey, of: forge.primary), by: pair, at: Holder.time)
        let hashed =
            PublicKey.hashed(forge.primary.body) + PublicKey.hashed(pair.publicKey.body)
        let binding = try await Forge.signature(
            type: .subkeyBinding, overHashed: hashed, by: forge.holder.primary,
            hashed: Forge.created() + Forge.subpacket(27, [2]), unhashed: Forge.subpacket(32, back.body))
        let certificate = try Certificate(
            parsing: try await forge.head() + forge.subkey(pair.publicKey) + Forge.packet(.signature, binding))
        #expect(certificate.subkeys.map(\.flags) == [.sign])
    }

    @Test("Flags outside the signed area give a key nothing")
    func unhashedFlags() async throws {
        let key = forge.holder.encryption.publicKey
        let binding = try await Forge.signature(
            type: .subkeyBinding, overHashed: PublicKey.hashed(forge.primary.body) + PublicKey.hashed(key.body),
            by: forge.holder.primary, hashed: Forge.created(), unhashed: Forge.subpacket(27, [0x0C]))
        let certificate = try Certificate(
            parsing: try await forge.head() + forge.subkey(key) + Forge.packet(.signature, binding))
        #expect(certificate.subkeys.map(\.flags) == [[]])
        #expect(throws: OpenPGPError.noUsableKey) { try certificate.key(for: .encrypt, at: .max) }
    }

    @Test("A signature of a type that has no place where it stands is refused by number")
    func signatureTypes() async throws {
        let (head, key) = (try await forge.head(), forge.holder.encryption.publicKey)
        let onKey = try await forge.signature(.binary, over: .key(forge.primary))
        expect(.unexpectedSignatureType(0x00), forge.key, onKey, forge.userID, try await forge.certification())
        let onUserID = try await forge.signature(.directKey, over: .userID(forge.name, of: forge.primary))
        expect(.unexpectedSignatureType(0x1F), head, onUserID)
        let onSubkey = try await forge.signature(.directKey, over: .subkey(key, of: forge.primary))
        expect(.unexpectedSignatureType(0x1F), head, forge.subkey(key), onSubkey)
    }

    @Test("Packets that have no place in a certificate are refused by type")
    func packets() async throws {
        let head = try await forge.head()
        expect(.truncated, [])
        for tag in [2, 5, 11, 13, 14, 18] as [UInt8] {
            expect(.unexpectedPacket(PacketTag(rawValue: tag)), Forge.packet(PacketTag(rawValue: tag), [1]), head)
        }
        for tag in [1, 5, 6, 7, 8, 11, 12, 17, 21, 39, 60] as [UInt8] {
            expect(.unexpectedPacket(PacketTag(rawValue: tag)), head, Forge.packet(PacketTag(rawValue: tag), [1]))
        }
        // A second user ID behind a subkey.
        let key = forge.holder.encryption.publicKey
        expect(
            .unexpectedPacket(.userID), head, forge.subkey(key), try await forge.binding(of: key, flags: .encrypt),
            forge.userID)
        expect(.unexpectedPacket(.signature), try await forge.certification(), head)
    }

    @Test("A primary key that cannot certify, or is no key of the profile, is refused")
    func primaryKeys() async throws {
        expect(.wrongKeyFlags, Forge.packet(.publicKey, forge.holder.encryption.publicKey.body))
        expect(.unsupportedKeyAlgorithm(22), Forge.packet(.publicKey, [4, 0, 0, 0, 1, 22]))
        expect(.unsupportedVersion(.publicKey, version: 6), Forge.packet(.publicKey, [6, 0, 0, 0, 1, 19]))
        expect(.truncated, Forge.packet(.publicKey, []))
        let head = try await forge.head()
        expect(.unsupportedVersion(.publicSubkey, version: 6), head, Forge.packet(.publicSubkey, [6]))
        expect(
            .malformedPacket(.publicSubkey), head,
            forge.subkey(forge.holder.encryption.publicKey).dropLast(4) + [9, 1, 8, 9])
    }

    @Test("A certificate beyond its size and with too many packets is refused")
    func sizes() async throws {
        let head = try await forge.head()
        expect(.tooLarge, head, [UInt8](repeating: 0, count: Certificate.maximumSize))
        let markers = [[UInt8]](repeating: Forge.packet(.marker, [1]), count: Packet.maximumCount).joined()
        expect(.tooLarge, head, Array(markers))
    }

    @Test("A certificate cut off inside a packet is refused as cut off, at its seams as incomplete")
    func truncated() throws {
        let certificate = forge.holder.certificate
        let seams = seams(of: certificate.encoded)
        #expect(seams.count == 7)
        for length in 1..<certificate.encoded.count {
            let cut = certificate.encoded.prefix(length)
            switch seams.firstIndex(of: length) {
            case nil: expect(.truncated, Array(cut))
            case 0, 1: expect(.unboundComponent(.userID), Array(cut))
            case 3, 5: expect(.unboundComponent(.publicSubkey), Array(cut))
            case let index?: #expect(try Certificate(parsing: cut).subkeys.count == index / 2 - 1)
            }
        }
    }

    /// The offsets behind each packet, of which none is longer than two length octets say.
    private func seams(of bytes: [UInt8]) -> [Int] {
        var offsets: [Int] = []
        var offset = 0
        while offset < bytes.count {
            let first = Int(bytes[offset + 1])
            offset += first < 192 ? 2 + first : 3 + (first - 192) << 8 + Int(bytes[offset + 2]) + 192
            offsets.append(offset)
        }
        return offsets
    }

    @Test("A change of any byte is refused, unless it is one that no signature covers and changes nothing")
    func everyByte() throws {
        let original = forge.holder.certificate
        func meaning(_ certificate: Certificate) -> [String] {
            certificate.keys.map { "\($0.fingerprint) \($0.flags) \($0.notations) \(String(describing: $0.expiresAt))" }
                + certificate.userIDs.map(\.text)
        }
        var accepted = 0
        for index in original.encoded.indices {
            for change in [0x01, 0x20, 0xFF] as [UInt8] {
                var bytes = original.encoded
                bytes[index] ^= change
                guard let certificate = try? Certificate(parsing: bytes) else { continue }
                accepted += 1
                #expect(meaning(certificate) == meaning(original), "byte \(index)")
            }
        }
        // Three signatures, each with nine bytes of an unsigned issuer key ID and its type.
        #expect(accepted <= 3 * 9 * 3)
    }
}
