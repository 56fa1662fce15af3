import Crypto
import Encodings
import Testing

/// The key wrap that session keys travel in, with every size the specification gives an example for.
@Suite("RFC 3394 §4: key wrap")
struct KeyWrapTests {
    /// An example: the sizes in bits, and the result.
    struct Example: Sendable, CustomTestStringConvertible {
        let section: String
        let keyBits: Int
        let dataBits: Int
        let wrapped: String

        var testDescription: String { "§\(section): \(dataBits) bits of data, \(keyBits) bits of key" }

        /// The key counts up from 0.
        var key: SymmetricKey { SymmetricKey(data: (0..<keyBits / 8).map { UInt8($0) }) }
        /// The data is 00 11 … ff, then counts up from 0.
        var data: SymmetricKey {
            let bytes = (0..<16).map { UInt8($0 * 17) } + (0..<16).map { UInt8($0) }
            return SymmetricKey(data: bytes.prefix(dataBits / 8))
        }
    }

    static let examples = [
        Example(
            section: "4.1", keyBits: 128, dataBits: 128, wrapped: "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"),
        Example(
            section: "4.2", keyBits: 192, dataBits: 128, wrapped: "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"),
        Example(
            section: "4.3", keyBits: 256, dataBits: 128, wrapped: "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"),
        Example(
            section: "4.4", keyBits: 192, dataBits: 192,
            wrapped: "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2"),
        Example(
            section: "4.5", keyBits: 256, dataBits: 192,
            wrapped: "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1"),
        Example(
            section: "4.6", keyBits: 256, dataBits: 256,
            wrapped: "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"),
    ]

    @Test("RFC 3394 §4: each example, wrapped and unwrapped", arguments: examples)
    func example(_ example: Example) throws {
        #expect(Hex.encode(try AES.KeyWrap.wrap(example.data, using: example.key)) == example.wrapped)
        let wrapped = try #require(Hex.decode(example.wrapped))
        #expect(try AES.KeyWrap.unwrap(wrapped, using: example.key) == example.data)
    }

    @Test("RFC 3394 §2.2.3: a change of any bit of an example is found out", arguments: examples)
    func damaged(_ example: Example) throws {
        let wrapped = try #require(Hex.decode(example.wrapped))
        for index in wrapped.indices {
            for bit in 0..<8 {
                var other = wrapped
                other[index] ^= 1 << UInt8(bit)
                // Which case it is differs between the platforms' libraries.
                #expect(throws: CryptoKitError.self, "bit \(bit) of byte \(index)") {
                    try AES.KeyWrap.unwrap(other, using: example.key)
                }
            }
        }
    }
}
