import Crypto
import Encodings
@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §5.2: signatures")
struct SignatureTests {
    @Test("A signature that is made is read with the same parts")
    func roundTrip() async throws {
        let holder = try await Holder()
        let made = try await Signature.make(.binary, over: .document([1, 2]), by: holder.primary, at: 1_800_000_000) {
            $0.lifetime = 60
            $0.notations = [Notation(name: "a@example.com", value: "é"), Notation(name: "b@example.com", value: "")]
            $0.intendedRecipients = [holder.certificate.fingerprint]
            $0.revocationReason = .retired
        }
        let read = try Signature(parsing: made.body)
        #expect(read.body == made.body)
        #expect(read.type == .binary)
        #expect(read.createdAt == 1_800_000_000)
        #expect(read.subpackets.lifetime == 60)
        #expect(read.subpackets.notations == made.subpackets.notations)
        #expect(read.subpackets.intendedRecipients == [holder.certificate.fingerprint])
        #expect(read.subpackets.revocationReason == .retired)
        #expect(read.subpackets.issuer == holder.primary.publicKey.fingerprint)
        #expect(read.subpackets.issuerKeyID == holder.primary.publicKey.fingerprint.keyID)
        try read.verify(.document([1, 2]), by: holder.primary.publicKey)
    }

    @Test("RFC 9580 §5.2: other versions are refused by number", arguments: [0, 2, 3, 5, 6] as [UInt8])
    func versions(version: UInt8) {
        #expect(throws: OpenPGPError.unsupportedVersion(.signature, version: version)) {
            try Signature(parsing: Forge.signatureBody(version: version))
        }
    }

    @Test("RFC 9580 §5.2.1: other types are refused by number", arguments: [0x02, 0x16, 0x40, 0x50, 0xFF] as [UInt8])
    func types(type: UInt8) {
        #expect(throws: OpenPGPError.unexpectedSignatureType(type)) {
            try Signature(parsing: Forge.signatureBody(type: type))
        }
    }

    @Test("RFC 9580 §9.1: other algorithms are refused by number", arguments: [1, 3, 17, 18, 22, 27] as [UInt8])
    func algorithms(algorithm: UInt8) {
        #expect(throws: OpenPGPError.unsupportedKeyAlgorithm(algorithm)) {
            try Signature(parsing: Forge.signatureBody(algorithm: algorithm))
        }
    }

    @Test(
        "RFC 9580 §9.5: MD5, SHA-1 and RIPEMD-160 are refused as broken, others as unsupported",
        arguments: [
            (1, .weakHash(1)), (2, .weakHash(2)), (3, .weakHash(3)), (11, .unsupportedHash(11)),
            (12, .unsupportedHash(12)), (14, .unsupportedHash(14)), (0, .unsupportedHash(0)),
        ] as [(UInt8, OpenPGPError)])
    func hashes(hash: UInt8, error: OpenPGPError) {
        #expect(throws: error) { try Signature(parsing: Forge.signatureBody(hash: hash)) }
    }

    @Test("RFC 9580 §5.2.3.11: a signature without a time of its own is refused, also when it only claims one unsigned")
    func noTime() {
        let malformed = OpenPGPError.malformedPacket(.signature)
        #expect(throws: malformed) { try Signature(parsing: Forge.signatureBody(hashed: [])) }
        #expect(throws: malformed) {
            try Signature(parsing: Forge.signatureBody(hashed: [], unhashed: Forge.created()))
        }
    }

    @Test("RFC 9580 §5.2.3: missing, oversized and surplus integers are refused")
    func integers() {
        let malformed = OpenPGPError.malformedPacket(.signature)
        let long = [1] + [UInt8](repeating: 0, count: 32)
        #expect(throws: OpenPGPError.truncated) { try Signature(parsing: Forge.signatureBody(integers: [[1]])) }
        #expect(throws: malformed) { try Signature(parsing: Forge.signatureBody(integers: [[1], [1], [1]])) }
        #expect(throws: malformed) { try Signature(parsing: Forge.signatureBody(integers: [long, [1]])) }
        #expect(throws: malformed) { try Signature(parsing: Forge.signatureBody(integers: [[1], long])) }
    }

    @Test("FIPS 186-5 §6.4.2: integers of zero and beyond the order are no signature")
    func zeroIntegers() async throws {
        let key = try PeerFixture.primary().publicKey
        let full = [UInt8](repeating: 0xFF, count: 32)
        for integers in [[[], []], [[1], []], [[], [1]], [full, full]] as [[[UInt8]]] {
            var hashed: [UInt8] = [4, 0, 19, 8]
            hashed.append(uint16: Forge.created().count)
            hashed += Forge.created()
            var trailer: [UInt8] = [4, 0xFF]
            trailer.append(uint32: UInt32(hashed.count))
            let prefix = Array(SHA256.hash(data: hashed + trailer).prefix(2))
            let signature = try Signature(parsing: Forge.signatureBody(prefix: prefix, integers: integers))
            #expect(throws: OpenPGPError.badSignature) { try signature.verify(.document([]), by: key) }
        }
    }

    @Test("A signature cut off anywhere is refused as cut off")
    func truncated() async throws {
        let body = try await Signature.make(.binary, over: .document([1]), by: Holder().primary, at: Holder.time).body
        for length in 0..<body.count {
            #expect(throws: OpenPGPError.truncated) { try Signature(parsing: body.prefix(length)) }
        }
        #expect(throws: OpenPGPError.malformedPacket(.signature)) { try Signature(parsing: body + [0]) }
    }

    @Test("A change of any byte that the signature covers, or of its integers, is refused")
    func everyByte() async throws {
        let holder = try await Holder()
        let signature = try await Signature.make(.binary, over: .document([1]), by: holder.primary, at: Holder.time)
        // The unhashed area holds the issuer's key ID, which the issuer's fingerprint overrules.
        let unhashed = 6 + signature.hashedArea.count..<6 + signature.hashedArea.count + 2 + 10
        for index in signature.body.indices where !unhashed.contains(index) {
            for change in [0x01, 0x80, 0xFF] as [UInt8] {
                var body = signature.body
                body[index] ^= change
                #expect(throws: OpenPGPError.self, "byte \(index)") {
                    try Signature(parsing: body).verify(.document([1]), by: holder.primary.publicKey)
                }
            }
        }
    }

    @Test("RFC 9580 §5.2.4: the content is hashed, then the signature to the end of its area, then 04 FF and a length")
    func hashedBytes() async throws {
        let holder = try await Holder()
        let (key, subkey) = (holder.primary.publicKey, holder.encryption.publicKey)
        func counted(_ mark: UInt8, _ body: [UInt8], width: Int) -> [UInt8] {
            let length = (0..<width).reversed().map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) }
            return [mark] + length + body
        }
        let hashedKey = counted(0x99, key.body, width: 2)
        let userID = Certificate.UserID("a <a@example.com>")
        let contents: [(SignatureType, SignedContent, [UInt8])] = [
            (.binary, .document([1, 0x0A, 2]), [1, 0x0A, 2]), (.text, .text([1, 0x0A, 2]), [1, 0x0D, 0x0A, 2]),
            (.keyRevocation, .key(key), hashedKey),
            (.positiveCertification, .userID(userID, of: key), hashedKey + counted(0xB4, userID.bytes, width: 4)),
            (.subkeyBinding, .subkey(subkey, of: key), hashedKey + counted(0x99, subkey.body, width: 2)),
        ]
        for (type, content, bytes) in contents {
            let signature = try await Signature.make(type, over: content, by: holder.primary, at: Holder.time)
            let hashed = Array(signature.body.prefix(6 + signature.hashedArea.count))
            let digest = SHA256.hash(data: bytes + hashed + [4] + counted(0xFF, hashed, width: 4).prefix(5))
            var reader = ByteReader(signature.body.dropFirst(hashed.count))
            _ = try reader.bytes(Int(try reader.uint16()))
            #expect(Array(try reader.bytes(2)) == Array(digest.prefix(2)))
            let integers = [
                try reader.mpi(atMost: 256, in: .signature), try reader.mpi(atMost: 256, in: .signature),
            ]
            let raw = integers.flatMap { [UInt8](repeating: 0, count: 32 - $0.count) + $0 }
            guard case .ecdsa(let publicKey) = key.material else { throw OpenPGPError.wrongKeyFlags }
            #expect(publicKey.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: raw), for: digest))
        }
    }

    @Test("A signature is good for its content, its kind of content and its key alone")
    func otherContent() async throws {
        let (holder, other) = (try await Holder(), try await Holder())
        let binary = try await Signature.make(.binary, over: .document([1]), by: holder.primary, at: Holder.time)
        let key = holder.primary.publicKey
        try binary.verify(.document([1]), by: key)
        for content in [.document([]), .document([1, 0]), .text([0x0A]), .key(key)] as [SignedContent] {
            #expect(throws: OpenPGPError.badSignature) { try binary.verify(content, by: key) }
        }
        #expect(throws: OpenPGPError.badSignature) { try binary.verify(.document([1]), by: other.primary.publicKey) }
        #expect(throws: OpenPGPError.badSignature) {
            try binary.verify(.document([1]), by: holder.encryption.publicKey)
        }
        // The same material with another creation time is another key.
        let later = PublicKey(key.material, createdAt: key.createdAt + 1)
        #expect(throws: OpenPGPError.badSignature) { try binary.verify(.document([1]), by: later) }
    }

    @Test("RFC 9580 §5.2.1.2: a text is hashed with CR LF, whatever ends its lines")
    func textLines() async throws {
        let holder = try await Holder()
        let text = try await Signature.make(.text, over: .text(Array("a\nb".utf8)), by: holder.primary, at: Holder.time)
        try text.verify(.text(Array("a\r\nb".utf8)), by: holder.primary.publicKey)
        try text.verify(.document(Array("a\r\nb".utf8)), by: holder.primary.publicKey)
        for other in ["a\rb", "a\n\nb", "ab", "a\nb\n", "a \nb"] {
            #expect(throws: OpenPGPError.badSignature) {
                try text.verify(.text(Array(other.utf8)), by: holder.primary.publicKey)
            }
        }
        #expect(CanonicalText.withNetworkLineEnds(Array("\na\r\nb\r\r\n".utf8)) == Array("\r\na\r\nb\r\r\n".utf8))
        #expect(CanonicalText.withLineFeeds(Array("\r\na\rb\r\n\n\r".utf8)[...]) == Array("\na\rb\n\n\r".utf8))
    }
}
