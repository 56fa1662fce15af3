import Encodings
import Testing

/// An input that grows in the direction in which a parser could cost most.
struct Hostile: Sendable, CustomTestStringConvertible, CustomStringConvertible {
    let description: String
    /// The parser it is for.
    let parser: String
    /// How many bytes of memory each of its bytes may take.
    let factor: Int
    /// How long it is to be, in bytes.
    let size: Int
    /// Makes one of about this many bytes.
    let make: @Sendable (Int) -> [UInt8]

    var testDescription: String { description }

    private init(
        _ description: String, _ parser: Parser, factor: Int, size: Int = 1 << 18,
        _ make: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.description = description
        self.parser = parser.description
        self.factor = factor
        self.size = size
        self.make = make
    }

    /// One more text in front, as often as it fits, and one more at the end.
    private static func filled(
        _ size: Int, _ part: String, from start: String = "", to end: String = ""
    ) -> [UInt8] {
        let part = Array(part.utf8)
        var bytes = Array(start.utf8)
        bytes.reserveCapacity(size + part.count)
        while bytes.count + end.utf8.count < size { bytes += part }
        return bytes + Array(end.utf8)
    }
}

extension Hostile {
    static let all: [Hostile] = openPGP + json + passkeys + texts

    private static let openPGP = [
        Hostile("armor of empty lines", .armor, factor: 16) { filled($0, "\n") },
        Hostile("armor of short lines", .armor, factor: 16) {
            filled(
                $0, "AAAA\n", from: "-----BEGIN PGP MESSAGE-----\n\n", to: "-----END PGP MESSAGE-----\n")
        },
        Hostile("armor of one long line", .armor, factor: 16) {
            filled($0, "AAAA", from: "-----BEGIN PGP MESSAGE-----\n\n", to: "\n-----END PGP MESSAGE-----\n")
        },
        Hostile("armor of headers", .armor, factor: 16) {
            filled($0, "A: \n", from: "-----BEGIN PGP MESSAGE-----\n", to: "-----END PGP MESSAGE-----\n")
        },
        Hostile("a signed text of empty lines", .cleartext, factor: 16) {
            filled($0, "\n", from: "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n")
        },
        Hostile("a signed text of dashes", .cleartext, factor: 16) {
            filled(
                $0, "- \n", from: "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n",
                to: "-----BEGIN PGP SIGNATURE-----\n")
        },
        Hostile("a certificate of empty lines", .certificate, factor: 16) { filled($0, "\n", from: "-----") },
        Hostile("packets without content", .packets, factor: 4) { size in
            [UInt8](repeating: 0, count: size / 2).flatMap { _ in [0xCD, 0x00] }
        },
        Hostile("a packet that claims four gigabytes", .packets, factor: 4) { size in
            [0xCB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: size)
        },
        Hostile("a packet in a thousand parts", .packets, factor: 16) { size in
            [0xCB] + (0..<max(1, size / 513)).flatMap { _ in [0xE9] + [UInt8](repeating: 0x62, count: 512) } + [0x00]
        },
        Hostile("a message that claims to be larger than it is", .message, factor: 8) { size in
            [0xD2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 1, count: size - 6)
        },
        Hostile("a message of parts", .message, factor: 16, size: 1 << 18) { size in
            [0xD2] + (0..<max(1, size / 513)).flatMap { _ in [0xE9] + [UInt8](repeating: 1, count: 512) } + [0x00]
        },
        Hostile("a large text inside a message, unsigned", .messageContent, factor: 24, size: 1 << 18) { size in
            [0xCB, 0xFF, 0, UInt8(size >> 16), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF)]
                + [UInt8](repeating: 0x62, count: size)
        },
        Hostile("a large packet full of notations", .packets, factor: 48, size: 65000) { size in
            let area = (0..<size / 10).flatMap { _ in [0x09, 20, 0x80, 0, 0, 0, 0, 0, 0, 0] as [UInt8] }
            let body: [UInt8] = [4, 0, 19, 8, UInt8(area.count >> 8), UInt8(area.count & 0xFF)] + area + [0, 0, 0, 0]
            return [0xC2, 0xFF, 0, 0, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
        },
    ]

