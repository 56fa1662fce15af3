import CountersignWire
import Crypto
import Encodings
import JOSE

/// A device whose app was written for Cotter, with a key and signatures in the form of one of Cotter's libraries.
struct CotterDevice: Sendable {
    /// The libraries that have forms of their own.
    enum Kind: CaseIterable, Sendable {
        /// P-256, in lines of 64 letters.
        case iOS
        /// P-256, in lines of 76 letters.
        case android
        /// RSA, in lines of 76 letters.
        case oldAndroid
        /// Ed25519, in one line.
        case reactNative
        /// Ed25519, in one line, with keys in paths in the usual alphabet.
        case flutter
    }

    private enum Key: Sendable {
        case p256(P256.Signing.PrivateKey)
        case rsa(RSAPrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    let kind: Kind
    private let key: Secret<Key>

    init(_ kind: Kind = .iOS) throws {
        self.kind = kind
        let key: Key =
            switch kind {
            case .iOS, .android: .p256(P256.Signing.PrivateKey())
            case .oldAndroid: .rsa(try RSAPrivateKey())
            case .reactNative, .flutter: .ed25519(Curve25519.Signing.PrivateKey())
            }
        self.key = Secret(key)
    }

    /// What the library says of the algorithm when it signs; nil where it says nothing.
    var algorithm: String? {
        switch kind {
        case .iOS: nil
        case .android: "EC"
        case .oldAndroid: "RSA"
        case .reactNative, .flutter: "ED25519"
        }
    }

    /// The public key, as the library sends it.
    var publicKey: String {
        switch key.reveal() {
        case .p256(let key): wrapped(Array(key.publicKey.derRepresentation))
        case .rsa(let key): wrapped(key.publicKey.derRepresentation)
        case .ed25519(let key): Base64.encode(key.publicKey.rawRepresentation)
        }
    }

    /// The public key in a path: base64 once more.
    ///
    /// The letters of base64 make no `+` and no `/` when they are encoded again, so that a path holds either alphabet.
    var pathKey: String {
        let twice = Base64.encode(Array(publicKey.utf8))
        if kind == .flutter { return twice }
        let url = twice.replacing("+", with: "-").replacing("/", with: "_")
        return kind == .iOS ? url.replacing("=", with: "") : url
    }

    /// A signature, as the library sends it.
    func sign(_ text: String) async throws -> String {
        switch key.reveal() {
        case .p256(let key):
            let signature = Array(try key.signature(for: Array(text.utf8)).derRepresentation)
            return kind == .iOS ? Base64.encode(signature) : wrapped(signature)
        case .rsa(let key): return wrapped(try await key.jwsSignature(of: Array(text.utf8)))
        case .ed25519(let key): return Base64.encode(Array(try key.signature(for: Array(text.utf8))))
        }
    }

    /// Base64 in lines, each with a line feed.
    private func wrapped(_ bytes: [UInt8]) -> String {
        let length = kind == .iOS ? 64 : 76
        var rest = Substring(Base64.encode(bytes))
        var lines = ""
        while !rest.isEmpty {
            lines += "\(rest.prefix(length))\n"
            rest = rest.dropFirst(length)
        }
        return lines
    }
}
