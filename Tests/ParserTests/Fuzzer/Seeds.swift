import CountersignCore
import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE

@testable import OpenPGP

/// Writes the inputs a corpus begins with: what the project itself makes, and small things by hand.
///
/// A name that begins with `refused-` says that the input must be refused; every other one must be read.
struct Seeds {
    private let folder: URL

    /// Writes all of them; files that exist are replaced, signatures are made anew.
    static func write(to folder: String) async throws {
        let seeds = Seeds(folder: URL(filePath: folder))
        try await seeds.writeOpenPGP()
        try await seeds.writeJOSE()
        try await seeds.writeBodies()
        try await seeds.writeTexts()
        try seeds.writePasskeys()
        try seeds.writeForms()
        try seeds.writeLogos()
        try seeds.writeRequestObjects()
        try seeds.writeProofs()
        try seeds.writeJWTAnswers()
        try seeds.writeEventKeys()
        try seeds.writeUserCodes()
    }

    func put(_ parser: Parser, _ name: String, _ bytes: some Sequence<UInt8>) throws {
        let folder = folder.appending(path: "\(parser)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: folder.appending(path: name))
    }

    func put(_ parser: Parser, _ name: String, _ text: String) throws {
        try put(parser, name, Array(text.utf8))
    }
}

extension Seeds {
    private static let fingerprint = FixedKeys.primary.publicKey.fingerprint

    private func certificate() async throws -> Certificate {
        try await Certificate.make(
            primary: FixedKeys.primary, flags: [.certify, .sign], userID: "Fuzz <fuzz@example.com>",
            subkeys: [
                .authentication(FixedKeys.authentication), .encryption(FixedKeys.encryption.publicKey),
                .signing(FixedKeys.authentication, notations: [Notation(name: "method@example.com", value: "pin")]),
            ], at: FixedKeys.time)
    }

