import Crypto
package import Encodings

/// A passkey in memory with the browser around it: ES256, kept on its device unless a test says otherwise, with nobody
/// who vouches for it.
package struct SoftPasskey: Sendable {
    /// Its credential id.
    package let id: [UInt8]
    private let key = P256.Signing.PrivateKey()
    private let origin: String
    private let host: String
    private var userHandle = ""
    /// Whether it says that it has verified who its user is.
    package var verifiesUser = true
    /// Whether it says that the key may leave its device.
    package var isBackupEligible = false
    /// Whether it says that the key has left its device.
    package var isBackedUp = false

    /// A passkey for the pages of an origin.
    ///
    /// - Parameters:
    ///   - origin: the origin, such as `https://login.example.com`.
    ///   - seed: what its credential id is made of.
    package init(at origin: String, _ seed: String = "one") {
        self.origin = origin
        host = origin.split(separator: "/").last.map { String($0.prefix { $0 != ":" }) } ?? ""
        id = Array(SHA256.hash(data: Array(seed.utf8)))
    }

    /// What the browser sends to register it.
    ///
    /// - Parameter options: the options of the page.
    package mutating func register(_ options: JSONValue) -> JSONValue {
        userHandle = options["user"]?["id"]?.string ?? ""
        let point = Array(key.publicKey.rawRepresentation)
        let cose: [UInt8] =
            [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + point.prefix(32) + [0x22, 0x58, 0x20]
            + point.suffix(32)
        let data = authenticatorData(0x40) + [UInt8](repeating: 0, count: 16) + [0, UInt8(id.count)] + id + cose
        let object: [UInt8] =
            [0xA3, 0x63] + Array("fmt".utf8) + [0x64] + Array("none".utf8) + [0x67] + Array("attStmt".utf8)
            + [0xA0, 0x68] + Array("authData".utf8) + [0x58, UInt8(data.count)] + data
        return credential([
            "clientDataJSON": .string(Base64URL.encode(clientData("webauthn.create", options))),
            "attestationObject": .string(Base64URL.encode(object)), "transports": ["internal"],
        ])
    }

    /// What the browser sends to sign in.
    ///
    /// - Parameters:
    ///   - options: the options of the page.
    ///   - page: the origin of the page; nil for that of the passkey.
    package func signIn(_ options: JSONValue, at page: String? = nil) throws -> JSONValue {
        let (clientData, data) = (clientData("webauthn.get", options, at: page), authenticatorData(0))
        let signature = try key.signature(for: data + Array(SHA256.hash(data: clientData)))
        return credential([
            "clientDataJSON": .string(Base64URL.encode(clientData)),
            "authenticatorData": .string(Base64URL.encode(data)),
            "signature": .string(Base64URL.encode(Array(signature.derRepresentation))),
            "userHandle": .string(userHandle),
        ])
    }

    private func credential(_ response: JSONValue) -> JSONValue {
        let name = JSONValue.string(Base64URL.encode(id))
        return [
            "id": name, "rawId": name, "type": "public-key", "response": response, "clientExtensionResults": [:],
            "authenticatorAttachment": "platform",
        ]
    }

    private func clientData(_ type: String, _ options: JSONValue, at page: String? = nil) -> [UInt8] {
        let object: JSONValue = [
            "type": .string(type), "challenge": options["challenge"] ?? "", "origin": .string(page ?? origin),
            "crossOrigin": false,
        ]
        return object.encoded
    }

    private func authenticatorData(_ flags: UInt8) -> [UInt8] {
        let flags =
            flags | 0x01 | (verifiesUser ? 0x04 : 0) | (isBackupEligible ? 0x08 : 0) | (isBackedUp ? 0x10 : 0)
        return Array(SHA256.hash(data: Array(host.utf8))) + [flags, 0, 0, 0, 0]
    }
}
