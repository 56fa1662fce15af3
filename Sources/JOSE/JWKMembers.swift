import Encodings

extension JSONObject {
    /// The bytes of a member in base64url, which must be of this length.
    ///
    /// Spec: RFC 7518 §6.2.1.2 (a coordinate has its full length), RFC 8037 §2.
    func octets(_ name: String, _ count: Int) throws(JOSEError) -> [UInt8] {
        guard let text = self[name]?.string, text.utf8.count == (count * 4 + 2) / 3,
            let bytes = Base64URL.decode(text)
        else { throw .malformed }
        return bytes
    }

    /// The bytes of a member that is a positive number in base64url, without a leading zero.
    ///
    /// Spec: RFC 7518 §2 (Base64urlUInt).
    func number(_ name: String) throws(JOSEError) -> [UInt8] {
        guard let text = self[name]?.string else { throw .malformed }
        // check: RSAKeyTests.sizes
        guard text.utf8.count <= (RSAPublicKey.maximumBits / 8 * 4 + 2) / 3 else { throw .unsupportedKey }
        guard let bytes = Base64URL.decode(text), let first = bytes.first, first != 0 else { throw .malformed }
        return bytes
    }

    /// The name of a key, or nil when it has none.
    ///
    /// Spec: RFC 7517 §4.5.
    func keyID() throws(JOSEError) -> String? {
        guard let value = self["kid"] else { return nil }
        guard let text = value.string else { throw .malformed }
        return text
    }

    /// Refuses a key whose members restrict it to another purpose.
    ///
    /// - Parameters:
    ///   - operation: the purpose, `sign` or `verify`.
    ///   - algorithm: the algorithm. Spec: RFC 7517 §4.2 to §4.4.
    func permit(_ operation: String, with algorithm: JWSAlgorithm) throws(JOSEError) {
        // check: JWKTests.unsupported
        guard self["use"].map({ $0 == "sig" }) ?? true,
            self["alg"].map({ $0 == .string(algorithm.rawValue) }) ?? true
        else { throw .unsupportedKey }
        guard let value = self["key_ops"] else { return }
        guard let elements = value.array else { throw .malformed }
        let operations = elements.compactMap { $0.string.map { Array($0.utf8) } }
        // check: JWKTests.operations
        guard operations.count == elements.count, Set(operations).count == elements.count else { throw .malformed }
        // check: JWKTests.operations
        guard operations.contains(Array(operation.utf8)) else { throw .unsupportedKey }
    }
}