    private static let json = [
        Hostile("arrays inside each other", .json, factor: 8) { filled($0, "[") },
        Hostile("an array of zeros", .json, factor: 64) { filled($0, "0,", from: "[", to: "0]") },
        Hostile("an array of empty arrays", .json, factor: 64) { filled($0, "[],", from: "[", to: "0]") },
        Hostile("an array of small arrays", .json, factor: 64) { filled($0, "[0],", from: "[", to: "0]") },
        Hostile("an array of empty objects", .json, factor: 64) { filled($0, "{},", from: "[", to: "0]") },
        Hostile("an array of small objects", .json, factor: 64) { filled($0, #"{"":0},"#, from: "[", to: "0]") },
        Hostile("an object of many names", .json, factor: 64) { size in
            var bytes = Array("{".utf8)
            var number = 0
            while bytes.count < size {
                bytes += Array("\"\(String(number, radix: 36))\":0,".utf8)
                number += 1
            }
            return bytes + Array(#""":0}"#.utf8)
        },
        Hostile("a text of escapes", .json, factor: 16) { filled($0, "\\n", from: "\"", to: "\"") },
        Hostile("a text that never ends", .json, factor: 8) { filled($0, "a", from: "\"") },
        Hostile("a number of many digits", .json, factor: 8) { filled($0, "1", from: "-") },
        Hostile("a body of many details", .wireBodies, factor: 64) {
            filled($0, #"{"label":"a","value":"b"},"#, from: #"{"details":["#, to: "0]}")
        },
        Hostile("keys of no kind", .jwks, factor: 96) { filled($0, "{},", from: #"{"keys":["#, to: "0]}") },
    ]

    private static let passkeys = [
        Hostile("an array of CBOR zeros", .cbor, factor: 128, size: 65000) { elements($0, [0x00]) },
        Hostile("an array of empty CBOR maps", .cbor, factor: 128, size: 65000) { elements($0, [0xA0]) },
        Hostile("an array of small CBOR maps", .cbor, factor: 128, size: 65000) { elements($0, [0xA1, 0x00, 0x00]) },
        Hostile("CBOR that announces much", .cbor, factor: 8, size: 65000) { size in
            [0x9B, 0, 0, 0, 1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: size)
        },
        Hostile("an attestation object of zeros", .passkeyRegistration, factor: 128, size: 65000) {
            elements($0, [0x00])
        },
    ]

    /// A CBOR array of as many equal elements as fit.
    private static func elements(_ size: Int, _ element: [UInt8]) -> [UInt8] {
        let count = (size - 3) / element.count
        let head =
            count > 0xFF
            ? [0x99, UInt8(count >> 8), UInt8(count & 0xFF)]
            : count > 23 ? [0x98, UInt8(count)] : [0x80 + UInt8(count)]
        return head + (0..<count).flatMap { _ in element }
    }

    private static let texts = [
        Hostile("a JWS of dots", .jws, factor: 16) { filled($0, ".") },
        Hostile("a JWS of as many dots as it may have", .jws, factor: 64, size: 65536) { filled($0, ".") },
        Hostile("a header of many members", .jwsHeader, factor: 96, size: 32768) {
            filled($0, "[],", from: "[", to: "0]\n")
        },
        Hostile("signatures without number", .httpSignature, factor: 96, size: 65536) { filled($0, "a,") },
        Hostile("parameters without number", .httpSignature, factor: 96, size: 65536) {
            filled($0, ";a", from: "a=()")
        },
        Hostile("components without number", .httpSignature, factor: 96, size: 65536) { filled($0, "a ", from: "a=(") },
        Hostile("a receipt of empty lines", .receipt, factor: 16) { filled($0, "\n") },
        Hostile("an invitation of arrays", .invitation, factor: 96) { size in
            Array(Base64.encode(filled(size * 3 / 4, "[],", from: "[", to: "0]")).utf8)
        },
        Hostile("a code of arrays", .challengeCode, factor: 96) { size in
            Array(Base64.encode(filled(size * 3 / 4, "[],", from: "[", to: "0]")).utf8)
        },
        Hostile("a text to be shown", .values, factor: 64) { filled($0, "ä ", to: "b") },
    ]
}
