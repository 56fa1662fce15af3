import Crypto
import OpenPGPTestSupport
import TestSupport
import Testing

@testable import OpenPGP

@Suite("One encoding of a certificate, and what no signature covers")
struct CanonicalTests {
    @Test("RFC 9580 §5.2.3: what a signature does not cover is left out, but for its signer and a back signature")
    func padded() async throws {
        let holder = try await Holder()
        let key = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Holder.time)
        let certificate = try await holder.certificate.adding(
            .signing(key, notations: [Notation(name: "a@example.com", value: "b")]), by: holder.primary,
            at: Holder.time)
        let padded = try HandmadeSignature.padded(certificate.encoded, by: 5000)
        let read = try Certificate(parsing: padded)
        #expect(read.encoded == padded && padded.count > 20_000)
        #expect(try Certificate.canonical(read.components).encoded == certificate.encoded)
        #expect(try Certificate.canonical(certificate.components).encoded == certificate.encoded)
    }

    @Test("RFC 9580 §10.1: a back signature that stands where nothing covers it stays good")
    func backSignature() async throws {
        let forge = try await CertificateForge()
        let key = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Holder.time)
        let back = try await Signature.make(
            .primaryKeyBinding, over: .subkey(key.publicKey, of: forge.primary), by: key, at: Holder.time)
        let hashed =
            HandmadeSignature.seconds(2, Holder.time) + HandmadeSignature.key(33, forge.primary.fingerprint)
            + HandmadeSignature.subpacket(27, [0x02])
        let binding = try await HandmadeSignature.bind(
            key.publicKey, to: forge.holder.primary, hashed: hashed,
            unhashed: HandmadeSignature.subpacket(32, back.body))
        let certificate = try Certificate(
            parsing: try await forge.head() + forge.subkey(key.publicKey) + Forge.packet(.signature, binding.body))
        let canonical = try Certificate.canonical(certificate.components)
        #expect(canonical.subkeys.map(\.flags) == [.sign])
        #expect(try Certificate.canonical(canonical.components).encoded == canonical.encoded)
    }

    @Test("What was verified before is read alike, and not verified again")
    func previouslyVerified() async throws {
        let holder = try await Holder()
        let bytes = holder.certificate.encoded
        let read = try Certificate(previouslyVerified: bytes)
        #expect(read.encoded == bytes && read.fingerprint == holder.certificate.fingerprint)
        #expect(read.keys.map(\.flags) == holder.certificate.keys.map(\.flags))
        let altered = bytes.dropLast() + [bytes[bytes.count - 1] ^ 1]
        #expect(throws: OpenPGPError.badSignature) { try Certificate(parsing: altered) }
        #expect(try Certificate(previouslyVerified: altered).keys.count == 3)
    }

    @Test("Signatures by others are counted, and left out of the canonical encoding")
    func foreign() async throws {
        let forge = try await CertificateForge()
        let stranger = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Holder.time)
        let head = try await forge.head()
        let certificate = try Certificate(parsing: head + (try await forge.certification(by: stranger)))
        #expect(certificate.components.map(\.foreignSignatures) == [0, 1])
        #expect(try Certificate.canonical(certificate.components).encoded == head)
    }

    @Test("Each rule has words of its own, with no name of this module in them")
    func words() {
        let errors: [OpenPGPError] = [
            .truncated, .malformedHeader, .malformedPacket(.publicSubkey), .unexpectedPacket(PacketTag(rawValue: 60)),
            .unsupportedVersion(.publicKey, version: 6), .trailingData, .tooLarge, .unsupportedKeyAlgorithm(1),
            .weakKey(bits: 1024), .unsupportedCurve, .weakHash(1), .compressedData, .unknownCriticalSubpacket(101),
            .badSignature, .unknownSigner, .badSignatureTime, .wrongKeyFlags, .unboundComponent(.userID),
            .decryptionFailed, .wrongIntendedRecipient,
        ]
        #expect(Set(errors.map(\.words)).count == errors.count)
        for error in errors {
            // Words, and no name that is written in one.
            #expect(error.words.firstMatch(of: /[a-z][A-Z]|\(|\./) == nil, "\(error.words)")
        }
        #expect(
            OpenPGPError.unexpectedPacket(PacketTag(rawValue: 60)).words
                == "there is a packet of type 60 where none may be")
    }
}
