import Encodings
@testable import JOSE
import Testing

@Suite("RFC 7518 §6.3: RSA keys")
struct RSAKeyTests {
    private static let json = Vectors.rs256Key.publicHalf

    private static func number(_ bytes: [UInt8]) -> JSONValue { .string(Base64URL.encode(bytes)) }

    /// An odd number of this many bits.
    private static func modulus(bits: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xA5, count: (bits + 7) / 8)
        let spare = bytes.count * 8 - bits
        bytes[0] = 0xFF >> UInt8(spare)
        return bytes
    }

    @Test("RFC 7518 §3.3: a key below 2048 bits is refused as weak", arguments: [8, 512, 1024, 2040, 2047])
    func small(bits: Int) {
        #expect(throws: JOSEError.weakKey) { try JWK(Self.json.with("n", Self.number(Self.modulus(bits: bits)))) }
        #expect(throws: JOSEError.weakKey) {
            try RSAPublicKey(modulus: Self.modulus(bits: bits), exponent: [1, 0, 1])
        }
    }

    @Test("Keys from 2048 to 8192 bits are read, larger ones are not", arguments: [2048, 2049, 3072, 4096, 8192])
    func sizes(bits: Int) throws {
        let key = try JWK(Self.json.with("n", Self.number(Self.modulus(bits: bits))))
        #expect(key.json["n"] == Self.number(Self.modulus(bits: bits)))
        #expect(throws: JOSEError.unsupportedKey) {
            try JWK(Self.json.with("n", Self.number(Self.modulus(bits: 8193))))
        }
        let vast = JSONValue.string(String(repeating: "A", count: 100_000))
        for name in ["n", "e"] {
            #expect(throws: JOSEError.unsupportedKey) { try JWK(Self.json.with(name, vast)) }
        }
    }

    @Test(
        "FIPS 186-5 §5.1 and appendix A.1.1: an exponent below 65537 is refused as weak, 1 before all",
        arguments: [[1], [3], [17], [1, 1], [0xFF, 0xFF], [1, 0, 0]] as [[UInt8]])
    func smallExponents(exponent: [UInt8]) {
        // 65536 is even, and weak all the same.
        #expect(throws: JOSEError.weakKey) { try JWK(Self.json.with("e", Self.number(exponent))) }
    }

    @Test("Exponents of 33 bits are the largest there are, and none is even")
    func exponents() throws {
        #expect(try JWK(Self.json.with("e", Self.number([1, 0, 0, 0, 1]))).publicKey.algorithm == .rs256)
        for exponent in [[2, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1]] as [[UInt8]] {
            #expect(throws: JOSEError.unsupportedKey) { try JWK(Self.json.with("e", Self.number(exponent))) }
        }
        #expect(throws: JOSEError.malformed) { try JWK(Self.json.with("e", Self.number([1, 0, 2]))) }
        var even = Self.modulus(bits: 2048)
        even[255] = 0xA4
        #expect(throws: JOSEError.malformed) { try JWK(Self.json.with("n", Self.number(even))) }
    }

    @Test(
        "RFC 7518 §2: a number that is missing, no number, or has a zero before it is refused", arguments: ["n", "e"])
    func numbers(name: String) throws {
        let right = try #require(Self.json[name]?.string)
        let bytes = try #require(Base64URL.decode(right))
        let malformed: [JSONValue?] = [
            nil, .null, 65537, "", "AA", .string(right + "="), .string(Base64URL.encode([0] + bytes)),
            .string(Base64URL.encode([0, 0] + bytes)), "Zm+/", "AB", [.string(right)],
        ]
        for value in malformed { #expect(throws: JOSEError.malformed) { try JWK(Self.json.with(name, value)) } }
    }

    @Test("RFC 7468 §10: a key in PEM is read, as Google's service accounts have it; a public or a damaged one is not")
    func pem() throws {
        let key = try RSAPrivateKey()
        let lines = Base64.encode(key.derRepresentation.reveal())
        func pem(_ label: String, _ content: String) -> Secret<String> {
            Secret("-----BEGIN \(label)-----\n\(content)\n-----END \(label)-----\n")
        }
        let read = try RSAPrivateKey(pemRepresentation: pem("RSA PRIVATE KEY", lines))
        #expect(read.publicKey.modulus == key.publicKey.modulus)
        let publicHalf = Base64.encode(key.publicKey.derRepresentation)
        for wrong in [pem("PUBLIC KEY", publicHalf), pem("RSA PRIVATE KEY", String(lines.dropLast(40))), Secret("")] {
            #expect(throws: JOSEError.malformed) { try RSAPrivateKey(pemRepresentation: wrong) }
        }
        #expect(throws: JOSEError.tooLarge) {
            try RSAPrivateKey(pemRepresentation: Secret(String(repeating: "A", count: 20_000)))
        }
    }

    @Test("A key of the least size is made, signs, and comes back from DER")
    func making() async throws {
        let key = try RSAPrivateKey()
        #expect(key.publicKey.modulus.count == 256)
        #expect(key.publicKey.exponent == [1, 0, 1])
        let again = try RSAPrivateKey(derRepresentation: key.derRepresentation)
        let compact = try await JWS.sign([1, 2, 3], type: "x", by: again, keyID: "key")
        let publicKey = try RSAPublicKey(derRepresentation: key.publicKey.derRepresentation)
        let verified = try JWS.verify(
            compact, algorithms: [.rs256], type: .exactly("x"), keys: JWKSet([JWK(.rsa(publicKey), keyID: "key")]))
        #expect(verified.payload == [1, 2, 3])
    }

    @Test("RFC 8017 A.1.1 and appendix A.1.2, RFC 5280 §4.1, RFC 5208 §5: each form of DER is read as the same key")
    func forms() throws {
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
        // SEQUENCE { rsaEncryption, NULL }
        let algorithm: [UInt8] = [0x30, 13, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1, 5, 0]
        let key = try RSAPrivateKey()
        let numbers = element(0x30, element(0x02, [0] + key.publicKey.modulus) + [0x02, 3, 1, 0, 1])
        let info = element(0x30, algorithm + element(0x03, [0] + numbers))
        #expect(key.publicKey.derRepresentation == info)
        for form in [numbers, info] {
            #expect(try RSAPublicKey(derRepresentation: form).modulus == key.publicKey.modulus)
        }
        let plain = key.derRepresentation.reveal()
        #expect(try #require(PKCS1.decode(plain)).prefix(2) == [key.publicKey.modulus, [1, 0, 1]])
        let wrapped = element(0x30, [2, 1, 0] + algorithm + element(0x04, plain))
        for form in [plain, wrapped] {
            let read = try RSAPrivateKey(derRepresentation: Secret(form))
            #expect(read.derRepresentation.reveal() == plain)
            #expect(read.publicKey.modulus == key.publicKey.modulus)
        }
    }

    @Test("Nothing outside the sizes is made, and no other DER is read")
    func refusals() throws {
        for bits in [0, 1024, 2047] { #expect(throws: JOSEError.weakKey) { try RSAPrivateKey(bits: bits) } }
        for bits in [2049, 8200, .max] { #expect(throws: JOSEError.unsupportedKey) { try RSAPrivateKey(bits: bits) } }
        let key = try PrivateJWK(importing: Secret(Vectors.rs256Key.encoded))
        guard case .rsa(let publicKey) = key.jwsPublicKey else {
            Issue.record("not an RSA key")
            return
        }
        let der = publicKey.derRepresentation
        for bytes in [[], [0x30], Array(der.dropLast()), [0x31] + Array(der.dropFirst())] as [[UInt8]] {
            #expect(throws: JOSEError.malformed) { try RSAPublicKey(derRepresentation: bytes) }
            #expect(throws: JOSEError.malformed) { try RSAPrivateKey(derRepresentation: Secret(bytes)) }
        }
        let vast = [UInt8](repeating: 0x30, count: 9000)
        #expect(throws: JOSEError.tooLarge) { try RSAPublicKey(derRepresentation: vast) }
        #expect(throws: JOSEError.tooLarge) { try RSAPrivateKey(derRepresentation: Secret(vast)) }
    }
}