    private func writeOpenPGP() async throws {
        let certificate = try await certificate()
        try put(.packets, "certificate", certificate.encoded)
        try put(.certificate, "binary", certificate.encoded)
        try put(.certificate, "armored", certificate.armored)
        try put(.certificate, "refused-cut-off", certificate.encoded.dropLast(9))
        try put(.certificate, "refused-user-id-changed", certificate.encoded.map { $0 == 0x46 ? 0x47 : $0 })
        try put(.packets, "refused-cut-off", certificate.encoded.dropLast(9))
        try put(.packets, "legacy-length-two-octets", [0xB5, 0x00, 0x02, 0x41, 0x42])
        try put(.packets, "in-parts", [0xCB, 0xE9] + [UInt8](repeating: 0x62, count: 512) + [0x01, 0x41])
        try put(.packets, "marker-then-user-id", [0xCA, 0x03, 0x50, 0x47, 0x50, 0xCD, 0x01, 0x41])
        try put(.packets, "refused-huge-length", [0xC2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        try put(
            .packets, "refused-many-empty-packets", [UInt8](repeating: 0, count: 300).flatMap { _ in [0xCD, 0x00] })
        try put(.armor, "public-key", certificate.armored)
        try put(.armor, "message-without-checksum", "-----BEGIN PGP MESSAGE-----\n\nAAAA\n-----END PGP MESSAGE-----\n")
        try put(
            .armor, "with-headers",
            "-----BEGIN PGP MESSAGE-----\r\nComment: a\r\nVersion: b\r\n\r\nAAAA\r\n-----END PGP MESSAGE-----\r\n")
        try put(
            .armor, "refused-wrong-checksum",
            "-----BEGIN PGP MESSAGE-----\n\nAAAA\n=AAAA\n-----END PGP MESSAGE-----\n")
        for (name, text) in [
            ("receipt", Self.receipt), ("dashes", "- a\n-----BEGIN\n\nFrom b"), ("empty", ""), ("umlauts", "ä\nß 😀"),
        ] {
            let signed = try await CleartextMessage.sign(text, by: FixedKeys.primary, at: FixedKeys.time)
            try put(.cleartext, name, signed.encoded)
        }
        let signed = try await CleartextMessage.sign("a", by: FixedKeys.primary, at: FixedKeys.time).encoded
        try put(.cleartext, "refused-line-ends-in-blank", signed.replacingOccurrences(of: "\na\n", with: "\na \n"))
        try put(.cleartext, "refused-other-header", signed.replacingOccurrences(of: "SHA256", with: "SHA512"))
        try await writeMessages()
        try await writeSecretKeys(certificate)
    }

    private func writeMessages() async throws {
        for (name, content) in [
            ("text", MessageContent.text(Self.receipt)), ("binary", .binary([0, 1, 2, 0xFF])),
        ] {
            let sealed = try await EncryptedMessage.seal(
                content, signedBy: FixedKeys.primary, to: FixedKeys.encryption.publicKey,
                intendedRecipient: Self.fingerprint, at: FixedKeys.time)
            try put(.message, name, sealed)
            if name == "text" { try put(.message, "refused-bit-flipped", sealed.dropLast() + [(sealed.last ?? 0) ^ 1]) }
        }
        for (name, type, content) in [
            ("text", SignatureType.text, Array("one\r\ntwo".utf8)), ("binary", .binary, [0, 1, 2]),
            ("empty-text", .text, []),
        ] {
            let signature = try await Signature.make(
                type, over: type == .text ? .text(content) : .document(content), by: FixedKeys.primary,
                at: FixedKeys.time
            ) { $0.intendedRecipients = [Self.fingerprint] }
            var packets: [UInt8] = []
            packets.append(
                packet: .onePassSignature, OnePassSignature(signature, by: FixedKeys.primary.publicKey).encoded)
            packets.append(
                packet: .literalData,
                LiteralData.encode(content, format: type == .text ? .utf8 : .binary, at: FixedKeys.time))
            try put(.messageContent, "refused-unsigned-\(name)", packets)
            packets.append(packet: .signature, signature.body)
            try put(.messageContent, name, packets)
            try put(.packets, "message-content-\(name)", packets)
            try put(.signedMessage, name, packets)
            try put(.detachedSignature, name, try DetachedSignature(signature).encoded)
            try put(.detachedSignature, "\(name)-armored", try DetachedSignature(signature).armored)
        }
        try put(.messageContent, "refused-compressed", [0xC8, 0x02, 0x00, 0x00])
        try put(.message, "refused-no-integrity-protection", [0xC9, 0x01, 0x00])
    }

    private func writeSecretKeys(_ certificate: Certificate) async throws {
        let block = try SecretKeyBlock(
            certificate,
            keys: [.signing(FixedKeys.signing("primary")), .decryption(FixedKeys.agreement("encryption"))])
        let open = try block.encoded(passphrase: nil)
        try put(.secretKeys, "unprotected-one-elsewhere", open)
        try put(.secretKeys, "protected", try block.encoded(passphrase: Parser.passphrase))
        try put(.secretKeys, "refused-other-passphrase", try block.encoded(passphrase: "other"))
        try put(.secretKeys, "refused-cut-off", open.dropLast(9))
        try put(.packets, "secret-keys", open)
        try put(.armor, "secret-keys", try block.armored(passphrase: nil))
        try put(.detachedSignature, "refused-certificate", certificate.encoded)
        try put(.signedMessage, "refused-certificate", certificate.encoded)
        try put(.signedMessage, "refused-unsigned", [0xCB, 0x07, 0x62, 0, 0, 0, 0, 0, 0x41])
    }

    private func writeJOSE() async throws {
        let key = JWK(FixedKeys.json.publicKey)
        let members = key.json.object ?? [:]
        func jws(_ header: String, _ payload: String) throws -> String {
            let signed = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(payload.utf8)))"
            let signature = try FixedKeys.json.signature(for: SHA256.hash(data: Array(signed.utf8)))
            return "\(signed).\(Base64URL.encode(signature.rawRepresentation))"
        }
        let header = #"{"alg":"ES256","typ":"\#(Parser.jwsType)","kid":"\#(Parser.jwsKeyID)"}"#
        let payload = #"{"iss":"https://login.example.com"}"#
        try put(.jws, "signed", try jws(header, payload))
        try put(.jws, "empty-content", try jws(header, ""))
        try put(.jws, "refused-padded", try jws(header, payload) + "=")
        try put(.jws, "refused-four-parts", try jws(header, payload) + ".AA")
        try put(.jwsHeader, "header-and-content", header + "\n" + payload)
        try put(.jwsHeader, "with-unknown-member", header.dropLast() + #","cty":"x"}"# + "\n" + payload)
        try put(.jwsHeader, "refused-critical", header.dropLast() + #","crit":["exp"],"exp":1}"# + "\n" + payload)
        try put(.jwsHeader, "refused-no-algorithm", header.replacingOccurrences(of: "ES256", with: "none"))
        try put(.jwsHeader, "refused-unknown-key", header.replacingOccurrences(of: #""fuzzing""#, with: #""other""#))
        try put(.jwks, "key", key.json.encoded)
        try put(.jwks, "set", JWKSet([key, JWK(.p256(FixedKeys.http.publicKey))]).json.encoded)
        try put(.jwks, "set-with-unsupported", #"{"keys":[{"kty":"OKP","crv":"X25519","x":"AAAA"}]}"#)
        try put(.jwks, "refused-symmetric-key", #"{"keys":[{"kty":"oct","k":"AAAA"}]}"#)
        let edwards = try Curve25519.Signing.PrivateKey(
            rawRepresentation: SHA256.hash(data: Array("countersign fuzzing key: edwards".utf8)))
        try put(.jwks, "key-ed25519", JWK(.ed25519(edwards.publicKey)).json.encoded)
        let modulus = [0xC1] + [UInt8](repeating: 0x5D, count: 255)
        try put(
            .jwks, "key-rsa",
            #"{"kty":"RSA","n":"\#(Base64URL.encode(modulus))","e":"AQAB","kid":"rsa","alg":"RS256"}"#)
        try put(.jwks, "refused-name-twice", JWKSet([key, key]).json.encoded)
        var altered = members
        altered["d"] = "AAAA"
        try put(.jwks, "refused-private-key", JSONValue.object(altered).encoded)
        altered = members
        altered["x"] = "AAAA"
        try put(.jwks, "refused-short-coordinate", JSONValue.object(altered).encoded)
    }
}
